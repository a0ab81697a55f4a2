// Convolutions and their gradients by GEMM, see Note [Chunks of a convolution]. A transposed
// convolution is the input gradient of a convolution, and its gradients are a convolution and a
// weight gradient. Reduced floats are converted to float first, because sums of products need it.
#include <algorithm>
#include <cstring>

#include "aten/Dispatch.h"
#include "aten/blas/Blas.h"
#include "aten/native/cpu/nn/ChannelsLastConvolution.h"
#include "aten/native/cpu/nn/ConvolutionColumns.h"
#include "aten/native/cpu/nn/DepthwiseConvolution.h"
#include "aten/native/declarations/cpu/nn/ConvolutionKernel.isa.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/ops/to.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

constexpr blas::Transpose kAsIs = blas::Transpose::None;
constexpr blas::Transpose kTransposed = blas::Transpose::Transpose;

// -- when channels come first --

/// The outputs of one group in one chunk as a row-major matrix (outputs, positions). It is part of
/// the tensor if the chunk lies in one sample, otherwise it needs a buffer.
struct OutputRows {
  int64_t offset;  // of the chunk's first element in the tensor
  int64_t stride;  // between rows
  bool in_place;
};

OutputRows output_rows(const ConvolutionGeometry& g, const ConvolutionChunk& chunk, int64_t group) {
  const int64_t plane = g.output_plane();
  const bool in_place = chunk.samples == 1;
  return {(chunk.sample * g.outputs + group * g.group_outputs()) * plane + chunk.first,
          in_place ? plane : chunk.columns(), in_place};
}

/// Copies the outputs of a chunk of several samples to `rows`, one sample after another in each
/// row.
template <typename T>
void join_samples(const ConvolutionGeometry& g, const ConvolutionChunk& chunk, const T* first,
                  T* rows) {
  const int64_t plane = g.output_plane();
  for (int64_t o = 0; o < g.group_outputs(); ++o) {
    for (int64_t s = 0; s < chunk.samples; ++s) {
      std::memcpy(rows + (o * chunk.samples + s) * plane, first + (s * g.outputs + o) * plane,
                  plane * sizeof(T));
    }
  }
}

/// The reverse of join_samples, with the bias added; it may be null.
template <typename T>
void split_samples(const ConvolutionGeometry& g, const ConvolutionChunk& chunk, const T* rows,
                   const T* bias, T* first) {
  const int64_t plane = g.output_plane();
  for (int64_t o = 0; o < g.group_outputs(); ++o) {
    const T added = bias == nullptr ? T(0) : bias[o];
    for (int64_t s = 0; s < chunk.samples; ++s) {
      const T* from = rows + (o * chunk.samples + s) * plane;
      T* to = first + (s * g.outputs + o) * plane;
      for (int64_t i = 0; i < plane; ++i) to[i] = from[i] + added;
    }
  }
}

/// The matrix of columns of a chunk: part of the input if each window is one element, otherwise
/// gathered into `buffer`.
template <typename T>
struct Columns {
  const T* data;
  int64_t stride;

  Columns(const ConvolutionGeometry& g, const ConvolutionChunk& chunk, int64_t group, const T* in,
          ChunkWindows<T>& windows, T* buffer) {
    if (g.is_pointwise() && chunk.samples == 1) {
      data = in + (chunk.sample * g.channels + group * g.group_channels()) * g.input_plane() +
             chunk.first;
      stride = g.input_plane();
    } else {
      windows.set(chunk);
      gather_columns(g, chunk, windows, group, in, buffer);
      data = buffer;
      stride = chunk.columns();
    }
  }
};

/// out = in * weight + bias; `bias` may be null.
template <typename T>
void convolve(const ConvolutionGeometry& g, const T* in, const T* weight, const T* bias, T* out) {
  if (is_depthwise(g)) return depthwise_forward(g, in, weight, bias, out);

  const ConvolutionChunks chunks(g);
  const int64_t rows = g.column_rows();
  const int64_t outputs = g.group_outputs();
  const int64_t work = chunks.largest() * rows * outputs;

  for_tasks(chunks.size() * g.groups, work, [&](int64_t begin, int64_t end) {
    const Scratch<T> columns_buffer(rows * chunks.largest());
    const Scratch<T> rows_buffer(outputs * chunks.largest());
    ChunkWindows<T> windows(g);
    for (int64_t task = begin; task < end; ++task) {
      const ConvolutionChunk chunk = chunks[task / g.groups];
      const int64_t group = task % g.groups;
      const int64_t width = chunk.columns();
      if (width == 0) continue;

      const Columns<T> columns(g, chunk, group, in, windows, columns_buffer.data());
      const OutputRows target = output_rows(g, chunk, group);
      const T* group_bias = bias == nullptr ? nullptr : bias + group * outputs;
      T* result = target.in_place ? out + target.offset : rows_buffer.data();

      // In place, the product is added to the bias; otherwise the bias is added later.
      const bool start_with_bias = target.in_place && bias != nullptr;
      for (int64_t o = 0; start_with_bias && o < outputs; ++o)
        std::fill_n(result + o * target.stride, width, group_bias[o]);

      blas::gemm<T>(kAsIs, kAsIs, width, outputs, rows, T(1), columns.data, columns.stride,
                    weight + group * outputs * rows, rows, start_with_bias ? T(1) : T(0), result,
                    target.stride);
      if (!target.in_place) split_samples(g, chunk, result, group_bias, out + target.offset);
    }
  });
}

/// Adds the part of one chunk and group to `out`. If windows are one element and the chunk is in
/// one sample, the product goes to `out` directly; without bias it overwrites.
template <typename T>
void add_input_gradient(const ConvolutionGeometry& g, const ConvolutionChunk& chunk, int64_t group,
                        const T* grad, const T* weight, bool has_bias, ChunkWindows<T>& windows,
                        T* columns, T* rows_buffer, T* out) {
  const int64_t rows = g.column_rows();
  const int64_t outputs = g.group_outputs();
  const int64_t width = chunk.columns();
  const int64_t plane = g.input_plane();

  const OutputRows source = output_rows(g, chunk, group);
  if (!source.in_place) join_samples(g, chunk, grad + source.offset, rows_buffer);
  const T* grads = source.in_place ? grad + source.offset : rows_buffer;

  const bool direct = g.is_pointwise() && chunk.samples == 1;
  T* result =
      direct ? out + (chunk.sample * g.channels + group * g.group_channels()) * plane + chunk.first
             : columns;
  blas::gemm<T>(kAsIs, kTransposed, width, rows, outputs, T(1), grads, source.stride,
                weight + group * outputs * rows, rows, direct && has_bias ? T(1) : T(0), result,
                direct ? plane : width);
  if (direct) return;

  windows.set(chunk);
  scatter_columns(g, chunk, windows, group, columns, out);
}

/// The gradient of the input. `bias` is that of a transposed convolution, by input channel; it may
/// be null.
template <typename T>
void input_gradient(const ConvolutionGeometry& g, const T* grad, const T* weight, const T* bias,
                    T* out) {
  // A transposed convolution of an empty plane consists of its bias.
  if (g.output_plane() == 0) {
    const int64_t size = g.input_plane();
    for (int64_t k = 0; k < g.batch * g.channels; ++k)
      std::fill_n(out + k * size, size, bias == nullptr ? T(0) : bias[k % g.channels]);
    return;
  }
  if (is_depthwise(g)) return depthwise_input_gradient(g, grad, weight, bias, out);

  // Windows overlap, so one thread does all parts of a sample.
  const ConvolutionChunks chunks(g);
  const int64_t rows = g.column_rows();
  const int64_t plane = g.input_plane();
  const int64_t largest = chunks.largest();
  const int64_t tasks = chunks.groups_of_samples();

  for_tasks(tasks, largest * chunks.parts() * rows * g.outputs, [&](int64_t begin, int64_t end) {
    const Scratch<T> columns(rows * largest);
    const Scratch<T> rows_buffer(g.group_outputs() * largest);
    ChunkWindows<T> windows(g);

    // Start with the bias, or with 0, unless the products overwrite it.
    const int64_t first = chunks.at(begin, 0).sample;
    const int64_t last = std::min(chunks.at(end, 0).sample, g.batch);
    const bool overwritten = g.is_pointwise() && chunks.samples() == 1 && bias == nullptr;
    for (int64_t k = first * g.channels; k < last * g.channels && !overwritten; ++k) {
      std::fill_n(out + k * plane, plane, bias == nullptr ? T(0) : bias[k % g.channels]);
    }

    const int64_t each = end - begin;
    for (int64_t i = 0; i < each * chunks.parts(); ++i) {
      const ConvolutionChunk chunk = chunks.at(begin + i % each, i / each);
      for (int64_t group = 0; group < g.groups && chunk.columns() > 0; ++group) {
        add_input_gradient(g, chunk, group, grad, weight, bias != nullptr, windows, columns.data(),
                           rows_buffer.data(), out);
      }
    }
  });
}

/// The gradient of the weight: each slice of the chunks is summed in order, then the sums of the
/// slices are added.
template <typename T>
void weight_gradient(const ConvolutionGeometry& g, const T* grad, const T* in, T* out) {
  if (is_depthwise(g)) return depthwise_weight_gradient(g, grad, in, out);

  const ConvolutionChunks chunks(g);
  const int64_t rows = g.column_rows();
  const int64_t outputs = g.group_outputs();
  const int64_t size = g.outputs * rows;
  const int64_t slices = separate_sums(chunks.size(), size);
  const Scratch<T> sums(slices > 1 ? slices * size : 0);
  const int64_t per_slice = (chunks.size() + slices - 1) / slices;
  const int64_t work = per_slice * chunks.largest() * rows * outputs;

  for_tasks(slices * g.groups, work, [&](int64_t begin, int64_t end) {
    const Scratch<T> columns_buffer(rows * chunks.largest());
    const Scratch<T> rows_buffer(outputs * chunks.largest());
    ChunkWindows<T> windows(g);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t slice = task / g.groups;
      const int64_t group = task % g.groups;
      T* result = (slices > 1 ? sums.data() + slice * size : out) + group * outputs * rows;
      bool started = false;

      for (int64_t i = slice * per_slice; i < std::min(chunks.size(), (slice + 1) * per_slice);
           ++i) {
        const ConvolutionChunk chunk = chunks[i];
        if (chunk.columns() == 0) continue;

        const Columns<T> columns(g, chunk, group, in, windows, columns_buffer.data());
        const OutputRows source = output_rows(g, chunk, group);
        if (!source.in_place) join_samples(g, chunk, grad + source.offset, rows_buffer.data());
        const T* grads = source.in_place ? grad + source.offset : rows_buffer.data();

        blas::gemm<T>(kTransposed, kAsIs, rows, outputs, chunk.columns(), T(1), columns.data,
                      columns.stride, grads, source.stride, started ? T(1) : T(0), result, rows);
        started = true;
      }

      if (!started) std::fill_n(result, outputs * rows, T(0));
    }
  });

  if (slices > 1) add_slices(sums.data(), slices, size, out);
}

/// The gradient of the bias: sums of `grad` (batch, channels, plane) over samples and positions.
template <typename T>
void bias_gradient(const T* grad, int64_t batch, int64_t channels, int64_t plane, T* out) {
  constexpr int64_t kLanes = 16;
  const int64_t grain =
      std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, batch * plane));

  parallel_for(0, channels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t channel = begin; channel < end; ++channel) {
      double total = 0;

      for (int64_t n = 0; n < batch; ++n) {
        const T* row = grad + (n * channels + channel) * plane;
        T lanes[kLanes] = {};
        int64_t i = 0;
        for (; i + kLanes <= plane; i += kLanes) {
          for (int64_t j = 0; j < kLanes; ++j) lanes[j] += row[i + j];
        }
        for (int64_t j = 0; i < plane; ++i, ++j) lanes[j] += row[i];
        for (const T lane : lanes) total += lane;
      }

      out[channel] = static_cast<T>(total);
    }
  });
}

// -- types, formats, and the choice of an algorithm --

/// The dtype of sums. Integers are computed in double, which is exact up to 2^53.
ScalarType wide_type(ScalarType dtype) {
  return is_integral(dtype, true) ? kDouble : to_accumulate(dtype);
}

/// The tensor in the dtype of sums, dense in `format`.
Tensor for_reading(const Tensor& tensor, MemoryFormat format = MemoryFormat::Contiguous) {
  return tensor.to(wide_type(tensor.scalar_type())).contiguous(format);
}

/// Where to write a result: `out`, or a tensor of the dtype of sums that store() copies to it.
Tensor for_writing(const Tensor& out, MemoryFormat format = MemoryFormat::Contiguous) {
  const ScalarType wide = wide_type(out.scalar_type());
  // A gradient that was not asked for is empty and has another shape.
  if (out.numel() == 0 || (out.scalar_type() == wide && out.is_contiguous(format))) return out;
  if (format == MemoryFormat::Contiguous) return empty_tensor(out.sizes(), wide, kCPU);
  return empty_strided_tensor(out.sizes(), channels_last_strides(out.sizes()), wide, kCPU);
}

/// Copies a result to `out`, unless it is there already. Integers that are too large wrap.
void store(const Tensor& result, const Tensor& out) {
  if (result.is_same(out)) return;
  at::copy_(out, is_integral(out.scalar_type(), true) ? result.to(kLong) : result);
}

/// How a convolution is computed: its sizes as the loops see them, the memory format of all
/// tensors, and whether RowConvolution or the functions above do it.
struct Plan {
  ConvolutionGeometry geometry;
  MemoryFormat format = MemoryFormat::Contiguous;
  bool by_rows = false;  // RowConvolution
};

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

  // The loops of depthwise convolutions are better with channels first.
  plan.format = input.suggest_memory_format();
  if (plan.format == MemoryFormat::Contiguous) plan.format = weight.suggest_memory_format();
  if (is_depthwise(g)) plan.format = MemoryFormat::Contiguous;
  plan.by_rows = plan.format != MemoryFormat::Contiguous;
  if (is_depthwise(g) || !g.sees_whole_input() || (plan.by_rows && groups > 1)) return plan;

  // See Note [Windows that are the whole input].
  g.channels *= g.input_plane();
  for (int d = 0; d < 3; ++d) g.input[d] = g.kernel[d] = 1;
  plan.by_rows = true;
  return plan;
}

/// The bias of each input channel of the plan, from the bias of a transposed convolution. They have
/// different sizes if the plan treats input elements as channels.
Tensor spread_bias(const Tensor& bias, const Plan& plan) {
  const int64_t channels = bias.numel();
  const int64_t each = plan.geometry.channels / std::max<int64_t>(1, channels);
  if (each <= 1) return bias;

  const bool channels_first = plan.format == MemoryFormat::Contiguous;
  const Tensor wide = empty_tensor({plan.geometry.channels}, bias.scalar_type(), kCPU);
  AT_DISPATCH_FLOATING(bias.scalar_type(), "convolution", [&] {
    const scalar_t* from = bias.const_data_ptr<scalar_t>();
    scalar_t* to = wide.data_ptr<scalar_t>();
    for (int64_t i = 0; i < plan.geometry.channels; ++i)
      to[i] = from[channels_first ? i / each : i % channels];
  });

  return wide;
}

/// Computes the gradients that have elements; all tensors are dense in the plan's format.
template <typename T>
void gradients(const Plan& plan, bool transposed, const Tensor& grad, const Tensor& x,
               const Tensor& w, const Tensor& grad_input, const Tensor& grad_weight,
               const Tensor& grad_bias) {
  const ConvolutionGeometry& g = plan.geometry;
  const T* grads = grad.const_data_ptr<T>();
  const T* factors = w.const_data_ptr<T>();
  const T* inputs = x.const_data_ptr<T>();
  const T* small = transposed ? inputs : grads;
  const T* large = transposed ? grads : inputs;
  const RowConvolution<T> rows(g);

  if (grad_input.numel() > 0) {
    T* out = grad_input.data_ptr<T>();
    if (plan.by_rows) {
      transposed ? rows.forward(grads, factors, nullptr, out)
                 : rows.input_gradient(grads, factors, nullptr, out);
    } else {
      transposed ? convolve<T>(g, grads, factors, nullptr, out)
                 : input_gradient<T>(g, grads, factors, nullptr, out);
    }
  }

  if (grad_weight.numel() > 0) {
    T* out = grad_weight.data_ptr<T>();
    plan.by_rows ? rows.weight_gradient(small, large, out) : weight_gradient(g, small, large, out);
  }

  if (grad_bias.numel() > 0) {
    const int64_t channels = grad.sizes()[1];
    const int64_t plane = grad.numel() / std::max<int64_t>(1, g.batch * channels);
    T* out = grad_bias.data_ptr<T>();
    if (plan.format == MemoryFormat::Contiguous) {
      bias_gradient(grads, g.batch, channels, plane, out);
    } else {
      sum_columns(grads, g.batch * plane, channels, out);
    }
  }
}

}  // namespace

void convolution_kernel(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                        bool transposed, IntArrayRef, int64_t groups, const Tensor& out0) {
  if (out0.numel() == 0) return;

  const Plan plan = plan_for(input, out0, weight, transposed, stride, padding, dilation, groups);
  const ConvolutionGeometry& g = plan.geometry;
  const Tensor x = for_reading(input, plan.format);
  const Tensor w = for_reading(weight, plan.format);
  Tensor b = bias.defined() ? for_reading(bias) : bias;
  if (transposed && b.defined()) b = spread_bias(b, plan);
  const Tensor out = for_writing(out0, plan.format);

  AT_DISPATCH_FLOATING(x.scalar_type(), "convolution", [&] {
    const scalar_t* added = b.defined() ? b.const_data_ptr<scalar_t>() : nullptr;
    const scalar_t* source = x.const_data_ptr<scalar_t>();
    const scalar_t* factors = w.const_data_ptr<scalar_t>();
    scalar_t* result = out.data_ptr<scalar_t>();

    if (plan.by_rows) {
      const RowConvolution<scalar_t> rows(g);
      transposed ? rows.input_gradient(source, factors, added, result)
                 : rows.forward(source, factors, added, result);
    } else if (transposed) {
      input_gradient(g, source, factors, added, result);
    } else {
      convolve(g, source, factors, added, result);
    }
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

  AT_DISPATCH_FLOATING(x.scalar_type(), "convolution_backward", [&] {
    gradients<scalar_t>(plan, transposed, grad, x, w, grad_input, grad_weight, grad_bias);
  });

  store(grad_input, out0);
  store(grad_weight, out1);
  store(grad_bias, out2);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
