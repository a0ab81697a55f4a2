// Emulated events: recording, waiting, timing.
#include "tests/emulation/events.h"

#include <unistd.h>

#include <algorithm>
#include <set>

namespace emulation {

namespace {

std::set<cudaEvent_t>& events() {
  static std::set<cudaEvent_t>& all = *new std::set<cudaEvent_t>;
  return all;
}

/// Records an event that other processes see. They cannot run our work: it runs now.
cudaError_t record_shared(cudaEvent_t event, cudaStream_t stream) {
  const std::shared_ptr<SharedCounters> counters = event->counters;
  const uint64_t turn = ++counters->recorded;
  const auto reach = [counters, turn] { counters->reached = turn; };
  if (const cudaError_t error = append(stream, {.name = "event", .run = reach})) return error;
  return run_until(stream->last);
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream) {
  if (event->device != stream->device)
    return refuse(cudaErrorInvalidResourceHandle,
                  "an event of device " + std::to_string(event->device) +
                      " recorded in a stream of device " + std::to_string(stream->device));

  event->capture = stream->capture;
  if (stream->capture != nullptr) {
    event->nodes = stream->capture->frontier[stream];
    return cudaSuccess;
  }
  if (event->counters != nullptr) return record_shared(event, stream);
  if (const cudaError_t error = append(stream, {.name = "event"})) return error;
  event->mark = stream->last;
  return cudaSuccess;
}

/// What a wait for the event waits for; null if it was never recorded.
MarkPtr mark_of(cudaEvent_t event) {
  const std::shared_ptr<SharedCounters> counters = event->counters;
  if (counters == nullptr) return event->mark;
  const uint64_t turn = counters->recorded;
  if (turn == 0) return nullptr;

  auto mark = std::make_shared<Mark>();
  mark->device = event->device;
  mark->arrived = [counters, turn] { return counters->reached >= turn; };
  return mark;
}

cudaError_t wait(cudaStream_t stream, cudaEvent_t event) {
  if (event->capture != nullptr) {
    if (event->capture->ended)
      return refuse(cudaErrorCapturedEvent, "the event belongs to a capture that has ended");
    return capture_wait(stream, event->capture, event->nodes);
  }

  const MarkPtr mark = mark_of(event);
  if (mark == nullptr) return cudaSuccess;
  if (stream->capture != nullptr)
    return lose(*stream->capture, cudaErrorStreamCaptureIsolation,
                "a wait for an event that was recorded outside of the capture");
  return append(stream, {.name = "wait", .after = {mark}});
}

cudaError_t refuse_captured(cudaEvent_t event, const char* what) {
  if (event->capture == nullptr) return refuse_while_capturing(what);
  if (!event->capture->ended) event->capture->lost = true;
  return refuse(cudaErrorCapturedEvent, what);
}

cudaError_t elapsed(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const bool timed = ((start->flags | end->flags) & cudaEventDisableTiming) == 0;
  const bool recorded = start->mark != nullptr && end->mark != nullptr;
  if (!timed || !recorded || start->device != end->device) return cudaErrorInvalidResourceHandle;
  if (!start->mark->done || !end->mark->done) return cudaErrorNotReady;
  *milliseconds = static_cast<float>(end->mark->milliseconds - start->mark->milliseconds);
  return cudaSuccess;
}

}  // namespace

bool is_event(cudaEvent_t event) { return events().count(event) != 0; }

cudaEvent_t add_event(int device, unsigned int flags) {
  auto* const event = new CUevent_st;
  event->device = device;
  event->flags = flags;
  events().insert(event);
  return event;
}

}  // namespace emulation

using namespace emulation;

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return call([&]() -> cudaError_t {
    const bool interprocess = (flags & cudaEventInterprocess) != 0;
    if (interprocess && (flags & cudaEventDisableTiming) == 0)
      return refuse(cudaErrorInvalidValue, "an interprocess event cannot have timing");
    *event = add_event(current_device().index, flags);
    return interprocess && !share_counters(*event) ? cudaErrorOperatingSystem : cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&]() -> cudaError_t {
    if (events().erase(event) == 0) return cudaErrorInvalidResourceHandle;
    if (event->file >= 0) close(event->file);
    delete event;  // waits hold the mark, not the event
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t handle, unsigned int flags) {
  return call([&]() -> cudaError_t {
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr || !is_event(event)) return cudaErrorInvalidResourceHandle;
    if (flags != cudaEventRecordDefault) return refuse(cudaErrorNotSupported, "not emulated");
    return record(event, stream);
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned int flags) {
  return call([&]() -> cudaError_t {
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr || !is_event(event)) return cudaErrorInvalidResourceHandle;
    if (flags != cudaEventWaitDefault) return refuse(cudaErrorNotSupported, "not emulated");
    return wait(stream, event);
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&]() -> cudaError_t {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refuse_captured(event, "cudaEventQuery")) return error;
    const MarkPtr mark = mark_of(event);
    if (mark == nullptr || mark->done || (mark->arrived && mark->arrived())) return cudaSuccess;

    // Each query brings the work a step forward, so that a loop of queries ends.
    run_towards(mark);
    return cudaErrorNotReady;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&]() -> cudaError_t {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refuse_captured(event, "cudaEventSynchronize")) return error;
    const MarkPtr mark = mark_of(event);
    return mark != nullptr ? run_until(mark) : cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call([&]() -> cudaError_t {
    if (!is_event(start) || !is_event(end)) return cudaErrorInvalidResourceHandle;
    return elapsed(milliseconds, start, end);
  });
}

}  // extern "C"
