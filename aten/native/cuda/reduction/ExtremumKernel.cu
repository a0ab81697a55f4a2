// The largest and smallest elements over dimensions, and the position of the first of equal ones.
#include "aten/iteration/TensorIterator.h"
#include "aten/native/cuda/Reduce.cuh"
#include "aten/native/cuda/reduction/ExtremumPositions.h"
#include "aten/native/functors/Extremum.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/ops/expand.h"

namespace at::native::cuda {

namespace {

/// `result` in the shape of `self`, with stride 0 along `dim`.
Tensor along(const Tensor& result, const Tensor& self, int64_t dim) {
  return at::expand(with_dim(result, self, dim), self.sizes());
}

/// Writes positions along `dim`, and the values there if these are defined.
void find_along(const char* name, bool is_max, const Tensor& self, int64_t dim,
                const Tensor& values, const Tensor& indices) {
  if (indices.numel() == 0) return;
  if (self.dim() == 0) {
    indices.zero_();
    if (values.defined()) values.copy_(self);
    return;
  }

  const int64_t d = wrap_dim(dim, self.dim());
  const Tensor positions = along(indices, self, d);
  if (!values.defined())
    return find_positions(launch_plan(TensorIterator::over(name, {&positions, &self})), is_max);
  const Tensor extremes = along(values, self, d);
  find_positions(launch_plan(TensorIterator::over(name, {&positions, &self, &extremes})), is_max);
}

void find_position(const char* name, bool is_max, const Tensor& self, std::optional<int64_t> dim,
                   const Tensor& indices) {
  if (dim.has_value()) return find_along(name, is_max, self, *dim, Tensor(), indices);

  // Among all elements: along the one dimension of the flat tensor.
  const Tensor flat = self.reshape({self.numel()});
  find_along(name, is_max, flat, 0, Tensor(), indices.reshape({}));
}

}  // namespace

void amax_kernel(TensorIteratorBase& iter) {
  with_extremum_ops<true>(iter.common_dtype(), iter.op_name(),
                          [&](auto ops) { reduce(iter, ops); });
}

void amin_kernel(TensorIteratorBase& iter) {
  with_extremum_ops<false>(iter.common_dtype(), iter.op_name(),
                           [&](auto ops) { reduce(iter, ops); });
}

void argmax_kernel(const Tensor& self, std::optional<int64_t> dim, bool /*keepdim*/,
                   const Tensor& out0) {
  find_position("argmax", true, self, dim, out0);
}

void argmin_kernel(const Tensor& self, std::optional<int64_t> dim, bool /*keepdim*/,
                   const Tensor& out0) {
  find_position("argmin", false, self, dim, out0);
}

void max_dim_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                    const Tensor& out1) {
  find_along("max", true, self, dim, out0, out1);
}

void min_dim_kernel(const Tensor& self, int64_t dim, bool /*keepdim*/, const Tensor& out0,
                    const Tensor& out1) {
  find_along("min", false, self, dim, out0, out1);
}

}  // namespace at::native::cuda
