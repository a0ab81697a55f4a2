#pragma once
// The rows of a formula over rows (codegen/expressions/rows.py): their place in memory, and the
// result of a formula that gives one element for each of theirs.
#include <initializer_list>
#include <optional>

#include "aten/iteration/ReductionPlan.h"

namespace at::native {

/// Sizes, and byte strides of all operands, of some dimensions; fastest dimension first, dimensions
/// that are one run of memory merged.
struct RowDims {
  DimVector sizes;
  SmallVector<DimVector, 4> strides;  // of each operand
  int64_t count = 1;                  // the product of the sizes
};

/// The rows of some operands: operand 0 is the result, the others are read.
struct RowPlan {
  /// The rows of a planned reduction, whose result has stride 0 along them.
  TORCH_PY_API explicit RowPlan(const TensorIteratorBase& iter);
  RowPlan() = default;

  RowDims kept;  // from row to row
  RowDims row;   // along a row
  SmallVector<char*, 4> data;
};

/// The spec of the result of a formula along `dims` (none or empty: all) of tensors that broadcast;
/// `dtype` replaces their common dtype. Refuses dims that do not exist or occur twice.
TORCH_PY_API TensorSpec row_result(const char* op_name,
                                   std::initializer_list<const Tensor*> tensors,
                                   OptionalIntArrayRef dims, ReductionDtype rule,
                                   std::optional<ScalarType> dtype);

/// The operands of such a formula: tensors of the common dtype, which the plan points into.
class RowOperands {
 public:
  TORCH_PY_API RowOperands(const Tensor& result, std::initializer_list<const Tensor*> tensors,
                           OptionalIntArrayRef dims, ReductionDtype rule,
                           std::optional<ScalarType> dtype);

  ScalarType common_dtype() const { return common_dtype_; }
  const RowPlan& plan() const { return plan_; }

 private:
  ScalarType common_dtype_;
  SmallVector<Tensor, 4> tensors_;
  RowPlan plan_;
};

}  // namespace at::native
