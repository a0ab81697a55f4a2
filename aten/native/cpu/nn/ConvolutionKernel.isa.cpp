// Convolutions and their gradients: which tiles compute what. Compiled with -O3. A transposed
// convolution is an input gradient; its gradients are a convolution and a weight gradient.
#include <algorithm>

#include "aten/native/cpu/convolution/BiasGradient.h"
#include "aten/native/cpu/convolution/GroupLanes.h"
#include "aten/native/cpu/convolution/Plan.h"
#include "aten/native/cpu/convolution/PlaneLanes.h"
#include "aten/native/cpu/convolution/Pointwise.h"
#include "aten/native/cpu/convolution/PointwisePlanes.h"
#include "aten/native/declarations/cpu/nn/ConvolutionKernel.isa.h"
#include "c10/cpu/CpuInfo.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

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

/// Walks of convolutions whose groups are lanes.
template <class E>
void run_lanes(const std::vector<Walk>& walks, bool gradient, const Layout& from, const Layout& to,
               const typename E::Stored* in, const WeightSource<typename E::Stored>& weights,
               const typename E::Stored* bias, typename E::Stored* out) {
  JoinedGroups joined(walks.front());
  const LaneWeights<E> packed(joined, weights, gradient, to.channels);
  for (const Walk& walk : walks) {
    joined.walk.axes = walk.axes;
#if defined(__AVX2__)
    if constexpr (std::is_same_v<typename E::Packed, float>) {
      if (packed.order() != nullptr) {
        TiledWalk<E, PermutedLaneTiles<E>>(joined.walk, packed, from, to).run(in, bias, out);
        continue;
      }
    }
#endif
    TiledWalk<E, LaneTiles<E>>(joined.walk, packed, from, to).run(in, bias, out);
  }
}

template <class E>
void run_walks(const std::vector<Walk>& walks, bool gradient, bool narrow_groups, bool last,
               const typename E::Stored* in, const WeightSource<typename E::Stored>& weights,
               const typename E::Stored* bias, typename E::Stored* out) {
  const Walk& any = walks.front();
  const Layout from = layout_of(any, &Axis::source, any.channels * any.groups, last);
  const Layout to = layout_of(any, &Axis::result, any.outputs * any.groups, last);

  if constexpr (E::kGroup == 1) {
    const bool planes = std::all_of(walks.begin(), walks.end(), [&](const Walk& walk) {
      return has_plane_lanes(walk, from, to);
    });
    if (planes) {
      for (const Walk& walk : walks)
        PlaneWalk<E>(walk, from, to, weights.rows(), gradient).run(in, bias, out);
      return;
    }
    if (narrow_groups) return run_lanes<E>(walks, gradient, from, to, in, weights, bias, out);
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

/// out = in * weights + bias, or the input gradient; `bias` may be null.
template <class T>
void convolve(const Plan& plan, bool gradient, const T* in, const WeightSource<T>& weights,
              const T* bias, T* out) {
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

/// A convolution or an input gradient by the fastest way.
template <class T>
void compute(Plan plan, bool gradient, const T* in, const Tensor& weight, const T* bias, T* out) {
  const WeightSource<T> weights(plan, weight);
  join_positions(plan);
  if constexpr (!c10::is_reduced_floating_point_v<T>) {
    if (is_product<T>(plan) && !plan.channels_last())
      return PointwisePlanes<T>(plan.geometry, weights, gradient).run(in, bias, out);
  }
  if (is_product<T>(plan)) pointwise(plan, gradient, in, weights.rows(), bias, out);
  else convolve(plan, gradient, in, weights, bias, out);
}

template <class T>
void compute_weight_gradient(Plan plan, const T* small, const T* large, T* out) {
  using Sum = std::conditional_t<sizeof(T) == 8, double, float>;
  const ConvolutionGeometry g = plan.geometry;
  const bool reorders = WeightSource<T>::needs_copy(plan);
  join_positions(plan);

  if constexpr (std::is_same_v<T, Sum>) {
    if (!reorders) return weight_gradient(plan, small, large, out);
  }
  const Scratch<Sum> sums(g.outputs * g.column_rows());
  weight_gradient(plan, small, large, sums.data());
  const int64_t columns = reorders ? g.group_channels() : 1;
  transpose_weights(sums.data(), g.outputs, g.column_rows() / columns, columns, out);
}

/// Computes the gradients that have elements; all tensors but the weight are dense in the plan's
/// format.
template <typename T>
void gradients(const Plan& plan, bool transposed, const Tensor& grad, const Tensor& x,
               const Tensor& weight, const Tensor& grad_input, const Tensor& grad_weight,
               const Tensor& grad_bias) {
  const T* grads = grad.const_data_ptr<T>();
  const T* inputs = x.const_data_ptr<T>();

  if (grad_input.numel() > 0)
    compute<T>(plan, !transposed, grads, weight, nullptr, grad_input.data_ptr<T>());
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
  Tensor b = bias.defined() ? for_reading(bias) : bias;
  if (transposed && b.defined()) b = spread_bias(b, plan);
  const Tensor out = for_writing(out0, plan.format);

  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), "convolution", [&] {
    compute<scalar_t>(plan, transposed, x.const_data_ptr<scalar_t>(), weight,
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
  const Tensor grad_input = for_writing(out0, plan.format);
  const Tensor grad_weight = for_writing(out1, plan.format);
  const Tensor grad_bias = for_writing(out2);

  AT_DISPATCH_FLOATING_AND_REDUCED(x.scalar_type(), "convolution_backward", [&] {
    gradients<scalar_t>(plan, transposed, grad, x, weight, grad_input, grad_weight, grad_bias);
  });

  store(grad_input, out0);
  store(grad_weight, out1);
  store(grad_bias, out2);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
