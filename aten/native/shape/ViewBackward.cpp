// Gradients of views: the gradient of a part becomes one of the whole tensor, zero elsewhere.
#include <algorithm>

#include "aten/native/declarations/shape/ViewBackward.h"
#include "aten/ops/arange.h"
#include "aten/ops/as_strided.h"
#include "aten/ops/clone.h"
#include "aten/ops/copy.h"
#include "aten/ops/eq.h"
#include "aten/ops/index_add.h"
#include "aten/ops/masked_fill.h"
#include "aten/ops/new_ones.h"
#include "aten/ops/new_zeros.h"
#include "aten/ops/permute.h"
#include "aten/ops/reshape.h"
#include "aten/ops/select.h"
#include "aten/ops/slice.h"

namespace at::native {

namespace {

/// The number of storage elements from the first to the last that a geometry reaches.
int64_t reach(IntArrayRef sizes, IntArrayRef strides) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

/// Whether two elements of this geometry may share memory. Cautious: true is only a possibility.
bool may_overlap(IntArrayRef sizes, IntArrayRef strides) {
  SmallVector<std::pair<int64_t, int64_t>, 6> dims;  // stride, size
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return false;
    if (sizes[d] > 1) dims.push_back({strides[d], sizes[d]});
  }
  std::sort(dims.begin(), dims.end());

  // In order of stride: each dimension must step over everything that the earlier ones reach.
  int64_t covered = 0;
  for (const auto& [stride, size] : dims) {
    if (stride <= covered) return true;
    covered += (size - 1) * stride;
  }
  return false;
}

}  // namespace

Tensor _slice_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim,
                       std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  Tensor result = at::new_zeros(grad, sizes);
  at::copy_(at::slice(result, dim, start, end, step), grad);
  return result;
}

Tensor _select_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim, int64_t index) {
  Tensor result = at::new_zeros(grad, sizes);
  at::copy_(at::select(result, dim, index), grad);
  return result;
}

Tensor _unfold_backward(const Tensor& grad, IntArrayRef sizes, int64_t dimension, int64_t size,
                        int64_t step) {
  const int64_t ndim = static_cast<int64_t>(sizes.size());
  if (ndim == 0) return at::reshape(grad, {});
  const int64_t d = wrap_dim(dimension, ndim);

  // The position along d of every (window, element), in the order of the folded gradient.
  const int64_t windows = grad.sizes()[d];
  const auto range = [&](int64_t count) {
    return at::arange(Scalar(count), kLong, std::nullopt, grad.device());
  };
  const Tensor positions =
      at::reshape(range(windows).unsqueeze(1) * Scalar(step) + range(size), {-1});

  // Move the elements of the windows next to the windows, and merge both dimensions.
  DimVector order;
  for (int64_t i = 0; i < ndim; ++i) {
    order.push_back(i);
    if (i == d) order.push_back(ndim);
  }
  DimVector folded(sizes.begin(), sizes.end());
  folded[d] = windows * size;
  const Tensor values = at::reshape(at::permute(grad, order), folded);

  return at::index_add(at::new_zeros(grad, sizes), d, positions, values);
}

Tensor _as_strided_backward(const Tensor& grad, IntArrayRef input_sizes, IntArrayRef input_strides,
                            int64_t input_offset, IntArrayRef size, IntArrayRef stride,
                            std::optional<int64_t> storage_offset) {
  // Both geometries index one flat buffer. The elements of the view add to it, as several may share
  // a place; the elements of the input read it.
  const int64_t offset = storage_offset.value_or(input_offset);
  const int64_t first = std::min(offset, input_offset);
  const int64_t input_start = input_offset - first;
  const int64_t start = offset - first;
  const int64_t length =
      std::max(reach(input_sizes, input_strides) + input_start, reach(size, stride) + start);
  const auto places = [&, device = grad.device()](IntArrayRef sizes, IntArrayRef strides,
                                                  int64_t from) {
    const Tensor all = at::arange(Scalar(length), kLong, std::nullopt, device);
    return at::reshape(at::as_strided(all, sizes, strides, from), {-1});
  };

  Tensor flat = at::index_add(at::new_zeros(grad, {length}), 0, places(size, stride, start),
                              at::reshape(grad, {-1}));

  // Elements of the input that share one place in memory share its gradient evenly.
  if (may_overlap(input_sizes, input_strides)) {
    const Tensor input_places = places(input_sizes, input_strides, input_start);
    const Tensor ones = at::new_ones(grad, {input_places.numel()});
    const Tensor count = at::index_add(at::new_zeros(grad, {length}), 0, input_places, ones);
    flat = flat / at::masked_fill(count, at::eq(count, Scalar(0)), Scalar(1));
  }

  return at::clone(at::as_strided(flat, input_sizes, input_strides, input_start));
}

}  // namespace at::native
