// Emulated streams and events: what waits for what, and what is seen without waiting.
#include <chrono>
#include <cmath>
#include <thread>

#include "tests/emulation/checks/cases.h"

using namespace cases;

namespace {

void work_runs_when_waited_for() {
  unsigned char* const block = device_bytes(1);
  unsigned char* const pinned = pinned_bytes(1);
  const cudaStream_t stream = new_stream();
  EXPECT_OK(cudaMemsetAsync(block, 7, 1, stream));
  EXPECT_OK(cudaMemcpyAsync(pinned, block, 1, cudaMemcpyDeviceToHost, stream));
  if (runs_late()) EXPECT(*pinned == 0xFF);
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(*pinned == 7);
}

void pinned_memory_is_read_late_and_pageable_at_once() {
  unsigned char* const block = device_bytes(2);
  unsigned char* const pinned = pinned_bytes(1);
  unsigned char pageable = 1;
  *pinned = 1;
  const cudaStream_t stream = new_stream();
  EXPECT_OK(cudaMemcpyAsync(block, pinned, 1, cudaMemcpyHostToDevice, stream));
  EXPECT_OK(cudaMemcpyAsync(block + 1, &pageable, 1, cudaMemcpyHostToDevice, stream));
  *pinned = 2;  // too early
  pageable = 2;
  EXPECT_OK(cudaStreamSynchronize(stream));
  const Bytes seen = contents(block, 2);
  if (runs_late()) EXPECT(seen[0] == 2);
  EXPECT(seen[1] == 1);
}

/// A value goes from one stream to another; the second stream's result.
unsigned char handed_over(bool with_wait) {
  unsigned char* const block = device_bytes(2);
  EXPECT_OK(cudaMemset(block, 0, 2));
  EXPECT_OK(cudaDeviceSynchronize());
  const cudaStream_t producer = new_stream();
  const cudaStream_t consumer = new_stream();

  cudaEvent_t made = nullptr;
  EXPECT_OK(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
  EXPECT_OK(cudaMemsetAsync(block, 40, 1, producer));
  EXPECT_OK(cudaEventRecord(made, producer));
  if (with_wait) EXPECT_OK(cudaStreamWaitEvent(consumer, made));
  EXPECT_OK(cudaEventDestroy(made));
  EXPECT_OK(put_increment(consumer, block + 1, block));
  EXPECT_OK(cudaStreamSynchronize(consumer));
  const unsigned char result = contents(block, 2)[1];
  EXPECT_OK(cudaDeviceSynchronize());
  return result;
}

void events_order_streams() {
  for (int i = 0; i < 20; ++i) EXPECT(handed_over(true) == 41);
}

void missing_waits_show() { EXPECT(handed_over(false) == 1); }

/// Run with several seeds: each must order something differently.
void seeds_draw_orders() {
  unsigned char* const block = device_bytes(8);
  std::string order;
  std::vector<cudaStream_t> streams;
  for (int i = 0; i < 8; ++i) streams.push_back(new_stream());
  for (int turn = 0; turn < 2; ++turn)
    for (int i = 0; i < 8; ++i)
      EXPECT_OK(emulation::enqueue(streams[static_cast<size_t>(i)], "note",
                                   [&order, i] { order += static_cast<char>('a' + i); }));
  EXPECT_OK(cudaDeviceSynchronize());
  std::printf("%s\n", order.c_str());
  EXPECT_OK(cudaFree(block));
}

void legacy_stream_waits_for_blocking_streams() {
  unsigned char* const block = device_bytes(3);
  EXPECT_OK(cudaMemset(block, 0, 3));
  cudaStream_t blocking = nullptr;
  EXPECT_OK(cudaStreamCreate(&blocking));
  EXPECT_OK(cudaMemsetAsync(block, 5, 1, blocking));
  EXPECT_OK(put_increment(cudaStreamLegacy, block + 1, block));
  EXPECT_OK(put_increment(blocking, block + 2, block + 1));
  EXPECT_OK(cudaStreamSynchronize(blocking));
  EXPECT(contents(block, 3) == (Bytes{5, 6, 7}));
}

void legacy_stream_does_not_wait_for_others() {
  unsigned char* const block = device_bytes(2);
  EXPECT_OK(cudaMemset(block, 0, 2));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(cudaMemsetAsync(block, 5, 1, new_stream()));
  EXPECT_OK(put_increment(cudaStreamLegacy, block + 1, block));
  EXPECT(contents(block + 1, 1)[0] == 1);
}

void queries_end() {
  const cudaStream_t stream = new_stream();
  cudaEvent_t event = nullptr;
  EXPECT_OK(cudaEventCreate(&event));
  EXPECT_OK(cudaEventQuery(event));  // nothing was recorded
  for (int i = 0; i < 5; ++i) EXPECT_OK(cudaMemsetAsync(device_bytes(1), 0, 1, stream));
  EXPECT_OK(cudaEventRecord(event, stream));
  EXPECT_OK(cudaMemsetAsync(device_bytes(1), 0, 1, stream));

  int queries = 0;
  while (cudaEventQuery(event) == cudaErrorNotReady) ++queries;
  cudaGetLastError();
  if (runs_late()) {
    EXPECT(queries == 6);
    EXPECT(failed_with(cudaStreamQuery(stream), cudaErrorNotReady));
  }
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaStreamQuery(stream));
}

void events_measure_time() {
  const cudaStream_t stream = new_stream();
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  cudaEvent_t untimed = nullptr;
  float milliseconds = NAN;

  EXPECT_OK(cudaEventCreate(&start));
  EXPECT_OK(cudaEventCreate(&end));
  EXPECT_OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  EXPECT_OK(cudaEventRecord(start, stream));
  EXPECT(
      failed_with(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle));

  const auto sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  EXPECT_OK(emulation::enqueue(stream, "sleep", sleep));
  EXPECT_OK(cudaEventRecord(end, stream));
  EXPECT_OK(cudaEventRecord(untimed, stream));
  if (runs_late())
    EXPECT(failed_with(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorNotReady));

  EXPECT_OK(cudaEventSynchronize(end));
  EXPECT_OK(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds >= 1.0F);
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(failed_with(cudaEventElapsedTime(&milliseconds, start, untimed),
                     cudaErrorInvalidResourceHandle));
}

void devices_are_kept_apart() {
  unsigned char* const block = device_bytes(1);
  const cudaStream_t stream = new_stream();
  cudaEvent_t event = nullptr;
  EXPECT_OK(cudaEventCreate(&event));
  EXPECT_OK(cudaSetDevice(1));
  EXPECT(failed_with(put_increment(stream, block, block), cudaErrorInvalidResourceHandle));
  EXPECT(failed_with(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle));
  EXPECT_OK(cudaMemsetAsync(block, 0, 1, stream));  // copies may
  EXPECT_OK(cudaEventRecord(event, stream));
  EXPECT_OK(cudaStreamWaitEvent(nullptr, event));
  EXPECT(failed_with(cudaSetDevice(2), cudaErrorInvalidDevice));
}

void dead_handles_are_refused() {
  const cudaStream_t stream = new_stream();
  cudaEvent_t event = nullptr;
  EXPECT_OK(cudaEventCreate(&event));
  EXPECT_OK(cudaEventDestroy(event));
  EXPECT_OK(cudaStreamDestroy(stream));
  EXPECT(failed_with(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle));
  EXPECT(failed_with(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle));
  EXPECT(failed_with(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle));
}

void host_functions_run_in_order() {
  static int step = 0;
  const cudaStream_t stream = new_stream();
  EXPECT_OK(emulation::enqueue(stream, "first", [] { step = 1; }));
  const auto next = [](void* wanted) {
    step = step == 1 && *static_cast<int*>(wanted) == 3 ? 2 : -1;
    EXPECT(cudaDeviceSynchronize() == cudaErrorNotPermitted);
  };
  int wanted = 3;
  EXPECT_OK(cudaLaunchHostFunc(stream, next, &wanted));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(step == 2);
}

void faults_stay() {
  unsigned char* const block = device_bytes(1);
  const cudaStream_t stream = new_stream();
  EXPECT_OK(emulation::enqueue(stream, "bad kernel",
                               [] { throw emulation::Fault(cudaErrorIllegalAddress, "line 7"); }));
  EXPECT(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
  EXPECT(std::string(cudaGetErrorString(cudaErrorIllegalAddress)) ==
         "an illegal memory access was encountered (emulation: bad kernel: line 7)");
  EXPECT(cudaMemset(block, 0, 1) == cudaErrorIllegalAddress);
  EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
  EXPECT(cudaFree(block) == cudaErrorIllegalAddress);
}

constexpr Case kCases[] = {
    {"work_runs_when_waited_for", work_runs_when_waited_for},
    {"pinned_memory_is_read_late_and_pageable_at_once",
     pinned_memory_is_read_late_and_pageable_at_once},
    {"events_order_streams", events_order_streams},
    {"legacy_stream_waits_for_blocking_streams", legacy_stream_waits_for_blocking_streams},
    {"queries_end", queries_end},
    {"events_measure_time", events_measure_time},
    {"devices_are_kept_apart", devices_are_kept_apart},
    {"dead_handles_are_refused", dead_handles_are_refused},
    {"host_functions_run_in_order", host_functions_run_in_order},
    {"faults_stay", faults_stay},
    {"missing_waits_show", missing_waits_show},
    {"legacy_stream_does_not_wait_for_others", legacy_stream_does_not_wait_for_others},
    {"seeds_draw_orders", seeds_draw_orders},
};

}  // namespace

int main(int argc, char** argv) { return cases::run(argc, argv, kCases); }
