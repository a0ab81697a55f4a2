// Layer, group and root-mean-square normalization; sums in float or double. Compiled with -O3.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/native/cpu/shared/RowFold.h"
#include "aten/native/declarations/cpu/nn/LayerNormKernel.isa.h"
#include "aten/native/declarations/nn/LayerNorm.h"
#include "aten/native/nn/LayerNorm.h"
#include "aten/native/shared/Normalization.h"
#include "aten/native/shared/SizeProduct.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/to.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

constexpr int64_t kLanes = 32;  // at least two vectors, whose additions are independent

/// The sum of the accumulators in double, halves of them at a time. Inlined, as accumulators whose
/// address is passed on do not stay in registers.
template <typename acc_t>
C10_ALWAYS_INLINE double sum_lanes(const acc_t (&lanes)[kLanes]) {
  constexpr int64_t kHalf = kLanes / 2;
  double wide[kHalf];
  for (int64_t j = 0; j < kHalf; ++j)
    wide[j] = static_cast<double>(lanes[j]) + static_cast<double>(lanes[j + kHalf]);
  return fold_lanes(wide, added<double>);
}

/// The sum of f(i) for i in [0, n), in kLanes accumulators, so that it vectorizes.
template <typename acc_t, typename F>
double sum_row(int64_t n, const F& f) {
  acc_t lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] += f(i + j);
  }

  acc_t rest = 0;
  for (; i < n; ++i) rest += f(i);
  return sum_lanes(lanes) + static_cast<double>(rest);
}

/// The sums of f(i) and of f(i) * g(i), in one pass.
template <typename acc_t, typename F, typename G>
std::pair<double, double> sum_products(int64_t n, const F& f, const G& g) {
  acc_t sums[kLanes] = {};
  acc_t products[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) {
      const acc_t value = f(i + j);
      sums[j] += value;
      products[j] += value * g(i + j);
    }
  }

  acc_t sum = 0;
  acc_t product = 0;
  for (; i < n; ++i) {
    sum += f(i);
    product += f(i) * g(i);
  }
  return {sum_lanes(sums) + static_cast<double>(sum),
          sum_lanes(products) + static_cast<double>(product)};
}

/// A row in the arithmetic type: the row itself, or its conversion in `buffer`.
template <typename acc_t, typename scalar_t>
const acc_t* row_values(const scalar_t* row, int64_t n, std::vector<acc_t>& buffer) {
  if constexpr (std::is_same_v<acc_t, scalar_t>) {
    return row;
  } else {
    buffer.resize(n);
    for (int64_t i = 0; i < n; ++i) buffer[i] = static_cast<acc_t>(row[i]);
    return buffer.data();
  }
}

/// A parameter in the arithmetic type, or null if it is absent.
template <typename acc_t>
struct Parameter {
  explicit Parameter(const Tensor& source)
      : tensor(source.defined() ? source.to(scalar_type_of<acc_t>).contiguous() : source) {}

  const acc_t* data() const { return tensor.defined() ? tensor.const_data_ptr<acc_t>() : nullptr; }

  Tensor tensor;
};

/// The smallest number of rows that is worth a thread.
int64_t rows_grain(int64_t n) {
  return std::max<int64_t>(1, kDefaultGrainSize / 4 / std::max<int64_t>(1, n));
}

/// out = (x - mean) * rstd * weight + bias, for one row; weight and bias may be null.
template <typename scalar_t, typename acc_t>
void store_row(const acc_t* x, int64_t n, acc_t mean, acc_t rstd, const acc_t* weight,
               const acc_t* bias, scalar_t* out) {
  // The cases with a weight have a loop each, without branches on the parameters.
  if (weight != nullptr && bias != nullptr) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<scalar_t>((x[i] - mean) * rstd * weight[i] + bias[i]);
  } else if (weight != nullptr) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<scalar_t>((x[i] - mean) * rstd * weight[i]);
  } else {
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<scalar_t>((x[i] - mean) * rstd + (bias == nullptr ? acc_t(0) : bias[i]));
  }
}

/// Mean and 1 / standard deviation of a row.
template <typename acc_t>
std::pair<acc_t, acc_t> statistics_of_row(const acc_t* values, int64_t n, double eps) {
  const acc_t mean = static_cast<acc_t>(
      sum_row<acc_t>(n, [values](int64_t i) { return values[i]; }) / static_cast<double>(n));

  const double squares = sum_row<acc_t>(
      n, [values, mean](int64_t i) { return (values[i] - mean) * (values[i] - mean); });

  return {mean, static_cast<acc_t>(1 / std::sqrt(squares / static_cast<double>(n) + eps))};
}

/// The gradient of one row of the input: rstd * (g - mean(g) - x * mean(g * x)), where
/// g = weighted(i) is grad * weight, and x is the normalized row.
template <typename scalar_t, typename acc_t, typename F>
void row_gradient(const F& weighted, const acc_t* values, int64_t n, acc_t mean, acc_t rstd,
                  scalar_t* out) {
  const auto [sum, products] =
      sum_products<acc_t>(n, weighted, [values, mean](int64_t i) { return values[i] - mean; });
  const acc_t average = static_cast<acc_t>(sum / static_cast<double>(n));
  const acc_t slope = static_cast<acc_t>(products / static_cast<double>(n)) * rstd * rstd;

#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<scalar_t>(rstd * (weighted(i) - average - (values[i] - mean) * slope));
}

/// Adds a row to the gradients of weight (grad * normalized row) and bias (grad).
template <typename acc_t>
void add_row(const acc_t* grad, const acc_t* values, int64_t n, acc_t mean, acc_t rstd,
             acc_t* weight, acc_t* bias) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    weight[i] += grad[i] * (values[i] - mean) * rstd;
    bias[i] += grad[i];
  }
}

/// out[i] = sum over k of partial[k * step + offset + i], if `out` is defined.
template <typename acc_t>
void add_partial(const std::vector<acc_t>& partial, int64_t slices, int64_t step, int64_t offset,
                 const Tensor& out) {
  if (!out.defined()) return;

  acc_t* to = out.data_ptr<acc_t>();
  std::fill_n(to, out.numel(), acc_t(0));
  for (int64_t k = 0; k < slices; ++k) {
    for (int64_t i = 0; i < out.numel(); ++i) to[i] += partial[k * step + offset + i];
  }
}

}  // namespace

void layer_norm_kernel(const Tensor& input, IntArrayRef, const Tensor& weight, const Tensor& bias,
                       double eps, const Tensor& out0, const Tensor& out1, const Tensor& out2) {
  const int64_t rows = out1.numel();
  if (rows == 0) return;
  const int64_t n = input.numel() / rows;

  const Tensor x = input.contiguous();
  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), "layer_norm", [&] {
    using acc_t = opmath_type<scalar_t>;
    const Parameter<acc_t> scale(weight);
    const Parameter<acc_t> shift(bias);
    acc_t* means = out1.data_ptr<acc_t>();
    acc_t* rstds = out2.data_ptr<acc_t>();

    parallel_for(0, rows, rows_grain(n), [&](int64_t begin, int64_t end) {
      std::vector<acc_t> buffer;
      for (int64_t row = begin; row < end; ++row) {
        const acc_t* values = row_values<acc_t>(x.const_data_ptr<scalar_t>() + row * n, n, buffer);
        const auto [mean, rstd] = statistics_of_row(values, n, eps);

        means[row] = mean;
        rstds[row] = rstd;
        store_row(values, n, mean, rstd, scale.data(), shift.data(),
                  out0.data_ptr<scalar_t>() + row * n);
      }
    });
  });
}

Tensor group_norm_kernel(const Tensor& input, int64_t num_groups, const Tensor& weight,
                         const Tensor& bias, double eps, bool cudnn_enabled) {
  if (!input.is_floating_point() || input.numel() == 0)
    return group_norm(input, num_groups, weight, bias, eps, cudnn_enabled);

  check_group_norm(input, weight, bias);
  const Tensor x = input.contiguous();
  const Tensor result = empty_tensor(input.sizes(), input.scalar_type(), input.device());

  // A row is a group of channels of one sample; each channel is a plane.
  const int64_t channels = input.sizes()[1];
  const int64_t group = channels / num_groups;
  const int64_t rows = input.sizes()[0] * num_groups;
  const int64_t n = input.numel() / rows;
  const int64_t plane = n / group;

  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), "group_norm", [&] {
    using acc_t = opmath_type<scalar_t>;
    const Parameter<acc_t> scale(weight);
    const Parameter<acc_t> shift(bias);

    parallel_for(0, rows, rows_grain(n), [&](int64_t begin, int64_t end) {
      std::vector<acc_t> buffer;
      for (int64_t row = begin; row < end; ++row) {
        const acc_t* values = row_values<acc_t>(x.const_data_ptr<scalar_t>() + row * n, n, buffer);
        const auto [mean, rstd] = statistics_of_row(values, n, eps);

        scalar_t* out = result.data_ptr<scalar_t>() + row * n;
        for (int64_t k = 0; k < group; ++k) {
          const int64_t channel = row % num_groups * group + k;
          const acc_t factor = scale.data() == nullptr ? rstd : rstd * scale.data()[channel];
          const acc_t added = shift.data() == nullptr ? acc_t(0) : shift.data()[channel];
          const acc_t centre = mean;
          for (int64_t i = k * plane; i < (k + 1) * plane; ++i)
            out[i] = static_cast<scalar_t>((values[i] - centre) * factor + added);
        }
      }
    });
  });

  return result.contiguous(input.suggest_memory_format());
}

Tensor rms_norm_kernel(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                       std::optional<double> eps) {
  const bool same_dtype = !weight.defined() || weight.scalar_type() == input.scalar_type();
  if (!input.is_floating_point() || !same_dtype || input.numel() == 0)
    return rms_norm(input, normalized_shape, weight, eps);

  check_rms_norm(input, normalized_shape, weight);
  const Tensor x = input.contiguous();
  const Tensor result = empty_tensor(input.sizes(), input.scalar_type(), input.device());

  const int64_t n = product_of(normalized_shape);
  const int64_t rows = input.numel() / n;

  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), "rms_norm", [&] {
    using acc_t = opmath_type<scalar_t>;
    const Parameter<acc_t> scale(weight);
    const double added = eps.value_or(std::numeric_limits<acc_t>::epsilon());

    parallel_for(0, rows, rows_grain(n), [&](int64_t begin, int64_t end) {
      std::vector<acc_t> buffer;
      for (int64_t row = begin; row < end; ++row) {
        const acc_t* values = row_values<acc_t>(x.const_data_ptr<scalar_t>() + row * n, n, buffer);

        const double squares =
            sum_row<acc_t>(n, [values](int64_t i) { return values[i] * values[i]; });
        const acc_t factor =
            static_cast<acc_t>(1 / std::sqrt(squares / static_cast<double>(n) + added));

        store_row(values, n, acc_t(0), factor, scale.data(), static_cast<const acc_t*>(nullptr),
                  result.data_ptr<scalar_t>() + row * n);
      }
    });
  });

  return result;
}

std::tuple<Tensor, Tensor, Tensor>
layer_norm_backward_kernel(const Tensor& grad, const Tensor& input, IntArrayRef normalized_shape,
                           const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                           const Tensor& bias) {
  if (!grad.defined()) return {};  // only the statistics were used, and they have no gradient

  check_layer_norm_backward(grad, input, normalized_shape, mean, rstd, weight, bias);
  const int64_t n = product_of(normalized_shape);
  const int64_t rows = mean.numel();

  const TensorSpec spec{DimVector(input.sizes()), input.scalar_type(), input.device()};
  const FusedGradients gradients(input, spec, weight, bias, normalized_shape);

  // The rows are summed in slices whose number depends only on the sizes.
  const int64_t slices = std::clamp<int64_t>(rows * n / kDefaultGrainSize, 1, 16);
  const int64_t per_slice = (rows + slices - 1) / slices;
  const bool sums_wanted = gradients.weight.defined() || gradients.bias.defined();

  const Tensor x = input.contiguous();
  const Tensor dense_grad = grad.contiguous();
  const Tensor means = mean.contiguous();
  const Tensor rstds = rstd.contiguous();

  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), "layer_norm_backward", [&] {
    using acc_t = opmath_type<scalar_t>;
    const Parameter<acc_t> scale(weight);
    std::vector<acc_t> partial(sums_wanted ? slices * 2 * n : 0);

    parallel_for(0, slices, 1, [&](int64_t begin, int64_t end) {
      std::vector<acc_t> grad_buffer;
      std::vector<acc_t> buffer;
      for (int64_t row = begin * per_slice; row < std::min(rows, end * per_slice); ++row) {
        const acc_t* g =
            row_values<acc_t>(dense_grad.const_data_ptr<scalar_t>() + row * n, n, grad_buffer);
        const acc_t* values = row_values<acc_t>(x.const_data_ptr<scalar_t>() + row * n, n, buffer);
        const acc_t m = means.const_data_ptr<acc_t>()[row];
        const acc_t r = rstds.const_data_ptr<acc_t>()[row];

        if (gradients.input.defined()) {
          // A loop each, without branches on the weight.
          const acc_t* w = scale.data();
          scalar_t* out = gradients.input.data_ptr<scalar_t>() + row * n;
          if (w == nullptr) {
            row_gradient([g](int64_t i) { return g[i]; }, values, n, m, r, out);
          } else {
            row_gradient([g, w](int64_t i) { return g[i] * w[i]; }, values, n, m, r, out);
          }
        }

        acc_t* sums = partial.data() + row / per_slice * 2 * n;
        if (sums_wanted) add_row(g, values, n, m, r, sums, sums + n);
      }
    });

    add_partial(partial, slices, 2 * n, 0, gradients.weight);
    add_partial(partial, slices, 2 * n, n, gradients.bias);
  });

  return gradients.in_dtypes_of(weight, bias);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
