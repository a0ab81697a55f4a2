// What a program knows about each of its tensors.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "aten/core/Tensor.h"
#include "torch_py/csrc/compiler/program/Formula.h"

namespace torch::programs {

/// The tensor in a slot, or an integer, which only inputs are.
struct SlotFacts {
  bool is_integer = false;
  at::ScalarType dtype = at::ScalarType::Undefined;
  at::Device device;
  c10::SmallVector<Integer, 5> sizes;
  c10::SmallVector<Integer, 5> strides;
};

/// The same for the sizes of one call.
struct Geometry {
  at::DimVector sizes;
  at::DimVector strides;
  int64_t elements = 0;
  int64_t bytes = 0;  // from the first element to the end of the last
};

/// Throws ValueError for negative numbers and overflow.
Geometry geometry_of(const SlotFacts& facts, const std::vector<int64_t>& values);

/// Whether a tensor has memory and is as a program expects it. The strides of dimensions that have
/// one element, or of a tensor without elements, are of no consequence.
bool matches(const at::Tensor& tensor, const SlotFacts& facts, const Geometry& geometry);

/// How a tensor differs: "NAME is float64 ..., expected float32 ...".
std::string describe_mismatch(std::string_view name, const at::Tensor& tensor,
                              const SlotFacts& facts, const Geometry& geometry);

}  // namespace torch::programs
