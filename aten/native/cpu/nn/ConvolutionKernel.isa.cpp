// Convolutions and their gradients: which tiles compute what. A transposed convolution is the input
// gradient of a convolution, and its gradients are a convolution and a weight gradient.
#include <algorithm>
#include <cstring>

#include "aten/Dispatch.h"
#include "aten/blas/Blas.h"
#include "aten/native/cpu/convolution/GroupLanes.h"
#include "aten/native/declarations/cpu/nn/ConvolutionKernel.isa.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/ops/to.h"
#include "c10/cpu/CpuInfo.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

// -- sums for the bias --

/// The sums of the columns of a matrix (rows, columns).
template <typename T>
void sum_columns(const T* values, int64_t rows, int64_t columns, T* out) {
  constexpr int64_t kBlock = 64;
  const int64_t blocks = (columns + kBlock - 1) / kBlock;
  const int64_t grain =
      std::max<int64_t>(1, kDefaultGrainSize / (kBlock * std::max<int64_t>(1, rows)));

  parallel_for(0, blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kBlock;
      const int64_t width = std::min(kBlock, columns - first);
      double sums[kBlock] = {};
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t i = 0; i < width; ++i)
          sums[i] += static_cast<double>(values[row * columns + first + i]);
      }
      for (int64_t i = 0; i < width; ++i) out[first + i] = static_cast<T>(sums[i]);
    }
  });
}

/// The gradient of the bias: sums of `grad` (batch, channels, plane) over samples and positions.
template <typename T>
void bias_gradient(const T* grad, int64_t batch, int64_t channels, int64_t plane, T* out) {
  using Sum = std::conditional_t<sizeof(T) == 8, double, float>;
  constexpr int64_t kLanes = 16;
  const int64_t grain =
      std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, batch * plane));

  parallel_for(0, channels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t channel = begin; channel < end; ++channel) {
      double total = 0;

      for (int64_t n = 0; n < batch; ++n) {
        const T* row = grad + (n * channels + channel) * plane;
        Sum lanes[kLanes] = {};
        int64_t i = 0;
        for (; i + kLanes <= plane; i += kLanes) {
          for (int64_t j = 0; j < kLanes; ++j) lanes[j] += static_cast<Sum>(row[i + j]);
        }
        for (int64_t j = 0; i < plane; ++i, ++j) lanes[j] += static_cast<Sum>(row[i]);
        for (const Sum lane : lanes) total += lane;
      }

      out[channel] = static_cast<T>(total);
    }
  });
}

// -- one convolution --

/// A convolution as its walks see it. `small` is the result of the forward convolution.
struct Plan {
  ConvolutionGeometry geometry;
  MemoryFormat format = MemoryFormat::Contiguous;

  bool channels_last() const { return format != MemoryFormat::Contiguous; }
};

/// The element types by which T is multiplied, see aten/blas/tile/Elements.h.
template <class T>
struct ElementsOf {
  using type = tile::Widened<T>;
};
template <>
struct ElementsOf<float> {
  using type = tile::Floats<float>;
};
template <>
struct ElementsOf<double> {
  using type = tile::Floats<double>;
};

/// Sets a result to its bias, by channel, or to 0.
template <class T>
void fill_with_bias(const Layout& layout, int64_t batch, int64_t positions, const T* bias, T* out) {
  const auto value = [&](int64_t c) { return bias == nullptr ? T(0) : bias[c]; };
  if (layout.channels_last()) {
    for (int64_t p = 0; p < batch * positions; ++p) {
      for (int64_t c = 0; c < layout.channels; ++c) *out++ = value(c);
    }
    return;
  }
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t c = 0; c < layout.channels; ++c, out += positions)
      std::fill_n(out, positions, value(c));
  }
}

template <class E>
void run_walks(const std::vector<Walk>& walks, bool gradient, bool narrow_groups, bool last,
               const typename E::Stored* in, const typename E::Stored* weights,
               const typename E::Stored* bias, typename E::Stored* out) {
  const Walk& any = walks.front();
  const Layout from = layout_of(any, &Axis::source, any.channels * any.groups, last);
  const Layout to = layout_of(any, &Axis::result, any.outputs * any.groups, last);

  if constexpr (E::kGroup == 1) {
    if (narrow_groups) {
      JoinedGroups joined(any);
      const LaneWeights<E> packed(joined, weights, gradient, to.channels);
      for (const Walk& walk : walks) {
        joined.walk.axes = walk.axes;
        TiledWalk<E, LaneTiles<E>>(joined.walk, packed, from, to).run(in, bias, out);
      }
      return;
    }
  }

  const PanelWeights<E> packed(any, weights, gradient);
  for (const Walk& walk : walks)
    TiledWalk<E, WindowTiles<E>>(walk, packed, from, to).run(in, bias, out);
}

/// The taps and positions that walks cover.
int64_t covered(const std::vector<Walk>& walks) {
  int64_t positions = 0;
  for (const Walk& walk : walks)
    positions += walk.axes[1].count * walk.axes[2].count * walk.axes[3].count;
  return positions;
}

/// out = in * weights + bias, or the input gradient. Weights are (outputs, kernel elements,
/// channels of a group); `bias` may be null.
template <class T>
void convolve(const Plan& plan, bool gradient, const T* in, const T* weights, const T* bias,
              T* out) {
  const ConvolutionGeometry& g = plan.geometry;
  std::vector<Walk> walks;
  if (!gradient) walks.push_back(forward_walk(g));
  else if (g.output_plane() > 0) walks = gradient_walks(g);

  // Positions that no window sees have only the bias.
  const int64_t positions = gradient ? g.input_plane() : g.output_plane();
  if (covered(walks) < positions || g.group_outputs() == 0 || g.group_channels() == 0) {
    const Walk shape = forward_walk(g);
    const Layout layout = layout_of(shape, gradient ? &Axis::source : &Axis::result,
                                    gradient ? g.channels : g.outputs, plan.channels_last());
    fill_with_bias(layout, g.batch, positions, bias, out);
  }
  if (walks.empty() || g.group_outputs() == 0 || g.group_channels() == 0) return;

  const bool narrow = has_narrow_groups(g);
  const bool last = plan.channels_last();
#ifdef AT_TILE_HAS_PAIRS
  if constexpr (std::is_same_v<T, c10::BFloat16>) {
    if (!narrow && c10::cpu_features().avx512_bf16)
      return run_walks<tile::Pairs>(walks, gradient, narrow, last, in, weights, bias, out);
  }
#endif
  run_walks<typename ElementsOf<T>::type>(walks, gradient, narrow, last, in, weights, bias, out);
}

/// The gradient of the weight as (outputs, kernel elements, channels of a group).
template <class T, class Sum>
void weight_gradient(const Plan& plan, const T* grad, const T* in, Sum* out) {
  using E = typename ElementsOf<T>::type;
  const ConvolutionGeometry& g = plan.geometry;
  const Walk walk = forward_walk(g);
  const Layout from = layout_of(walk, &Axis::source, g.channels, plan.channels_last());
  const Layout to = layout_of(walk, &Axis::result, g.outputs, plan.channels_last());
  if (g.batch * g.output_plane() == 0) {
    std::fill_n(out, g.outputs * g.column_rows(), Sum(0));
    return;
  }

  const int64_t row = g.column_rows();
  const auto write = [&](int64_t output, int64_t count, const auto& sums) {
    write_rows<Sum>(row, count, sums, out + output * row);
  };
  if (has_narrow_groups(g)) {
    const JoinedGroups joined(walk);
    const WeightGradient<E, LaneGradients<E>> sums(joined.walk, joined.spread_or_null(),
                                                   g.group_channels(), from, to);
    sums.run(in, grad, write);
  } else {
    const WeightGradient<E, WindowGradients<E>> sums(walk, nullptr, g.group_channels(), from, to);
    sums.run(in, grad, write);
  }
}

// -- products of matrices --

/// A pointwise convolution of contiguous tensors, in place: positions are the lanes.
template <class T>
void pointwise(const Plan& plan, bool gradient, const T* in, const T* weights, const T* bias,
               T* out) {
  constexpr auto kAsIs = blas::Transpose::None;
  constexpr auto kTransposed = blas::Transpose::Transpose;
  const ConvolutionGeometry& g = plan.geometry;
  const int64_t sources = gradient ? g.group_outputs() : g.group_channels();
  const int64_t results = gradient ? g.group_channels() : g.group_outputs();
  const int64_t positions = g.input_plane() * (plan.channels_last() ? g.batch : 1);
  const int64_t channels = g.group_channels();

  // Chunks depend on sizes only.
  const int64_t chunk = std::max<int64_t>(1, std::min<int64_t>(positions, 784));
  const int64_t chunks = (positions + chunk - 1) / chunk;
  const int64_t samples = plan.channels_last() ? 1 : g.batch;
  for_tasks(
      samples * g.groups * chunks, chunk * sources * results, [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t first = task % chunks * chunk;
          const int64_t count = std::min(chunk, positions - first);
          const int64_t group = task / chunks % g.groups;
          const int64_t sample = task / chunks / g.groups;
          const T* const weight = weights + group * g.group_outputs() * channels;
          const T* const added = bias == nullptr ? nullptr : bias + group * results;
          const blas::Scale<T> beta(bias == nullptr ? 0 : 1);

          if (plan.channels_last()) {
            const T* const from = in + first * sources * g.groups + group * sources;
            T* const to = out + first * results * g.groups + group * results;
            for (int64_t p = 0; added != nullptr && p < count; ++p)
              std::copy_n(added, results, to + p * results * g.groups);
            blas::gemm<T>(gradient ? kAsIs : kTransposed, kAsIs, results, count, sources, 1, weight,
                          channels, from, sources * g.groups, beta, to, results * g.groups);
          } else {
            const T* const from = in + (sample * g.groups + group) * sources * positions + first;
            T* const to = out + (sample * g.groups + group) * results * positions + first;
            for (int64_t o = 0; added != nullptr && o < results; ++o)
              std::fill_n(to + o * positions, count, added[o]);
            blas::gemm<T>(kAsIs, gradient ? kTransposed : kAsIs, count, results, sources, 1, from,
                          positions, weight, channels, beta, to, positions);
          }
        }
      });
}

// -- tensors --

/// The dtype of the tensors that are read. Integers are computed in double, which is exact up to
/// 2^53.
ScalarType computed_type(ScalarType dtype) { return is_integral(dtype, true) ? kDouble : dtype; }

/// The tensor in the dtype of the computation, dense in `format`.
Tensor for_reading(const Tensor& tensor, MemoryFormat format = MemoryFormat::Contiguous) {
  return tensor.to(computed_type(tensor.scalar_type())).contiguous(format);
}

/// Where to write a result: `out`, or a tensor of the dtype of the computation that store() copies
/// to it.
Tensor for_writing(const Tensor& out, MemoryFormat format = MemoryFormat::Contiguous) {
  const ScalarType type = computed_type(out.scalar_type());
  // A gradient that was not asked for is empty and has another shape.
  if (out.numel() == 0 || (out.scalar_type() == type && out.is_contiguous(format))) return out;
  if (format == MemoryFormat::Contiguous) return empty_tensor(out.sizes(), type, kCPU);
  return empty_strided_tensor(out.sizes(), channels_last_strides(out.sizes()), type, kCPU);
}

/// Copies a result to `out`, unless it is there already. Integers that are too large wrap.
void store(const Tensor& result, const Tensor& out) {
  if (result.is_same(out)) return;
  at::copy_(out, is_integral(out.scalar_type(), true) ? result.to(kLong) : result);
}

// Note [Windows that are the whole input]
// If the only window of a convolution is the whole input, the convolution is a product with a
// matrix. Its input elements, in the order in which they lie in memory, are treated as channels of
// planes of one element, and so are the elements of the weight. With several groups this requires
// that channels come first.
Plan plan_for(const Tensor& input, const Tensor& output, const Tensor& weight, bool transposed,
              IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  const Tensor& large = transposed ? output : input;
  const Tensor& small = transposed ? input : output;
  Plan plan;
  plan.geometry = convolution_geometry(large.sizes(), small.sizes(), weight.sizes(), stride,
                                       padding, dilation, groups);
  ConvolutionGeometry& g = plan.geometry;

  plan.format = input.suggest_memory_format();
  if (plan.format == MemoryFormat::Contiguous) plan.format = weight.suggest_memory_format();
  if (!g.sees_whole_input() || (plan.channels_last() && groups > 1)) return plan;

  // See Note [Windows that are the whole input].
  g.channels *= g.input_plane();
  for (int d = 0; d < 3; ++d) g.input[d] = g.kernel[d] = 1;
  return plan;
}

/// A view of the positions of pointwise convolutions as one line, which makes long tiles.
void join_positions(Plan& plan) {
  ConvolutionGeometry& g = plan.geometry;
  if (!g.is_pointwise()) return;

  const int64_t plane = g.input_plane();
  for (int d = 0; d < 3; ++d) g.input[d] = g.output[d] = 1;
  g.input[2] = g.output[2] = plane;
  // Samples follow one another, too, if channels are last.
  if (!plan.channels_last() && plane != 1) return;
  g.input[2] = g.output[2] = plane * g.batch;
  g.batch = 1;
  if (plane == 1) plan.format = MemoryFormat::ChannelsLast;
}

/// Copies weights between (outputs, channels, elements) and (outputs, elements, channels).
template <class From, class To>
void transpose_weights(const From* from, int64_t outputs, int64_t rows, int64_t columns, To* to) {
  const int64_t size = std::max<int64_t>(1, rows * columns);
  parallel_for(
      0, outputs, std::max<int64_t>(1, kDefaultGrainSize / size), [&](int64_t begin, int64_t end) {
        for (int64_t o = begin; o < end; ++o) {
          for (int64_t c = 0; c < columns; ++c) {
            for (int64_t r = 0; r < rows; ++r)
              to[o * size + c * rows + r] = static_cast<To>(from[o * size + r * columns + c]);
          }
        }
      });
}

/// A weight as (outputs, kernel elements, channels of a group): in place if it lies so.
template <class T>
class WeightRows {
 public:
  WeightRows(const Plan& plan, const Tensor& weight)
      : data_(weight.const_data_ptr<T>()),
        copy_(needs_copy(plan) ? empty_tensor({weight.numel()}, weight.scalar_type(), kCPU)
                               : Tensor()) {
    if (!copy_.defined()) return;
    const ConvolutionGeometry& g = plan.geometry;
    T* const to = copy_.template data_ptr<T>();
    transpose_weights(data_, g.outputs, g.group_channels(), g.kernel_elements(), to);
    data_ = to;
  }

  static bool needs_copy(const Plan& plan) {
    const ConvolutionGeometry& g = plan.geometry;
    return !plan.channels_last() && g.kernel_elements() > 1 && g.group_channels() > 1;
  }
  const T* data() const { return data_; }

 private:
  const T* data_;
  Tensor copy_;
};

/// The bias of each input channel of the plan, from the bias of a transposed convolution. They have
/// different sizes if the plan treats input elements as channels.
Tensor spread_bias(const Tensor& bias, const Plan& plan) {
  const int64_t channels = bias.numel();
  const int64_t each = plan.geometry.channels / std::max<int64_t>(1, channels);
  if (each <= 1) return bias;

  const bool channels_first = plan.format == MemoryFormat::Contiguous;
  const Tensor wide = empty_tensor({plan.geometry.channels}, bias.scalar_type(), kCPU);
  AT_DISPATCH_FLOATING_AND_REDUCED(bias.scalar_type(), "convolution", [&] {
    const scalar_t* from = bias.const_data_ptr<scalar_t>();
    scalar_t* to = wide.data_ptr<scalar_t>();
    for (int64_t i = 0; i < plan.geometry.channels; ++i)
      to[i] = from[channels_first ? i / each : i % channels];
  });

  return wide;
}

/// A convolution or an input gradient by the fastest way.
template <class T>
void compute(Plan plan, bool gradient, const T* in, const Tensor& weight, const T* bias, T* out) {
  const WeightRows<T> weights(plan, weight);
  join_positions(plan);
  if (plan.geometry.is_pointwise() && !has_narrow_groups(plan.geometry))
    pointwise(plan, gradient, in, weights.data(), bias, out);
  else convolve(plan, gradient, in, weights.data(), bias, out);
}

template <class T>
void compute_weight_gradient(Plan plan, const T* small, const T* large, T* out) {
  using Sum = std::conditional_t<sizeof(T) == 8, double, float>;
  const ConvolutionGeometry g = plan.geometry;
  const bool reorders = WeightRows<T>::needs_copy(plan);
  join_positions(plan);

  if constexpr (std::is_same_v<T, Sum>) {
    if (!reorders) return weight_gradient(plan, small, large, out);
  }
  const Scratch<Sum> sums(g.outputs * g.column_rows());
  weight_gradient(plan, small, large, sums.data());
  const int64_t columns = reorders ? g.group_channels() : 1;
  transpose_weights(sums.data(), g.outputs, g.column_rows() / columns, columns, out);
}

/// Computes the gradients that have elements; all tensors are dense in the plan's format.
template <typename T>
void gradients(const Plan& plan, bool transposed, const Tensor& grad, const Tensor& x,
               const Tensor& w, const Tensor& grad_input, const Tensor& grad_weight,
               const Tensor& grad_bias) {
  const T* grads = grad.const_data_ptr<T>();
  const T* inputs = x.const_data_ptr<T>();

  if (grad_input.numel() > 0)
    compute<T>(plan, !transposed, grads, w, nullptr, grad_input.data_ptr<T>());
  if (grad_weight.numel() > 0)
    compute_weight_gradient<T>(plan, transposed ? inputs : grads, transposed ? grads : inputs,
                               grad_weight.data_ptr<T>());

  if (grad_bias.numel() > 0) {
    const int64_t batch = plan.geometry.batch;
    const int64_t channels = grad.sizes()[1];
    const int64_t plane = grad.numel() / std::max<int64_t>(1, batch * channels);
    T* out = grad_bias.data_ptr<T>();
    if (plan.format == MemoryFormat::Contiguous) bias_gradient(grads, batch, channels, plane, out);
    else sum_columns(grads, batch * plane, channels, out);
  }
}

}  // namespace

void convolution_kernel(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                        bool transposed, IntArrayRef, int64_t groups, const Tensor& out0) {
  if (out0.numel() == 0) return;

  const Plan plan = plan_for(input, out0, weight, transposed, stride, padding, dilation, groups);
  const Tensor x = for_reading(input, plan.format);
  const Tensor w = for_reading(weight, plan.format);
  Tensor b = bias.defined() ? for_reading(bias) : bias;
  if (transposed && b.defined()) b = spread_bias(b, plan);
  const Tensor out = for_writing(out0, plan.format);

  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), "convolution", [&] {
    compute<scalar_t>(plan, transposed, x.const_data_ptr<scalar_t>(), w,
                      b.defined() ? b.const_data_ptr<scalar_t>() : nullptr,
                      out.data_ptr<scalar_t>());
  });

  store(out, out0);
}

void convolution_backward_kernel(const Tensor& grad_output, const Tensor& input,
                                 const Tensor& weight, bool, IntArrayRef stride,
                                 IntArrayRef padding, IntArrayRef dilation, bool transposed,
                                 IntArrayRef, int64_t groups, const Tensor& out0,
                                 const Tensor& out1, const Tensor& out2) {
  const Plan plan =
      plan_for(input, grad_output, weight, transposed, stride, padding, dilation, groups);
  const Tensor grad = for_reading(grad_output, plan.format);
  const Tensor x = for_reading(input, plan.format);
  const Tensor w = for_reading(weight, plan.format);
  const Tensor grad_input = for_writing(out0, plan.format);
  const Tensor grad_weight = for_writing(out1, plan.format);
  const Tensor grad_bias = for_writing(out2);

  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), "convolution_backward", [&] {
    gradients<scalar_t>(plan, transposed, grad, x, w, grad_input, grad_weight, grad_bias);
  });

  store(grad_input, out0);
  store(grad_weight, out1);
  store(grad_bias, out2);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
