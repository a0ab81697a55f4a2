// Orders the streams of a backward pass by events.
#include "torch_py/csrc/autograd/Streams.h"

#include <algorithm>

#include "c10/core/DeviceHooks.h"
#include "c10/core/Event.h"

namespace torch::autograd {

namespace {

/// Lets the later work of one stream wait for the work that another one has been given so far.
void order_after(c10::Stream later, c10::Stream earlier) {
  if (later == earlier) return;
  c10::Event event(earlier.device.type);
  event.record(earlier);
  event.wait(later);
}

}  // namespace

bool is_present(c10::Device device) {
  return !c10::is_accelerator(device) || c10::device_hooks_or_null(device.type) != nullptr;
}

c10::Stream current_stream_of(c10::Device device) {
  if (!c10::is_accelerator(device)) return {c10::kCPU};
  return c10::device_hooks(device.type).current_stream(device.index);
}

void hand_over(const at::Tensor& grad, c10::Stream consumer) {
  if (!grad.defined() || !c10::is_accelerator(grad.device()) || !is_on_device(consumer)) return;

  c10::DeviceHooks& hooks = c10::device_hooks(grad.device().type);
  const c10::Stream producer = hooks.current_stream(grad.device().index);
  if (producer == consumer) return;

  order_after(consumer, producer);
  if (consumer.device == producer.device) hooks.record_stream(grad.storage()->data, consumer);
}

void StreamsOfPass::add(c10::Stream stream) {
  if (std::find(streams_.begin(), streams_.end(), stream) == streams_.end())
    streams_.push_back(stream);
}

void StreamsOfPass::join() const {
  for (const c10::Stream stream : streams_) order_after(current_stream_of(stream.device), stream);
}

}  // namespace torch::autograd
