#pragma once
// The elements of tensors with the mkldnn layout, as their kernels see them.
//
// Note [The mkldnn layout]
// A tensor of layout torch._mkldnn holds a strided tensor: channels last with 4 or 5 dimensions,
// else contiguous. No channels are padded and none are blocked, because convolutions read channels
// last at full speed as they are (docs/performance.md). A kernel for MkldnnCPU takes the
// strided tensors out of its arguments, calls the operator on them and puts the result into a new
// tensor of the layout.
#include "aten/core/Tensor.h"

namespace at::native {

/// The strided tensor inside `tensor`, on the same memory; throws for another layout. Above
/// autograd, where a result would silently lose its gradient, it throws for a tensor that requires
/// grad.
TORCH_PY_API Tensor elements_of_mkldnn(const Tensor& tensor);
/// The same; a strided or undefined tensor is returned as it is.
TORCH_PY_API Tensor strided_elements(const Tensor& tensor);

/// The same for a kernel that computes the gradients which its arguments require: they require grad
/// if `tensor` does.
TORCH_PY_API Tensor elements_wanting_grad(const Tensor& tensor);

/// A tensor of the mkldnn layout that takes over the memory of a strided tensor, or a copy of it if
/// its strides are not those of the layout; undefined for an undefined one.
TORCH_PY_API Tensor mkldnn_from(const Tensor& strided);
/// The same with memory of its own.
TORCH_PY_API Tensor mkldnn_copy_of(const Tensor& strided, ScalarType dtype);

/// Throws unless the layout has tensors of this dtype.
TORCH_PY_API void check_mkldnn_dtype(const char* message, ScalarType dtype);

}  // namespace at::native
