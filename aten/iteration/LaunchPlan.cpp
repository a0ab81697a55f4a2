// Makes launch plans from iterators.
#include "aten/iteration/LaunchPlan.h"

#include "aten/iteration/TensorIterator.h"

namespace at {

namespace {

/// The element of a CPU tensor as a number of the launch.
void set_number(LaunchOperand& operand, const TensorIterator& iter, int k) {
  TORCH_CHECK(k > 0 && iter.tensor(k).numel() == 1, iter.op_name(),
              ": Expected all tensors to be on the same device, but found at least two devices, ",
              iter.device(), " and ", iter.tensor(k).device(), "!");
  operand.is_number = true;
  std::memcpy(operand.number, iter.data(k), iter.tensor(k).itemsize());
}

}  // namespace

LaunchPlan launch_plan(const TensorIterator& iter) {
  TORCH_CHECK(iter.dim() <= LaunchPlan::kMaxDims, iter.op_name(), ": ", iter.dim(),
              " dimensions that cannot be merged are too many, at most ", LaunchPlan::kMaxDims,
              " are supported on ", iter.device());

  LaunchPlan plan;
  plan.op_name = iter.op_name();
  plan.common_dtype = iter.common_dtype();
  plan.operands = iter.ntensors();
  plan.dims = iter.dim();
  plan.numel = iter.numel();
  for (int d = 0; d < plan.dims; ++d) plan.sizes[d] = iter.shape()[d];

  for (int k = 0; k < plan.operands; ++k) {
    LaunchOperand& operand = plan.operand[k];
    operand.dtype = iter.dtype(k);
    operand.unrounded = iter.unrounded_number(k);
    operand.is_wrapped_number = iter.tensor(k).is_wrapped_number();

    if (plan.numel == 0) continue;
    if (iter.tensor(k).is_cpu() && !iter.device().is_cpu()) {
      set_number(operand, iter, k);
      continue;
    }
    operand.data = iter.data(k);
    // The stride of a dimension of size 1 is arbitrary and must not count towards the span.
    for (int d = 0; d < plan.dims; ++d)
      plan.strides[k][d] = plan.sizes[d] == 1 ? 0 : iter.strides(k)[d];
  }

  return plan;
}

LaunchPlan result_plan(const TensorIterator& iter) {
  return launch_plan(TensorIterator::over(iter.op_name(), {&iter.output()}));
}

}  // namespace at
