#pragma once
// The plan of a reduction: which dimensions are reduced, dtypes, and the iterator that loops run
// on.
#include <optional>

#include "aten/iteration/TensorIterator.h"

namespace at::native {

/// How a reduction chooses the dtype it computes in and the dtype of its result.
enum class ReductionDtype : uint8_t {
  Same,           // the input's, for both
  Extremum,       // as Same; out= must have the input's dtype, and zero elements are an error
  IntToLong,      // as Same, but integers and bool become int64
  IntToFloat,     // as Same, but integers and bool become the default dtype
  ComplexToReal,  // computes in the input's, with a real result for complex numbers
  Bool,           // the result is bool, or uint8 for uint8
  Index           // the result is int64
};

/// Plans the reduction of `self` over `dims` (none or empty: all). Operand 0, the result, has
/// stride 0 along the reduced dimensions; operand 1 is the input.
TORCH_PY_API TensorIterator make_reduction(const char* op_name, const Tensor& out,
                                           const Tensor& self, OptionalIntArrayRef dims,
                                           bool keepdim, ReductionDtype rule,
                                           std::optional<ScalarType> dtype);

/// The sizes of a reduction's result.
TORCH_PY_API DimVector reduced_sizes(const Tensor& self, OptionalIntArrayRef dims, bool keepdim);

}  // namespace at::native
