// Blocks of pinned host memory.
#include "c10/cuda/allocator/PinnedPool.h"

#include <chrono>
#include <limits>

#include "c10/util/Exception.h"

namespace c10::cuda {

namespace {

constexpr size_t kLeast = 512;
constexpr size_t kSharedChunk = size_t{1} << 20;

/// 512, then 640, 768, 896, 1024, 1280, ...
constexpr int pinned_class(size_t bytes) {
  if (bytes <= kLeast) return 0;
  const size_t last = bytes - 1;
  const int octave = 63 - __builtin_clzll(last);  // 9 for 513 bytes
  return 1 + (octave - 9) * 4 + static_cast<int>((last >> (octave - 2)) & 3);
}

constexpr size_t pinned_class_bytes(int index) {
  if (index == 0) return kLeast;
  const size_t base = kLeast << ((index - 1) / 4);
  return base + base / 4 * static_cast<size_t>((index - 1) % 4 + 1);
}
static_assert(pinned_class_bytes(pinned_class(513)) == 640);
static_assert(pinned_class_bytes(pinned_class(1024)) == 1024);
static_assert(pinned_class(size_t{1} << 42) < kPinnedClasses);

void append(NamedNumbers& out, const std::string& name, const Counter& counter) {
  out.emplace_back(name + ".allocated", counter.allocated);
  out.emplace_back(name + ".current", counter.current);
  out.emplace_back(name + ".freed", counter.freed);
  out.emplace_back(name + ".peak", counter.peak);
}

void append(NamedNumbers& out, const std::string& name, const CallTimes& times) {
  out.emplace_back(name + ".avg", times.count == 0 ? 0 : times.total / times.count);
  out.emplace_back(name + ".count", times.count);
  out.emplace_back(name + ".max", times.most);
  out.emplace_back(name + ".min", times.least);
  out.emplace_back(name + ".total", times.total);
}

/// Adds the time that a call takes, and returns its result.
template <class Function>
auto timed(CallTimes& times, const Function& call) {
  struct Stopwatch {
    using Clock = std::chrono::steady_clock;
    CallTimes& times;
    Clock::time_point begin = Clock::now();
    ~Stopwatch() {
      const auto passed = Clock::now() - begin;
      times.add(std::chrono::duration_cast<std::chrono::microseconds>(passed).count());
    }
  };
  const Stopwatch stopwatch{times};
  return call();
}

}  // namespace

/// Whether the device is done with the block. Events are kept until all of them are over.
bool PinnedPool::is_over(PinnedBlock& block) noexcept {
  while (!block.events.empty()) {
    if (!source_.is_over(block.events.back())) return false;
    source_.give_event(block.events.back());
    block.events.pop_back();
  }
  return true;
}

/// The host writes to a block without asking the device, so only blocks that are done with qualify.
/// The oldest ones are the most likely.
PinnedBlock* PinnedPool::take_waiting(FreeBlocks& blocks) {
  constexpr size_t kLooks = 4;

  for (size_t i = 0; i < std::min(kLooks, blocks.waiting.size()); ++i) {
    PinnedBlock* const block = blocks.waiting[i];
    if (!is_over(*block)) continue;
    blocks.waiting.erase(blocks.waiting.begin() + static_cast<std::ptrdiff_t>(i));
    return block;
  }
  return nullptr;
}

void PinnedPool::add_chunk(int size_class) {
  const size_t block_bytes = pinned_class_bytes(size_class);
  const size_t count = block_bytes <= kSharedChunk / 16 ? kSharedChunk / block_bytes : 1;

  const auto allocate = [&] { return source_.allocate(count * block_bytes); };
  void* memory = timed(alloc_times_, allocate);
  if (memory == nullptr) {
    empty_cache_locked();
    memory = timed(alloc_times_, allocate);
  }
  if (memory == nullptr)
    TORCH_THROW(OutOfMemoryError, "cannot allocate ", count * block_bytes,
                " bytes of pinned host memory");

  auto chunk = std::make_unique<PinnedChunk>();
  chunk->address = static_cast<char*>(memory);
  chunk->bytes = count * block_bytes;
  chunk->blocks.resize(count);
  for (size_t i = count; i-- > 0;) {
    PinnedBlock& block = chunk->blocks[i];
    block.address = chunk->address + i * block_bytes;
    block.size_class = size_class;
    block.chunk = chunk.get();
    free_[static_cast<size_t>(size_class)].ready.push_back(&block);
  }

  chunk_count_.add(1);
  blocks_.add(static_cast<int64_t>(count));
  bytes_.add(static_cast<int64_t>(chunk->bytes));
  chunks_[chunk->address] = std::move(chunk);
}

PinnedBlock* PinnedPool::allocate(size_t bytes) {
  TORCH_CHECK(bytes <= size_t{1} << 42, "cannot allocate ", bytes, " bytes of pinned host memory");
  const int size_class = pinned_class(bytes);
  const std::lock_guard lock(mutex_);

  FreeBlocks& blocks = free_[static_cast<size_t>(size_class)];
  PinnedBlock* block = nullptr;
  if (blocks.ready.empty()) block = take_waiting(blocks);
  if (block == nullptr) {
    if (blocks.ready.empty()) add_chunk(size_class);
    block = blocks.ready.back();
    blocks.ready.pop_back();
  }

  block->is_live = true;
  live_blocks_.add(1);
  live_bytes_.add(static_cast<int64_t>(pinned_class_bytes(size_class)));
  return block;
}

void PinnedPool::free(PinnedBlock* block) noexcept {
  const std::lock_guard lock(mutex_);
  block->is_live = false;
  live_blocks_.subtract(1);
  live_bytes_.subtract(static_cast<int64_t>(pinned_class_bytes(block->size_class)));

  // Replays of a graph will read or write the block, nobody knows how often.
  if (block->is_captured) return;
  FreeBlocks& blocks = free_[static_cast<size_t>(block->size_class)];
  if (block->events.empty()) blocks.ready.push_back(block);
  else blocks.waiting.push_back(block);
}

bool PinnedPool::note_use(const void* address, void* stream) {
  const char* const byte = static_cast<const char*>(address);
  const std::lock_guard lock(mutex_);

  auto next = chunks_.upper_bound(byte);
  if (next == chunks_.begin()) return false;
  PinnedChunk& chunk = *std::prev(next)->second;
  if (byte >= chunk.address + chunk.bytes) return false;

  const size_t block_bytes = chunk.bytes / chunk.blocks.size();
  PinnedBlock& block = chunk.blocks[static_cast<size_t>(byte - chunk.address) / block_bytes];
  if (void* const event = source_.record(stream)) block.events.push_back(event);
  else block.is_captured = true;

  // A block that is copied again and again keeps few events.
  if (block.events.size() > 8 && source_.is_over(block.events.front())) {
    source_.give_event(block.events.front());
    block.events.erase(block.events.begin());
  }
  return true;
}

void PinnedPool::empty_cache() {
  const std::lock_guard lock(mutex_);
  empty_cache_locked();
}

void PinnedPool::empty_cache_locked() {
  std::erase_if(chunks_, [&](const auto& entry) {
    PinnedChunk& chunk = *entry.second;
    for (const PinnedBlock& block : chunk.blocks)
      if (block.is_live || block.is_captured) return false;

    const size_t size_class = static_cast<size_t>(chunk.blocks.front().size_class);
    const auto is_here = [&](const PinnedBlock* block) { return block->chunk == &chunk; };
    std::erase_if(free_[size_class].ready, is_here);
    std::erase_if(free_[size_class].waiting, is_here);
    for (PinnedBlock& block : chunk.blocks) {
      for (void* const event : block.events) {
        source_.synchronize(event);
        source_.give_event(event);
      }
    }

    timed(free_times_, [&] { source_.free(chunk.address); });
    chunk_count_.subtract(1);
    blocks_.subtract(static_cast<int64_t>(chunk.blocks.size()));
    bytes_.subtract(static_cast<int64_t>(chunk.bytes));
    return true;
  });
}

NamedNumbers PinnedPool::statistics() {
  const std::lock_guard lock(mutex_);
  NamedNumbers out;
  append(out, "active_bytes", live_bytes_);
  append(out, "active_requests", live_blocks_);
  append(out, "allocated_bytes", bytes_);
  append(out, "allocations", blocks_);
  append(out, "host_alloc_time", alloc_times_);
  append(out, "host_free_time", free_times_);
  out.emplace_back("num_host_alloc", chunk_count_.allocated);
  out.emplace_back("num_host_free", chunk_count_.freed);
  return out;
}

void PinnedPool::reset_peaks() {
  const std::lock_guard lock(mutex_);
  for (Counter* const counter : {&blocks_, &bytes_, &live_blocks_, &live_bytes_, &chunk_count_})
    counter->peak = counter->current;
}

void PinnedPool::reset_accumulated() {
  const std::lock_guard lock(mutex_);
  for (Counter* const counter : {&blocks_, &bytes_, &live_blocks_, &live_bytes_, &chunk_count_}) {
    counter->allocated = 0;
    counter->freed = 0;
  }
  alloc_times_ = {};
  free_times_ = {};
}

}  // namespace c10::cuda
