// Emulated events: points in the work of streams.
#include <algorithm>
#include <set>

#include "tests/emulation/graphs.h"
#include "tests/emulation/streams.h"

struct CUevent_st {
  int device = 0;
  unsigned int flags = 0;
  emulation::MarkPtr mark;                      // of the last record; null before the first
  std::shared_ptr<emulation::Capture> capture;  // the recording in which it was last recorded
  std::vector<size_t> nodes;                    // there: what a wait follows
};

namespace emulation {

namespace {

std::set<cudaEvent_t>& events() {
  static std::set<cudaEvent_t>& all = *new std::set<cudaEvent_t>;
  return all;
}

bool is_event(cudaEvent_t event) { return events().count(event) != 0; }

cudaError_t record(cudaEvent_t event, cudaStream_t stream) {
  if (event->device != stream->device)
    return refuse(cudaErrorInvalidResourceHandle,
                  "an event of device " + std::to_string(event->device) +
                      " recorded in a stream of device " + std::to_string(stream->device));
  if (const cudaError_t error = append(stream, {.name = "event"})) return error;
  event->mark = stream->last;
  return cudaSuccess;
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

}  // namespace emulation

using namespace emulation;

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return call([&]() -> cudaError_t {
    if ((flags & cudaEventInterprocess) != 0 && (flags & cudaEventDisableTiming) == 0)
      return cudaErrorInvalidValue;
    *event = new CUevent_st;
    (*event)->device = current_device().index;
    (*event)->flags = flags;
    events().insert(*event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&]() -> cudaError_t {
    if (events().erase(event) == 0) return cudaErrorInvalidResourceHandle;
    delete event;  // waits hold the mark, not the event
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t handle, unsigned int) {
  return call([&]() -> cudaError_t {
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr || !is_event(event)) return cudaErrorInvalidResourceHandle;
    return record(event, stream);
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned int) {
  return call([&]() -> cudaError_t {
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr || !is_event(event)) return cudaErrorInvalidResourceHandle;
    if (event->mark == nullptr || event->mark->done) return cudaSuccess;
    return append(stream, {.name = "wait", .after = {event->mark}});
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&]() -> cudaError_t {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    if (event->mark == nullptr || event->mark->done) return cudaSuccess;
    run_towards(event->mark);
    return cudaErrorNotReady;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&]() -> cudaError_t {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refuse_while_capturing("cudaEventSynchronize")) return error;
    return event->mark != nullptr ? run_until(event->mark) : cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call([&]() -> cudaError_t {
    if (!is_event(start) || !is_event(end)) return cudaErrorInvalidResourceHandle;
    return elapsed(milliseconds, start, end);
  });
}

}  // extern "C"
