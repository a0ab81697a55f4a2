// Rows.cuh: kernels that reduce rows and then map them: softmax, normalization, norms.
#pragma once
#include <algorithm>
#include <cstdint>

#include "aten/native/cuda/RowThreads.cuh"
#include "c10/core/ScalarType.h"
#include "c10/cuda/Launch.h"
#include "c10/cuda/Runtime.h"

// Note [Rows]
// A tensor is outer x size x inner. With inner = 1 a row is contiguous: a warp works on a short one
// and a block on a long one. They hold the row in registers, so that memory is read once. Only rows
// of more than kMostThreads * kHeld elements are read again for each pass. With inner > 1 a block
// works on up to 32 neighbouring rows, so that its reads are coalesced.
//
// A kernel is a formula, a struct of pointers and numbers whose operator() every thread calls:
//
//   template <class Walk, class Threads>
//   SIMT_DEVICE void operator()(const RowPlace& place, const Walk& walk, Threads& threads) const {
//     RowValues<T, Walk> in(walk, in_ + place.offset);
//     Acc sum = 0;
//     walk.each([&](int slot, auto first) {
//       const auto x = in.at(slot, first);
//       for (int j = 0; j < Walk::kWidth; ++j) sum += x[j];
//     });
//     sum = threads.combine(sum, Acc(0), Added());
//     ...
//   }
//
// It is written once and instantiated for rows in registers, in memory, and across columns.

namespace at::native::cuda {

inline constexpr int kMostThreads = 512;  // that share a row

/// Elements that a thread holds in registers, of one operand.
template <class T>
inline constexpr int kHeld = sizeof(T) < 8 ? 16 : 64 / sizeof(T);

/// The sizes of a tensor before, along and after the dimension of the rows.
struct RowShape {
  int64_t outer = 1, size = 1, inner = 1;

  int64_t rows() const { return outer * inner; }
};

/// Adjacent elements, which memory transfers in 16 bytes at a time.
template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) RowPack {
  T values[kWidth];

  SIMT_DEVICE T& operator[](int j) { return values[j]; }
  SIMT_DEVICE const T& operator[](int j) const { return values[j]; }
};

/// Which row a thread works on, and where it begins in memory, in elements.
struct RowPlace {
  int64_t row, offset;
};

// Walks visit the elements of one thread in packs: f(slot, first) for the elements first to
// first + kWidth - 1 of the row. `slot` is a constant that names registers.

/// Over a row that its threads hold in registers.
template <int width, int packs>
struct HeldWalk {
  static constexpr bool kIsHeld = true;
  static constexpr int kWidth = width;
  static constexpr int kSlots = packs;

  int size, index, count;

  template <class F>
  SIMT_DEVICE void each(const F& f) const {
    SIMT_UNROLL
    for (int k = 0; k < packs; ++k) {
      const int first = (k * count + index) * width;
      if (first < size) f(k, first);
    }
  }
  SIMT_DEVICE int64_t offset(int first) const { return first; }
};

/// Over a row in memory, which every pass reads again.
template <int width>
struct MemoryWalk {
  static constexpr bool kIsHeld = false;
  static constexpr int kWidth = width;
  static constexpr int kSlots = 1;

  int64_t size;
  int index, count;

  template <class F>
  SIMT_DEVICE void each(const F& f) const {
    for (int64_t first = int64_t{index} * width; first < size; first += int64_t{count} * width)
      f(0, first);
  }
  SIMT_DEVICE int64_t offset(int64_t first) const { return first; }
};

/// Over a row whose elements are `stride` apart.
struct StridedWalk {
  static constexpr bool kIsHeld = false;
  static constexpr int kWidth = 1;
  static constexpr int kSlots = 1;

  int64_t size;
  int index, count;
  int64_t stride;

  template <class F>
  SIMT_DEVICE void each(const F& f) const {
    for (int64_t first = index; first < size; first += count) f(0, first);
  }
  SIMT_DEVICE int64_t offset(int64_t first) const { return first * stride; }
};

/// A row of an operand, in the type that kernels compute in.
template <class T, class Walk>
class RowValues {
 public:
  using Acc = opmath_type<T>;
  using Values = RowPack<Acc, Walk::kWidth>;

  SIMT_DEVICE RowValues(const Walk& walk, const T* row) : walk_(walk), row_(row) {
    if constexpr (Walk::kIsHeld)
      walk.each([&](int slot, auto first) { held_[slot] = load(first); });
  }

  SIMT_DEVICE Values at(int slot, int64_t first) const {
    if constexpr (Walk::kIsHeld) return held_[slot];
    return load(first);
  }
  /// Replaces values in registers.
  SIMT_DEVICE void set(int slot, const Values& values) {
    static_assert(Walk::kIsHeld);
    held_[slot] = values;
  }

 private:
  SIMT_DEVICE Values load(int64_t first) const {
    const auto pack =
        *reinterpret_cast<const RowPack<T, Walk::kWidth>*>(row_ + walk_.offset(first));
    Values values;
    SIMT_UNROLL
    for (int j = 0; j < Walk::kWidth; ++j) values[j] = static_cast<Acc>(pack[j]);
    return values;
  }

  const Walk& walk_;
  const T* row_;
  Values held_[Walk::kSlots];
};

/// Rounds a pack and stores it.
template <class T, class Walk, class Acc>
SIMT_DEVICE void store_pack(const Walk& walk, T* row, int64_t first,
                            const RowPack<Acc, Walk::kWidth>& values) {
  RowPack<T, Walk::kWidth> pack;
  SIMT_UNROLL
  for (int j = 0; j < Walk::kWidth; ++j) pack[j] = static_cast<T>(values[j]);
  *reinterpret_cast<RowPack<T, Walk::kWidth>*>(row + walk.offset(first)) = pack;
}

namespace detail {

/// `packs` of each thread are held in registers; 0 stands for a row that stays in memory.
template <int width, int packs, class Formula>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kMostThreads)
    rows_kernel(Formula formula, int64_t rows, int64_t size) {
  const int64_t row = int64_t{simt::block_x()} * simt::block_dim_y() + simt::thread_y();
  if (row >= rows) return;  // a whole warp

  RowThreads threads;
  const RowPlace place{row, row * size};
  if constexpr (packs > 0) {
    const HeldWalk<width, packs> walk{static_cast<int>(size), threads.index(), threads.count()};
    formula(place, walk, threads);
  } else {
    const MemoryWalk<width> walk{size, threads.index(), threads.count()};
    formula(place, walk, threads);
  }
}

template <class Formula>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(ColumnThreads::kMost)
    columns_kernel(Formula formula, int64_t size, int64_t inner, int64_t tiles) {
  const int64_t outer = simt::block_x() / tiles;
  const int64_t column = simt::block_x() % tiles * simt::block_dim_x() + simt::thread_x();
  const bool inside = column < inner;

  ColumnThreads threads(inside);
  const RowPlace place{outer * inner + column, outer * size * inner + column};
  const StridedWalk walk{inside ? size : 0, threads.index(), threads.count(), inner};
  formula(place, walk, threads);
}

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The smallest power of two that is not below n, at most `most`.
inline unsigned power_of_two(int64_t n, unsigned most) {
  unsigned result = 1;
  while (result < most && result < n) result *= 2;
  return result;
}

template <int width, int small, int large, class Formula>
void launch_rows(const char* name, int64_t rows, int64_t size, const Formula& formula) {
  constexpr unsigned kWarps = 4;  // of a block, if each has a row
  const cudaStream_t stream = c10::cuda::current_stream();

  // As few threads as hold the row.
  const auto held = [&](auto kernel, int packs) {
    const int64_t warps = std::max<int64_t>(1, ceil_div(size, int64_t{32} * width * packs));
    const auto threads = static_cast<unsigned>(32 * warps);
    const unsigned height = threads == 32 ? kWarps : 1;
    c10::cuda::launch(name, kernel, dim3(static_cast<unsigned>(ceil_div(rows, height))),
                      dim3(threads, height), 0, stream, formula, rows, size);
  };

  if (size <= int64_t{32} * width * small) return held(&rows_kernel<width, small, Formula>, small);
  if (size <= int64_t{kMostThreads} * width * large)
    return held(&rows_kernel<width, large, Formula>, large);
  c10::cuda::launch(name, &rows_kernel<width, 0, Formula>, dim3(static_cast<unsigned>(rows)),
                    dim3(kMostThreads), 0, stream, formula, rows, size);
}

}  // namespace detail

/// Whether all addresses allow transfers of 16 bytes.
template <class... T>
bool are_aligned(const T*... addresses) {
  return ((reinterpret_cast<uintptr_t>(addresses) % 16 == 0) && ...);
}

/// Runs a formula on rows of `size` adjacent elements T. `aligned` says that its operands begin at
/// multiples of 16 bytes.
template <class T, class Formula>
void for_each_row(const char* name, int64_t rows, int64_t size, bool aligned,
                  const Formula& formula) {
  constexpr int kWidth = 16 / sizeof(T);
  if (rows == 0) return;

  if (aligned && size % kWidth == 0) {
    detail::launch_rows<kWidth, 1, kHeld<T> / kWidth>(name, rows, size, formula);
  } else {
    detail::launch_rows<1, 4, kHeld<T>>(name, rows, size, formula);
  }
}

/// Runs a formula on rows whose elements are `inner` apart.
template <class Formula>
void for_each_column(const char* name, const RowShape& shape, const Formula& formula) {
  if (shape.rows() == 0) return;

  // Threads that are neighbours in y read neighbouring memory, too, where the columns are few.
  unsigned width = detail::power_of_two(shape.inner, 32);
  // Few columns are spread over more processors, as long as a read fills a sector of memory.
  constexpr int64_t kBlocks = 256;
  while (width > 8 && shape.outer * detail::ceil_div(shape.inner, width) < kBlocks) width /= 2;
  const unsigned height =
      detail::power_of_two(detail::ceil_div(shape.size, 4), ColumnThreads::kMost / width);
  const int64_t tiles = detail::ceil_div(shape.inner, width);

  c10::cuda::launch(name, &detail::columns_kernel<Formula>,
                    dim3(static_cast<unsigned>(shape.outer * tiles)), dim3(width, height), 0,
                    c10::cuda::current_stream(), formula, shape.size, shape.inner, tiles);
}

/// Runs a formula on the rows along any dimension.
template <class T, class Formula>
void for_each_row(const char* name, const RowShape& shape, bool aligned, const Formula& formula) {
  if (shape.inner > 1) return for_each_column(name, shape, formula);
  for_each_row<T>(name, shape.outer, shape.size, aligned, formula);
}

}  // namespace at::native::cuda
