// Pools of CUDA streams, made one by one when needed, and the current ones of each thread.
#include "c10/cuda/Stream.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "c10/core/DeviceHooks.h"
#include "c10/cuda/Runtime.h"
#include "c10/util/Exception.h"

namespace c10::cuda {

namespace {

constexpr int kStreamsPerPriority = 32;
constexpr int kMostPriorities = 8;
constexpr int64_t kLastPoolId = kStreamsPerPriority * kMostPriorities;  // pool ids begin with 1
constexpr int kMostDevices = 64;

/// The streams of one device. A slot is filled once and never changes.
struct Pool {
  std::mutex filling;
  std::array<std::atomic<cudaStream_t>, kLastPoolId> streams = {};
  std::array<std::atomic<uint32_t>, kMostPriorities> next = {};
};

Pool& pool_of(DeviceIndex device) {
  static std::array<Pool, kMostDevices>& all = *new std::array<Pool, kMostDevices>;
  return all[static_cast<size_t>(device)];
}

// The ids of the streams that are current on each device.
thread_local std::array<int64_t, kMostDevices> current_ids = {};

Device device_of(DeviceIndex index) { return Device(DeviceType::CUDA, index); }

bool is_pool_id(int64_t id) { return id > 0 && id <= kLastPoolId; }

/// Slots are sorted by priority: -level is CUDA's number of it.
int level_of(int64_t id) { return static_cast<int>((id - 1) / kStreamsPerPriority); }

cudaStream_t filled_slot(DeviceIndex device, int64_t id) {
  Pool& pool = pool_of(device);
  std::atomic<cudaStream_t>& slot = pool.streams[static_cast<size_t>(id - 1)];
  if (const cudaStream_t made = slot.load(std::memory_order_acquire)) return made;

  const std::lock_guard lock(pool.filling);
  if (const cudaStream_t made = slot.load(std::memory_order_relaxed)) return made;
  const SelectedDevice guard(device);
  cudaStream_t made = nullptr;
  C10_CUDA_CHECK(cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, -level_of(id)));
  slot.store(made, std::memory_order_release);
  return made;
}

}  // namespace

std::pair<int, int> priority_range() {
  int lowest = 0;
  int highest = 0;
  C10_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  return {lowest, std::max(highest, 1 - kMostPriorities)};
}

Stream pool_stream(DeviceIndex device, int priority) {
  static const std::pair<int, int> range = priority_range();
  const int level = -std::clamp(priority, range.second, range.first);

  const uint32_t turn = pool_of(device).next[static_cast<size_t>(level)].fetch_add(1);
  const int64_t id = 1 + level * kStreamsPerPriority + turn % kStreamsPerPriority;
  filled_slot(device, id);
  return {device_of(device), id};
}

Stream external_stream(DeviceIndex device, cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return default_stream(device);
  TORCH_CHECK(handle != cudaStreamPerThread,
              "the per-thread default stream cannot be used as an external stream; "
              "create a stream");
  return {device_of(device), reinterpret_cast<int64_t>(handle)};
}

Stream default_stream(DeviceIndex device) { return {device_of(device), 0}; }

Stream current_stream_of(DeviceIndex device) {
  return {device_of(device), current_ids[static_cast<size_t>(device)]};
}

Stream exchange_stream(Stream stream) {
  const DeviceIndex device = stream.device.index;
  const Stream before = current_stream_of(device);
  current_ids[static_cast<size_t>(device)] = stream.id;
  if (stream.id != 0) uses_several_streams.store(true, std::memory_order_relaxed);
  return before;
}

cudaStream_t native(Stream stream) {
  if (C10_LIKELY(stream.id == 0)) return nullptr;
  if (is_pool_id(stream.id)) return filled_slot(stream.device.index, stream.id);
  return reinterpret_cast<cudaStream_t>(stream.id);
}

int priority_of(Stream stream) {
  if (stream.id == 0) return 0;
  if (is_pool_id(stream.id)) return -level_of(stream.id);
  int priority = 0;
  C10_CUDA_CHECK(cudaStreamGetPriority(native(stream), &priority));
  return priority;
}

cudaStream_t current_stream() { return native(current_stream_of(current_device())); }

}  // namespace c10::cuda
