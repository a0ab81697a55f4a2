// The largest and smallest elements over dimensions, and the position of the first of equal ones.
// A nan is more extreme than any number.
#include <algorithm>
#include <vector>

#include "aten/iteration/Gather.h"
#include "aten/iteration/Lanes.h"
#include "aten/iteration/ReductionLoops.h"
#include "aten/native/declarations/cpu/reduction/ExtremumKernel.isa.h"
#include "aten/native/functors/Extremum.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <typename T, bool kMax>
void scan_each(const T* values, int64_t n, int64_t first, Found<T>& found) {
  for (int64_t i = 0; i < n; ++i) {
    if (found.index < 0 || is_better<T, kMax>(values[i], found.value))
      found = {values[i], first + i};
  }
}

/// Whether any element is better than `best`. Most blocks hold nothing better, which this loop
/// without branches finds out faster than one that keeps the index.
template <typename T, bool kMax>
bool has_better(const T* values, int64_t n, T best) {
  int better = 0;
  for (int64_t i = 0; i < n; ++i) better |= is_better<T, kMax>(values[i], best);
  return better != 0;
}

template <typename T, bool kMax>
void scan_block(const T* values, int64_t n, int64_t first, Found<T>& found) {
  if (found.index >= 0 && !has_better<T, kMax>(values, n, found.value)) return;
  scan_each<T, kMax>(values, n, first, found);
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
    scan_block<T, kMax>(contiguous ? reinterpret_cast<const T*>(source) : block, count, start,
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

/// `result` with the reduced dimension as one of size 1, so that its lanes match those of `self`.
Tensor with_dim(const Tensor& result, const Tensor& self, int64_t dim) {
  return result.dim() == self.dim() ? result : result.unsqueeze(dim);
}

template <typename T, bool kMax>
void find_along(const Tensor& self, int64_t dim, const Tensor& values, const Tensor& indices) {
  const int64_t n = lane_size(self, dim);
  const int64_t stride = lane_stride(self, dim) * static_cast<int64_t>(sizeof(T));
  const Tensor index_lanes = with_dim(indices, self, dim);
  const Tensor value_lanes = values.defined() ? with_dim(values, self, dim) : index_lanes;

  const LaneIterator lanes(dim, {&self, &index_lanes, &value_lanes});
  lanes.for_each(n, [&](char* const* data) {
    const Found<T> found = find_extremum<T, kMax>(data[0], stride, n);
    *reinterpret_cast<int64_t*>(data[1]) = found.index;
    if (values.defined()) *reinterpret_cast<T*>(data[2]) = found.value;
  });
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
