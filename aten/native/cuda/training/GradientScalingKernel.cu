// Gradient scaling: the scale, its growth and found_inf are read and written on the device.
#include "aten/Dispatch.h"
#include "aten/native/cuda/TensorTable.cuh"
#include "aten/native/functors/GradientScaling.h"
#include "aten/native/training/Optimizers.h"

namespace at::native::cuda {

namespace {

/// Multiplies gradients by `factor`, and sets `found` where an element is infinite or NaN.
template <int kWidth, class T>
SIMT_KERNEL SIMT_LAUNCH_BOUNDS(kTableThreads)
    unscale_kernel(TensorTable<1> table, const float* factor, float* found) {
  using Acc = opmath_type<T>;
  const TablePlace place(table, int64_t{kTableThreads} * kTablePacks * kWidth);
  T* const gradient = reinterpret_cast<T*>(table.data[0][place.tensor]);
  const Acc by = static_cast<Acc>(*factor);

  bool finite = true;
  each_of_block<kWidth>(place, [&](auto width, int64_t first) {
    auto& pack = *reinterpret_cast<RowPack<T, width>*>(gradient + first);
    auto values = pack;
    SIMT_UNROLL
    for (int j = 0; j < width; ++j) {
      const Acc value = static_cast<Acc>(values[j]);
      finite = finite && ScaleUpdate::is_finite(value);
      values[j] = static_cast<T>(value * by);
    }
    pack = values;
  });

  // Any number of threads may find one; all store the same value.
  if (!finite) simt::atomic_exchange(found, 1.0f);
}

SIMT_KERNEL update_scale_kernel(ScaleUpdate update, float* scale, int32_t* tracker,
                                const float* found_inf) {
  update.apply(*scale, *tracker, *found_inf != 0);
}

}  // namespace

void amp_unscale_loop_kernel(TensorList self, const Tensor& found_inf, const Tensor& inv_scale) {
  const char* const name = "_amp_foreach_non_finite_check_and_unscale_";
  check_single_elements(name, {{&found_inf, 1}, {&inv_scale, 1}});
  check_dense(name, self);
  const float* const factor = inv_scale.const_data_ptr<float>();
  float* const found = found_inf.data_ptr<float>();

  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    AT_DISPATCH_FLOATING_AND_REDUCED(dtype, "amp_unscale", [&] {
      constexpr int kWidth = 16 / sizeof(scalar_t);
      for_each_table<scalar_t, 1>({self}, {}, [&](auto& table, int width) {
        const auto kernel =
            width == 1 ? &unscale_kernel<1, scalar_t> : &unscale_kernel<kWidth, scalar_t>;
        const unsigned blocks = count_blocks(table, width);
        c10::cuda::launch("_amp_foreach_non_finite_check_and_unscale_", kernel, dim3(blocks),
                          dim3(kTableThreads), 0, c10::cuda::current_stream(), table, factor,
                          found);
      });
    });
  }
}

void amp_update_scale_loop_kernel(const Tensor& self, const Tensor& growth_tracker,
                                  const Tensor& found_inf, double scale_growth_factor,
                                  double scale_backoff_factor, int64_t growth_interval) {
  check_single_elements("_amp_update_scale_", {{&self, 1}, {&growth_tracker, 1}, {&found_inf, 1}});
  const ScaleUpdate update{scale_growth_factor, scale_backoff_factor, growth_interval};
  c10::cuda::launch("_amp_update_scale_", &update_scale_kernel, dim3(1), dim3(1), 0,
                    c10::cuda::current_stream(), update, self.data_ptr<float>(),
                    growth_tracker.data_ptr<int32_t>(), found_inf.const_data_ptr<float>());
}

}  // namespace at::native::cuda
