// Running sums and products along a dimension.
#include "aten/native/declarations/cpu/reduction/ScanKernel.isa.h"
#include "aten/Dispatch.h"
#include "aten/iteration/Lanes.h"
#include "aten/native/functors/Modular.h"
#include "aten/native/functors/RunningType.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// The running results of op along `dim`, accumulated in Acc from `start`.
template <typename T, typename Acc, typename Op>
void scan_lanes(const Tensor& self, int64_t dim, const Tensor& out, Acc start, const Op& op) {
  const Tensor source = self.to(out.scalar_type());
  const int64_t n = lane_size(out, dim);
  const int64_t in_stride = lane_stride(source, dim);
  const int64_t out_stride = lane_stride(out, dim);

  const LaneIterator lanes(dim, {&out, &source});
  lanes.for_each(n, [&](char* const* data) {
    auto* result = reinterpret_cast<T*>(data[0]);
    const auto* in = reinterpret_cast<const T*>(data[1]);

    Acc running = start;
    for (int64_t i = 0; i < n; ++i) {
      running = op(running, static_cast<Acc>(in[i * in_stride]));
      result[i * out_stride] = static_cast<T>(running);
    }
  });
}

}  // namespace

void cumsum_kernel(const Tensor& self, int64_t dim, std::optional<ScalarType> /*dtype*/,
                   const Tensor& out0) {
  const ScalarType type = out0.scalar_type();
  const int64_t d = wrap_dim(dim, self.dim());
  if (out0.numel() == 0) return;

  if (is_integral(type, false)) {
    return dispatch_modular(type, [&]<typename T>() {
      scan_lanes<T, T>(self, d, out0, 0, [](T a, T b) { return static_cast<T>(a + b); });
    });
  }

  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "cumsum", [&] {
    using acc_t = typename RunningType<scalar_t>::type;
    scan_lanes<scalar_t, acc_t>(self, d, out0, acc_t(0), [](acc_t a, acc_t b) { return a + b; });
  });
}

void cumprod_kernel(const Tensor& self, int64_t dim, std::optional<ScalarType> /*dtype*/,
                    const Tensor& out0) {
  const ScalarType type = out0.scalar_type();
  const int64_t d = wrap_dim(dim, self.dim());
  if (out0.numel() == 0) return;

  if (is_integral(type, false)) {
    return dispatch_modular(type, [&]<typename T>() {
      scan_lanes<T, T>(self, d, out0, 1, [](T a, T b) { return multiply_modular<T>(a, b); });
    });
  }

  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "cumprod", [&] {
    using acc_t = typename RunningType<scalar_t>::type;
    scan_lanes<scalar_t, acc_t>(self, d, out0, acc_t(1), [](acc_t a, acc_t b) { return a * b; });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
