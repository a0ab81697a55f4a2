// Counters of random numbers for launches, and for launches that a graph replays.
#include "c10/cuda/Philox.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "c10/cuda/Memory.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Stream.h"
#include "c10/util/Exception.h"

namespace c10::cuda {

namespace {

/// The generators that take part in a capture now; nearly always none.
struct Recordings {
  std::mutex mutex;
  std::vector<RecordedPhilox*> active;
  std::atomic<size_t> count{0};
};

Recordings& recordings() {
  static Recordings& all = *new Recordings;
  return all;
}

bool is_capturing() {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(current_stream(), &status));
  return status == cudaStreamCaptureStatusActive;
}

RecordedPhilox* find_recording(const PhiloxGenerator& generator) {
  Recordings& all = recordings();
  const std::lock_guard lock(all.mutex);
  for (RecordedPhilox* const recording : all.active)
    if (&recording->generator() == &generator) return recording;
  return nullptr;
}

uint64_t rounded_to_counters(uint64_t count) { return (count + 3) / 4 * 4; }

}  // namespace

PhiloxArguments take_philox(PhiloxGenerator& generator, uint64_t count) {
  const std::lock_guard lock(generator.mutex);
  if (recordings().count.load(std::memory_order_relaxed) == 0 || !is_capturing()) {
    const uint64_t first = generator.take(count);
    return {generator.seed, first, nullptr};
  }

  RecordedPhilox* const recording = find_recording(generator);
  TORCH_CHECK(recording != nullptr,
              "a generator draws while a graph is captured, but is not registered with the graph; "
              "call register_generator_state before the capture");
  const uint64_t first = recording->drawn_;
  recording->drawn_ += rounded_to_counters(count);
  return {0, first, static_cast<const uint64_t*>(recording->on_device_.get())};
}

void RecordedPhilox::begin() {
  if (!on_device_) on_device_ = device_allocator().allocate(2 * sizeof(uint64_t));
  drawn_ = 0;

  Recordings& all = recordings();
  const std::lock_guard lock(all.mutex);
  all.active.push_back(this);
  all.count = all.active.size();
}

void RecordedPhilox::end() {
  Recordings& all = recordings();
  const std::lock_guard lock(all.mutex);
  std::erase(all.active, this);
  all.count = all.active.size();
}

void RecordedPhilox::advance() {
  uint64_t state[2];
  {
    const std::lock_guard lock(generator_.mutex);
    state[0] = generator_.seed;
    state[1] = generator_.take(drawn_);
  }
  if (drawn_ == 0) return;

  // The memory is of the stream that was captured. The graph may be gone before the replay runs.
  const Stream stream = current_stream_of(current_device());
  record_stream(on_device_, stream);
  // From the stack: CUDA reads pageable memory before the call returns.
  C10_CUDA_CHECK(cudaMemcpyAsync(on_device_.get(), state, sizeof state, cudaMemcpyHostToDevice,
                                 native(stream)));
}

}  // namespace c10::cuda
