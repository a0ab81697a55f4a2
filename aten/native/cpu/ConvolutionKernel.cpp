// Convolutions by GEMM, see Note [Chunks of a convolution]. A transposed convolution is the input gradient of a convolution, and
// its gradients are a convolution and a weight gradient. Reduced floats are converted to float first: sums of products need it.
#include <algorithm>
#include <cstring>

#include "aten/Dispatch.h"
#include "aten/blas/Blas.h"
#include "aten/native/cpu/ChannelsLastConvolution.h"
#include "aten/native/cpu/ConvolutionColumns.h"
#include "aten/native/cpu/DepthwiseConvolution.h"
#include "aten/native/declarations/cpu/ConvolutionKernel.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/ops/to.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

constexpr blas::Transpose kAsIs = blas::Transpose::None, kTransposed = blas::Transpose::Transpose;

/// Memory for one thread.
template <typename T>
class Scratch {
 public:
  explicit Scratch(int64_t elements) : tensor_(empty_tensor({elements}, scalar_type_of<T>, kCPU)) {}
  T* data() const { return static_cast<T*>(tensor_.data()); }

 private:
  Tensor tensor_;
};

/// Tasks per thread at least, for tasks of so many multiplications.
int64_t grain_for(int64_t multiplications) { return std::max<int64_t>(1, (int64_t{1} << 20) / std::max<int64_t>(1, multiplications)); }

/// A group's rows of an output-shaped tensor in one chunk, as a row-major matrix: in place when the chunk lies in one sample.
struct OutputRows {
  int64_t offset;  // of the chunk's first element in the tensor
  int64_t stride;  // between rows
  bool in_place;
};

OutputRows output_rows(const ConvolutionGeometry& g, const ConvolutionChunk& chunk, int64_t group) {
  const int64_t plane = g.output_plane();
  const bool in_place = chunk.samples == 1;
  return {(chunk.sample * g.outputs + group * g.group_outputs()) * plane + chunk.first, in_place ? plane : chunk.columns(), in_place};
}

/// Output-shaped rows of a chunk of several samples side by side.
template <typename T>
void join_samples(const ConvolutionGeometry& g, const ConvolutionChunk& chunk, const T* first, T* rows) {
  const int64_t plane = g.output_plane();
  for (int64_t o = 0; o < g.group_outputs(); ++o) {
    for (int64_t s = 0; s < chunk.samples; ++s) {
      std::memcpy(rows + (o * chunk.samples + s) * plane, first + (s * g.outputs + o) * plane, plane * sizeof(T));
    }
  }
}

template <typename T>
void part_samples(const ConvolutionGeometry& g, const ConvolutionChunk& chunk, const T* rows, const T* bias, T* first) {
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

/// The matrix of columns of a chunk, built in `buffer` unless the input is that matrix.
template <typename T>
struct Columns {
  const T* data;
  int64_t stride;

  Columns(const ConvolutionGeometry& g, const ConvolutionChunk& chunk, int64_t group, const T* in, T* buffer) {
    if (g.is_pointwise() && chunk.samples == 1) {
      data = in + (chunk.sample * g.channels + group * g.group_channels()) * g.input_plane() + chunk.first;
      stride = g.input_plane();
    } else {
      gather_columns(g, chunk, group, in, buffer);
      data = buffer;
      stride = chunk.columns();
    }
  }
};

template <typename T>
void convolve(const ConvolutionGeometry& g, const T* in, const T* weight, const T* bias, T* out) {
  if (is_depthwise(g)) return depthwise_forward(g, in, weight, bias, out);
  const ConvolutionChunks chunks(g, 512);
  const int64_t rows = g.column_rows(), outputs = g.group_outputs();
  const int64_t grain = grain_for(chunks.largest() * rows * outputs);
  parallel_for(0, chunks.size() * g.groups, grain, [&](int64_t begin, int64_t end) {
    const Scratch<T> columns_buffer(rows * chunks.largest()), rows_buffer(outputs * chunks.largest());
    for (int64_t task = begin; task < end; ++task) {
      const ConvolutionChunk chunk = chunks[task / g.groups];
      const int64_t group = task % g.groups, width = chunk.columns();
      if (width == 0) continue;
      const Columns<T> columns(g, chunk, group, in, columns_buffer.data());
      const OutputRows target = output_rows(g, chunk, group);
      const T* group_bias = bias == nullptr ? nullptr : bias + group * outputs;
      T* result = target.in_place ? out + target.offset : rows_buffer.data();
      const bool start_with_bias = target.in_place && bias != nullptr;
      for (int64_t o = 0; start_with_bias && o < outputs; ++o) std::fill_n(result + o * target.stride, width, group_bias[o]);
      blas::gemm<T>(kAsIs, kAsIs, width, outputs, rows, T(1), columns.data, columns.stride, weight + group * outputs * rows, rows,
                    start_with_bias ? T(1) : T(0), result, target.stride);
      if (!target.in_place) part_samples(g, chunk, result, group_bias, out + target.offset);
    }
  });
}

/// `bias` is that of a transposed convolution, by input channel.
template <typename T>
void input_gradient(const ConvolutionGeometry& g, const T* grad, const T* weight, const T* bias, T* out) {
  if (is_depthwise(g)) return depthwise_input_gradient(g, grad, weight, bias, out);
  const ConvolutionChunks chunks(g, 512);
  const int64_t rows = g.column_rows(), outputs = g.group_outputs(), plane = g.input_plane();
  const int64_t tasks = chunks.size() / chunks.parts();  // windows overlap, so one thread does all parts of a sample
  parallel_for(0, tasks, grain_for(chunks.largest() * chunks.parts() * rows * g.outputs), [&](int64_t begin, int64_t end) {
    const Scratch<T> columns_buffer(rows * chunks.largest()), rows_buffer(outputs * chunks.largest());
    for (int64_t i = begin * chunks.parts(); i < end * chunks.parts(); ++i) {
      const ConvolutionChunk chunk = chunks[i];
      const int64_t width = chunk.columns();
      const bool direct = g.is_pointwise() && chunk.samples == 1;
      if (i % chunks.parts() == 0) {
        T* first = out + chunk.sample * g.channels * plane;
        for (int64_t k = 0; k < chunk.samples * g.channels; ++k) {
          std::fill_n(first + k * plane, plane, bias == nullptr ? T(0) : bias[k % g.channels]);
        }
      }
      for (int64_t group = 0; group < g.groups && width > 0; ++group) {
        const OutputRows source = output_rows(g, chunk, group);
        if (!source.in_place) join_samples(g, chunk, grad + source.offset, rows_buffer.data());
        const T* grads = source.in_place ? grad + source.offset : rows_buffer.data();
        T* result = direct ? out + (chunk.sample * g.channels + group * g.group_channels()) * plane + chunk.first : columns_buffer.data();
        blas::gemm<T>(kAsIs, kTransposed, width, rows, outputs, T(1), grads, source.stride, weight + group * outputs * rows, rows,
                      direct ? T(1) : T(0), result, direct ? plane : width);
        if (!direct) scatter_columns(g, chunk, group, columns_buffer.data(), out);
      }
    }
  });
}

/// target[i] = sum of target[i + k * stride], in order of k.
template <typename T>
void add_slices(const T* slices, int64_t count, int64_t size, T* target) {
  parallel_for(0, size, kDefaultGrainSize / 4, [&](int64_t begin, int64_t end) {
    std::memcpy(target + begin, slices + begin, (end - begin) * sizeof(T));
    for (int64_t k = 1; k < count; ++k) {
      for (int64_t i = begin; i < end; ++i) target[i] += slices[k * size + i];
    }
  });
}

template <typename T>
void weight_gradient(const ConvolutionGeometry& g, const T* grad, const T* in, T* out) {
  if (is_depthwise(g)) return depthwise_weight_gradient(g, grad, in, out);
  const ConvolutionChunks chunks(g, 1024);
  const int64_t rows = g.column_rows(), outputs = g.group_outputs(), size = g.outputs * rows;
  // Each slice of the chunks has sums of its own, as many slices as memory is reasonable for.
  const int64_t slices = std::clamp<int64_t>((int64_t{1} << 22) / std::max<int64_t>(1, size), 1, std::clamp<int64_t>(chunks.size(), 1, 16));
  const Scratch<T> sums(slices > 1 ? slices * size : 0);
  const int64_t per_slice = (chunks.size() + slices - 1) / slices;
  const int64_t grain = grain_for(per_slice * chunks.largest() * rows * outputs);
  parallel_for(0, slices * g.groups, grain, [&](int64_t begin, int64_t end) {
    const Scratch<T> columns_buffer(rows * chunks.largest()), rows_buffer(outputs * chunks.largest());
    for (int64_t task = begin; task < end; ++task) {
      const int64_t slice = task / g.groups, group = task % g.groups;
      T* result = (slices > 1 ? sums.data() + slice * size : out) + group * outputs * rows;
      std::fill_n(result, outputs * rows, T(0));
      for (int64_t i = slice * per_slice; i < std::min(chunks.size(), (slice + 1) * per_slice); ++i) {
        const ConvolutionChunk chunk = chunks[i];
        if (chunk.columns() == 0) continue;
        const Columns<T> columns(g, chunk, group, in, columns_buffer.data());
        const OutputRows source = output_rows(g, chunk, group);
        if (!source.in_place) join_samples(g, chunk, grad + source.offset, rows_buffer.data());
        const T* grads = source.in_place ? grad + source.offset : rows_buffer.data();
        blas::gemm<T>(kTransposed, kAsIs, rows, outputs, chunk.columns(), T(1), columns.data, columns.stride, grads, source.stride, T(1),
                      result, rows);
      }
    }
  });
  if (slices > 1) add_slices(sums.data(), slices, size, out);
}

/// Sums over samples and positions; `grad` has sizes (batch, channels, plane).
template <typename T>
void bias_gradient(const T* grad, int64_t batch, int64_t channels, int64_t plane, T* out) {
  constexpr int64_t kLanes = 16;
  const int64_t grain = std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, batch * plane));
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

/// The type that sums are made in; integers are exact in double where their products are below 2^53.
ScalarType wide_type(ScalarType dtype) { return is_integral(dtype, true) ? kDouble : to_accumulate(dtype); }

/// The tensor in that type, dense in `format`; or where such a result goes before `out` gets it.
Tensor for_reading(const Tensor& tensor, MemoryFormat format = MemoryFormat::Contiguous) {
  return tensor.to(wide_type(tensor.scalar_type())).contiguous(format);
}
Tensor for_writing(const Tensor& out, MemoryFormat format = MemoryFormat::Contiguous) {
  const ScalarType wide = wide_type(out.scalar_type());
  // A gradient that nobody wants has no element and another shape.
  if (out.numel() == 0 || (out.scalar_type() == wide && out.is_contiguous(format))) return out;
  if (format == MemoryFormat::Contiguous) return empty_tensor(out.sizes(), wide, kCPU);
  return empty_strided_tensor(out.sizes(), channels_last_strides(out.sizes()), wide, kCPU);
}
void store(const Tensor& result, const Tensor& out) {
  if (!result.is_same(out)) at::copy_(out, result);
}

/// channels_last where one of the tensors is and no loops for single channels are better.
MemoryFormat format_of(const Tensor& input, const Tensor& weight, const ConvolutionGeometry& g) {
  if (is_depthwise(g)) return MemoryFormat::Contiguous;
  const MemoryFormat format = input.suggest_memory_format();
  return format != MemoryFormat::Contiguous ? format : weight.suggest_memory_format();
}

}  // namespace

void convolution_kernel(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, IntArrayRef padding,
                        IntArrayRef dilation, bool transposed, IntArrayRef, int64_t groups, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const Tensor &large = transposed ? out0 : input, &small = transposed ? input : out0;
  const auto g = convolution_geometry(large.sizes(), small.sizes(), weight.sizes(), stride, padding, dilation, groups);
  const MemoryFormat format = format_of(input, weight, g);
  const Tensor x = for_reading(input, format), w = for_reading(weight, format), b = bias.defined() ? for_reading(bias) : bias;
  const Tensor out = for_writing(out0, format);
  AT_DISPATCH_FLOATING(x.scalar_type(), "convolution", [&] {
    const scalar_t* added = b.defined() ? b.const_data_ptr<scalar_t>() : nullptr;
    const scalar_t* source = x.const_data_ptr<scalar_t>();
    const scalar_t* factors = w.const_data_ptr<scalar_t>();
    scalar_t* result = out.data_ptr<scalar_t>();
    if (format != MemoryFormat::Contiguous) {
      const RowConvolution<scalar_t> rows(g);
      transposed ? rows.input_gradient(source, factors, added, result) : rows.forward(source, factors, added, result);
    } else if (transposed) {
      input_gradient(g, source, factors, added, result);
    } else {
      convolve(g, source, factors, added, result);
    }
  });
  store(out, out0);
}

namespace {

/// The gradients that have elements, of tensors that are all dense in one format.
template <typename T>
void gradients(const ConvolutionGeometry& g, bool transposed, bool channels_last, const Tensor& grad, const Tensor& x, const Tensor& w,
               const Tensor& grad_input, const Tensor& grad_weight, const Tensor& grad_bias) {
  const T *grads = grad.const_data_ptr<T>(), *factors = w.const_data_ptr<T>(), *inputs = x.const_data_ptr<T>();
  const T *small = transposed ? inputs : grads, *large = transposed ? grads : inputs;
  const RowConvolution<T> rows(g);
  if (grad_input.numel() > 0) {
    T* out = grad_input.data_ptr<T>();
    if (channels_last) {
      transposed ? rows.forward(grads, factors, nullptr, out) : rows.input_gradient(grads, factors, nullptr, out);
    } else {
      transposed ? convolve<T>(g, grads, factors, nullptr, out) : input_gradient<T>(g, grads, factors, nullptr, out);
    }
  }
  if (grad_weight.numel() > 0) {
    T* out = grad_weight.data_ptr<T>();
    channels_last ? rows.weight_gradient(small, large, out) : weight_gradient(g, small, large, out);
  }
  if (grad_bias.numel() > 0) {
    const int64_t channels = grad.sizes()[1], plane = transposed ? g.input_plane() : g.output_plane();
    T* out = grad_bias.data_ptr<T>();
    channels_last ? sum_columns(grads, g.batch * plane, channels, out) : bias_gradient(grads, g.batch, channels, plane, out);
  }
}

}  // namespace

void convolution_backward_kernel(const Tensor& grad_output, const Tensor& input, const Tensor& weight, bool, IntArrayRef stride,
                                 IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef, int64_t groups,
                                 const Tensor& out0, const Tensor& out1, const Tensor& out2) {
  const Tensor &large = transposed ? grad_output : input, &small = transposed ? input : grad_output;
  const auto g = convolution_geometry(large.sizes(), small.sizes(), weight.sizes(), stride, padding, dilation, groups);
  const MemoryFormat format = format_of(input, weight, g);
  const Tensor grad = for_reading(grad_output, format), x = for_reading(input, format), w = for_reading(weight, format);
  const Tensor grad_input = for_writing(out0, format), grad_weight = for_writing(out1, format), grad_bias = for_writing(out2);
  AT_DISPATCH_FLOATING(x.scalar_type(), "convolution_backward", [&] {
    gradients<scalar_t>(g, transposed, format != MemoryFormat::Contiguous, grad, x, w, grad_input, grad_weight, grad_bias);
  });
  store(grad_input, out0);
  store(grad_weight, out1);
  store(grad_bias, out2);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
