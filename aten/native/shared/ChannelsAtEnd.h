// Joining channels_last tensors as contiguous ones.
#pragma once
#include <vector>

#include "aten/core/Tensor.h"
#include "aten/ops/permute.h"

namespace at::native {

/// The arguments of cat for tensors whose channels are moved to the last dimension.
struct JoinedAtEnd {
  std::vector<Tensor> tensors;
  int64_t dim;
  Tensor out;
};

/// Moves the channels to the last dimension: channels_last tensors become contiguous.
inline Tensor channels_to_end(const Tensor& tensor) {
  if (tensor.dim() < 4) return tensor;  // an empty vector, which cat skips

  DimVector order;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (d != 1) order.push_back(d);
  }
  order.push_back(1);
  return at::permute(tensor, order);
}

/// `dim` counts from 0.
inline JoinedAtEnd with_channels_at_end(TensorList tensors, int64_t dim, const Tensor& out) {
  JoinedAtEnd joined;
  for (const Tensor& tensor : tensors) joined.tensors.push_back(channels_to_end(tensor));
  joined.dim = dim == 0 ? 0 : (dim == 1 ? out.dim() - 1 : dim - 1);
  joined.out = channels_to_end(out);
  return joined;
}

}  // namespace at::native
