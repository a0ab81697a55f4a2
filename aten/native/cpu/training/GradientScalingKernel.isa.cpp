// Gradient scaling on the CPU, in one pass over each gradient.
#include <atomic>

#include "aten/Dispatch.h"
#include "aten/native/declarations/cpu/training/GradientScalingKernel.isa.h"
#include "aten/native/functors/GradientScaling.h"
#include "aten/native/training/Optimizers.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// Multiplies by `factor`, and returns whether all elements were finite.
template <typename T>
bool unscale(T* gradient, int64_t count, opmath_type<T> factor) {
  using acc_t = opmath_type<T>;
  int32_t infinite = 0;  // a number: loops that combine flags do not vectorise
  for (int64_t i = 0; i < count; ++i) {
    const acc_t value = static_cast<acc_t>(gradient[i]);
    infinite |= static_cast<int32_t>(!ScaleUpdate::is_finite(value));
    gradient[i] = static_cast<T>(value * factor);
  }
  return infinite == 0;
}

}  // namespace

void amp_unscale_loop_kernel(TensorList self, const Tensor& found_inf, const Tensor& inv_scale) {
  const char* const name = "_amp_foreach_non_finite_check_and_unscale_";
  check_single_elements(name, {{&found_inf, 1}, {&inv_scale, 1}});
  check_dense(name, self);
  const float factor = *inv_scale.const_data_ptr<float>();
  std::atomic<bool> finite = true;

  for (const Tensor& gradient : self) {
    AT_DISPATCH_FLOATING_AND_REDUCED(gradient.scalar_type(), "amp_unscale", [&] {
      scalar_t* data = gradient.data_ptr<scalar_t>();
      parallel_for(0, gradient.numel(), kDefaultGrainSize, [&](int64_t begin, int64_t end) {
        if (!unscale<scalar_t>(data + begin, end - begin, factor)) finite = false;
      });
    });
  }

  // Gradients are unscaled even where they overflowed; found_inf tells the optimizer to skip the
  // step.
  if (!finite) *found_inf.data_ptr<float>() = 1.0f;
}

void amp_update_scale_loop_kernel(const Tensor& self, const Tensor& growth_tracker,
                                  const Tensor& found_inf, double scale_growth_factor,
                                  double scale_backoff_factor, int64_t growth_interval) {
  check_single_elements("_amp_update_scale_", {{&self, 1}, {&growth_tracker, 1}, {&found_inf, 1}});
  const ScaleUpdate update{scale_growth_factor, scale_backoff_factor, growth_interval};
  update.apply(*self.data_ptr<float>(), *growth_tracker.data_ptr<int32_t>(),
               *found_inf.const_data_ptr<float>() != 0);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
