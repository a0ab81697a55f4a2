// Launch: the rings that remember which operators started kernels, and errors of launches.
#include "c10/cuda/Launch.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "c10/cuda/Runtime.h"
#include "c10/dispatch/RunningOperator.h"
#include "c10/util/Exception.h"

// Note [Launch rings]
// Each stream has a ring of its latest launches. A launch costs a number from one counter and five
// stores; who asks for an operator searches all rings, which only errors do. Writers of one stream
// do not wait for each other, so a reader may find a slot half written: its sequence number is 0
// then.

namespace c10::cuda {

namespace {

constexpr size_t kRemembered = 256;

std::atomic<uint64_t> launches{0};

struct LaunchRing {
  struct Entry {
    std::atomic<const char*> name{nullptr};
    std::atomic<const OperatorEntry*> op{nullptr};
    std::atomic<const OperatorEntry*> caller{nullptr};
    std::atomic<uint64_t> sequence{0};
  };
  Entry entries[kRemembered];
  std::atomic<size_t> next{0};
  std::atomic<uint64_t> good{0};  // launches up to this number went well
};

struct Rings {
  std::mutex mutex;
  std::unordered_map<cudaStream_t, std::unique_ptr<LaunchRing>> of_stream;
};

// Not destroyed: threads may launch while the process ends.
Rings& rings() {
  static Rings& all = *new Rings;
  return all;
}

LaunchRing& ring_of(cudaStream_t stream) {
  thread_local cudaStream_t latest_stream = nullptr;
  thread_local LaunchRing* latest_ring = nullptr;
  if (latest_ring != nullptr && latest_stream == stream) return *latest_ring;

  Rings& all = rings();
  const std::lock_guard lock(all.mutex);
  std::unique_ptr<LaunchRing>& ring = all.of_stream[stream];
  if (ring == nullptr) ring = std::make_unique<LaunchRing>();

  latest_stream = stream;
  latest_ring = ring.get();
  return *ring;
}

}  // namespace

uint64_t note_launch(const char* name, cudaStream_t stream) noexcept {
  const uint64_t sequence = launches.fetch_add(1, std::memory_order_relaxed) + 1;

  LaunchRing& ring = ring_of(stream);
  const size_t slot = ring.next.fetch_add(1, std::memory_order_relaxed) % kRemembered;
  LaunchRing::Entry& entry = ring.entries[slot];
  entry.sequence.store(0, std::memory_order_relaxed);
  entry.name.store(name, std::memory_order_release);
  entry.op.store(RunningOperator::innermost(), std::memory_order_relaxed);
  entry.caller.store(RunningOperator::outermost(), std::memory_order_relaxed);
  entry.sequence.store(sequence, std::memory_order_release);

  return sequence;
}

LaunchRecord find_launch(uint64_t sequence) noexcept {
  Rings& all = rings();
  const std::lock_guard lock(all.mutex);

  for (const auto& [stream, ring] : all.of_stream)
    for (const LaunchRing::Entry& entry : ring->entries)
      if (entry.sequence.load(std::memory_order_acquire) == sequence)
        return {entry.name.load(std::memory_order_relaxed),
                entry.op.load(std::memory_order_relaxed),
                entry.caller.load(std::memory_order_relaxed)};

  return {};
}

uint64_t latest_launch() noexcept { return launches.load(std::memory_order_relaxed); }

void mark_good(cudaStream_t stream, uint64_t sequence) noexcept {
  ring_of(stream).good.store(sequence, std::memory_order_relaxed);
}

void mark_all_good(uint64_t sequence) noexcept {
  Rings& all = rings();
  const std::lock_guard lock(all.mutex);
  for (const auto& [stream, ring] : all.of_stream)
    ring->good.store(sequence, std::memory_order_relaxed);
}

std::string suspects() {
  std::map<uint64_t, const char*> launched;
  {
    Rings& all = rings();
    const std::lock_guard lock(all.mutex);
    for (const auto& [stream, ring] : all.of_stream)
      for (const LaunchRing::Entry& entry : ring->entries) {
        const uint64_t sequence = entry.sequence.load(std::memory_order_acquire);
        if (sequence > ring->good) launched[sequence] = entry.name.load(std::memory_order_relaxed);
      }
  }

  // Repetitions are counted; of very many only the first are shown, where the fault is likely.
  constexpr size_t kShown = 400;
  std::string text;
  for (auto it = launched.begin(); it != launched.end() && text.size() < kShown;) {
    const std::string name = it->second;
    size_t times = 0;
    for (; it != launched.end() && name == it->second; ++it) ++times;
    if (!text.empty()) text += ", ";
    text += times == 1 ? name : name + " (" + std::to_string(times) + "x)";
    if (text.size() >= kShown && it != launched.end()) text += ", ...";
  }
  return text;
}

namespace detail {

void check_launch(cudaError_t status, const char* name, cudaStream_t stream) {
  // An error of earlier work makes CUDA refuse every launch.
  if (C10_UNLIKELY(is_late(status))) throw_error(status, name, __FILE__, __LINE__);
  TORCH_CHECK(status == cudaSuccess, name,
              ": CUDA refused the launch: ", cudaGetErrorString(status));
  if (C10_UNLIKELY(is_blocking())) wait_for_launch(stream);
}

#if !defined(TORCH_PY_CUDA_EMULATION)
void allow_dynamic_shared(const void* kernel, size_t bytes, const char* name) {
  constexpr size_t kAlwaysAllowed = 48 * 1024;
  if (bytes <= kAlwaysAllowed) return;

  check_launch(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)),
               name, nullptr);
}
#endif

}  // namespace detail

}  // namespace c10::cuda
