// The vocabulary of Simt.h as nvcc compiles it. Included by Simt.h only.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "c10/util/Export.h"

#define SIMT_KERNEL __global__ void
#define SIMT_DEVICE __device__ __forceinline__
#define SIMT_LAUNCH_BOUNDS(...) __launch_bounds__(__VA_ARGS__)
#define SIMT_UNROLL _Pragma("unroll")
#define SIMT_SHARED(name, ...) __shared__::simt::detail::Same<__VA_ARGS__> name

namespace simt {

// --- Where the thread is ---

SIMT_DEVICE unsigned thread_x() { return threadIdx.x; }
SIMT_DEVICE unsigned thread_y() { return threadIdx.y; }
SIMT_DEVICE unsigned thread_z() { return threadIdx.z; }
SIMT_DEVICE unsigned block_x() { return blockIdx.x; }
SIMT_DEVICE unsigned block_y() { return blockIdx.y; }
SIMT_DEVICE unsigned block_z() { return blockIdx.z; }
SIMT_DEVICE unsigned block_dim_x() { return blockDim.x; }
SIMT_DEVICE unsigned block_dim_y() { return blockDim.y; }
SIMT_DEVICE unsigned block_dim_z() { return blockDim.z; }
SIMT_DEVICE unsigned grid_dim_x() { return gridDim.x; }
SIMT_DEVICE unsigned grid_dim_y() { return gridDim.y; }
SIMT_DEVICE unsigned grid_dim_z() { return gridDim.z; }

SIMT_DEVICE unsigned lane() {
  unsigned result;
  asm("mov.u32 %0, %%laneid;" : "=r"(result));
  return result;
}
SIMT_DEVICE unsigned warp() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32;
}

namespace detail {

template <class T>
using Same = std::type_identity_t<T>;

/// A value as words that shuffles carry.
template <class T>
struct Words {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16);
  static constexpr int kCount = (sizeof(T) + 3) / 4;

  unsigned word[kCount] = {};

  SIMT_DEVICE explicit Words(const T& value) { memcpy(word, &value, sizeof(T)); }
  SIMT_DEVICE T value() const {
    T result;
    memcpy(&result, word, sizeof(T));
    return result;
  }
};

/// The unsigned integer of the size of T.
template <size_t size>
struct BitsOf;
template <>
struct BitsOf<4> {
  using type = unsigned;
};
template <>
struct BitsOf<8> {
  using type = unsigned long long;
};
template <size_t size>
using Bits = typename BitsOf<size>::type;

}  // namespace detail

// --- Shared memory ---

template <class T>
SIMT_DEVICE T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char simt_dynamic_shared_memory[];
  return reinterpret_cast<T*>(simt_dynamic_shared_memory);
}

// --- Barriers ---

SIMT_DEVICE void sync_block() { __syncthreads(); }
SIMT_DEVICE unsigned sync_block_count(bool vote) { return __syncthreads_count(vote); }
SIMT_DEVICE void sync_warp(unsigned mask = kFullMask) { __syncwarp(mask); }

// --- Lanes ---

template <class T>
SIMT_DEVICE T shuffle_down(unsigned mask, T value, unsigned n, unsigned width = 32) {
  detail::Words<T> words(value);
  for (unsigned& word : words.word) word = __shfl_down_sync(mask, word, n, width);
  return words.value();
}
template <class T>
SIMT_DEVICE T shuffle_up(unsigned mask, T value, unsigned n, unsigned width = 32) {
  detail::Words<T> words(value);
  for (unsigned& word : words.word) word = __shfl_up_sync(mask, word, n, width);
  return words.value();
}
template <class T>
SIMT_DEVICE T shuffle_xor(unsigned mask, T value, unsigned n, unsigned width = 32) {
  detail::Words<T> words(value);
  for (unsigned& word : words.word) word = __shfl_xor_sync(mask, word, n, width);
  return words.value();
}
template <class T>
SIMT_DEVICE T shuffle_index(unsigned mask, T value, unsigned n, unsigned width = 32) {
  detail::Words<T> words(value);
  for (unsigned& word : words.word) word = __shfl_sync(mask, word, n, width);
  return words.value();
}

SIMT_DEVICE unsigned ballot(unsigned mask, bool predicate) {
  return __ballot_sync(mask, predicate);
}
SIMT_DEVICE bool any(unsigned mask, bool predicate) { return __any_sync(mask, predicate) != 0; }
SIMT_DEVICE bool all(unsigned mask, bool predicate) { return __all_sync(mask, predicate) != 0; }

// --- Atomics, fences ---

namespace detail {

template <class T>
inline constexpr bool kAddsNatively = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                      (std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
template <class T>
inline constexpr bool kComparesNatively =
    std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

template <class T>
SIMT_DEVICE T native_add(T* address, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return atomicAdd(address, value);
  } else {
    using B = Bits<sizeof(T)>;
    return static_cast<T>(atomicAdd(reinterpret_cast<B*>(address), static_cast<B>(value)));
  }
}

/// CUDA's names of the integer types of 4 and 8 bytes.
template <class T>
using Integer =
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int, unsigned>,
                       std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>>;

template <class T>
SIMT_DEVICE T native_max(T* address, T value) {
  using I = Integer<T>;
  return static_cast<T>(atomicMax(reinterpret_cast<I*>(address), static_cast<I>(value)));
}
template <class T>
SIMT_DEVICE T native_min(T* address, T value) {
  using I = Integer<T>;
  return static_cast<T>(atomicMin(reinterpret_cast<I*>(address), static_cast<I>(value)));
}

/// Values of one and two bytes change within the word that holds them.
template <class T>
SIMT_DEVICE T swap_in_word(T* address, T expected, T value) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2);
  const size_t place = reinterpret_cast<size_t>(address);
  unsigned* const word = reinterpret_cast<unsigned*>(place & ~size_t{3});
  const unsigned shift = static_cast<unsigned>(place & 3) * 8;
  const unsigned field = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;
  const unsigned wanted = Words<T>(expected).word[0] << shift;
  const unsigned stored = Words<T>(value).word[0] << shift;

  unsigned old = *const_cast<volatile unsigned*>(word);
  while ((old & field) == wanted) {
    const unsigned seen = atomicCAS(word, old, (old & ~field) | stored);
    if (seen == old) break;
    old = seen;
  }

  Words<T> result(value);
  result.word[0] = (old & field) >> shift;
  return result.value();
}

template <class T>
SIMT_DEVICE T compare_and_swap(T* address, T expected, T value) {
  if constexpr (sizeof(T) < 4) {
    return swap_in_word(address, expected, value);
  } else {
    using B = Bits<sizeof(T)>;
    B before, after;
    memcpy(&before, &expected, sizeof(T));
    memcpy(&after, &value, sizeof(T));
    const B seen = atomicCAS(reinterpret_cast<B*>(address), before, after);

    T result;
    memcpy(&result, &seen, sizeof(T));
    return result;
  }
}

template <class T>
SIMT_DEVICE bool same_bits(const T& a, const T& b) {
  const Words<T> x(a);
  const Words<T> y(b);
  for (int i = 0; i < Words<T>::kCount; ++i)
    if (x.word[i] != y.word[i]) return false;
  return true;
}

template <class T, class F>
SIMT_DEVICE T update(T* address, F next) {
  T old = *address;  // may be stale: the first swap tells
  for (;;) {
    const T seen = compare_and_swap(address, old, static_cast<T>(next(old)));
    if (same_bits(seen, old)) return old;
    old = seen;
  }
}

/// Only kernels of one device take slots; not every system lets a device make atomic operations of
/// the whole system in the memory of the host.
SIMT_DEVICE uint32_t take_slot(uint32_t* taken) { return atomicAdd(taken, 1u); }

SIMT_DEVICE void publish(uint32_t* complete) {
  __threadfence_system();
  *const_cast<volatile uint32_t*>(complete) = 1;
}

}  // namespace detail

SIMT_DEVICE void fence() { __threadfence(); }
SIMT_DEVICE void fence_block() { __threadfence_block(); }

template <class T>
SIMT_DEVICE T load_acquire(const T* address) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  detail::Bits<sizeof(T)> bits;
  if constexpr (sizeof(T) == 4)
    asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(bits) : "l"(address) : "memory");
  else asm volatile("ld.acquire.gpu.b64 %0, [%1];" : "=l"(bits) : "l"(address) : "memory");

  T result;
  memcpy(&result, &bits, sizeof(T));
  return result;
}
template <class T>
SIMT_DEVICE void store_release(T* address, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  detail::Bits<sizeof(T)> bits;
  memcpy(&bits, &value, sizeof(T));
  if constexpr (sizeof(T) == 4)
    asm volatile("st.release.gpu.b32 [%0], %1;" ::"l"(address), "r"(bits) : "memory");
  else asm volatile("st.release.gpu.b64 [%0], %1;" ::"l"(address), "l"(bits) : "memory");
}
SIMT_DEVICE void pause() { __nanosleep(20); }

// --- Memory ---

namespace detail {

/// A type of CUDA's that streaming loads take.
template <size_t size>
struct Streamed;
template <>
struct Streamed<1> {
  using type = unsigned char;
};
template <>
struct Streamed<2> {
  using type = unsigned short;
};
template <>
struct Streamed<4> {
  using type = unsigned;
};
template <>
struct Streamed<8> {
  using type = uint2;
};
template <>
struct Streamed<16> {
  using type = uint4;
};

}  // namespace detail

template <class T>
SIMT_DEVICE T load_streaming(const T* address) {
  using S = typename detail::Streamed<sizeof(T)>::type;
  const S loaded = __ldcs(reinterpret_cast<const S*>(address));
  T result;
  memcpy(&result, &loaded, sizeof(T));
  return result;
}
template <class T>
SIMT_DEVICE void store_streaming(T* address, const T& value) {
  using S = typename detail::Streamed<sizeof(T)>::type;
  S stored;
  memcpy(&stored, &value, sizeof(T));
  __stcs(reinterpret_cast<S*>(address), stored);
}

template <unsigned bytes>
SIMT_DEVICE void copy_async(void* to_shared, const void* from) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16);
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(to_shared));
  if constexpr (bytes == 16)  // past the first-level cache
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(bytes)
                 : "memory");
}
SIMT_DEVICE void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <unsigned open = 0>
SIMT_DEVICE void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(open) : "memory");
}

// --- Bits ---

SIMT_DEVICE int popcount(uint32_t bits) { return __popc(bits); }
SIMT_DEVICE int popcount(uint64_t bits) { return __popcll(bits); }
SIMT_DEVICE int count_leading_zeros(uint32_t bits) { return __clz(static_cast<int>(bits)); }
SIMT_DEVICE int find_first_set(uint32_t bits) { return __ffs(static_cast<int>(bits)); }

}  // namespace simt
