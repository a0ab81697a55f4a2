// Layer, group and root-mean-square normalization, see Note [Rows]. Sums are in float (double for
// double).
#include <limits>

#include "aten/Dispatch.h"
#include "aten/core/Tensor.h"
#include "aten/native/cuda/Rows.cuh"
#include "aten/native/cuda/WideDivisor.h"
#include "aten/native/declarations/nn/LayerNorm.h"
#include "aten/native/nn/LayerNorm.h"
#include "aten/native/shared/Normalization.h"
#include "aten/native/shared/SizeProduct.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/to.h"
#include "aten/vec/math.h"

namespace at::native::cuda {

namespace {

/// A weight or bias, which has the dtype of the input or that of the sums, or is absent.
template <class T>
class Parameter {
 public:
  using Acc = opmath_type<T>;

  Parameter() = default;
  /// `tensor` is contiguous.
  explicit Parameter(const Tensor& tensor) {
    if (!tensor.defined()) return;
    if (tensor.scalar_type() == scalar_type_of<T>) {
      narrow_ = tensor.const_data_ptr<T>();
    } else {
      wide_ = tensor.const_data_ptr<Acc>();
    }
  }

  bool is_aligned() const { return are_aligned(narrow_, wide_); }

  SIMT_DEVICE Acc at(int64_t index, Acc missing) const {
    if (wide_ != nullptr) return wide_[index];
    return narrow_ == nullptr ? missing : static_cast<Acc>(narrow_[index]);
  }
  template <int kWidth>
  SIMT_DEVICE RowPack<Acc, kWidth> pack(int64_t first, Acc missing) const {
    if (wide_ != nullptr) return *reinterpret_cast<const RowPack<Acc, kWidth>*>(wide_ + first);

    RowPack<T, kWidth> values;
    if (narrow_ != nullptr) values = *reinterpret_cast<const RowPack<T, kWidth>*>(narrow_ + first);

    RowPack<Acc, kWidth> pack;
    SIMT_UNROLL
    for (int j = 0; j < kWidth; ++j)
      pack[j] = narrow_ == nullptr ? missing : static_cast<Acc>(values[j]);
    return pack;
  }

 private:
  const T* narrow_ = nullptr;
  const Acc* wide_ = nullptr;
};

/// Mean and 1 / standard deviation of a row.
template <class Acc>
struct Statistics {
  Acc mean, rstd;
};

/// In two passes: the second sums squared distances from the mean.
template <class Values, class Walk, class Threads>
SIMT_DEVICE auto statistics_of(const Values& in, const Walk& walk, Threads& threads, double eps) {
  using Acc = typename Values::Acc;
  const auto size = static_cast<Acc>(walk.size);

  Acc sum = 0;
  walk.each([&](int slot, auto first) {
    const auto x = in.at(slot, first);
    SIMT_UNROLL
    for (int j = 0; j < Walk::kWidth; ++j) sum += x[j];
  });
  const Acc mean = threads.combine(sum, Acc(0), Added()) / size;

  Acc squares = 0;
  walk.each([&](int slot, auto first) {
    const auto x = in.at(slot, first);
    SIMT_UNROLL
    for (int j = 0; j < Walk::kWidth; ++j) squares += (x[j] - mean) * (x[j] - mean);
  });
  const Acc variance = threads.combine(squares, Acc(0), Added()) / size;

  return Statistics<Acc>{mean, Acc(1) / vec::sqrt(variance + static_cast<Acc>(eps))};
}

/// out = (x - mean) * rstd * weight + bias
template <class T>
struct LayerNorm {
  using Acc = opmath_type<T>;

  const T* in;
  Parameter<T> weight, bias;
  double eps;
  T* out;
  Acc* means;
  Acc* rstds;

  template <class Walk, class Threads>
  SIMT_DEVICE void operator()(const RowPlace& place, const Walk& walk, Threads& threads) const {
    const RowValues<T, Walk> values(walk, in + place.offset);
    const auto [mean, rstd] = statistics_of(values, walk, threads, eps);
    if (threads.leads()) {
      means[place.row] = mean;
      rstds[place.row] = rstd;
    }

    const Statistics<Acc> row{mean, rstd};
    walk.each([&](int slot, auto first) {
      auto x = values.at(slot, first);
      const auto w = weight.template pack<Walk::kWidth>(first, Acc(1));
      const auto b = bias.template pack<Walk::kWidth>(first, Acc(0));
      SIMT_UNROLL
      for (int j = 0; j < Walk::kWidth; ++j) x[j] = (x[j] - row.mean) * row.rstd * w[j] + b[j];
      store_pack(walk, out + place.offset, first, x);
    });
  }
};

/// The same for a row that is a group of channels, each a plane with a weight and a bias.
template <class T>
struct GroupNorm {
  using Acc = opmath_type<T>;

  const T* in;
  Parameter<T> weight, bias;
  double eps;
  T* out;
  int64_t groups;
  int64_t channels;  // of a group
  WideDivisor plane;

  template <class Walk, class Threads>
  SIMT_DEVICE void operator()(const RowPlace& place, const Walk& walk, Threads& threads) const {
    const RowValues<T, Walk> values(walk, in + place.offset);
    const auto [mean, rstd] = statistics_of(values, walk, threads, eps);

    const Statistics<Acc> row{mean, rstd};
    const int64_t first_channel = place.row % groups * channels;
    walk.each([&](int slot, auto first) {
      auto x = values.at(slot, first);
      SIMT_UNROLL
      for (int j = 0; j < Walk::kWidth; ++j) {
        const int64_t channel = first_channel + plane.quotient(first + j);
        const Acc factor = row.rstd * weight.at(channel, Acc(1));
        x[j] = (x[j] - row.mean) * factor + bias.at(channel, Acc(0));
      }
      store_pack(walk, out + place.offset, first, x);
    });
  }
};

/// out = x / sqrt(mean(x * x) + eps) * weight
template <class T>
struct RmsNorm {
  using Acc = opmath_type<T>;

  const T* in;
  Parameter<T> weight;
  double eps;
  T* out;

  template <class Walk, class Threads>
  SIMT_DEVICE void operator()(const RowPlace& place, const Walk& walk, Threads& threads) const {
    const RowValues<T, Walk> values(walk, in + place.offset);
    Acc squares = 0;
    walk.each([&](int slot, auto first) {
      const auto x = values.at(slot, first);
      SIMT_UNROLL
      for (int j = 0; j < Walk::kWidth; ++j) squares += x[j] * x[j];
    });
    const Acc mean = threads.combine(squares, Acc(0), Added()) / static_cast<Acc>(walk.size);
    const Acc factor = Acc(1) / vec::sqrt(mean + static_cast<Acc>(eps));

    walk.each([&](int slot, auto first) {
      auto x = values.at(slot, first);
      const auto w = weight.template pack<Walk::kWidth>(first, Acc(1));
      SIMT_UNROLL
      for (int j = 0; j < Walk::kWidth; ++j) x[j] = x[j] * factor * w[j];
      store_pack(walk, out + place.offset, first, x);
    });
  }
};

/// The gradient of a row of the input: rstd * (g - mean(g) - x * mean(g * x)), where g = grad *
/// weight and x is the normalized row.
template <class T>
struct LayerNormGradient {
  using Acc = opmath_type<T>;

  const T* grad;
  const T* in;
  const Acc* means;
  const Acc* rstds;
  Parameter<T> weight;
  T* out;

  template <class Walk, class Threads>
  SIMT_DEVICE void operator()(const RowPlace& place, const Walk& walk, Threads& threads) const {
    const Acc mean = means[place.row];
    const Acc rstd = rstds[place.row];
    const RowValues<T, Walk> values(walk, in + place.offset);
    RowValues<T, Walk> grads(walk, grad + place.offset);

    const auto weighted = [&](int slot, auto first) {
      auto g = grads.at(slot, first);
      const auto w = weight.template pack<Walk::kWidth>(first, Acc(1));
      SIMT_UNROLL
      for (int j = 0; j < Walk::kWidth; ++j) g[j] *= w[j];
      return g;
    };

    TwoSums<Acc> sums{0, 0};
    walk.each([&](int slot, auto first) {
      const auto x = values.at(slot, first);
      const auto g = weighted(slot, first);
      SIMT_UNROLL
      for (int j = 0; j < Walk::kWidth; ++j) {
        sums.first += g[j];
        sums.second += g[j] * (x[j] - mean);
      }
      if constexpr (Walk::kIsHeld) grads.set(slot, g);
    });
    sums = threads.combine(sums, TwoSums<Acc>{0, 0}, Added());
    const Acc average = sums.first / static_cast<Acc>(walk.size);
    const Acc slope = sums.second / static_cast<Acc>(walk.size) * rstd * rstd;

    walk.each([&](int slot, auto first) {
      const auto x = values.at(slot, first);
      auto g = Walk::kIsHeld ? grads.at(slot, first) : weighted(slot, first);
      SIMT_UNROLL
      for (int j = 0; j < Walk::kWidth; ++j) g[j] = rstd * (g[j] - average - (x[j] - mean) * slope);
      store_pack(walk, out + place.offset, first, g);
    });
  }
};

/// The gradients of weight (grad * normalized row) and bias (grad), summed over the rows of each
/// slice.
template <class T>
struct ParameterSums {
  using Acc = opmath_type<T>;

  const T* grad;
  const T* in;
  const Acc* means;
  const Acc* rstds;
  int64_t rows, size;
  Acc* weight_sums;  // slices x size
  Acc* bias_sums;

  template <class Threads>
  SIMT_DEVICE void operator()(const RowPlace& place, const StridedWalk& walk,
                              Threads& threads) const {
    // The last slice may be shorter.
    const int64_t before = place.row / size * walk.size;
    TwoSums<Acc> sums{0, 0};
    walk.each([&](int, int64_t k) {
      const int64_t row = before + k;
      if (row >= rows) return;
      const Acc g = static_cast<Acc>(grad[place.offset + walk.offset(k)]);
      const Acc x = static_cast<Acc>(in[place.offset + walk.offset(k)]);
      sums.first += g * (x - means[row]) * rstds[row];
      sums.second += g;
    });

    sums = threads.combine(sums, TwoSums<Acc>{0, 0}, Added());
    if (!threads.leads()) return;
    weight_sums[place.row] = sums.first;
    bias_sums[place.row] = sums.second;
  }
};

/// The sum of the slices.
template <class Acc>
struct SliceSums {
  const Acc* weight_sums;
  const Acc* bias_sums;
  Acc* weight;  // null where it is not wanted
  Acc* bias;

  template <class Threads>
  SIMT_DEVICE void operator()(const RowPlace& place, const StridedWalk& walk,
                              Threads& threads) const {
    TwoSums<Acc> sums{0, 0};
    walk.each([&](int, int64_t k) {
      sums.first += weight_sums[place.offset + walk.offset(k)];
      sums.second += bias_sums[place.offset + walk.offset(k)];
    });

    sums = threads.combine(sums, TwoSums<Acc>{0, 0}, Added());
    if (!threads.leads()) return;
    if (weight != nullptr) weight[place.row] = sums.first;
    if (bias != nullptr) bias[place.row] = sums.second;
  }
};

Tensor dense(const Tensor& parameter) {
  return parameter.defined() ? parameter.contiguous() : parameter;
}

template <class T>
T* data_or_null(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

/// The gradients of the parameters, of which one may be undefined. The slices of rows depend only
/// on the sizes, and so do the bits of the result.
template <class T>
void parameter_gradients(const Tensor& grad, const Tensor& input, const Tensor& mean,
                         const Tensor& rstd, int64_t size, const Tensor& weight,
                         const Tensor& bias) {
  using Acc = opmath_type<T>;
  constexpr int64_t kBlocks = 512;
  constexpr int64_t kLeast = 64;  // rows of a slice
  const char* const name = "layer_norm_backward";

  const int64_t rows = mean.numel();
  if (size == 0) return;
  const int64_t wanted = detail::ceil_div(kBlocks, detail::ceil_div(size, 32));
  const int64_t per_slice = std::max(kLeast, detail::ceil_div(rows, wanted));
  const int64_t slices = detail::ceil_div(rows, per_slice);

  const Tensor sums = empty_tensor({2, slices, size}, scalar_type_of<Acc>, input.device());
  Acc* const weight_sums = sums.data_ptr<Acc>();
  Acc* const bias_sums = weight_sums + slices * size;

  const ParameterSums<T> formula{grad.const_data_ptr<T>(),
                                 input.const_data_ptr<T>(),
                                 mean.const_data_ptr<Acc>(),
                                 rstd.const_data_ptr<Acc>(),
                                 rows,
                                 size,
                                 weight_sums,
                                 bias_sums};
  for_each_column(name, {slices, per_slice, size}, formula);

  const SliceSums<Acc> total{weight_sums, bias_sums, data_or_null<Acc>(weight),
                             data_or_null<Acc>(bias)};
  for_each_column(name, {1, slices, size}, total);
}

}  // namespace

void layer_norm_kernel(const Tensor& input, IntArrayRef, const Tensor& weight, const Tensor& bias,
                       double eps, const Tensor& out0, const Tensor& out1, const Tensor& out2) {
  const int64_t rows = out1.numel();
  if (rows == 0) return;

  const Tensor x = input.contiguous();
  const Tensor factors = dense(weight);
  const Tensor shifts = dense(bias);
  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), "layer_norm", [&] {
    using acc_t = opmath_type<scalar_t>;
    const LayerNorm<scalar_t> formula{x.const_data_ptr<scalar_t>(), Parameter<scalar_t>(factors),
                                      Parameter<scalar_t>(shifts),  eps,
                                      out0.data_ptr<scalar_t>(),    out1.data_ptr<acc_t>(),
                                      out2.data_ptr<acc_t>()};
    const bool aligned = are_aligned(formula.in, formula.out) && formula.weight.is_aligned() &&
                         formula.bias.is_aligned();
    for_each_row<scalar_t>("layer_norm", rows, x.numel() / rows, aligned, formula);
  });
}

Tensor group_norm_kernel(const Tensor& input, int64_t num_groups, const Tensor& weight,
                         const Tensor& bias, double eps, bool cudnn_enabled) {
  if (!input.is_floating_point() || input.numel() == 0)
    return group_norm(input, num_groups, weight, bias, eps, cudnn_enabled);

  check_group_norm(input, weight, bias);
  const Tensor x = input.contiguous();
  const Tensor factors = dense(weight);
  const Tensor shifts = dense(bias);
  const Tensor result = empty_tensor(input.sizes(), input.scalar_type(), input.device());

  // A row is a group of channels of one sample; each channel is a plane.
  const int64_t channels = input.sizes()[1] / num_groups;
  const int64_t rows = input.sizes()[0] * num_groups;
  const int64_t size = input.numel() / rows;

  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), "group_norm", [&] {
    const GroupNorm<scalar_t> formula{x.const_data_ptr<scalar_t>(),
                                      Parameter<scalar_t>(factors),
                                      Parameter<scalar_t>(shifts),
                                      eps,
                                      result.data_ptr<scalar_t>(),
                                      num_groups,
                                      channels,
                                      WideDivisor(size / channels)};
    for_each_row<scalar_t>("group_norm", rows, size, are_aligned(formula.in, formula.out), formula);
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
  const Tensor factors = dense(weight);
  const Tensor result = empty_tensor(input.sizes(), input.scalar_type(), input.device());

  const int64_t size = product_of(normalized_shape);

  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), "rms_norm", [&] {
    using acc_t = opmath_type<scalar_t>;
    const RmsNorm<scalar_t> formula{x.const_data_ptr<scalar_t>(), Parameter<scalar_t>(factors),
                                    eps.value_or(std::numeric_limits<acc_t>::epsilon()),
                                    result.data_ptr<scalar_t>()};
    const bool aligned = are_aligned(formula.in, formula.out) && formula.weight.is_aligned();
    for_each_row<scalar_t>("rms_norm", input.numel() / size, size, aligned, formula);
  });

  return result;
}

std::tuple<Tensor, Tensor, Tensor>
layer_norm_backward_kernel(const Tensor& grad, const Tensor& input, IntArrayRef normalized_shape,
                           const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                           const Tensor& bias) {
  if (!grad.defined()) return {};  // only the statistics were used, and they have no gradient

  check_layer_norm_backward(grad, input, normalized_shape, mean, rstd, weight, bias);
  const int64_t size = product_of(normalized_shape);
  const int64_t rows = mean.numel();

  const TensorSpec spec{DimVector(input.sizes()), input.scalar_type(), input.device()};
  const FusedGradients gradients(input, spec, weight, bias, normalized_shape);

  const Tensor x = input.contiguous();
  const Tensor dense_grad = grad.contiguous();
  const Tensor means = mean.contiguous();
  const Tensor rstds = rstd.contiguous();
  const Tensor factors = dense(weight);

  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), "layer_norm_backward", [&] {
    using acc_t = opmath_type<scalar_t>;
    if (gradients.input.defined()) {
      const LayerNormGradient<scalar_t> formula{
          dense_grad.const_data_ptr<scalar_t>(), x.const_data_ptr<scalar_t>(),
          means.const_data_ptr<acc_t>(),         rstds.const_data_ptr<acc_t>(),
          Parameter<scalar_t>(factors),          gradients.input.data_ptr<scalar_t>()};
      const bool aligned =
          are_aligned(formula.grad, formula.in, formula.out) && formula.weight.is_aligned();
      for_each_row<scalar_t>("layer_norm_backward", rows, size, aligned, formula);
    }

    if (gradients.weight.defined() || gradients.bias.defined())
      parameter_gradients<scalar_t>(dense_grad, x, means, rstds, size, gradients.weight,
                                    gradients.bias);
  });

  return gradients.in_dtypes_of(weight, bias);
}

}  // namespace at::native::cuda
