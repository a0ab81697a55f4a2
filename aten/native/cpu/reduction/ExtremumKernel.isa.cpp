// The largest and smallest elements over dimensions, and the position of the first of equal ones.
// A nan is more extreme than any number. Compiled with -O3.
#include <algorithm>
#include <vector>

#include "aten/iteration/BlockCopy.h"
#include "aten/iteration/Gather.h"
#include "aten/iteration/Lanes.h"
#include "aten/iteration/ReductionLoops.h"
#include "aten/native/cpu/shared/RowFold.h"
#include "aten/native/declarations/cpu/reduction/ExtremumKernel.isa.h"
#include "aten/native/functors/Extremum.h"
#include "aten/native/shared/ViewHelpers.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// The position of the first of n elements that is nan or equal to `wanted`, which there must be.
template <typename T>
int64_t first_match(const T* values, int64_t n, T wanted) {
  constexpr int64_t kStep = 64;
  const auto matches = [=](T value) { return (value == wanted) | (value != value); };

  // Whole steps without branches, which the compiler does in vectors.
  int64_t start = 0;
  for (; start + kStep <= n; start += kStep) {
    int found = 0;
    for (int64_t i = 0; i < kStep; ++i) found |= matches(values[start + i]);
    if (found != 0) break;
  }

  while (!matches(values[start])) ++start;
  return start;
}

/// Compares n elements, the first at position `first`, with the best so far. Their extremum is
/// found without its position, which takes longer: most blocks hold nothing better.
template <typename T, bool kMax>
void compare_block(const T* values, int64_t n, int64_t first, Found<T>& found) {
  using Value = Extremum<T, kMax>;
  using acc_t = typename Value::acc_t;
  const acc_t extreme = fold(
      n, Value::identity(), [values](acc_t a, int64_t i) { return Value::reduce(a, values[i]); },
      Value::combine);

  const T value = Value::project(extreme);
  if (found.index >= 0 && !is_better<T, kMax>(value, found.value)) return;

  const int64_t place = first_match(values, n, value);
  found = {values[place], first + place};
}

/// The extremum of n elements that are `stride` bytes apart.
template <typename T, bool kMax>
Found<T> find_extremum(const char* data, int64_t stride, int64_t n) {
  constexpr int64_t kBlock = 256;
  T block[kBlock];
  Found<T> found;
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    const char* source = data + start * stride;

    // Elements that are apart are gathered into a block first.
    const bool contiguous = stride == static_cast<int64_t>(sizeof(T));
    if (!contiguous) gather(block, source, stride, sizeof(T), count);
    compare_block<T, kMax>(contiguous ? reinterpret_cast<const T*>(source) : block, count, start,
                           found);
  }
  return found;
}

/// The position of the extremum of all elements: the best of fixed pieces.
template <typename T, bool kMax>
int64_t find_in_all(const Tensor& self) {
  constexpr int64_t kPiece = 65536;
  const Tensor flat = self.contiguous();
  const auto* data = static_cast<const char*>(flat.data());
  const int64_t n = flat.numel();
  const int64_t itemsize = static_cast<int64_t>(sizeof(T));

  std::vector<Found<T>> pieces(static_cast<size_t>((n + kPiece - 1) / kPiece));
  parallel_for(0, static_cast<int64_t>(pieces.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      Found<T>& piece = pieces[static_cast<size_t>(p)];
      piece = find_extremum<T, kMax>(data + p * kPiece * itemsize, itemsize,
                                     std::min(kPiece, n - p * kPiece));
      piece.index += p * kPiece;
    }
  });

  // Only a better element replaces the best one: the first of equal ones stays.
  Found<T> best = pieces[0];
  for (const Found<T>& piece : pieces) {
    if (is_better<T, kMax>(piece.value, best.value)) best = piece;
  }
  return best.index;
}

constexpr int64_t kColumns = 256;   // neighbouring columns that are searched together
constexpr int64_t kFewColumns = 8;  // columns that are faster one after another
constexpr int64_t kShortRow = 64;   // the most elements of rows that are transposed to columns
constexpr int64_t kShortRows = 32;  // rows that are transposed at a time

/// The extrema of at most kColumns columns of n rows, which are `row_step` bytes apart: row by row,
/// as elements of a row are next to each other. Calls store(column, found) for each.
template <typename T, bool kMax, typename Store>
void find_in_columns(const char* data, int64_t row_step, int64_t n, int64_t width,
                     const Store& store) {
  // Positions as wide as the elements share their selections, bit by bit.
  using acc_t = opmath_type<T>;
  using position_t = std::conditional_t<sizeof(acc_t) == 8, int64_t, int32_t>;
  acc_t best[kColumns];
  position_t place[kColumns] = {};

  const auto row = [&](int64_t i) { return reinterpret_cast<const T*>(data + i * row_step); };
  for (int64_t w = 0; w < width; ++w) best[w] = static_cast<acc_t>(row(0)[w]);

  for (int64_t i = 1; i < n; ++i) {
    const T* values = row(i);
    const auto here = static_cast<position_t>(i);
#pragma GCC ivdep
    for (int64_t w = 0; w < width; ++w) {
      // Better, or the first nan.
      const auto value = static_cast<acc_t>(values[w]);
      const bool no_worse = kMax ? value <= best[w] : value >= best[w];
      const bool better = !no_worse & (best[w] == best[w]);
      best[w] = better ? value : best[w];
      place[w] = better ? here : place[w];
    }
  }

  for (int64_t w = 0; w < width; ++w) store(w, Found<T>{static_cast<T>(best[w]), place[w]});
}

/// The extrema of short rows, `row_step` bytes apart: in vectors, as columns of a transposed block.
template <typename T, bool kMax, typename Store>
void find_in_short_rows(char* data, int64_t row_step, int64_t stride, int64_t n, int64_t width,
                        const Store& store) {
  constexpr int64_t kSize = sizeof(T);
  alignas(64) T columns[kShortRow * kShortRows];
  const BlockSide staged = {reinterpret_cast<char*>(columns), kSize, kShortRows * kSize};
  copy_block(staged, {data, row_step, stride}, sizeof(T), width, n, /*stream=*/false);
  find_in_columns<T, kMax>(staged.data, staged.step1, n, width, store);
}

template <typename T, bool kMax>
void find_along(const Tensor& self, int64_t dim, const Tensor& values, const Tensor& indices) {
  const int64_t n = lane_size(self, dim);
  const int64_t stride = lane_stride(self, dim) * static_cast<int64_t>(sizeof(T));
  const Tensor index_lanes = with_dim(indices, self, dim);
  const Tensor value_lanes = values.defined() ? with_dim(values, self, dim) : index_lanes;

  const auto group = [&](char* const* data, int64_t width, const int64_t* steps) {
    const auto store = [&](int64_t w, const Found<T>& found) {
      *reinterpret_cast<int64_t*>(data[1] + w * steps[1]) = found.index;
      if (values.defined()) *reinterpret_cast<T*>(data[2] + w * steps[2]) = found.value;
    };

    const bool is_row = steps[0] == static_cast<int64_t>(sizeof(T));
    if (width >= kFewColumns && is_row && n <= INT32_MAX)
      return find_in_columns<T, kMax>(data[0], stride, n, width, store);
    if (width >= kFewColumns && n <= kShortRow)
      return find_in_short_rows<T, kMax>(data[0], steps[0], stride, n, width, store);
    for (int64_t w = 0; w < width; ++w)
      store(w, find_extremum<T, kMax>(data[0] + w * steps[0], stride, n));
  };

  LaneIterator lanes(dim, {&self, &index_lanes, &value_lanes});
  if (n <= kShortRow) lanes.group_along_longest();
  const bool neighbours = lanes.step(0) == static_cast<int64_t>(sizeof(T));
  lanes.for_each_group(n, neighbours ? kColumns : n <= kShortRow ? kShortRows : 1, group);
}

/// The results of lanes of one element each.
void take_only_elements(const Tensor& self, int64_t dim, const Tensor& values,
                        const Tensor& indices) {
  indices.zero_();
  if (values.defined()) with_dim(values, self, dim).copy_(self);
}

template <typename T, bool kMax>
void find(const Tensor& self, std::optional<int64_t> dim, const Tensor& values,
          const Tensor& indices) {
  if (indices.numel() == 0) return;
  if (!dim.has_value()) {
    *indices.data_ptr<int64_t>() = find_in_all<T, kMax>(self);
  } else {
    find_along<T, kMax>(self, wrap_dim(*dim, self.dim()), values, indices);
  }
}

template <bool kMax>
void find_dispatched(const char* name, const Tensor& self, std::optional<int64_t> dim,
                     const Tensor& values, const Tensor& indices) {
  if (dim.has_value() && lane_size(self, wrap_dim(*dim, self.dim())) == 1)
    return take_only_elements(self, wrap_dim(*dim, self.dim()), values, indices);
  if (self.scalar_type() == kBool) return find<uint8_t, kMax>(self, dim, values, indices);
  AT_DISPATCH_REAL(self.scalar_type(), name,
                   [&] { find<scalar_t, kMax>(self, dim, values, indices); });
}

}  // namespace

void amax_kernel(TensorIteratorBase& iter) {
  with_extremum_ops<true>(iter.common_dtype(), iter.op_name(),
                          [&](auto ops) { cpu_reduce(iter, ops); });
}

void amin_kernel(TensorIteratorBase& iter) {
  with_extremum_ops<false>(iter.common_dtype(), iter.op_name(),
                           [&](auto ops) { cpu_reduce(iter, ops); });
}

void argmax_kernel(const Tensor& self, std::optional<int64_t> dim, bool /*keepdim*/,
                   const Tensor& out0) {
  find_dispatched<true>("argmax", self, dim, Tensor(), out0);
}

void argmin_kernel(const Tensor& self, std::optional<int64_t> dim, bool /*keepdim*/,
                   const Tensor& out0) {
  find_dispatched<false>("argmin", self, dim, Tensor(), out0);
}

void max_dim_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                    const Tensor& out1) {
  find_dispatched<true>("max", self, dim, out0, out1);
}

void min_dim_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                    const Tensor& out1) {
  find_dispatched<false>("min", self, dim, out0, out1);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
