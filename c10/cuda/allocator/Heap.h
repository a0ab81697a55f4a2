// Heap: the memory of one device. All policy is here and below, and none of it calls CUDA.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "c10/cuda/allocator/Pool.h"

namespace c10::cuda {

// Note [Device memory]
// A request is served from free memory of its stream, else from free memory of other streams, for
// whose events the stream waits on the device; so memory in use never depends on how far the
// device has got. If no free block is large enough, the granules that no block uses are taken out
// of free blocks elsewhere and mapped one after another next to a free piece that borders on
// unmapped addresses, and only what is then still missing is created. Memory is lost to
// fragmentation only in granules that a live block uses in part.

/// Where the memory of a block comes from, for sharing it with another process.
struct BaseAllocation {
  uintptr_t address = 0;  // of the segment, or of the first granule
  size_t bytes = 0;
  std::vector<GranuleHandle> granules;  // empty for a segment of cudaMalloc
};

class Heap {
 public:
  /// `device` is only for messages.
  Heap(int device, Segments& segments, Events& events);

  /// A live block of at least `bytes` bytes, which is not 0. Throws OutOfMemoryError.
  Block* allocate(size_t bytes, int64_t stream, const char* operator_name);
  void free(Block* block) noexcept;
  /// Says that the stream uses a live block up to the moment when it is freed.
  void note_use(Block* block, int64_t stream);

  /// Requests whose stream the filter accepts are served from a private pool until end_pool.
  void begin_pool(PoolId id, std::function<bool(int64_t)> accepts, bool capturing);
  void end_pool(PoolId id);
  /// Undoes one begin_pool: without users, the pool gives its memory up once its blocks are freed.
  void release_pool(PoolId id);

  /// Gives memory that no block uses back to the driver.
  void empty_cache();
  /// To be called before and after the host waits for all work of a stream: `after` gets what
  /// `before` returned. Without these calls, waits on the device are issued that need not be.
  uint64_t before_synchronize(int64_t stream);
  void after_synchronize(int64_t stream, uint64_t mark);
  /// Waits for what the stream has to do with free memory, before the stream is destroyed.
  void forget_stream(int64_t stream);

  void set_fraction(double fraction);
  double fraction();
  /// Called, without a lock, when the device has no memory left, before the last attempt.
  void add_pressure_callback(std::function<void()> callback);

  NamedNumbers statistics();
  void reset_peaks();
  void reset_accumulated();
  /// Appends a JSON object for each piece of mapped memory.
  void append_snapshot(std::string& json);
  BaseAllocation base_of(uintptr_t address);

  const int device;

 private:
  struct Redirection {
    PoolId id;
    std::function<bool(int64_t)> accepts;
    bool capturing;
  };

  Pool& pool_for(int64_t stream);
  Block* take(int64_t stream, size_t bytes);
  Block* grow(Pool& pool, StreamState& stream, size_t bytes);
  Block* grow_by_granules(Pool& pool, StreamState& stream, size_t bytes);
  Block* grow_by_segment(Pool& pool, StreamState& stream, size_t bytes);
  bool add_range(Pool& pool, size_t bytes);
  bool is_ample(size_t bytes, size_t granules) const;
  bool collect(const Window& window, std::vector<GranuleHandle>& out);
  std::vector<Loot> find_loot(const Window& except);
  bool create(size_t count, std::vector<GranuleHandle>& out);
  void destroy(const std::vector<GranuleHandle>& granules);
  bool within_limit(size_t bytes) const;
  void run_pressure_callbacks();
  size_t free_segments();
  void remove_unused_pools();
  std::string describe_shortage(size_t requested);
  template <class Function>
  void for_each_area(Function function);

  std::mutex mutex_;
  DeviceMemory memory_;
  std::map<PoolId, std::unique_ptr<Pool>> pools_;
  Pool* default_pool_;
  std::vector<Redirection> redirections_;  // the latest one comes first
  std::vector<std::function<void()>> pressure_callbacks_;
  size_t total_bytes_ = 0;  // of the device; asked for when first needed
  size_t peak_bytes_ = 0;   // requested by live blocks at once, since the beginning
  double fraction_ = 1.0;
};

}  // namespace c10::cuda
