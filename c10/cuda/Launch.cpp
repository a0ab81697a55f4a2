// Launch: the rings that remember which operators started kernels, and errors of launches.
#include "c10/cuda/Launch.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "c10/cuda/Runtime.h"
#include "c10/dispatch/RunningOperator.h"
#include "c10/util/Exception.h"

// Note [Launch rings]
// A launch's number is its count, and in the lowest bits its origin: the operators that started it,
// which are kept for ever, because a report may be read long after the launch, or come from a
// graph. There are as many origins as pairs of operators that call each other. Each stream has a
// ring of the numbers of its latest launches, one word each, which only errors read.

namespace c10::cuda {

namespace {

constexpr size_t kRemembered = 256;
constexpr int kOriginBits = 20;
constexpr uint64_t kOriginMask = (uint64_t{1} << kOriginBits) - 1;

std::atomic<uint64_t> launches{0};

/// All that is known of launches so far. Place 0 says nothing.
struct Origins {
  using Key = std::tuple<const char*, const OperatorEntry*, const OperatorEntry*>;
  std::mutex mutex;
  std::map<Key, uint64_t> places;
  std::vector<LaunchRecord> records{LaunchRecord{}};
};

struct LaunchRing {
  std::atomic<uint64_t> sequences[kRemembered] = {};
  std::atomic<size_t> next{0};
  std::atomic<uint64_t> good{0};  // launches up to this number went well
};

// All devices call their default stream null.
using StreamKey = std::pair<DeviceIndex, cudaStream_t>;

struct Rings {
  std::mutex mutex;
  std::map<StreamKey, std::unique_ptr<LaunchRing>> of_stream;
};

// Neither is destroyed: threads may launch while the process ends.
Origins& origins() {
  static Origins& all = *new Origins;
  return all;
}
Rings& rings() {
  static Rings& all = *new Rings;
  return all;
}

uint64_t add_origin(const LaunchRecord& record) {
  Origins& all = origins();
  const std::lock_guard lock(all.mutex);
  const auto [found, is_new] =
      all.places.try_emplace({record.name, record.op, record.caller}, all.records.size());
  if (is_new && found->second <= kOriginMask) all.records.push_back(record);
  return found->second <= kOriginMask ? found->second : 0;
}

/// The place of a launch's origin. Each thread remembers the latest ones that it has asked for.
uint64_t origin_of(const LaunchRecord& record) {
  struct Known {
    LaunchRecord record;
    uint64_t place = 0;
  };
  constexpr size_t kKnown = 64;
  thread_local std::unique_ptr<Known[]> known;
  if (C10_UNLIKELY(known == nullptr)) known = std::make_unique<Known[]>(kKnown);

  const auto bits = reinterpret_cast<uintptr_t>(record.op) * 3 +
                    reinterpret_cast<uintptr_t>(record.caller) +
                    reinterpret_cast<uintptr_t>(record.name);
  Known& slot = known[(bits >> 4) % kKnown];
  if (slot.place != 0 && slot.record.name == record.name && slot.record.op == record.op &&
      slot.record.caller == record.caller)
    return slot.place;

  slot.place = add_origin(record);
  slot.record = record;
  return slot.place;
}

LaunchRing& ring_of(const StreamKey& stream) {
  thread_local StreamKey latest_stream;
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
  const uint64_t count = launches.fetch_add(1, std::memory_order_relaxed) + 1;
  uint64_t sequence = count << kOriginBits;
  try {
    sequence |= origin_of({name, RunningOperator::innermost(), RunningOperator::outermost()});
    LaunchRing& ring = ring_of({current_device(), stream});
    const size_t slot = ring.next.fetch_add(1, std::memory_order_relaxed) % kRemembered;
    ring.sequences[slot].store(sequence, std::memory_order_relaxed);
  } catch (...) {
    // Without memory the launch has no name; it runs all the same.
  }
  return sequence;
}

LaunchRecord find_launch(uint64_t sequence) noexcept {
  Origins& all = origins();
  const std::lock_guard lock(all.mutex);
  const size_t place = sequence & kOriginMask;
  return place < all.records.size() ? all.records[place] : LaunchRecord{};
}

uint64_t latest_launch() noexcept {
  return launches.load(std::memory_order_relaxed) << kOriginBits | kOriginMask;
}

void mark_good(cudaStream_t stream, uint64_t sequence) noexcept {
  const StreamKey key{current_device(), stream};
  Rings& all = rings();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.of_stream.find(key); found != all.of_stream.end())
    found->second->good.store(sequence, std::memory_order_relaxed);
}

void mark_all_good(uint64_t sequence) noexcept {
  const DeviceIndex device = current_device();
  Rings& all = rings();
  const std::lock_guard lock(all.mutex);
  for (const auto& [key, ring] : all.of_stream)
    if (key.first == device) ring->good.store(sequence, std::memory_order_relaxed);
}

std::string suspects() {
  const DeviceIndex device = current_device();
  std::map<uint64_t, const char*> launched;
  {
    Rings& all = rings();
    const std::lock_guard lock(all.mutex);
    for (const auto& [key, ring] : all.of_stream) {
      if (key.first != device) continue;
      for (const std::atomic<uint64_t>& entry : ring->sequences) {
        const uint64_t sequence = entry.load(std::memory_order_relaxed);
        if (sequence <= ring->good) continue;
        const char* const name = find_launch(sequence).name;
        launched[sequence] = name != nullptr ? name : "an operator";
      }
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
