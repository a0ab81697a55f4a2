// The logarithm of softmax along a dimension, and its gradient.
#include <algorithm>
#include <cmath>

#include "Memory.h"
#include "aten/Dispatch.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/ops/empty_like.h"

namespace at::native::walled {

namespace {

/// The lanes along a dimension of a contiguous tensor.
struct Lanes {
  Lanes(const Tensor& tensor, int64_t dim) {
    if (tensor.dim() == 0) return;
    const int64_t wrapped = dim < 0 ? dim + tensor.dim() : dim;
    length = tensor.size(wrapped);
    for (int64_t d = wrapped + 1; d < tensor.dim(); ++d) inner *= tensor.size(d);
    for (int64_t d = 0; d < wrapped; ++d) outer *= tensor.size(d);
  }

  /// Calls `function` with the index of the first element of each lane; the next is `inner` away.
  template <class Function>
  void each(const Function& function) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) function(o * length * inner + i);
  }

  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
};

/// Lets `write` fill a contiguous tensor, which is `out` or is copied to it.
template <class Function>
void into(const Tensor& out, const Function& write) {
  if (out.is_contiguous()) return write(out);
  const Tensor result = at::empty_like(out, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                                       MemoryFormat::Contiguous);
  write(result);
  at::copy_(out, result);
}

template <class In, class Out>
void log_softmax(const Tensor& self, int64_t dim, const Tensor& out) {
  const Lanes lanes(self, dim);
  const In* const x = elements<In>(self);
  Out* const y = elements<Out>(out);

  lanes.each([&](int64_t first) {
    double largest = -INFINITY;
    for (int64_t k = 0; k < lanes.length; ++k)
      largest = std::max(largest, static_cast<double>(x[first + k * lanes.inner]));

    double sum = 0;
    for (int64_t k = 0; k < lanes.length; ++k)
      sum += std::exp(static_cast<double>(x[first + k * lanes.inner]) - largest);

    for (int64_t k = 0; k < lanes.length; ++k) {
      const int64_t place = first + k * lanes.inner;
      y[place] = static_cast<Out>(static_cast<double>(x[place]) - largest - std::log(sum));
    }
  });
}

template <class In, class Out>
void log_softmax_backward(const Tensor& grad, const Tensor& output, int64_t dim,
                          const Tensor& out) {
  const Lanes lanes(output, dim);
  const In* const g = elements<In>(grad);
  const In* const y = elements<In>(output);
  Out* const result = elements<Out>(out);

  lanes.each([&](int64_t first) {
    double sum = 0;
    for (int64_t k = 0; k < lanes.length; ++k)
      sum += static_cast<double>(g[first + k * lanes.inner]);

    for (int64_t k = 0; k < lanes.length; ++k) {
      const int64_t place = first + k * lanes.inner;
      const double softmax = std::exp(static_cast<double>(y[place]));
      result[place] = static_cast<Out>(static_cast<double>(g[place]) - softmax * sum);
    }
  });
}

}  // namespace

void log_softmax_kernel(const Tensor& self, int64_t dim, bool /*half_to_float: the dtype of out0*/,
                        const Tensor& out0) {
  const Tensor input = at::contiguous(self);
  into(out0, [&](const Tensor& out) {
    AT_DISPATCH_FLOATING_AND_REDUCED(input.scalar_type(), "log_softmax", [&] {
      const bool widens = out.scalar_type() != input.scalar_type();
      widens ? log_softmax<scalar_t, float>(input, dim, out)
             : log_softmax<scalar_t, scalar_t>(input, dim, out);
    });
  });
}

void log_softmax_backward_kernel(const Tensor& grad_output, const Tensor& output, int64_t dim,
                                 ScalarType /*input_dtype: that of out0*/, const Tensor& out0) {
  const Tensor grad = at::contiguous(grad_output);
  const Tensor result = at::contiguous(output);
  into(out0, [&](const Tensor& out) {
    AT_DISPATCH_FLOATING_AND_REDUCED(out.scalar_type(), "log_softmax_backward", [&] {
      const bool widens = out.scalar_type() != result.scalar_type();
      widens ? log_softmax_backward<float, scalar_t>(grad, result, dim, out)
             : log_softmax_backward<scalar_t, scalar_t>(grad, result, dim, out);
    });
  });
}

}  // namespace at::native::walled
