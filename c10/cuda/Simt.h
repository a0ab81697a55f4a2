// Simt.h: what kernels say to the device, the same under nvcc and in the emulation.
#pragma once

#include <cstdint>

#include "c10/cuda/MailboxRecord.h"

// Kernels use these names instead of CUDA's own, so that the emulation knows which thread waits
// where. See tests/emulation/README.md for what it checks.
//
//   SIMT_KERNEL name(...)                a kernel; SIMT_KERNEL SIMT_LAUNCH_BOUNDS(256) name(...)
//   SIMT_DEVICE T name(...)              a function that kernels call
//   SIMT_UNROLL for (...)                a loop of a known number of turns
//   SIMT_SHARED(name, float[32][33]);    a variable in the block's shared memory
//   simt::dynamic_shared<T>()            the shared memory that the launch asked for
//   simt::thread_x() block_x() block_dim_x() grid_dim_x(), and y, z; simt::lane() warp()
//   simt::sync_block(), sync_block_count(p), sync_warp(mask)
//   simt::shuffle_down(mask, value, n, width), shuffle_up, shuffle_xor, shuffle_index
//   simt::ballot(mask, p), any, all
//   simt::atomic_add(address, value), atomic_max, atomic_min, atomic_exchange, atomic_cas
//   simt::fence(), fence_block(), load_acquire(address), store_release(address, value), pause()
//   simt::load_streaming(address), store_streaming(address, value)
//   simt::copy_async<16>(to_shared, from), copy_async_commit(), copy_async_wait<open>()
//   simt::popcount(bits), count_leading_zeros, find_first_set
//   simt::report(reporter, kind, argument, value, bound, dimension = -1)
//
// Matrix instructions are in c10/cuda/Matrix.h.

namespace simt {

inline constexpr unsigned kFullMask = 0xffffffffu;

}  // namespace simt

#if defined(TORCH_PY_CUDA_EMULATION)
#include "emulation/simt.h"
#elif defined(__CUDACC__)
#include "c10/cuda/NativeSimt.h"
#endif

#if defined(TORCH_PY_CUDA_EMULATION) || defined(__CUDACC__)

namespace simt {

namespace detail {

// NaN wins over every number, and the first NaN stays.
template <class T>
SIMT_DEVICE T larger(T a, T b) {
  return a < b || (b != b && a == a) ? b : a;
}
template <class T>
SIMT_DEVICE T smaller(T a, T b) {
  return b < a || (b != b && a == a) ? b : a;
}

}  // namespace detail

// All atomics are relaxed and return the old value. T is a type of 1, 2, 4 or 8 bytes.

template <class T>
SIMT_DEVICE T atomic_add(T* address, T value) {
#if !defined(TORCH_PY_CUDA_EMULATION)
  if constexpr (detail::kAddsNatively<T>) return detail::native_add(address, value);
#endif
  return detail::update(address, [value](T old) { return static_cast<T>(old + value); });
}

template <class T>
SIMT_DEVICE T atomic_max(T* address, T value) {
#if !defined(TORCH_PY_CUDA_EMULATION)
  if constexpr (detail::kComparesNatively<T>) return detail::native_max(address, value);
#endif
  return detail::update(address, [value](T old) { return detail::larger(old, value); });
}

template <class T>
SIMT_DEVICE T atomic_min(T* address, T value) {
#if !defined(TORCH_PY_CUDA_EMULATION)
  if constexpr (detail::kComparesNatively<T>) return detail::native_min(address, value);
#endif
  return detail::update(address, [value](T old) { return detail::smaller(old, value); });
}

template <class T>
SIMT_DEVICE T atomic_exchange(T* address, T value) {
  return detail::update(address, [value](T) { return value; });
}

/// Any other change of one value: next(old) is called until nobody came in between.
template <class T, class F>
SIMT_DEVICE T atomic_update(T* address, F next) {
  return detail::update(address, next);
}

/// Stores `value` if the memory holds `expected`, compared by bits.
template <class T>
SIMT_DEVICE T atomic_cas(T* address, T expected, T value) {
  return detail::compare_and_swap(address, expected, value);
}

/// Leaves a failed check to the host, which raises it at the next synchronising call. The kernel
/// goes on, with a harmless value instead of the one reported. `argument` is the position of the
/// checked argument in the schema of the operator whose kernel this is.
SIMT_DEVICE void report(const Reporter& reporter, c10::cuda::ReportKind kind, int argument,
                        int64_t value, int64_t bound, int dimension = -1) {
  c10::cuda::Mailbox* const mailbox = reporter.mailbox;
  if (mailbox == nullptr) return;

  const uint32_t slot = detail::take_slot(&mailbox->taken);
  if (slot >= c10::cuda::Mailbox::kSlots) return;

  c10::cuda::MailboxRecord& record = mailbox->records[slot];
  record.sequence = reporter.sequence;
  record.kind = kind;
  record.argument = argument;
  record.value = value;
  record.bound = bound;
  record.dimension = dimension;
  detail::publish(&record.complete);
}

}  // namespace simt

#endif
