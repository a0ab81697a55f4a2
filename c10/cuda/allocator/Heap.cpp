// The memory of one device: requests, pools, limits.
#include "c10/cuda/allocator/Heap.h"

#include <algorithm>
#include <limits>

#include "c10/util/Exception.h"

namespace c10::cuda {

namespace {

/// The bytes of a segment of cudaMalloc that serves a request.
size_t segment_bytes(size_t bytes) {
  constexpr size_t kShared = 10 * kGranule;  // for several blocks
  if (bytes < kSmallLimit) return kGranule;
  if (bytes < kShared / 2) return kShared;
  return granule_ceiling(bytes);
}

}  // namespace

Heap::Heap(int device, Segments& segments, Events& events)
    : device(device), memory_(device, segments, events) {
  auto& pool = pools_[{0, 0}];
  pool = std::make_unique<Pool>(memory_, PoolId{0, 0});
  default_pool_ = pool.get();
}

// --- Blocks ---

Pool& Heap::pool_for(int64_t stream) {
  for (const Redirection& redirection : redirections_) {
    if (redirection.accepts(stream)) return *pools_.at(redirection.id);
  }
  return *default_pool_;
}

Block* Heap::take(int64_t stream, size_t bytes) {
  Pool& pool = redirections_.empty() ? *default_pool_ : pool_for(stream);
  StreamState& state = memory_.timeline.stream(stream);

  if (Block* const block = pool.take(state, bytes)) {
    block->stream = &state;
    return block;
  }
  Block* const block = grow(pool, state, bytes);
  if (block != nullptr) block->stream = &state;
  return block;
}

Block* Heap::allocate(size_t bytes, int64_t stream, const char* operator_name) {
  TORCH_CHECK(bytes <= size_t{std::numeric_limits<int64_t>::max()} / 2, "CUDA device ", device,
              " cannot provide ", bytes, " bytes");
  const size_t block_size = block_bytes(bytes);
  std::unique_lock lock(mutex_);

  Block* block = take(stream, block_size);
  if (block == nullptr && !pressure_callbacks_.empty()) {
    ++memory_.statistics.alloc_retries;
    lock.unlock();
    run_pressure_callbacks();
    lock.lock();
    block = take(stream, block_size);
  }
  if (block == nullptr) {
    ++memory_.statistics.ooms;
    const std::string message = describe_shortage(bytes);
    lock.unlock();
    throw OutOfMemoryError(message);
  }

  const bool is_small = block->area->is_small;
  block->state = BlockState::Live;
  block->size_class = is_small ? static_cast<uint8_t>(small_class(block_size)) : 0;
  block->epoch = 0;
  block->others.clear();
  block->requested = bytes;
  block->operator_name = operator_name;

  Statistics& statistics = memory_.statistics;
  statistics.allocation.add(is_small, 1);
  statistics.allocated_bytes.add(is_small, static_cast<int64_t>(block_size));
  statistics.requested_bytes.add(is_small, static_cast<int64_t>(bytes));
  peak_bytes_ = std::max(peak_bytes_, static_cast<size_t>(statistics.requested_bytes.all.current));
  return block;
}

void Heap::free(Block* block) noexcept {
  const std::lock_guard lock(mutex_);

  const bool is_small = block->area->is_small;
  Statistics& statistics = memory_.statistics;
  statistics.allocation.subtract(is_small, 1);
  statistics.allocated_bytes.subtract(is_small, static_cast<int64_t>(block->bytes));
  statistics.requested_bytes.subtract(is_small, static_cast<int64_t>(block->requested));

  block->epoch = memory_.timeline.freed(*block->stream);
  for (Use& use : block->others) use.epoch = memory_.timeline.freed(*use.stream);
  block->area->pool.give(block);
}

void Heap::note_use(Block* block, int64_t stream) {
  if (block->stream->id == stream) return;
  const std::lock_guard lock(mutex_);

  StreamState& state = memory_.timeline.stream(stream);
  const bool is_known = std::any_of(block->others.begin(), block->others.end(),
                                    [&](const Use& use) { return use.stream == &state; });
  if (!is_known) block->others.push_back({&state, 0});
}

// --- Growth ---

Block* Heap::grow(Pool& pool, StreamState& stream, size_t bytes) {
  if (pool.flush()) {
    if (Block* const block = pool.take(stream, bytes)) return block;
  }

  // Neighbours of different streams stay apart, so that streams do not wait for one another, until
  // memory is short.
  if (pool.shares_between_streams() && pool.area_of(bytes).join_all()) {
    if (Block* const block = pool.take(stream, bytes)) return block;
  }

  return memory_.segments.maps_granules() ? grow_by_granules(pool, stream, bytes)
                                          : grow_by_segment(pool, stream, bytes);
}

Block* Heap::grow_by_granules(Pool& pool, StreamState& stream, size_t bytes) {
  Area& area = pool.area_of(bytes);
  const bool foreign = pool.shares_between_streams();

  Window window = area.best_window(stream, bytes, foreign);
  if (window.range == nullptr) {
    if (!within_limit(bytes) || !add_range(pool, bytes)) return nullptr;
    window = area.best_window(stream, bytes, foreign);
  }
  if (window.granules == 0) return area.claim(window, stream, {});

  std::vector<GranuleHandle> granules;
  if (!is_ample(bytes, window.granules) || !create(window.granules, granules)) {
    if (!collect(window, granules)) return nullptr;
  }

  // It orders streams before it maps anything, which may throw.
  Block* block = nullptr;
  try {
    block = area.claim(window, stream, granules);
  } catch (const Error&) {
    destroy(granules);
    throw;
  }
  if (block == nullptr) destroy(granules);
  return block;
}

/// Whether new memory may be created though free blocks elsewhere could give theirs. Areas whose
/// peaks come at different times would otherwise pass granules back and forth in every step of a
/// program, and the host waits for the device each time. What this may cost is small.
bool Heap::is_ample(size_t bytes, size_t granules) const {
  const Statistics& statistics = memory_.statistics;
  const size_t reserved = static_cast<size_t>(statistics.reserved_bytes.all.current);
  const size_t live = static_cast<size_t>(statistics.requested_bytes.all.current) + bytes;
  const size_t peak = std::max(peak_bytes_, live);

  return reserved + granules * kGranule <= peak + peak / 64 + 12 * kGranule;
}

/// Takes the granules of a window out of free blocks, and creates what is missing; all or none.
bool Heap::collect(const Window& window, std::vector<GranuleHandle>& out) {
  const std::vector<Loot> loot = find_loot(window);
  size_t available = 0;
  for (const Loot& each : loot) available += (each.end - each.begin) / kGranule;
  if (!create(window.granules - std::min(window.granules, available), out)) return false;

  for (const Loot& each : loot) {
    if (out.size() == window.granules) break;
    each.area->plunder(each, window.granules - out.size(), out);
  }
  return true;
}

std::vector<Loot> Heap::find_loot(const Window& except) {
  std::vector<Loot> loot;
  for (const auto& [id, pool] : pools_) {
    if (!pool->is_open()) continue;
    pool->flush();
    pool->small.find_loot(loot, except);
    pool->large.find_loot(loot, except);
  }

  // Taking much out of few places leaves the fewest pieces that are smaller than a granule.
  std::stable_sort(loot.begin(), loot.end(),
                   [](const Loot& a, const Loot& b) { return a.end - a.begin > b.end - b.begin; });
  return loot;
}

/// What is more than the device has is refused without asking for its memory granule by granule.
bool Heap::within_limit(size_t bytes) const {
  if (total_bytes_ == 0) return true;  // not known yet
  const size_t reserved = static_cast<size_t>(memory_.statistics.reserved_bytes.all.current);
  return reserved + bytes <= static_cast<size_t>(fraction_ * static_cast<double>(total_bytes_));
}

/// Creates all of the granules or none.
bool Heap::create(size_t count, std::vector<GranuleHandle>& out) {
  if (!within_limit(count * kGranule)) return false;

  for (size_t i = 0; i < count; ++i) {
    const GranuleHandle granule = memory_.segments.create_granule();
    if (granule == 0) {
      destroy(out);
      out.clear();
      return false;
    }
    ++memory_.statistics.device_allocs;
    out.push_back(granule);
  }
  return true;
}

void Heap::destroy(const std::vector<GranuleHandle>& granules) {
  for (const GranuleHandle granule : granules) {
    memory_.segments.destroy_granule(granule);
    ++memory_.statistics.device_frees;
  }
}

/// Addresses are plentiful: an area gets more than the device can fill, so that large blocks find
/// room between others. Further ranges follow if that was not enough.
bool Heap::add_range(Pool& pool, size_t bytes) {
  if (total_bytes_ == 0) total_bytes_ = memory_.segments.memory_info().second;
  const size_t least = granule_ceiling(bytes) + kGranule;
  const size_t wanted = granule_ceiling(pool.is_private() ? total_bytes_ : 2 * total_bytes_);

  Area& area = pool.area_of(bytes);
  return area.add_range(std::max(least, wanted)) || area.add_range(least);
}

Block* Heap::grow_by_segment(Pool& pool, StreamState& stream, size_t bytes) {
  Area& area = pool.area_of(bytes);
  const Window window = area.best_window(stream, bytes, pool.shares_between_streams());
  if (window.range != nullptr) return area.claim(window, stream, {});

  const size_t segment = segment_bytes(bytes);
  bool added = within_limit(segment) && area.add_segment(segment, stream);
  if (!added && free_segments() != 0) {
    ++memory_.statistics.alloc_retries;
    added = within_limit(segment) && area.add_segment(segment, stream);
  }
  return added ? area.find(stream, bytes, false) : nullptr;
}

// --- Giving memory back ---

void Heap::add_pressure_callback(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  pressure_callbacks_.push_back(std::move(callback));
}

void Heap::run_pressure_callbacks() {
  std::vector<std::function<void()>> callbacks;
  {
    const std::lock_guard lock(mutex_);
    callbacks = pressure_callbacks_;
  }
  for (const auto& callback : callbacks) callback();
}

size_t Heap::free_segments() {
  size_t freed = 0;
  for (const auto& [id, pool] : pools_) {
    if (!pool->is_open()) continue;
    pool->flush();
    freed += pool->small.free_segments() + pool->large.free_segments();
  }
  return freed;
}

void Heap::empty_cache() {
  const std::lock_guard lock(mutex_);

  if (memory_.segments.maps_granules()) {
    std::vector<GranuleHandle> granules;
    for (const Loot& each : find_loot(Window()))
      each.area->plunder(each, std::numeric_limits<size_t>::max() / kGranule, granules);
    destroy(granules);
  } else {
    free_segments();
  }
  remove_unused_pools();
}

void Heap::remove_unused_pools() {
  std::erase_if(pools_, [](const auto& entry) {
    Pool& pool = *entry.second;
    if (!pool.is_private() || !pool.is_open() || pool.has_memory()) return false;
    pool.small.release_ranges();
    pool.large.release_ranges();
    return true;
  });
}

// --- Streams and private pools ---

uint64_t Heap::before_synchronize(int64_t stream) {
  const std::lock_guard lock(mutex_);
  return memory_.timeline.begin_synchronize(memory_.timeline.stream(stream));
}

void Heap::after_synchronize(int64_t stream, uint64_t mark) {
  const std::lock_guard lock(mutex_);
  memory_.timeline.end_synchronize(memory_.timeline.stream(stream), mark);
}

void Heap::forget_stream(int64_t stream) {
  const std::lock_guard lock(mutex_);
  memory_.timeline.forget(memory_.timeline.stream(stream));
}

void Heap::begin_pool(PoolId id, std::function<bool(int64_t)> accepts, bool capturing) {
  TORCH_CHECK(id != (PoolId{0, 0}), "the default memory pool cannot be a private one");
  const std::lock_guard lock(mutex_);

  auto& pool = pools_[id];
  if (pool == nullptr) pool = std::make_unique<Pool>(memory_, id);
  ++pool->users;
  if (capturing) {
    ++pool->captures;
    // Nothing can be recorded in a stream while it is captured, but others may need its blocks.
    memory_.timeline.checkpoint_all();
  }
  redirections_.insert(redirections_.begin(), {id, std::move(accepts), capturing});
}

void Heap::end_pool(PoolId id) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(redirections_.begin(), redirections_.end(),
                                  [&](const Redirection& each) { return each.id == id; });
  TORCH_CHECK(found != redirections_.end(), "end_pool: memory pool (", id.first, ", ", id.second,
              ") is not in use");

  Pool& pool = *pools_.at(id);
  if (found->capturing && --pool.captures == 0) {
    pool.flush();
    pool.small.forget_uses();
    pool.large.forget_uses();
  }
  redirections_.erase(found);
}

void Heap::release_pool(PoolId id) {
  const std::lock_guard lock(mutex_);
  const auto found = pools_.find(id);
  TORCH_CHECK(found != pools_.end() && found->second->users > 0, "release_pool: memory pool (",
              id.first, ", ", id.second, ") does not exist");
  --found->second->users;
}

void Heap::set_fraction(double fraction) {
  TORCH_CHECK_VALUE(fraction >= 0 && fraction <= 1, "Invalid fraction value: ", fraction,
                    ". Allowed range: 0~1");
  const std::lock_guard lock(mutex_);
  total_bytes_ = memory_.segments.memory_info().second;
  fraction_ = fraction;
}

double Heap::fraction() {
  const std::lock_guard lock(mutex_);
  return fraction_;
}

}  // namespace c10::cuda
