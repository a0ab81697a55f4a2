// The running log-sum-exp with its derivatives, and linear recurrences.
#include <complex>

#include "aten/Dispatch.h"
#include "aten/iteration/Lanes.h"
#include "aten/native/declarations/cpu/reduction/ScanKernel.h"
#include "aten/native/functors/RunningExponentials.h"
#include "c10/util/complex.h"

namespace at::native {

namespace {

/// The type of running results: double, as rounding errors stay in them to the end.
template <typename T>
struct Wide {
  using type = double;
};

template <typename T>
struct Wide<c10::complex<T>> {
  using type = std::complex<double>;
};

double widened(double value) { return value; }

template <typename T>
std::complex<double> widened(c10::complex<T> value) {
  return {static_cast<double>(value.real()), static_cast<double>(value.imag())};
}

template <typename T>
T narrowed(double value) {
  return static_cast<T>(value);
}

template <typename T>
T narrowed(const std::complex<double>& value) {
  return T(value);
}

/// Calls f(n, stride, grad, self, output, out) with the lanes of the three inputs and of the
/// output.
template <typename F>
void for_weighted_lanes(const Tensor& grad, const Tensor& self, const Tensor& output, int64_t dim,
                        const Tensor& out, const F& f) {
  if (out.numel() == 0) return;

  const int64_t d = wrap_dim(dim, self.dim());
  const Tensor inputs[] = {grad.contiguous(), self.contiguous(), output.contiguous()};
  const int64_t n = lane_size(out, d);
  const int64_t stride = lane_stride(out, d);

  AT_DISPATCH_FLOATING_AND_COMPLEX(out.scalar_type(), "logcumsumexp", [&] {
    // The exponentials make an element about 16 times as expensive as one of a plain sum.
    LaneIterator(d, {&inputs[0], &inputs[1], &inputs[2], &out})
        .for_each(n * 16, [&](char* const* data) {
          f(n, stride, reinterpret_cast<const scalar_t*>(data[0]),
            reinterpret_cast<const scalar_t*>(data[1]), reinterpret_cast<const scalar_t*>(data[2]),
            reinterpret_cast<scalar_t*>(data[3]));
        });
  });
}

}  // namespace

void linear_recurrence_kernel(const Tensor& term, const Tensor& factor, int64_t dim, bool reverse,
                              const Tensor& out0) {
  if (out0.numel() == 0) return;

  const int64_t d = wrap_dim(dim, term.dim());
  const Tensor inputs[] = {term.contiguous(), factor.contiguous()};
  const int64_t n = lane_size(out0, d);
  const int64_t stride = lane_stride(inputs[0], d);
  const int64_t out_stride = lane_stride(out0, d);

  AT_DISPATCH_FLOATING_AND_COMPLEX(out0.scalar_type(), "_linear_recurrence", [&] {
    LaneIterator(d, {&inputs[0], &inputs[1], &out0}).for_each(n, [&](char* const* data) {
      const auto* terms = reinterpret_cast<const scalar_t*>(data[0]);
      const auto* factors = reinterpret_cast<const scalar_t*>(data[1]);
      auto* out = reinterpret_cast<scalar_t*>(data[2]);

      // The factor of the first step is not used: it may be infinite.
      typename Wide<scalar_t>::type sum = 0;
      for (int64_t step = 0; step < n; ++step) {
        const int64_t i = reverse ? n - 1 - step : step;
        const auto next = widened(terms[i * stride]);
        sum = step == 0 ? next : next + widened(factors[i * stride]) * sum;
        out[i * out_stride] = narrowed<scalar_t>(sum);
      }
    });
  });
}

void logcumsumexp_kernel(const Tensor& self, int64_t dim, const Tensor& out0) {
  if (self.numel() == 0) return;

  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t n = lane_size(self, d);
  const int64_t stride = lane_stride(self, d);
  const int64_t out_stride = lane_stride(out0, d);

  AT_DISPATCH_FLOATING_AND_COMPLEX(self.scalar_type(), "logcumsumexp", [&] {
    // The exponentials make an element about 16 times as expensive as one of a plain sum.
    LaneIterator(d, {&self, &out0}).for_each(n * 16, [&](char* const* data) {
      const auto* in = reinterpret_cast<const scalar_t*>(data[0]);
      auto* out = reinterpret_cast<scalar_t*>(data[1]);

      typename Wide<scalar_t>::type sum = widened(in[0]);
      out[0] = in[0];
      for (int64_t i = 1; i < n; ++i) {
        sum = add_exponential(sum, widened(in[i * stride]));
        out[i * out_stride] = narrowed<scalar_t>(sum);
      }
    });
  });
}

void logcumsumexp_backward_kernel(const Tensor& grad_output, const Tensor& self,
                                  const Tensor& output, int64_t dim, const Tensor& out0) {
  // The derivative of out_i by x_j is exp(x_j - out_i) for i >= j. With S_j, the sum over i >= j of
  // grad_i exp(out_j - out_i), the gradient of x_j is exp(x_j - out_j) S_j, and
  // S_j = grad_j + exp(out_j - out_{j+1}) S_{j+1}.
  const auto backward = []<typename T>(int64_t n, int64_t stride, const T* grad, const T* x,
                                       const T* result, T* out) {
    typename Wide<T>::type sum = 0;
    for (int64_t j = n - 1; j >= 0; --j) {
      const int64_t at = j * stride;
      if (j + 1 < n) sum *= exponential_ratio(widened(result[at]), widened(result[at + stride]));
      sum += widened(grad[at]);
      out[at] = narrowed<T>(sum * exponential_share(widened(x[at]), widened(result[at])));
    }
  };

  for_weighted_lanes(grad_output, self, output, dim, out0, backward);
}

void logcumsumexp_forward_kernel(const Tensor& grad_output, const Tensor& self,
                                 const Tensor& output, int64_t dim, const Tensor& out0) {
  // The tangent of out_i is T_i, the sum over j <= i of t_j exp(x_j - out_i), where t is the
  // tangent of x, and T_i = exp(out_{i-1} - out_i) T_{i-1} + t_i exp(x_i - out_i).
  const auto forward = []<typename T>(int64_t n, int64_t stride, const T* grad, const T* x,
                                      const T* result, T* out) {
    typename Wide<T>::type sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = i * stride;
      if (i > 0) sum *= exponential_ratio(widened(result[at - stride]), widened(result[at]));
      sum += widened(grad[at]) * exponential_share(widened(x[at]), widened(result[at]));
      out[at] = narrowed<T>(sum);
    }
  };

  for_weighted_lanes(grad_output, self, output, dim, out0, forward);
}

}  // namespace at::native
