// Convolutions and their gradients by cuDNN.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "aten/core/Tensor.h"
#include "aten/native/cuda/CudnnPlan.h"

namespace at::native::cuda {

// Note [Convolutions by cuDNN]
// cuDNN computes convolutions of floating dtypes. It is told of a problem as a graph with a single
// operation, proposes engines for it, and makes a plan for the first engine that computes exactly
// enough, or for the fastest one where torch.backends.cudnn.benchmark asks for that. Each thread
// remembers its plans: cuDNN does not promise that threads can share them. What cuDNN refuses, now
// or in an earlier call, is left to the products of Note [Convolution as a product]: cuDNN may be
// missing, may have no engine for a problem, and must not be asked for a plan while a graph is
// recorded. Tensors that are not dense in the common memory format are copied.

struct ConvolutionTensors {
  Tensor image;   // (batch, channels, ...)
  Tensor weight;  // (outputs, channels / groups, ...)
  Tensor result;  // (batch, outputs, ...)
  Tensor bias;    // (outputs), or undefined
};

/// Whether convolve_by_cudnn should get the bias of a forward pass: reduced floats must not be
/// rounded before it is added, and with TF32 another pass over the results would take long.
bool can_add_bias(const ConvolutionTensors& tensors);

/// Computes the tensor that `pass` is about from the others, for operator `name`. No tensor is
/// empty. Returns false if cuDNN does not compute this problem; the caller then has to.
bool convolve_by_cudnn(const char* name, ConvolutionPass pass, const ConvolutionGeometry& geometry,
                       const ConvolutionTensors& tensors);

}  // namespace at::native::cuda
