// softmax, log_softmax and their gradients. Note [Softmax lanes]: a tensor is outer x size x inner.
// With inner = 1 a lane is a row, and vectors run along it. Otherwise kWidth neighbouring lanes are
// computed together, and vectors run across them; short rows are transposed for this. Arithmetic is
// in float (double for double).
// Reduced floats pass through buffers: each formula exists once per type. Compiled with -O3.
#include <algorithm>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/iteration/BlockCopy.h"
#include "aten/native/cpu/shared/RowFold.h"
#include "aten/native/declarations/cpu/nn/SoftmaxKernel.isa.h"
#include "aten/ops/contiguous.h"
#include "aten/parallel/Parallel.h"
#include "aten/vec/math.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

constexpr int64_t kWidth = 64;     // lanes of a block
constexpr int64_t kShortRow = 32;  // elements of rows that are transposed

/// exp(x - max(x)) / sum(exp(x - max(x))), of a row or of `width` lanes whose elements are `stride`
/// apart; in and out may be the same memory.
template <typename T>
struct Softmax {
  static void row(const T* in, T* out, int64_t n) {
    const T top =
        fold(n, T(-vec::kInfinity), [in](T a, int64_t i) { return larger(a, in[i]); }, larger<T>);

    const T sum = sum_of<T>(n, [in, out, top](int64_t i) {
      const T power = vec::exp(in[i] - top);
      out[i] = power;
      return power;
    });

    const T scale = T(1) / sum;
    for (int64_t i = 0; i < n; ++i) out[i] *= scale;
  }

  static void lanes(const T* in, int64_t in_stride, T* out, int64_t out_stride, int64_t n,
                    int64_t width) {
    T top[kWidth];
    T sum[kWidth];
    find_top(in, in_stride, n, width, top);

    std::fill_n(sum, width, T(0));
    for (int64_t i = 0; i < n; ++i) {
      const T* from = in + i * in_stride;
      T* to = out + i * out_stride;
#pragma GCC ivdep
      for (int64_t j = 0; j < width; ++j) {
        to[j] = vec::exp(from[j] - top[j]);
        sum[j] += to[j];
      }
    }

    for (int64_t j = 0; j < width; ++j) sum[j] = T(1) / sum[j];
    for (int64_t i = 0; i < n; ++i) {
      T* to = out + i * out_stride;
      for (int64_t j = 0; j < width; ++j) to[j] *= sum[j];
    }
  }

  static void find_top(const T* in, int64_t in_stride, int64_t n, int64_t width, T* top) {
    std::fill_n(top, width, T(-vec::kInfinity));
    for (int64_t i = 0; i < n; ++i) {
      const T* from = in + i * in_stride;
      for (int64_t j = 0; j < width; ++j) top[j] = larger(top[j], from[j]);
    }
  }
};

/// x - max(x) - log(sum(exp(x - max(x))))
template <typename T>
struct LogSoftmax {
  static void row(const T* in, T* out, int64_t n) {
    const T top =
        fold(n, T(-vec::kInfinity), [in](T a, int64_t i) { return larger(a, in[i]); }, larger<T>);
    const T sum = sum_of<T>(n, [in, top](int64_t i) { return vec::exp(in[i] - top); });
    const T log_sum = vec::log(sum);

    // Not in[i] - (top + log_sum): where top is large, that loses the digits of log_sum.
    for (int64_t i = 0; i < n; ++i) out[i] = in[i] - top - log_sum;
  }

  static void lanes(const T* in, int64_t in_stride, T* out, int64_t out_stride, int64_t n,
                    int64_t width) {
    T top[kWidth];
    T sum[kWidth];
    Softmax<T>::find_top(in, in_stride, n, width, top);

    std::fill_n(sum, width, T(0));
    for (int64_t i = 0; i < n; ++i) {
      const T* from = in + i * in_stride;
      for (int64_t j = 0; j < width; ++j) sum[j] += vec::exp(from[j] - top[j]);
    }

    for (int64_t j = 0; j < width; ++j) sum[j] = vec::log(sum[j]);
    for (int64_t i = 0; i < n; ++i) {
      const T* from = in + i * in_stride;
      T* to = out + i * out_stride;
#pragma GCC ivdep
      for (int64_t j = 0; j < width; ++j) to[j] = from[j] - top[j] - sum[j];
    }
  }
};

/// result = output * (grad - sum(grad * output))
template <typename T>
struct SoftmaxGradient {
  static void row(const T* grad, const T* output, T* result, int64_t n) {
    const T sum =
        fold(n, T(0), [grad, output](T a, int64_t i) { return a + grad[i] * output[i]; }, added<T>);

    for (int64_t i = 0; i < n; ++i) result[i] = output[i] * (grad[i] - sum);
  }

  static void lanes(const T* grad, const T* output, T* result, int64_t stride, int64_t n,
                    int64_t width) {
    T sum[kWidth] = {};
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < width; ++j) sum[j] += grad[i * stride + j] * output[i * stride + j];
    }

    for (int64_t i = 0; i < n; ++i) {
#pragma GCC ivdep
      for (int64_t j = 0; j < width; ++j)
        result[i * stride + j] = output[i * stride + j] * (grad[i * stride + j] - sum[j]);
    }
  }
};

/// result = grad - exp(output) * sum(grad)
template <typename T>
struct LogSoftmaxGradient {
  static void row(const T* grad, const T* output, T* result, int64_t n) {
    const T sum = fold(n, T(0), [grad](T a, int64_t i) { return a + grad[i]; }, added<T>);

    for (int64_t i = 0; i < n; ++i) result[i] = grad[i] - vec::exp(output[i]) * sum;
  }

  static void lanes(const T* grad, const T* output, T* result, int64_t stride, int64_t n,
                    int64_t width) {
    T sum[kWidth] = {};
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < width; ++j) sum[j] += grad[i * stride + j];
    }

    for (int64_t i = 0; i < n; ++i) {
#pragma GCC ivdep
      for (int64_t j = 0; j < width; ++j)
        result[i * stride + j] = grad[i * stride + j] - vec::exp(output[i * stride + j]) * sum[j];
    }
  }
};

/// A tensor's sizes before, along and after the dimension of the softmax.
struct Extent {
  int64_t outer = 1, size = 1, inner = 1;
};

Extent extent_of(const Tensor& tensor, int64_t dim) {
  Extent extent;
  if (tensor.dim() == 0) return extent;

  const int64_t d = wrap_dim(dim, tensor.dim());
  for (int64_t k = 0; k < d; ++k) extent.outer *= tensor.sizes()[k];
  for (int64_t k = d + 1; k < tensor.dim(); ++k) extent.inner *= tensor.sizes()[k];
  extent.size = tensor.sizes()[d];
  return extent;
}

/// Calls f(offset of the first element, lanes, buffer) for every block of neighbouring lanes, on
/// several threads. The buffer has room for `buffers` blocks.
template <typename T, typename F>
void for_each_block(const Extent& e, int64_t buffers, const F& f) {
  const int64_t blocks = (e.inner + kWidth - 1) / kWidth;

  // An exponential costs as much as several elements of other operators.
  const int64_t cost = e.size * std::min(e.inner, kWidth) * 8;
  const int64_t grain = std::max<int64_t>(1, kDefaultGrainSize / cost);
  parallel_for(0, e.outer * blocks, grain, [&](int64_t begin, int64_t end) {
    std::vector<T> buffer(static_cast<size_t>(buffers * e.size * std::min(e.inner, kWidth)));
    int64_t outer = begin / blocks;
    int64_t lane = begin % blocks * kWidth;
    for (int64_t k = begin; k < end; ++k) {
      f(outer * e.size * e.inner + lane, std::min(kWidth, e.inner - lane), buffer.data());
      lane += kWidth;
      if (lane < e.inner) continue;
      lane = 0;
      ++outer;
    }
  });
}

/// Copies n rows of `width` elements, with conversion, between a tensor and a dense buffer.
template <typename From, typename To>
void copy_rows(const From* from, int64_t from_stride, To* to, int64_t to_stride, int64_t n,
               int64_t width) {
  // One row, if nothing lies between the rows.
  if (from_stride == width && to_stride == width) {
    width *= n;
    n = 1;
  }

  for (int64_t i = 0; i < n; ++i) {
    const From* source = from + i * from_stride;
    To* target = to + i * to_stride;
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j)
      target[j] = static_cast<To>(static_cast<opmath_type<From>>(source[j]));
  }
}

/// Whether rows are so short, and so many, that they are transposed.
bool has_short_rows(const Extent& e) {
  constexpr int64_t kFewRows = 8;
  return e.inner == 1 && e.size <= kShortRow && e.outer >= kFewRows;
}

/// Calls f(first row, rows) for groups of at most kWidth rows, on several threads.
template <typename F>
void for_each_group_of_rows(const Extent& e, const F& f) {
  const int64_t groups = (e.outer + kWidth - 1) / kWidth;
  const int64_t grain = std::max<int64_t>(1, kDefaultGrainSize / (e.size * kWidth * 8));
  parallel_for(0, groups, grain, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group)
      f(group * kWidth, std::min(kWidth, e.outer - group * kWidth));
  });
}

/// A group of short rows as lanes, each element kWidth after the one before.
template <typename T>
using LaneGroup = T[kShortRow * kWidth];

template <typename T>
BlockSide side_of_lanes(T* lanes) {
  return {reinterpret_cast<char*>(lanes), sizeof(T), kWidth * int64_t{sizeof(T)}};
}
template <typename T>
BlockSide side_of_rows(const T* rows, int64_t n) {
  auto* bytes = const_cast<char*>(reinterpret_cast<const char*>(rows));
  return {bytes, n * int64_t{sizeof(T)}, sizeof(T)};
}

/// Transposes `count` rows of n elements, with conversion.
template <typename T, typename Acc>
void lanes_from_rows(const T* rows, int64_t n, int64_t count, LaneGroup<Acc>& lanes) {
  if constexpr (std::is_same_v<T, Acc>) {
    copy_block(side_of_lanes(lanes), side_of_rows(rows, n), sizeof(T), count, n, false);
  } else {
    alignas(64) LaneGroup<T> stored;
    copy_block(side_of_lanes(stored), side_of_rows(rows, n), sizeof(T), count, n, false);
    copy_rows(stored, kWidth, lanes, kWidth, n, count);
  }
}
template <typename T, typename Acc>
void rows_from_lanes(const LaneGroup<Acc>& lanes, int64_t n, int64_t count, T* rows) {
  if constexpr (std::is_same_v<T, Acc>) {
    copy_block(side_of_rows(rows, n), side_of_lanes(const_cast<Acc*>(lanes)), sizeof(T), count, n,
               false);
  } else {
    alignas(64) LaneGroup<T> stored;
    copy_rows(lanes, kWidth, stored, kWidth, n, count);
    copy_block(side_of_rows(rows, n), side_of_lanes(stored), sizeof(T), count, n, false);
  }
}

/// Applies a formula to short rows.
template <template <typename> class Formula, typename T, typename Out>
void forward_short_rows(const Extent& e, const T* in, Out* out) {
  using acc_t = opmath_type<T>;
  for_each_group_of_rows(e, [&](int64_t first, int64_t count) {
    alignas(64) LaneGroup<acc_t> lanes;
    lanes_from_rows(in + first * e.size, e.size, count, lanes);
    Formula<acc_t>::lanes(lanes, kWidth, lanes, kWidth, e.size, count);
    rows_from_lanes(lanes, e.size, count, out + first * e.size);
  });
}

/// Applies the formula of a gradient to short rows.
template <template <typename> class Formula, typename T>
void backward_short_rows(const Extent& e, const T* grad, const T* output, T* out) {
  using acc_t = opmath_type<T>;
  for_each_group_of_rows(e, [&](int64_t first, int64_t count) {
    alignas(64) LaneGroup<acc_t> grads;
    alignas(64) LaneGroup<acc_t> outputs;
    lanes_from_rows(grad + first * e.size, e.size, count, grads);
    lanes_from_rows(output + first * e.size, e.size, count, outputs);
    Formula<acc_t>::lanes(grads, outputs, grads, kWidth, e.size, count);
    rows_from_lanes(grads, e.size, count, out + first * e.size);
  });
}

/// Applies a formula to all lanes of `self`.
template <template <typename> class Formula>
void forward(const char* name, const Tensor& self, int64_t dim, const Tensor& out) {
  if (self.numel() == 0) return;
  const Tensor input = self.contiguous();
  const Extent e = extent_of(input, dim);

  AT_DISPATCH_FLOATING_AND_REDUCED(input.scalar_type(), name, [&] {
    using acc_t = opmath_type<scalar_t>;
    const scalar_t* in = input.const_data_ptr<scalar_t>();
    const bool direct = out.scalar_type() == scalar_type_of<acc_t>;  // results need no buffer

    if (has_short_rows(e)) {
      return direct ? forward_short_rows<Formula>(e, in, static_cast<acc_t*>(out.data()))
                    : forward_short_rows<Formula>(e, in, static_cast<scalar_t*>(out.data()));
    }

    constexpr bool converted = !std::is_same_v<scalar_t, acc_t>;
    for_each_block<acc_t>(e, converted ? 1 : 0, [&](int64_t first, int64_t width, acc_t* buffer) {
      // The source: the input itself, or its conversion.
      const acc_t* source;
      int64_t source_stride = e.inner;
      if constexpr (converted) {
        copy_rows(in + first, e.inner, buffer, width, e.size, width);
        source = buffer;
        source_stride = width;
      } else {
        source = in + first;
      }

      // The target: the result itself, or the buffer, which may be the source as well.
      acc_t* target = direct ? static_cast<acc_t*>(out.data()) + first : buffer;
      const int64_t target_stride = direct ? e.inner : width;

      if (e.inner == 1) {
        Formula<acc_t>::row(source, target, e.size);
      } else {
        Formula<acc_t>::lanes(source, source_stride, target, target_stride, e.size, width);
      }

      if (!direct)
        copy_rows(buffer, width, static_cast<scalar_t*>(out.data()) + first, e.inner, e.size,
                  width);
    });
  });
}

/// Applies the formula of a gradient to all lanes.
template <template <typename> class Formula>
void backward(const char* name, const Tensor& grad_output, const Tensor& output, int64_t dim,
              const Tensor& out) {
  if (output.numel() == 0) return;
  const Tensor grad = grad_output.contiguous();
  const Tensor values = output.contiguous();
  const Extent e = extent_of(values, dim);

  AT_DISPATCH_FLOATING_AND_REDUCED(values.scalar_type(), name, [&] {
    using acc_t = opmath_type<scalar_t>;
    if (has_short_rows(e)) {
      return backward_short_rows<Formula>(e, grad.const_data_ptr<scalar_t>(),
                                          values.const_data_ptr<scalar_t>(),
                                          out.data_ptr<scalar_t>());
    }

    constexpr bool converted = !std::is_same_v<scalar_t, acc_t>;
    for_each_block<acc_t>(e, converted ? 2 : 0, [&](int64_t first, int64_t width, acc_t* buffer) {
      const scalar_t* grads = grad.const_data_ptr<scalar_t>() + first;
      const scalar_t* outputs = values.const_data_ptr<scalar_t>() + first;
      scalar_t* target = out.data_ptr<scalar_t>() + first;

      const auto apply = [&](const acc_t* g, const acc_t* o, acc_t* result, int64_t stride) {
        if (e.inner == 1) return Formula<acc_t>::row(g, o, result, e.size);
        Formula<acc_t>::lanes(g, o, result, stride, e.size, width);
      };

      if constexpr (converted) {
        acc_t* second = buffer + e.size * width;
        copy_rows(grads, e.inner, buffer, width, e.size, width);
        copy_rows(outputs, e.inner, second, width, e.size, width);
        apply(buffer, second, buffer, width);
        copy_rows(buffer, width, target, e.inner, e.size, width);
      } else {
        apply(grads, outputs, target, e.inner);
      }
    });
  });
}

}  // namespace

void softmax_kernel(const Tensor& self, int64_t dim, bool /*half_to_float: out0 has the dtype*/,
                    const Tensor& out0) {
  forward<Softmax>("softmax", self, dim, out0);
}

void log_softmax_kernel(const Tensor& self, int64_t dim, bool, const Tensor& out0) {
  forward<LogSoftmax>("log_softmax", self, dim, out0);
}

void softmax_backward_kernel(const Tensor& grad_output, const Tensor& output, int64_t dim,
                             ScalarType, const Tensor& out0) {
  backward<SoftmaxGradient>("softmax_backward", grad_output, output, dim, out0);
}

void log_softmax_backward_kernel(const Tensor& grad_output, const Tensor& output, int64_t dim,
                                 ScalarType, const Tensor& out0) {
  backward<LogSoftmaxGradient>("log_softmax_backward", grad_output, output, dim, out0);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
