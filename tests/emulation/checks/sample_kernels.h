// Kernels for the checks of the emulation: correct ones, and ones with a fault that can be chosen.
#pragma once

#include "c10/cuda/Launch.h"
#include "c10/cuda/Matrix.h"
#include "c10/cuda/Simt.h"

namespace checks {

[[maybe_unused]] static SIMT_KERNEL add(float* out, const float* a, const float* b, int64_t n) {
  const int64_t i = int64_t{simt::block_x()} * simt::block_dim_x() + simt::thread_x();
  if (i < n) out[i] = a[i] + b[i];
}

/// Every thread adds `each` neighbouring elements, as elementwise kernels do.
[[maybe_unused]] static SIMT_KERNEL add_packs(float* out, const float* a, const float* b,
                                              int64_t n) {
  constexpr int kEach = 16;
  const int64_t first = (int64_t{simt::block_x()} * simt::block_dim_x() + simt::thread_x()) * kEach;
  for (int64_t i = first; i < first + kEach && i < n; ++i) out[i] = a[i] + b[i];
}

template <class T>
SIMT_DEVICE T sum_of_warp(T value) {
  for (unsigned n = 16; n > 0; n /= 2) value += simt::shuffle_down(simt::kFullMask, value, n);
  return value;
}

/// The sum of each block's threads, by warps and shared memory. Without its barrier the first warp
/// reads parts that nobody has written.
template <class T, bool with_barrier>
SIMT_KERNEL sum_blocks(T* out, const T* in) {
  SIMT_SHARED(parts, T[32]);

  T value = sum_of_warp(in[simt::block_x() * simt::block_dim_x() + simt::thread_x()]);
  if (simt::lane() == 0) parts[simt::warp()] = value;
  if constexpr (with_barrier) simt::sync_block();

  if (simt::warp() == 0) {
    value = sum_of_warp(simt::lane() < simt::block_dim_x() / 32 ? parts[simt::lane()] : T(0));
    if (simt::lane() == 0) out[simt::block_x()] = value;
  }
}

/// The sum of everything in one launch: the block that finishes last adds the blocks' parts.
template <bool with_fences>
SIMT_KERNEL sum_in_one_pass(float* out, float* parts, unsigned* finished, const float* in) {
  SIMT_SHARED(last, bool);

  const float value = in[simt::block_x() * simt::block_dim_x() + simt::thread_x()];
  const float sum = sum_of_warp(value);
  if (simt::thread_x() == 0) {
    parts[simt::block_x()] = sum;
    if constexpr (with_fences) simt::fence();
    last = simt::atomic_add(finished, 1u) == simt::grid_dim_x() - 1;
  }
  simt::sync_block();
  if (!last || simt::thread_x() != 0) return;

  if constexpr (with_fences) simt::fence();
  float total = 0;
  for (unsigned block = 0; block < simt::grid_dim_x(); ++block) total += parts[block];
  *out = total;
}

/// The sums of columns in one launch: all threads of a block leave parts, and one counts the block.
template <bool with_fences>
SIMT_KERNEL sum_columns_in_one_pass(float* out, float* parts, unsigned* finished, const float* in) {
  SIMT_SHARED(last, bool);
  const unsigned width = simt::block_dim_x();
  const unsigned x = simt::thread_x();

  parts[simt::block_x() * width + x] = in[simt::block_x() * width + x];
  if constexpr (with_fences) simt::fence();
  simt::sync_block();
  if (x == 0) last = simt::atomic_add(finished, 1u) == simt::grid_dim_x() - 1;
  simt::sync_block();
  if (!last) return;

  if constexpr (with_fences) simt::fence();
  float total = 0;
  for (unsigned block = 0; block < simt::grid_dim_x(); ++block) total += parts[block * width + x];
  out[x] = total;
}

/// Squares through a tile of shared memory that is read transposed.
[[maybe_unused]] static SIMT_KERNEL transpose(float* out, const float* in) {
  SIMT_SHARED(tile, float[16][17]);
  const unsigned x = simt::thread_x();
  const unsigned y = simt::thread_y();
  const unsigned width = simt::grid_dim_x() * 16;
  const unsigned height = simt::grid_dim_y() * 16;

  tile[y][x] = in[(simt::block_y() * 16 + y) * width + simt::block_x() * 16 + x];
  simt::sync_block();
  out[(simt::block_x() * 16 + y) * height + simt::block_y() * 16 + x] = tile[x][y];
}

/// A running sum of one block in dynamic shared memory.
[[maybe_unused]] static SIMT_KERNEL scan_block(int* out, const int* in) {
  int* const values = simt::dynamic_shared<int>();
  const unsigned x = simt::thread_x();
  values[x] = in[x];
  simt::sync_block();

  for (unsigned step = 1; step < simt::block_dim_x(); step *= 2) {
    const int before = x >= step ? values[x - step] : 0;
    simt::sync_block();
    values[x] += before;
    simt::sync_block();
  }
  out[x] = values[x];
}

[[maybe_unused]] static SIMT_KERNEL histogram(int* counts, const int* in) {
  simt::atomic_add(&counts[in[simt::block_x() * simt::block_dim_x() + simt::thread_x()]], 1);
}

/// A warp exchanges values through shared memory.
template <bool with_sync>
SIMT_KERNEL reverse_warps(int* out, const int* in) {
  SIMT_SHARED(values, int[1024]);
  const unsigned x = simt::thread_x();
  values[x] = in[x];
  if constexpr (with_sync) simt::sync_warp();
  out[x] = values[x ^ 31];
}

/// Blocks hand their sums on; a ticket orders them as they start.
[[maybe_unused]] static SIMT_KERNEL chained_sum(int* out, int* sums, unsigned* ready,
                                                unsigned* tickets) {
  SIMT_SHARED(ticket, unsigned);
  if (simt::thread_x() == 0) ticket = simt::atomic_add(tickets, 1u);
  simt::sync_block();
  if (simt::thread_x() != 0) return;

  const unsigned mine = ticket;
  int before = 0;
  if (mine > 0) {
    while (simt::load_acquire(&ready[mine - 1]) == 0) simt::pause();
    before = sums[mine - 1];
  }
  sums[mine] = before + 1;
  simt::store_release(&ready[mine], 1u);
  out[mine] = before + 1;
}

/// Doubles what was copied into shared memory while the thread went on.
template <bool with_wait>
SIMT_KERNEL double_copied(float* out, const float* in) {
  SIMT_SHARED(values, float[4 * 64]);
  const unsigned x = simt::thread_x();
  simt::copy_async<16>(&values[4 * x], &in[4 * x]);
  simt::copy_async_commit();
  if constexpr (with_wait) simt::copy_async_wait<0>();
  for (unsigned i = 4 * x; i < 4 * x + 4; ++i) out[i] = 2 * values[i];
}

[[maybe_unused]] static SIMT_KERNEL check_indices(simt::Reporter reporter, const int64_t* indices,
                                                  int64_t bound) {
  const int64_t index = indices[simt::thread_x()];
  if (index < -bound || index >= bound)
    simt::report(reporter, c10::cuda::ReportKind::IndexRange, 1, index, bound);
}

/// out (16 x 8) = a (16 x 16) * b (16 x 8), all by rows, by one warp.
template <class T>
SIMT_KERNEL multiply_tile(float* out, const T* a, const T* b) {
  SIMT_SHARED(tile_a, T[16][16]);
  SIMT_SHARED(tile_b, T[16][8]);
  const unsigned lane = simt::lane();
  for (unsigned i = lane; i < 256; i += 32) tile_a[i / 16][i % 16] = a[i];
  for (unsigned i = lane; i < 128; i += 32) tile_b[i / 8][i % 8] = b[i];
  simt::sync_warp();

  // The four quarters of A: rows, rows + 8, and the same with columns + 8.
  uint32_t left[4];
  simt::load_matrices<4>(left, &tile_a[lane % 16][lane / 16 * 8]);
  uint32_t right[2];
  simt::load_matrices<2, true>(right, &tile_b[lane % 16][0]);

  float sum[4] = {};
  simt::multiply_matrices<T>(sum, left, right);
  for (unsigned i = 0; i < 4; ++i) out[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = sum[i];
}

}  // namespace checks
