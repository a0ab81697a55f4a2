#pragma once
// Helpers of generated list operators (_foreach_*), which call another operator for each tensor,
// above autograd.
#include <initializer_list>
#include <vector>

#include "aten/core/Tensor.h"

namespace at {

struct NamedLength {
  const char* name;
  size_t length;
};

/// Checks, before anything changes, that lists are not empty and all of the same length.
TORCH_PY_API void check_lists(const char* op_name, std::initializer_list<NamedLength> lists);
/// Refuses to change leaves that require grad, before another tensor of the list has changed.
TORCH_PY_API void check_leaves(TensorList changed);
/// Checks that a tensor passed as a number is 0-dimensional.
TORCH_PY_API void check_single_number(const char* op_name, const char* name, const Tensor& tensor);
/// The elements of a 1-d tensor, one for each of `count` calls.
TORCH_PY_API std::vector<Scalar> packed_numbers(const char* op_name, const char* name,
                                                const Tensor& tensor, size_t count);

/// The results of function(0), function(1), ..., function(count - 1).
template <class Function>
std::vector<Tensor> results_of_each(size_t count, const Function& function) {
  std::vector<Tensor> results;
  results.reserve(count);
  for (size_t i = 0; i < count; ++i) results.push_back(function(i));
  return results;
}

}  // namespace at
