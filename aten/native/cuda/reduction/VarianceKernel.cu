// Variances, standard deviations and means, in one pass over the elements.
#include "aten/Dispatch.h"
#include "aten/iteration/ReductionPlan.h"
#include "aten/iteration/TensorIterator.h"
#include "aten/native/cuda/Reduce.cuh"
#include "aten/native/declarations/reduction/Variance.h"
#include "aten/native/shared/Freedom.h"
#include "aten/ops/expand.h"
#include "aten/ops/reshape.h"

namespace at::native::cuda {

namespace {

using Pair = std::tuple<Tensor, Tensor>;

/// Sums of differences from the first element and of their squares, in double. The first element is
/// no further from the mean than all squares of the lane allow, so that an offset that all elements
/// have costs no digits, whatever its size. Sum.h says what Ops is.
template <class T>
struct Moments {
  struct acc_t {
    double sum;
    double squares;
  };
  using input_t = T;
  using output_t = T;
  using second_t = T;
  double count;
  double freedom;
  bool takes_root;
  double origin;

  /// Nothing is counted from an infinite element: the mean of its lane is infinite, not NaN.
  SIMT_DEVICE Moments counted_from(T first) const {
    const auto value = static_cast<double>(static_cast<opmath_type<T>>(first));
    return {count, freedom, takes_root, value - value == 0 ? value : 0.0};
  }
  SIMT_DEVICE static acc_t identity() { return {0.0, 0.0}; }
  SIMT_DEVICE acc_t reduce(acc_t acc, T value) const {
    const double difference = static_cast<double>(static_cast<opmath_type<T>>(value)) - origin;
    return {acc.sum + difference, acc.squares + difference * difference};
  }
  SIMT_DEVICE static acc_t combine(acc_t a, acc_t b) {
    return {a.sum + b.sum, a.squares + b.squares};
  }
  SIMT_DEVICE T project(acc_t acc) const {
    const double centred = acc.squares - acc.sum * (acc.sum / count);
    const double variance = (centred < 0 ? 0.0 : centred) / freedom;
    return static_cast<T>(static_cast<opmath_type<T>>(takes_root ? std::sqrt(variance) : variance));
  }
  SIMT_DEVICE T project_second(acc_t acc) const {
    return static_cast<T>(static_cast<opmath_type<T>>(origin + acc.sum / count));
  }
};

bool has_kernel(const Tensor& self) {
  return self.is_floating_point() && self.dim() > 0 && self.numel() > 0;
}

/// The variance, or its root, and the mean if `wants_mean`.
Pair moments(const char* name, const Tensor& self, OptionalIntArrayRef dim,
             const std::optional<Scalar>& correction, bool keepdim, bool takes_root,
             bool wants_mean) {
  const auto kept = reduced_sizes(self, dim, true);
  const auto make = [&] { return empty_tensor(kept, self.scalar_type(), self.device()); };
  const Tensor spread = make();
  const Tensor spread_along = at::expand(spread, self.sizes());
  const Tensor mean = wants_mean ? make() : Tensor();
  const Tensor mean_along = wants_mean ? at::expand(mean, self.sizes()) : Tensor();
  const LaunchPlan plan =
      launch_plan(wants_mean ? TensorIterator::over(name, {&spread_along, &self, &mean_along})
                             : TensorIterator::over(name, {&spread_along, &self}));

  const auto count = static_cast<double>(self.numel() / spread.numel());
  const double freedom = degrees_of_freedom(self, dim, correction);
  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), name, [&] {
    reduce_elements(plan, Moments<scalar_t>{count, freedom, takes_root, 0.0});
  });

  if (keepdim) return {spread, mean};
  const auto sizes = reduced_sizes(self, dim, false);
  return {at::reshape(spread, sizes), wants_mean ? at::reshape(mean, sizes) : mean};
}

}  // namespace

Tensor var_kernel(const Tensor& self, OptionalIntArrayRef dim,
                  const std::optional<Scalar>& correction, bool keepdim) {
  if (!has_kernel(self)) return var_correction(self, dim, correction, keepdim);
  return std::get<0>(moments("var", self, dim, correction, keepdim, false, false));
}

Tensor std_kernel(const Tensor& self, OptionalIntArrayRef dim,
                  const std::optional<Scalar>& correction, bool keepdim) {
  if (!has_kernel(self)) return std_correction(self, dim, correction, keepdim);
  return std::get<0>(moments("std", self, dim, correction, keepdim, true, false));
}

Pair var_mean_kernel(const Tensor& self, OptionalIntArrayRef dim,
                     const std::optional<Scalar>& correction, bool keepdim) {
  if (!has_kernel(self)) return var_mean_correction(self, dim, correction, keepdim);
  return moments("var_mean", self, dim, correction, keepdim, false, true);
}

Pair std_mean_kernel(const Tensor& self, OptionalIntArrayRef dim,
                     const std::optional<Scalar>& correction, bool keepdim) {
  if (!has_kernel(self)) return std_mean_correction(self, dim, correction, keepdim);
  return moments("std_mean", self, dim, correction, keepdim, true, true);
}

}  // namespace at::native::cuda
