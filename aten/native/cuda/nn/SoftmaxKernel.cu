// softmax, log_softmax and their gradients, see Note [Rows].
#include "aten/Dispatch.h"
#include "aten/core/Tensor.h"
#include "aten/native/cuda/Rows.cuh"
#include "aten/ops/contiguous.h"
#include "aten/vec/math.h"

namespace at::native::cuda {

namespace {

/// The largest element of a row, and the sum of exp(x - largest).
template <class Acc>
struct Scale {
  Acc top, sum;
};

/// In two passes over registers, which keep exp(x - top) if `kKeep`.
template <bool kKeep, class Values, class Walk, class Threads>
SIMT_DEVICE auto scale_of_held(Values& in, const Walk& walk, Threads& threads) {
  using Acc = typename Values::Acc;
  Acc top = -vec::kInfinity;
  walk.each([&](int slot, auto first) {
    const auto x = in.at(slot, first);
    SIMT_UNROLL
    for (int j = 0; j < Walk::kWidth; ++j) top = Larger()(top, x[j]);
  });
  top = threads.combine(top, Acc(-vec::kInfinity), Larger());

  Acc sum = 0;
  walk.each([&](int slot, auto first) {
    auto x = in.at(slot, first);
    SIMT_UNROLL
    for (int j = 0; j < Walk::kWidth; ++j) {
      const Acc power = vec::exp(x[j] - top);
      sum += power;
      if constexpr (kKeep) x[j] = power;
    }
    if constexpr (kKeep) in.set(slot, x);
  });
  return Scale<Acc>{top, threads.combine(sum, Acc(0), Added())};
}

/// In one pass over memory: where the largest element so far grows, the sum so far shrinks.
template <class Values, class Walk, class Threads>
SIMT_DEVICE auto scale_in_memory(const Values& in, const Walk& walk, Threads& threads) {
  using Acc = typename Values::Acc;
  Acc top = -vec::kInfinity;
  Acc sum = 0;

  // exp(-inf - -inf) is NaN, but rows may begin with -inf.
  const auto finite = [](Acc value) { return value == Acc(-vec::kInfinity) ? Acc(0) : value; };
  walk.each([&](int slot, auto first) {
    const auto x = in.at(slot, first);
    Acc larger = top;
    SIMT_UNROLL
    for (int j = 0; j < Walk::kWidth; ++j) larger = Larger()(larger, x[j]);

    if (larger > top) {
      sum *= vec::exp(top - larger);
      top = larger;
    }
    const Acc shift = finite(top);
    SIMT_UNROLL
    for (int j = 0; j < Walk::kWidth; ++j) sum += vec::exp(x[j] - shift);
  });

  const Acc all = threads.combine(top, Acc(-vec::kInfinity), Larger());
  sum *= vec::exp(top - finite(all));
  return Scale<Acc>{all, threads.combine(sum, Acc(0), Added())};
}

/// exp(x - max(x)) / sum(exp(x - max(x))), or its logarithm.
template <class T, class Out, bool kLogarithm>
struct Softmax {
  using Acc = opmath_type<T>;

  const T* in;
  Out* out;

  template <class Walk, class Threads>
  SIMT_DEVICE void operator()(const RowPlace& place, const Walk& walk, Threads& threads) const {
    RowValues<T, Walk> values(walk, in + place.offset);
    Scale<Acc> scale;
    if constexpr (Walk::kIsHeld) {
      scale = scale_of_held<!kLogarithm>(values, walk, threads);
    } else {
      scale = scale_in_memory(values, walk, threads);
    }

    const Acc factor = kLogarithm ? vec::log(scale.sum) : Acc(1) / scale.sum;
    walk.each([&](int slot, auto first) {
      auto x = values.at(slot, first);
      SIMT_UNROLL
      for (int j = 0; j < Walk::kWidth; ++j) {
        if constexpr (kLogarithm) {
          // Not x - (top + factor): where top is large, that loses the digits of factor.
          x[j] = x[j] - scale.top - factor;
        } else {
          const Acc power = Walk::kIsHeld ? x[j] : vec::exp(x[j] - scale.top);
          x[j] = power * factor;
        }
      }
      store_pack(walk, out + place.offset, first, x);
    });
  }
};

/// output * (grad - sum(grad * output)), or of the logarithm: grad - exp(output) * sum(grad).
template <class T, bool kLogarithm>
struct SoftmaxGradient {
  using Acc = opmath_type<T>;

  const T* grad;
  const T* output;
  T* out;

  template <class Walk, class Threads>
  SIMT_DEVICE void operator()(const RowPlace& place, const Walk& walk, Threads& threads) const {
    const RowValues<T, Walk> grads(walk, grad + place.offset);
    const RowValues<T, Walk> outputs(walk, output + place.offset);

    Acc sum = 0;
    walk.each([&](int slot, auto first) {
      const auto g = grads.at(slot, first);
      const auto o = outputs.at(slot, first);
      SIMT_UNROLL
      for (int j = 0; j < Walk::kWidth; ++j) sum += kLogarithm ? g[j] : g[j] * o[j];
    });
    sum = threads.combine(sum, Acc(0), Added());

    walk.each([&](int slot, auto first) {
      auto g = grads.at(slot, first);
      const auto o = outputs.at(slot, first);
      SIMT_UNROLL
      for (int j = 0; j < Walk::kWidth; ++j)
        g[j] = kLogarithm ? g[j] - vec::exp(o[j]) * sum : o[j] * (g[j] - sum);
      store_pack(walk, out + place.offset, first, g);
    });
  }
};

RowShape shape_along(const Tensor& tensor, int64_t dim) {
  RowShape shape;
  if (tensor.dim() == 0) return shape;

  const int64_t d = wrap_dim(dim, tensor.dim());
  for (int64_t k = 0; k < d; ++k) shape.outer *= tensor.sizes()[k];
  for (int64_t k = d + 1; k < tensor.dim(); ++k) shape.inner *= tensor.sizes()[k];
  shape.size = tensor.sizes()[d];
  return shape;
}

template <bool kLogarithm>
void forward(const char* name, const Tensor& self, int64_t dim, const Tensor& out) {
  if (self.numel() == 0) return;
  const Tensor input = self.contiguous();
  const RowShape shape = shape_along(input, dim);

  AT_DISPATCH_FLOATING_AND_REDUCED(input.scalar_type(), name, [&] {
    const auto launch = [&]<class Out>(Out* to) {
      const scalar_t* from = input.const_data_ptr<scalar_t>();
      const Softmax<scalar_t, Out, kLogarithm> formula{from, to};
      for_each_row<scalar_t>(name, shape, are_aligned(from, to), formula);
    };

    // float16 may have a result of float.
    if constexpr (std::is_same_v<scalar_t, c10::Half>) {
      if (out.scalar_type() == kFloat) return launch(out.data_ptr<float>());
    }
    launch(out.data_ptr<scalar_t>());
  });
}

template <bool kLogarithm>
void backward(const char* name, const Tensor& grad_output, const Tensor& output, int64_t dim,
              const Tensor& out) {
  if (output.numel() == 0) return;
  const Tensor grads = grad_output.contiguous();
  const Tensor outputs = output.contiguous();
  const RowShape shape = shape_along(outputs, dim);

  AT_DISPATCH_FLOATING_AND_REDUCED(outputs.scalar_type(), name, [&] {
    const scalar_t* g = grads.const_data_ptr<scalar_t>();
    const scalar_t* o = outputs.const_data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    const SoftmaxGradient<scalar_t, kLogarithm> formula{g, o, to};
    for_each_row<scalar_t>(name, shape, are_aligned(g, o, to), formula);
  });
}

}  // namespace

void softmax_kernel(const Tensor& self, int64_t dim, bool /*half_to_float: out0 has the dtype*/,
                    const Tensor& out0) {
  forward<false>("softmax", self, dim, out0);
}

void log_softmax_kernel(const Tensor& self, int64_t dim, bool, const Tensor& out0) {
  forward<true>("log_softmax", self, dim, out0);
}

void softmax_backward_kernel(const Tensor& grad_output, const Tensor& output, int64_t dim,
                             ScalarType, const Tensor& out0) {
  backward<false>("softmax_backward", grad_output, output, dim, out0);
}

void log_softmax_backward_kernel(const Tensor& grad_output, const Tensor& output, int64_t dim,
                                 ScalarType, const Tensor& out0) {
  backward<true>("log_softmax_backward", grad_output, output, dim, out0);
}

}  // namespace at::native::cuda
