// The kernels of running sums, products and extrema. See Note [Scans].
#include "aten/native/cuda/RunningExponentials.h"
#include "aten/native/cuda/RunningNumbers.cuh"
#include "aten/native/cuda/reduction/RunningExtrema.h"
#include "aten/native/cuda/reduction/RunningProducts.h"

namespace at::native::cuda {

namespace {

template <class T, class Accumulator>
struct RunningSum : RunningNumbers<T, Accumulator> {
  using State = Accumulator;
  SIMT_DEVICE State start() const { return State(0); }
  SIMT_DEVICE State combine(State a, State b) const { return static_cast<State>(a + b); }
};

void weigh(const char* name, const Tensor& grad, const Tensor& self, const Tensor& output,
           int64_t dim, const Tensor& out, bool backward) {
  if (out.numel() == 0) return;

  const LaneTable lanes = lane_table(wrap_dim(dim, self.dim()), {&grad, &self, &output, &out});
  exponential_weights(name, lanes, out.scalar_type(), backward);
}

/// r[i] = term[i] + factor[i] * r[i - 1], one step after another: products of factors could
/// overflow where the recurrence does not.
template <class T>
SIMT_KERNEL recurrence_kernel(LaneTable lanes, bool reverse) {
  using Wide = typename RunningType<T>::type;
  const int64_t lane = int64_t{simt::block_x()} * kScanThreads + simt::thread_x();
  if (lane >= lanes.count) return;
  const char* const terms = lanes.find(0, lane);
  const char* const factors = lanes.find(1, lane);
  char* const out = lanes.find(2, lane);

  // The factor of the first step is not used: it may be infinite.
  Wide sum(0);
  for (int64_t step = 0; step < lanes.length; ++step) {
    const int64_t i = reverse ? lanes.length - 1 - step : step;
    const auto term = static_cast<Wide>(*reinterpret_cast<const T*>(terms + i * lanes.steps[0]));
    const auto factor =
        static_cast<Wide>(*reinterpret_cast<const T*>(factors + i * lanes.steps[1]));
    sum = step == 0 ? term : term + factor * sum;
    *reinterpret_cast<T*>(out + i * lanes.steps[2]) = static_cast<T>(sum);
  }
}

}  // namespace

void logcumsumexp_kernel(const Tensor& self, int64_t dim, const Tensor& out0) {
  if (self.numel() == 0) return;

  const LaneTable lanes = lane_table(wrap_dim(dim, self.dim()), {&self, &out0});
  running_log_sums(lanes, self.scalar_type());
}

void logcumsumexp_backward_kernel(const Tensor& grad_output, const Tensor& self,
                                  const Tensor& output, int64_t dim, const Tensor& out0) {
  weigh("_logcumsumexp_backward", grad_output, self, output, dim, out0, true);
}

void logcumsumexp_forward_kernel(const Tensor& grad_output, const Tensor& self,
                                 const Tensor& output, int64_t dim, const Tensor& out0) {
  weigh("_logcumsumexp_forward", grad_output, self, output, dim, out0, false);
}

void linear_recurrence_kernel(const Tensor& term, const Tensor& factor, int64_t dim, bool reverse,
                              const Tensor& out0) {
  if (out0.numel() == 0) return;

  const LaneTable lanes = lane_table(wrap_dim(dim, term.dim()), {&term, &factor, &out0});
  const int64_t blocks = (lanes.count + kScanThreads - 1) / kScanThreads;
  AT_DISPATCH_FLOATING_AND_COMPLEX(out0.scalar_type(), "_linear_recurrence", [&] {
    c10::cuda::launch("_linear_recurrence", &recurrence_kernel<scalar_t>,
                      dim3(static_cast<unsigned>(blocks)), dim3(kScanThreads), 0,
                      c10::cuda::current_stream(), lanes, reverse);
  });
}

void cumsum_kernel(const Tensor& self, int64_t dim, std::optional<ScalarType> /*dtype*/,
                   const Tensor& out0) {
  run_numbers<RunningSum>("cumsum", self, dim, out0);
}

void cumprod_kernel(const Tensor& self, int64_t dim, std::optional<ScalarType> /*dtype*/,
                    const Tensor& out0) {
  running_products(self, dim, out0);
}

void cummax_kernel(const Tensor& self, int64_t dim, const Tensor& out0, const Tensor& out1) {
  running_extrema("cummax", true, self, dim, out0, out1);
}

void cummin_kernel(const Tensor& self, int64_t dim, const Tensor& out0, const Tensor& out1) {
  running_extrema("cummin", false, self, dim, out0, out1);
}

}  // namespace at::native::cuda
