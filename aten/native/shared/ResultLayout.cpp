// Strides of results that follow the memory layout of their operands.
#include "aten/native/shared/ResultLayout.h"

#include <algorithm>

namespace at::native {

DimVector strides_like(IntArrayRef shape, ArrayRef<DimVector> operands) {
  const int64_t ndim = static_cast<int64_t>(shape.size());

  // Whether dimension a is slower (1) or faster (-1) than b; 0 if the operands do not decide.
  const auto compare = [&](int64_t a, int64_t b) {
    for (const DimVector& strides : operands) {
      if (strides[a] == 0 || strides[b] == 0) continue;
      if (strides[a] != strides[b]) return strides[a] > strides[b] ? 1 : -1;
      if (shape[a] < shape[b]) return -1;
    }
    return 0;
  };

  // An insertion sort of the dimensions, fastest first. It tolerates undecided pairs.
  DimVector order;
  for (int64_t d = ndim - 1; d >= 0; --d) order.push_back(d);
  for (int64_t i = 1; i < ndim; ++i) {
    int64_t position = i;
    for (int64_t j = i - 1; j >= 0; --j) {
      const int comparison = compare(order[position], order[j]);
      if (comparison > 0) break;
      if (comparison < 0) {
        std::swap(order[position], order[j]);
        position = j;
      }
    }
  }

  DimVector strides(ndim);
  int64_t stride = 1;
  for (const int64_t d : order) {
    strides[d] = stride;
    stride *= std::max<int64_t>(shape[d], 1);
  }
  return strides;
}

DimVector strides_like(IntArrayRef shape, std::initializer_list<const Tensor*> operands) {
  SmallVector<DimVector, 4> strides;
  for (const Tensor* tensor : operands) {
    DimVector operand(shape.size(), 0);
    const size_t offset = shape.size() - tensor->sizes().size();
    for (size_t d = 0; d < tensor->sizes().size(); ++d) {
      const bool repeats = tensor->sizes()[d] == 1 && shape[d + offset] != 1;
      operand[d + offset] =
          repeats ? 0 : tensor->strides()[d] * static_cast<int64_t>(tensor->itemsize());
    }
    strides.push_back(operand);
  }

  return strides_like(shape, ArrayRef<DimVector>(strides.data(), strides.size()));
}

DimVector strides_in_format(IntArrayRef shape, MemoryFormat format) {
  const bool channels_last =
      format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d;
  return channels_last ? channels_last_strides(shape) : contiguous_strides(shape);
}

MemoryFormat format_like(const Tensor& tensor) {
  const int64_t ndim = tensor.dim();
  if (ndim != 4 && ndim != 5) return MemoryFormat::Contiguous;

  // Channels vary fastest, then space from its last dimension to its first, the batch slowest.
  int64_t reach = 0;
  for (int64_t i = 0; i < ndim; ++i) {
    const int64_t d = i == 0 ? 1 : (i == ndim - 1 ? 0 : ndim - i);
    const int64_t size = tensor.sizes()[d];
    const int64_t stride = tensor.strides()[d];
    if (size == 0 || stride < reach || stride == 0) return MemoryFormat::Contiguous;
    // A tensor of one channel and one pixel, or with batches as close as channels, is contiguous as
    // well.
    if (d == 0 && reach == tensor.strides()[1]) return MemoryFormat::Contiguous;
    reach = stride * size;
  }

  return ndim == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}

}  // namespace at::native
