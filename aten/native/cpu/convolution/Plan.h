#pragma once
// A convolution of tensors as its loops see it: sizes, memory format and dtype. Included by files
// compiled once per instruction set.
#include "aten/Dispatch.h"
#include "aten/core/Tensor.h"
#include "aten/native/nn/ConvolutionGeometry.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/ops/to.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

/// A convolution as its walks see it. `small` is the result of the forward convolution.
struct Plan {
  ConvolutionGeometry geometry;
  MemoryFormat format = MemoryFormat::Contiguous;

  bool channels_last() const { return format != MemoryFormat::Contiguous; }
};

// Note [Windows that are the whole input]
// If the only window of a convolution is the whole input, the convolution is a product with a
// matrix. Its input elements, in the order in which they lie in memory, are treated as channels of
// planes of one element, and so are the elements of the weight. With several groups this requires
// that channels come first.
inline Plan plan_for(const Tensor& input, const Tensor& output, const Tensor& weight,
                     bool transposed, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                     int64_t groups) {
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
inline void join_positions(Plan& plan) {
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

// -- tensors --

/// The dtype of the tensors that are read. Integers are computed in double, which is exact up to
/// 2^53.
inline ScalarType computed_type(ScalarType dtype) {
  return is_integral(dtype, true) ? kDouble : dtype;
}

/// The tensor in the dtype of the computation, dense in `format`.
inline Tensor for_reading(const Tensor& tensor, MemoryFormat format = MemoryFormat::Contiguous) {
  return tensor.to(computed_type(tensor.scalar_type())).contiguous(format);
}

/// Where to write a result: `out`, or a tensor of the dtype of the computation that store() copies
/// to it.
inline Tensor for_writing(const Tensor& out, MemoryFormat format = MemoryFormat::Contiguous) {
  const ScalarType type = computed_type(out.scalar_type());
  // A gradient that was not asked for is empty and has another shape.
  if (out.numel() == 0 || (out.scalar_type() == type && out.is_contiguous(format))) return out;
  if (format == MemoryFormat::Contiguous) return empty_tensor(out.sizes(), type, kCPU);
  return empty_strided_tensor(out.sizes(), channels_last_strides(out.sizes()), type, kCPU);
}

/// Copies a result to `out`, unless it is there already. Integers that are too large wrap.
inline void store(const Tensor& result, const Tensor& out) {
  if (result.is_same(out)) return;
  at::copy_(out, is_integral(out.scalar_type(), true) ? result.to(kLong) : result);
}

/// The bias of each input channel of the plan, from the bias of a transposed convolution. They have
/// different sizes if the plan treats input elements as channels.
inline Tensor spread_bias(const Tensor& bias, const Plan& plan) {
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

}  // namespace CPU_CAPABILITY
}  // namespace at::native
