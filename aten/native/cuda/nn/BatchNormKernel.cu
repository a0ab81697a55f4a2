// Batch normalization and its gradient, see Note [Channels on a device]. Statistics take one pass:
// the moments of packs, slices and channels are joined pairwise, in float or double.
#include "aten/Dispatch.h"
#include "aten/native/cuda/Channels.cuh"
#include "aten/native/nn/BatchNorm.h"
#include "aten/native/shared/Normalization.h"
#include "aten/native/shared/ResultFormat.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/to.h"
#include "aten/vec/math.h"

namespace at::native::cuda {

namespace {

/// The sum of values and of their squared distances from the mean.
template <class Acc>
struct Moments {
  Acc sum = 0, squares = 0, count = 0;

  SIMT_DEVICE Moments of_partner(unsigned offset) const {
    Moments other;
    other.sum = simt::shuffle_xor(simt::kFullMask, sum, offset);
    other.squares = simt::shuffle_xor(simt::kFullMask, squares, offset);
    other.count = simt::shuffle_xor(simt::kFullMask, count, offset);
    return other;
  }
};

/// The moments of two sets (Chan, Golub and LeVeque 1979).
struct Joined {
  template <class Acc>
  C10_HOST_DEVICE Moments<Acc> operator()(const Moments<Acc>& a, const Moments<Acc>& b) const {
    if (a.count == 0) return b;
    if (b.count == 0) return a;

    const Acc distance = b.sum / b.count - a.sum / a.count;
    Moments<Acc> all;
    all.count = a.count + b.count;
    all.sum = a.sum + b.sum;
    all.squares = a.squares + b.squares + distance * distance * (a.count * (b.count / all.count));
    return all;
  }
};

/// The moments of a slice of a channel.
template <class T>
struct SliceMoments {
  using Acc = opmath_type<T>;

  const T* in;
  Moments<Acc>* parts;

  template <class Walk, class Threads>
  SIMT_DEVICE void operator()(const RowPlace& place, const Walk& walk, Threads& threads) const {
    const RowValues<T, Walk> values(walk, in + place.offset);
    Moments<Acc> moments;
    walk.each([&](int slot, auto first) {
      const auto x = values.at(slot, first);
      Moments<Acc> pack;
      SIMT_UNROLL
      for (int j = 0; j < Walk::kWidth; ++j) pack.sum += x[j];

      const Acc mean = pack.sum / Acc(Walk::kWidth);
      SIMT_UNROLL
      for (int j = 0; j < Walk::kWidth; ++j) pack.squares += (x[j] - mean) * (x[j] - mean);
      pack.count = Walk::kWidth;
      moments = Joined()(moments, pack);
    });

    moments = threads.combine(moments, Moments<Acc>(), Joined());
    if (threads.leads()) parts[place.row] = moments;
  }
};

/// Mean, 1 / standard deviation and variance of each channel, from those of its slices.
template <class Acc>
struct ChannelStatistics {
  const Moments<Acc>* parts;
  double eps;
  Acc* mean;
  Acc* invstd;
  Acc* variance;

  template <class Threads>
  SIMT_DEVICE void operator()(const RowPlace& place, const StridedWalk& walk,
                              Threads& threads) const {
    Moments<Acc> moments;
    walk.each(
        [&](int, int64_t k) { moments = Joined()(moments, parts[place.offset + walk.offset(k)]); });
    moments = threads.combine(moments, Moments<Acc>(), Joined());
    if (!threads.leads()) return;

    const Acc result = moments.squares / moments.count;
    mean[place.row] = moments.sum / moments.count;
    variance[place.row] = result;
    invstd[place.row] = Acc(1) / vec::sqrt(result + static_cast<Acc>(eps));
  }
};

/// out = (in - mean) * invstd * weight + bias; weight and bias may be null.
template <class T>
struct Normalization {
  using Acc = opmath_type<T>;

  const T* in;
  const Acc* mean;
  const Acc* invstd;
  const Acc* weight;
  const Acc* bias;
  T* out;

  template <int width>
  SIMT_DEVICE void operator()(const PackPlace<width>& place) const {
    const auto x = *reinterpret_cast<const RowPack<T, width>*>(in + place.first);
    RowPack<T, width> result;
    SIMT_UNROLL
    for (int j = 0; j < width; ++j) {
      const int64_t channel = place.channel_of(j);
      const Acc scale = weight == nullptr ? invstd[channel] : invstd[channel] * weight[channel];
      const Acc shift = bias == nullptr ? Acc(0) : bias[channel];
      result[j] = static_cast<T>((static_cast<Acc>(x[j]) - mean[channel]) * scale + shift);
    }
    *reinterpret_cast<RowPack<T, width>*>(out + place.first) = result;
  }
};

/// The sums of g and of g * (x - mean) over a slice of a channel.
template <class T>
struct SliceGradientSums {
  using Acc = opmath_type<T>;

  const T* grad;
  const T* in;
  const Acc* mean;
  int64_t channels;
  TwoSums<Acc>* parts;

  template <class Walk, class Threads>
  SIMT_DEVICE void operator()(const RowPlace& place, const Walk& walk, Threads& threads) const {
    const RowValues<T, Walk> grads(walk, grad + place.offset);
    const RowValues<T, Walk> values(walk, in + place.offset);
    const Acc centre = mean[place.row % channels];

    TwoSums<Acc> sums{0, 0};
    walk.each([&](int slot, auto first) {
      const auto g = grads.at(slot, first);
      const auto x = values.at(slot, first);
      SIMT_UNROLL
      for (int j = 0; j < Walk::kWidth; ++j) {
        sums.first += g[j];
        sums.second += g[j] * (x[j] - centre);
      }
    });

    sums = threads.combine(sums, TwoSums<Acc>{0, 0}, Added());
    if (threads.leads()) parts[place.row] = sums;
  }
};

/// The gradients of the parameters, and what those of the input are made of: the mean of g, and
/// invstd^2 times the mean of g * (x - mean).
template <class Acc>
struct ChannelGradients {
  const TwoSums<Acc>* parts;
  const Acc* invstd;
  int64_t count;
  Acc* weight;  // null where it is not wanted
  Acc* bias;
  TwoSums<Acc>* means;

  template <class Threads>
  SIMT_DEVICE void operator()(const RowPlace& place, const StridedWalk& walk,
                              Threads& threads) const {
    TwoSums<Acc> sums{0, 0};
    walk.each([&](int, int64_t k) { sums = sums + parts[place.offset + walk.offset(k)]; });
    sums = threads.combine(sums, TwoSums<Acc>{0, 0}, Added());
    if (!threads.leads()) return;

    const Acc scale = invstd[place.row];
    const Acc divisor = static_cast<Acc>(count);
    if (bias != nullptr) bias[place.row] = sums.first;
    // An empty batch has nan for statistics, but its gradient is 0.
    if (weight != nullptr) weight[place.row] = count == 0 ? Acc(0) : sums.second * scale;
    means[place.row] = {sums.first / divisor, sums.second * (scale * scale / divisor)};
  }
};

/// weight * invstd * (g - mean(g) - (x - mean) * invstd^2 * mean(g * (x - mean)))
template <class T>
struct InputGradient {
  using Acc = opmath_type<T>;

  const T* grad;
  const T* in;
  const Acc* mean;
  const Acc* invstd;
  const Acc* weight;
  const TwoSums<Acc>* means;
  T* out;

  template <int width>
  SIMT_DEVICE void operator()(const PackPlace<width>& place) const {
    const auto g = *reinterpret_cast<const RowPack<T, width>*>(grad + place.first);
    const auto x = *reinterpret_cast<const RowPack<T, width>*>(in + place.first);
    RowPack<T, width> result;
    SIMT_UNROLL
    for (int j = 0; j < width; ++j) {
      const int64_t channel = place.channel_of(j);
      const TwoSums<Acc> average = means[channel];
      const Acc scale = weight == nullptr ? invstd[channel] : invstd[channel] * weight[channel];
      const Acc distance = static_cast<Acc>(x[j]) - mean[channel];
      result[j] = static_cast<T>(
          (static_cast<Acc>(g[j]) - average.first - distance * average.second) * scale);
    }
    *reinterpret_cast<RowPack<T, width>*>(out + place.first) = result;
  }
};

/// A parameter in the type of the sums, or an undefined tensor.
template <class Acc>
Tensor in_type(const Tensor& parameter) {
  return parameter.defined() ? parameter.to(scalar_type_of<Acc>).contiguous() : parameter;
}

template <class T>
const T* const_data_or_null(const Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<T>() : nullptr;
}
template <class T>
T* data_or_null(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

/// Memory for `count` results of type Part, which consists of numbers Acc.
template <class Part, class Acc>
Tensor memory_for(int64_t count, Device device) {
  return empty_tensor({count, static_cast<int64_t>(sizeof(Part) / sizeof(Acc))},
                      scalar_type_of<Acc>, device);
}

template <class T>
void normalize(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& mean,
               const Tensor& invstd, const Tensor& out) {
  using Acc = opmath_type<T>;
  const Tensor means = in_type<Acc>(mean);
  const Tensor invstds = in_type<Acc>(invstd);
  const Tensor factors = in_type<Acc>(weight);
  const Tensor shifts = in_type<Acc>(bias);

  const Normalization<T> map{input.const_data_ptr<T>(),       means.const_data_ptr<Acc>(),
                             invstds.const_data_ptr<Acc>(),   const_data_or_null<Acc>(factors),
                             const_data_or_null<Acc>(shifts), out.data_ptr<T>()};
  map_channels<T>("batch_norm", ChannelShape(input), are_aligned(map.in, map.out), map);
}

}  // namespace

void batch_norm_kernel(const Tensor& input, const Tensor& weight, const Tensor& bias,
                       const Tensor& mean, const Tensor& invstd, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const Tensor x = input.contiguous(input.suggest_memory_format());

  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), "batch_norm", [&] {
    normalize<scalar_t>(x, weight, bias, mean, invstd, out0);
  });
}

void batch_norm_train_kernel(const Tensor& input, const Tensor& weight, const Tensor& bias,
                             double eps, const Tensor& out0, const Tensor& out1, const Tensor& out2,
                             const Tensor& out3) {
  const char* const name = "batch_norm";
  const Tensor x = input.contiguous(input.suggest_memory_format());
  const ChannelShape shape(x);
  const ChannelSlices slices(shape);

  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), name, [&] {
    using acc_t = opmath_type<scalar_t>;
    using Part = Moments<acc_t>;
    const Tensor parts = memory_for<Part, acc_t>(slices.count * shape.channels, x.device());
    auto* const of_slices = static_cast<Part*>(parts.data());
    const SliceMoments<scalar_t> reduce{x.const_data_ptr<scalar_t>(), of_slices};
    for_each_channel<scalar_t>(name, shape, slices, are_aligned(reduce.in), reduce);

    const ChannelStatistics<acc_t> finish{of_slices, eps, out1.data_ptr<acc_t>(),
                                          out2.data_ptr<acc_t>(), out3.data_ptr<acc_t>()};
    for_each_column(name, {1, slices.count, shape.channels}, finish);

    normalize<scalar_t>(x, weight, bias, out1, out2, out0);
  });
}

std::tuple<Tensor, Tensor, Tensor>
batch_norm_backward_kernel(const Tensor& grad, const Tensor& input, const Tensor& weight,
                           const Tensor& bias, const Tensor& mean, const Tensor& rstd) {
  if (!grad.defined()) return {};  // only the statistics were used, and they have no gradient
  check_batch_norm_backward(grad, input, weight, bias, mean, rstd);

  const char* const name = "batch_norm_backward";
  const TensorSpec spec = spec_in_format_of(input, input.sizes(), input.sizes().size() - 2);
  const FusedGradients gradients(input, spec, weight, bias, mean.sizes());

  const MemoryFormat format = input.suggest_memory_format();
  const Tensor x = input.contiguous(format);
  const Tensor dense_grad = grad.contiguous(format);
  const Tensor dense_mean = mean.contiguous();
  const Tensor dense_rstd = rstd.contiguous();
  const ChannelShape shape(x);
  const ChannelSlices slices(shape);

  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), name, [&] {
    using acc_t = opmath_type<scalar_t>;
    using Part = TwoSums<acc_t>;
    const scalar_t* const in = x.const_data_ptr<scalar_t>();
    const scalar_t* const g = dense_grad.const_data_ptr<scalar_t>();
    const acc_t* const means = dense_mean.const_data_ptr<acc_t>();
    const acc_t* const rstds = dense_rstd.const_data_ptr<acc_t>();

    // The sums of all slices, then the averages of all channels.
    const Tensor parts =
        memory_for<Part, acc_t>((slices.count + 1) * shape.channels, input.device());
    auto* const of_slices = static_cast<Part*>(parts.data());
    auto* const averages = of_slices + slices.count * shape.channels;
    const SliceGradientSums<scalar_t> reduce{g, in, means, shape.channels, of_slices};
    for_each_channel<scalar_t>(name, shape, slices, are_aligned(g, in), reduce);

    const ChannelGradients<acc_t> finish{of_slices,
                                         rstds,
                                         shape.count(),
                                         data_or_null<acc_t>(gradients.weight),
                                         data_or_null<acc_t>(gradients.bias),
                                         averages};
    for_each_column(name, {1, slices.count, shape.channels}, finish);
    if (!gradients.input.defined()) return;

    const Tensor factors = in_type<acc_t>(weight);
    const InputGradient<scalar_t> map{g,
                                      in,
                                      means,
                                      rstds,
                                      const_data_or_null<acc_t>(factors),
                                      averages,
                                      gradients.input.data_ptr<scalar_t>()};
    map_channels<scalar_t>(name, shape, are_aligned(g, in, map.out), map);
  });

  return gradients.in_dtypes_of(weight, bias);
}

}  // namespace at::native::cuda
