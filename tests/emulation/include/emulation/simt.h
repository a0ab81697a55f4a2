// The vocabulary of c10/cuda/Simt.h as the emulation executes it.
#pragma once

#include <bit>
#include <cmath>

#include "emulation/meeting.h"

#define SIMT_KERNEL void
#define SIMT_DEVICE inline
#define SIMT_LAUNCH_BOUNDS(...)
#define SIMT_UNROLL
#define SIMT_SHARED(name, ...)                                                             \
  static constexpr ::emulation::SharedSite simt_site_of_##name{#name, sizeof(__VA_ARGS__), \
                                                               alignof(__VA_ARGS__)};      \
  auto& name = *static_cast<std::type_identity_t<__VA_ARGS__>*>(                           \
      ::emulation::shared_memory(simt_site_of_##name))

namespace simt {

using emulation::Where;

// --- Where the thread is ---

inline unsigned thread_x() { return emulation::self->index.x; }
inline unsigned thread_y() { return emulation::self->index.y; }
inline unsigned thread_z() { return emulation::self->index.z; }
inline unsigned block_x() { return emulation::self->block->index.x; }
inline unsigned block_y() { return emulation::self->block->index.y; }
inline unsigned block_z() { return emulation::self->block->index.z; }
inline unsigned block_dim_x() { return emulation::self->block->size.x; }
inline unsigned block_dim_y() { return emulation::self->block->size.y; }
inline unsigned block_dim_z() { return emulation::self->block->size.z; }
inline unsigned grid_dim_x() { return emulation::self->block->grid_size.x; }
inline unsigned grid_dim_y() { return emulation::self->block->grid_size.y; }
inline unsigned grid_dim_z() { return emulation::self->block->grid_size.z; }
inline unsigned lane() { return emulation::self->linear % 32; }
inline unsigned warp() { return emulation::self->linear / 32; }

// --- Shared memory ---

template <class T>
T* dynamic_shared() {
  return static_cast<T*>(emulation::dynamic_shared_memory());
}

// --- Barriers ---

inline void sync_block(Where where = Where::current()) {
  emulation::meet_block("sync_block", false, where);
}
inline unsigned sync_block_count(bool vote, Where where = Where::current()) {
  return emulation::meet_block("sync_block_count", vote, where);
}
inline void sync_warp(unsigned mask = kFullMask, Where where = Where::current()) {
  emulation::synchronize_lanes(mask, where);
}

// --- Lanes ---

namespace detail {

template <class T>
T shuffle(const char* operation, unsigned mask, T value, int source, const Where& where) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16);
  emulation::LaneRequest request{operation, where, mask, sizeof(T), source};
  std::memcpy(request.data, &value, sizeof(T));
  emulation::meet_lanes(request);
  std::memcpy(&value, request.data, sizeof(T));
  return value;
}

inline unsigned vote(const char* operation, unsigned mask, bool predicate, const Where& where) {
  emulation::LaneRequest request{operation, where, mask};
  request.vote = predicate;
  emulation::meet_lanes(request);
  return request.votes;
}

}  // namespace detail

/// Of lane() + n; a lane's own value where that is beyond its group of `width` lanes.
template <class T>
T shuffle_down(unsigned mask, T value, unsigned n, unsigned width = 32,
               Where where = Where::current()) {
  const unsigned in_group = lane() % width + n;
  const int source = in_group < width ? static_cast<int>(lane() + n) : -1;
  return detail::shuffle("shuffle_down", mask, value, source, where);
}
template <class T>
T shuffle_up(unsigned mask, T value, unsigned n, unsigned width = 32,
             Where where = Where::current()) {
  const int source = lane() % width >= n ? static_cast<int>(lane() - n) : -1;
  return detail::shuffle("shuffle_up", mask, value, source, where);
}
template <class T>
T shuffle_xor(unsigned mask, T value, unsigned n, unsigned width = 32,
              Where where = Where::current()) {
  // A partner in a later group is out of reach; one in an earlier group is not.
  const unsigned partner = lane() ^ n;
  const bool reached = partner < (lane() / width + 1) * width;
  return detail::shuffle("shuffle_xor", mask, value, reached ? static_cast<int>(partner) : -1,
                         where);
}
template <class T>
T shuffle_index(unsigned mask, T value, unsigned n, unsigned width = 32,
                Where where = Where::current()) {
  const unsigned source = lane() / width * width + n % width;
  return detail::shuffle("shuffle_index", mask, value, static_cast<int>(source), where);
}

inline unsigned ballot(unsigned mask, bool predicate, Where where = Where::current()) {
  return detail::vote("ballot", mask, predicate, where);
}
inline bool any(unsigned mask, bool predicate, Where where = Where::current()) {
  return detail::vote("any", mask, predicate, where) != 0;
}
inline bool all(unsigned mask, bool predicate, Where where = Where::current()) {
  return detail::vote("all", mask, predicate, where) == mask;
}

// --- Atomics, fences ---

namespace detail {

template <class T, class F>
T update(T* address, F next) {
  T old;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  T desired = next(old);
  while (!__atomic_compare_exchange(address, &old, &desired, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
    desired = next(old);
  emulation::note_atomic(address);
  return old;
}

template <class T>
T compare_and_swap(T* address, T expected, T value) {
  __atomic_compare_exchange(address, &expected, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  emulation::note_atomic(address);
  return expected;
}

inline uint32_t take_slot(uint32_t* taken) {
  return __atomic_fetch_add(taken, 1u, __ATOMIC_RELAXED);
}
inline void publish(uint32_t* complete) { __atomic_store_n(complete, 1u, __ATOMIC_RELEASE); }

}  // namespace detail

inline void fence() { emulation::fence(); }
inline void fence_block() { emulation::fence(); }

template <class T>
T load_acquire(const T* address, Where where = Where::current()) {
  emulation::note_spin(where);
  T value;
  __atomic_load(address, &value, __ATOMIC_ACQUIRE);
  return value;
}
template <class T>
void store_release(T* address, T value) {
  __atomic_store(address, &value, __ATOMIC_RELEASE);
}
inline void pause(Where where = Where::current()) { emulation::pause(where); }

// --- Memory ---

template <class T>
T load_streaming(const T* address) {
  return *address;
}
template <class T>
void store_streaming(T* address, const T& value) {
  *address = value;
}

/// Copies 4, 8 or 16 aligned bytes into shared memory while the thread goes on.
template <unsigned bytes>
void copy_async(void* to_shared, const void* from) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16);
  emulation::copy_later(to_shared, from, bytes);
}
/// Makes one group of the copies started since the last group.
inline void copy_async_commit() { emulation::close_copy_group(); }
/// Waits until at most `open` of the thread's latest groups are still being copied.
template <unsigned open = 0>
void copy_async_wait() {
  emulation::wait_for_copy_groups(open);
}

// --- Bits ---

inline int popcount(uint32_t bits) { return std::popcount(bits); }
inline int popcount(uint64_t bits) { return std::popcount(bits); }
inline int count_leading_zeros(uint32_t bits) { return std::countl_zero(bits); }
/// One more than the index of the lowest bit that is set; 0 if none is.
inline int find_first_set(uint32_t bits) { return bits == 0 ? 0 : std::countr_zero(bits) + 1; }

}  // namespace simt
