// PinnedPool: blocks of pinned host memory, reused when the device is done with them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "c10/cuda/allocator/Statistics.h"

namespace c10::cuda {

/// What a pinned pool asks of CUDA. Called under the pool's lock.
class PinnedSource {
 public:
  virtual ~PinnedSource() = default;
  /// Null if the system refuses.
  virtual void* allocate(size_t bytes) = 0;
  virtual void free(void* memory) noexcept = 0;
  /// An event at the end of the stream's work, on the current device; null while it is captured.
  virtual void* record(void* stream) = 0;
  virtual bool is_over(void* event) noexcept = 0;
  virtual void synchronize(void* event) noexcept = 0;
  /// Takes an event back that is not needed any more.
  virtual void give_event(void* event) noexcept = 0;
};

/// A block of pinned memory, in use or free.
struct PinnedBlock {
  char* address = nullptr;
  int size_class = 0;
  struct PinnedChunk* chunk = nullptr;
  bool is_captured = false;  // a graph will use it again
  bool is_live = false;
  std::vector<void*> events;  // of the copies that have used it since it was allocated
};

/// What one call of cudaHostAlloc returned, cut into blocks of one class.
struct PinnedChunk {
  char* address = nullptr;
  size_t bytes = 0;
  std::vector<PinnedBlock> blocks;
};

// Sizes are four to a power of two, from 512 bytes to 8 TiB. Small blocks share a chunk: pinning a
// page takes the system longer than most copies.
constexpr int kPinnedClasses = 136;

class PinnedPool {
 public:
  explicit PinnedPool(PinnedSource& source) : source_(source) {}

  /// A block whose earlier copies are over: the host can write to it at once.
  PinnedBlock* allocate(size_t bytes);
  void free(PinnedBlock* block) noexcept;
  /// Notes that work put into the stream uses the block that contains the address; false if it is
  /// not memory of this pool.
  bool note_use(const void* address, void* stream);
  /// Gives chunks back of which no block is in use, after the copies from and to them.
  void empty_cache();

  NamedNumbers statistics();
  void reset_peaks();
  void reset_accumulated();

 private:
  struct FreeBlocks {
    std::vector<PinnedBlock*> ready;
    std::deque<PinnedBlock*> waiting;  // for their copies, in the order in which they were freed
  };

  PinnedBlock* take_waiting(FreeBlocks& blocks);
  bool is_over(PinnedBlock& block) noexcept;
  void add_chunk(int size_class);
  void empty_cache_locked();

  std::mutex mutex_;
  PinnedSource& source_;
  std::array<FreeBlocks, kPinnedClasses> free_;
  std::map<const char*, std::unique_ptr<PinnedChunk>> chunks_;  // by their first byte
  Counter blocks_;                                              // owned, in use or free
  Counter bytes_;
  Counter live_blocks_;
  Counter live_bytes_;
  Counter chunk_count_;
  CallTimes alloc_times_;  // of chunks
  CallTimes free_times_;
};

}  // namespace c10::cuda
