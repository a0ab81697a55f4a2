// The CUDA allocators on the emulated runtime, run by tests/c10/test_cuda_allocator.py: programs on
// its lazy streams, graphs, memory that runs out, pinned copies, two devices.
#include <cuda_runtime_api.h>

#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "c10/cuda/Memory.h"
#include "c10/cuda/PinnedAllocator.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Stream.h"
#include "c10/cuda/allocator/Allocator.h"
#include "c10/dispatch/RunningOperator.h"
#include "c10/util/Exception.h"
#include "tests/c10/expect.h"

using c10::DataPtr;
using c10::Stream;

constexpr size_t kMiB = size_t{1} << 20;

static DataPtr allocate(size_t bytes, c10::DeviceIndex device = 0) {
  return c10::cuda::device_allocator().allocate(bytes, device);
}

static int64_t statistic(const std::string& name, c10::DeviceIndex device = 0) {
  for (const auto& [known, value] : c10::cuda::memory_stats(device)) {
    if (known == name) return value;
  }
  return -1;
}

static void order(Stream earlier, Stream later) {
  cudaEvent_t event = nullptr;
  C10_CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  C10_CUDA_CHECK(cudaEventRecord(event, c10::cuda::native(earlier)));
  C10_CUDA_CHECK(cudaStreamWaitEvent(c10::cuda::native(later), event, 0));
  C10_CUDA_CHECK(cudaEventDestroy(event));
}

/// A block filled with one byte by a stream, which another stream reads later.
struct Filled {
  DataPtr data;
  size_t bytes;
  unsigned char value;
  Stream user;
};

/// What the host will find in pinned memory once everything has run.
struct Expected {
  DataPtr data;
  size_t bytes;
  unsigned char value;
};

/// Streams fill blocks and read them back. A block that is reused too early holds another value
/// when its reader, which the emulation runs as late as it can, gets to it.
static void run_programs(uint64_t seed, bool records) {
  std::mt19937_64 random(seed);
  std::vector<Stream> streams = {c10::cuda::default_stream(0)};
  for (int i = 0; i < 3; ++i) streams.push_back(c10::cuda::pool_stream(0, 0));
  std::deque<Filled> live;
  std::vector<Expected> results;
  int wrong = 0;

  for (int i = 0; i < 1500; ++i) {
    const Stream stream = streams[random() % streams.size()];
    if (live.size() < 20 && random() % 2 == 0) {
      const size_t bytes = 1 + random() % (random() % 3 == 0 ? 5 * kMiB : 20'000);
      const Stream before = c10::cuda::exchange_stream(stream);
      DataPtr data = allocate(bytes);
      c10::cuda::exchange_stream(before);
      const auto value = static_cast<unsigned char>(random());
      C10_CUDA_CHECK(cudaMemsetAsync(data.get(), value, bytes, c10::cuda::native(stream)));
      live.push_back({std::move(data), bytes, value, stream});
    } else if (!live.empty()) {
      Filled block = std::move(live.front());
      live.pop_front();
      const size_t bytes = std::min<size_t>(block.bytes, 512);
      DataPtr host = c10::cuda::pinned_allocator().allocate(bytes);

      if (!(stream == block.user)) order(block.user, stream);
      if (records) c10::cuda::record_stream(block.data, stream);
      char* const end = static_cast<char*>(block.data.get()) + block.bytes - bytes;
      C10_CUDA_CHECK(cudaMemcpyAsync(host.get(), end, bytes, cudaMemcpyDeviceToHost,
                                     c10::cuda::native(stream)));
      EXPECT(c10::cuda::record_pinned(host.get(), c10::cuda::native(stream)));
      results.push_back({std::move(host), bytes, block.value});
    }

    if (i % 300 == 299) {
      C10_CUDA_CHECK(cudaDeviceSynchronize());
      for (const Expected& result : results) {
        const auto* const bytes = static_cast<const unsigned char*>(result.data.get());
        for (size_t at = 0; at < result.bytes; ++at) wrong += bytes[at] != result.value;
      }
      results.clear();
    }
  }

  C10_CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("%s\n", wrong == 0 ? "all bytes right" : "wrong bytes");
}

static void test_kinds_of_memory(bool maps) {
  DataPtr small = allocate(100);
  DataPtr large = allocate(9 * kMiB);
  EXPECT(small.device() == c10::Device(c10::DeviceType::CUDA, 0));
  EXPECT(!allocate(0) && c10::cuda::device_allocator().allocate(0).device().index == 0);

  const c10::cuda::Segment segment = c10::cuda::segment_of(static_cast<char*>(large.get()) + 5, 10);
  EXPECT(segment.begin <= large.get() && segment.bytes >= 9 * kMiB);
  EXPECT(segment.granules.empty() != maps);

  size_t free_before = 0;
  size_t total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free_before, &total));
  large.clear();
  c10::cuda::empty_cache();
  size_t free_after = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free_after, &total));
  EXPECT(free_after >= free_before + 8 * kMiB);
}

static void test_shortage() {
  size_t free = 0;
  size_t total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  static constinit c10::OperatorEntry op("an_operator", "an_operator() -> ()", {}, {});
  static constinit c10::OperatorEntry inner("inner", "inner() -> ()", {}, {});
  std::optional<c10::RunningOperator> scope(std::in_place, op);
  std::optional<c10::RunningOperator> inner_scope(std::in_place, inner);
  DataPtr most = allocate(total / 2);
  std::string message;
  try {
    allocate(total);
  } catch (const c10::OutOfMemoryError& error) {
    message = error.message();
  }
  inner_scope.reset();
  scope.reset();
  EXPECT(c10::RunningOperator::outermost() == nullptr);

  EXPECT(message.find("CUDA out of memory. Tried to allocate ") == 0);
  EXPECT(message.find("in 1 block: an_operator") != std::string::npos);
  EXPECT(statistic("num_ooms") == 1);
  EXPECT(c10::cuda::memory_snapshot().find("\"name\": \"an_operator\"") != std::string::npos);
  most.clear();

  c10::cuda::set_memory_fraction(0, 0.25);
  EXPECT(c10::cuda::memory_fraction(0) == 0.25);
  c10::cuda::empty_cache();
  bool refused = false;
  try {
    allocate(total / 2);
  } catch (const c10::OutOfMemoryError&) {
    refused = true;
  }
  EXPECT(refused);
  c10::cuda::set_memory_fraction(0, 1.0);
  allocate(total / 2);
  c10::cuda::empty_cache();
}

/// Memory that a graph uses stays where it is between replays.
static void test_graphs() {
  const Stream stream = c10::cuda::pool_stream(0, 0);
  const cudaStream_t native = c10::cuda::native(stream);
  DataPtr result = allocate(kMiB);
  DataPtr cached = allocate(3 * kMiB);
  cached.clear();
  C10_CUDA_CHECK(cudaDeviceSynchronize());

  const Stream before = c10::cuda::exchange_stream(stream);
  const c10::MemoryPoolId pool = c10::cuda::new_memory_pool();
  c10::cuda::begin_allocating_from_pool(0, pool, native);
  C10_CUDA_CHECK(cudaStreamBeginCapture(native, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 3; ++i) {
    DataPtr temporary = allocate(3 * kMiB);
    C10_CUDA_CHECK(cudaMemsetAsync(temporary.get(), 17 + i, 3 * kMiB, native));
    C10_CUDA_CHECK(cudaMemcpyAsync(static_cast<char*>(result.get()) + i, temporary.get(), 1,
                                   cudaMemcpyDeviceToDevice, native));
  }
  cudaGraph_t graph = nullptr;
  C10_CUDA_CHECK(cudaStreamEndCapture(native, &graph));
  c10::cuda::end_allocating_from_pool(0, pool);

  cudaGraphExec_t executable = nullptr;
  C10_CUDA_CHECK(cudaGraphInstantiate(&executable, graph));
  c10::cuda::empty_cache();
  DataPtr other = allocate(3 * kMiB);
  C10_CUDA_CHECK(cudaMemsetAsync(other.get(), 99, 3 * kMiB, native));
  C10_CUDA_CHECK(cudaGraphLaunch(executable, native));
  unsigned char found[4] = {};
  C10_CUDA_CHECK(cudaMemcpyAsync(found, result.get(), 3, cudaMemcpyDeviceToHost, native));
  C10_CUDA_CHECK(cudaMemcpyAsync(found + 3, other.get(), 1, cudaMemcpyDeviceToHost, native));
  C10_CUDA_CHECK(cudaStreamSynchronize(native));
  EXPECT(found[0] == 17 && found[1] == 18 && found[2] == 19 && found[3] == 99);

  C10_CUDA_CHECK(cudaGraphExecDestroy(executable));
  C10_CUDA_CHECK(cudaGraphDestroy(graph));
  c10::cuda::release_pool(0, pool);
  c10::cuda::exchange_stream(before);
  other.clear();
  result.clear();
  c10::cuda::empty_cache();
  EXPECT(statistic("reserved_bytes.all.current") == 0);
}

static void test_two_devices() {
  DataPtr first = allocate(2 * kMiB, 0);
  DataPtr second = allocate(3 * kMiB, 1);
  EXPECT(second.device().index == 1 && c10::cuda::current_device() == 0);
  EXPECT(statistic("allocated_bytes.all.current", 1) == int64_t(3 * kMiB));
  C10_CUDA_CHECK(cudaMemcpyPeerAsync(second.get(), 1, first.get(), 0, kMiB, nullptr));
  C10_CUDA_CHECK(cudaDeviceSynchronize());
}

static void test_pinned() {
  DataPtr block = c10::cuda::pinned_allocator().allocate(100'000);
  EXPECT(block.device() == c10::kCPU);
  std::memset(block.get(), 1, 100'000);
  cudaPointerAttributes attributes;
  C10_CUDA_CHECK(cudaPointerGetAttributes(&attributes, block.get()));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  int local = 0;
  EXPECT(!c10::cuda::record_pinned(&local, nullptr));

  block.clear();
  c10::cuda::empty_pinned_cache();
  for (const auto& [name, value] : c10::cuda::pinned_memory_stats()) {
    if (name == "allocated_bytes.current") EXPECT(value == 0);
  }
}

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "programs") run_programs(std::stoull(argv[2]), argc <= 3);
  if (command == "check") {
    const bool maps = argc <= 2;
    test_kinds_of_memory(maps);
    test_shortage();
    test_graphs();
    test_two_devices();
    test_pinned();
  }
  if (failures == 0) std::puts("ok");
  return failures != 0;
}
