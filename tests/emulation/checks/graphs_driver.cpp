// Emulated graphs: what is recorded, what a replay does, and what a capture forbids.
#include <thread>

#include "tests/emulation/checks/cases.h"

using namespace cases;

namespace {

cudaGraphExec_t ended(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_OK(cudaGraphInstantiate(&executable, graph));
  EXPECT_OK(cudaGraphDestroy(graph));
  return executable;
}

void begin(cudaStream_t stream, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  EXPECT_OK(cudaStreamBeginCapture(stream, mode));
}

/// The end of a capture in which something illegal happened.
void expect_lost(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  EXPECT(failed_with(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated));
  EXPECT(graph == nullptr);
  EXPECT_OK(cudaStreamSynchronize(stream));
}

void replays_read_present_values() {
  unsigned char* const block = device_bytes(2);
  const cudaStream_t stream = new_stream();
  EXPECT_OK(cudaMemset(block, 0, 2));
  EXPECT_OK(cudaDeviceSynchronize());
  begin(stream);
  EXPECT_OK(put_increment(stream, block + 1, block));
  EXPECT_OK(put_increment(stream, block, block + 1));
  const cudaGraphExec_t graph = ended(stream);
  EXPECT(contents(block, 2) == (Bytes{0, 0}));  // recorded, not run

  for (int i = 0; i < 3; ++i) EXPECT_OK(cudaGraphLaunch(graph, stream));
  EXPECT_OK(cudaGraphExecDestroy(graph));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(contents(block, 2) == (Bytes{6, 5}));
}

void forks_join() {
  unsigned char* const block = device_bytes(3);
  const cudaStream_t stream = new_stream();
  const cudaStream_t side = new_stream();
  cudaEvent_t fork = nullptr;
  cudaEvent_t join = nullptr;
  EXPECT_OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  EXPECT_OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));

  begin(stream);
  EXPECT_OK(cudaMemsetAsync(block, 1, 1, stream));
  EXPECT_OK(cudaEventRecord(fork, stream));
  EXPECT_OK(cudaStreamWaitEvent(side, fork));
  EXPECT_OK(put_increment(side, block + 1, block));
  EXPECT_OK(cudaEventRecord(join, side));
  EXPECT_OK(cudaStreamWaitEvent(stream, join));
  EXPECT_OK(put_increment(stream, block + 2, block + 1));
  const cudaGraphExec_t graph = ended(stream);
  EXPECT_OK(cudaStreamSynchronize(side));

  EXPECT_OK(cudaGraphLaunch(graph, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(contents(block, 3) == (Bytes{1, 2, 3}));
}

void missing_joins_are_refused() {
  const cudaStream_t stream = new_stream();
  const cudaStream_t side = new_stream();
  unsigned char* const block = device_bytes(1);
  cudaEvent_t fork = nullptr;
  cudaGraph_t graph = nullptr;
  EXPECT_OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  begin(stream);
  EXPECT_OK(cudaEventRecord(fork, stream));
  EXPECT_OK(cudaStreamWaitEvent(side, fork));
  EXPECT_OK(cudaMemsetAsync(block, 1, 1, side));
  EXPECT(failed_with(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined));
}

void waits_for_work_outside_are_refused() {
  const cudaStream_t stream = new_stream();
  const cudaStream_t other = new_stream();
  cudaEvent_t event = nullptr;
  EXPECT_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  EXPECT_OK(cudaEventRecord(event, other));
  begin(stream);
  EXPECT(failed_with(cudaStreamWaitEvent(stream, event), cudaErrorStreamCaptureIsolation));
  expect_lost(stream);
}

void captures_do_not_merge() {
  const cudaStream_t one = new_stream();
  const cudaStream_t two = new_stream();
  cudaEvent_t event = nullptr;
  EXPECT_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  begin(one);
  begin(two);
  EXPECT_OK(cudaEventRecord(event, one));
  EXPECT(failed_with(cudaStreamWaitEvent(two, event), cudaErrorStreamCaptureMerge));
  cudaGraph_t graph = nullptr;
  EXPECT(failed_with(cudaStreamEndCapture(one, &graph), cudaErrorStreamCaptureInvalidated));
  EXPECT(failed_with(cudaStreamEndCapture(two, &graph), cudaErrorStreamCaptureInvalidated));
}

void waiting_is_refused() {
  const cudaStream_t stream = new_stream();
  unsigned char* const block = device_bytes(1);
  unsigned char pageable = 0;
  cudaEvent_t event = nullptr;
  EXPECT_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));

  for (int call = 0; call < 5; ++call) {
    begin(stream, cudaStreamCaptureModeRelaxed);
    EXPECT_OK(cudaEventRecord(event, stream));
    const cudaError_t expected =
        call == 2 || call == 3 ? cudaErrorCapturedEvent : cudaErrorStreamCaptureUnsupported;
    const cudaError_t status =
        call == 0   ? cudaStreamSynchronize(stream)
        : call == 1 ? cudaDeviceSynchronize()
        : call == 2 ? cudaEventQuery(event)
        : call == 3 ? cudaEventSynchronize(event)
                    : cudaMemcpyAsync(&pageable, block, 1, cudaMemcpyDeviceToHost, stream);
    EXPECT(failed_with(status, expected));
    EXPECT(cudaMemsetAsync(block, 0, 1, stream) == cudaErrorStreamCaptureInvalidated);
    expect_lost(stream);
  }
}

void modes_decide_about_allocations() {
  const cudaStream_t stream = new_stream();
  void* block = nullptr;
  begin(stream);
  EXPECT(failed_with(cudaMalloc(&block, 16), cudaErrorStreamCaptureUnsupported));
  expect_lost(stream);

  begin(stream, cudaStreamCaptureModeRelaxed);
  EXPECT_OK(cudaMalloc(&block, 16));
  ended(stream);

  begin(stream);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  EXPECT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_OK(cudaMalloc(&block, 16));
  EXPECT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  ended(stream);

  // Another thread is forbidden only what a global capture forbids.
  for (const bool global : {false, true}) {
    begin(stream, global ? cudaStreamCaptureModeGlobal : cudaStreamCaptureModeThreadLocal);
    cudaError_t status = cudaErrorUnknown;
    std::thread([&] { status = cudaMalloc(&block, 16); }).join();
    EXPECT(status == (global ? cudaErrorStreamCaptureUnsupported : cudaSuccess));
    if (global) expect_lost(stream);
    else ended(stream);
  }
}

void captures_end_where_they_began() {
  const cudaStream_t stream = new_stream();
  cudaGraph_t graph = nullptr;
  EXPECT(failed_with(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState));
  EXPECT(failed_with(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
                     cudaErrorStreamCaptureUnsupported));
  begin(stream);
  cudaError_t status = cudaSuccess;
  std::thread([&] { status = cudaStreamEndCapture(stream, &graph); }).join();
  EXPECT(status == cudaErrorStreamCaptureWrongThread);

  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  EXPECT_OK(cudaStreamGetCaptureInfo(stream, &capturing, &id));
  EXPECT(capturing == cudaStreamCaptureStatusActive && id != 0);
  ended(stream);
  EXPECT_OK(cudaStreamIsCapturing(stream, &capturing));
  EXPECT(capturing == cudaStreamCaptureStatusNone);
}

void blocking_streams_and_the_legacy_stream() {
  cudaStream_t blocking = nullptr;
  unsigned char* const block = device_bytes(1);
  EXPECT_OK(cudaStreamCreate(&blocking));
  begin(blocking);
  EXPECT(
      failed_with(cudaMemsetAsync(block, 0, 1, cudaStreamLegacy), cudaErrorStreamCaptureImplicit));
  expect_lost(blocking);

  const cudaStream_t independent = new_stream();
  begin(independent);
  EXPECT_OK(cudaMemsetAsync(block, 0, 1, cudaStreamLegacy));
  ended(independent);
}

void freed_memory_is_found_at_launch() {
  const cudaStream_t stream = new_stream();
  unsigned char* const block = device_bytes(1);
  begin(stream);
  EXPECT_OK(cudaMemsetAsync(block, 1, 1, stream));
  const cudaGraphExec_t graph = ended(stream);
  EXPECT_OK(cudaGraphLaunch(graph, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaFree(block));
  EXPECT(failed_with(cudaGraphLaunch(graph, stream), cudaErrorIllegalAddress));
}

constexpr Case kCases[] = {
    {"replays_read_present_values", replays_read_present_values},
    {"forks_join", forks_join},
    {"missing_joins_are_refused", missing_joins_are_refused},
    {"waits_for_work_outside_are_refused", waits_for_work_outside_are_refused},
    {"captures_do_not_merge", captures_do_not_merge},
    {"waiting_is_refused", waiting_is_refused},
    {"modes_decide_about_allocations", modes_decide_about_allocations},
    {"captures_end_where_they_began", captures_end_where_they_began},
    {"blocking_streams_and_the_legacy_stream", blocking_streams_and_the_legacy_stream},
    {"freed_memory_is_found_at_launch", freed_memory_is_found_at_launch},
};

}  // namespace

int main(int argc, char** argv) { return cases::run(argc, argv, kCases); }
