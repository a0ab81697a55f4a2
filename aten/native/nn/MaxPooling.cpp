// Max pooling over one to three dimensions, and max unpooling: shape rules and public variants.
#include "aten/native/nn/MaxPooling.h"

#include "aten/native/declarations/nn/MaxPooling.h"
#include "aten/native/shared/PoolingGeometry.h"
#include "aten/native/shared/ResultFormat.h"
#include "aten/ops/_adaptive_max_pool.h"
#include "aten/ops/_fractional_max_pool.h"
#include "aten/ops/_max_pool.h"
#include "aten/ops/_max_pool_backward.h"
#include "aten/ops/_max_unpool.h"
#include "aten/ops/flatten.h"
#include "aten/ops/gather.h"
#include "aten/ops/reshape.h"

namespace at::native {

namespace {

using ValuesAndIndices = std::tuple<Tensor, Tensor>;
using Specs = std::tuple<TensorSpec, TensorSpec>;

/// The specs of values and of indices with the same shape.
Specs with_indices(const TensorSpec& values) {
  TensorSpec indices = values;
  indices.dtype = kLong;
  return {values, indices};
}

// The public name per number of dimensions, for messages.
constexpr const char* kMaxPool[] = {"max_pool1d", "max_pool2d", "max_pool3d"};

ValuesAndIndices max_pool(size_t spatial, const Tensor& self, IntArrayRef kernel_size,
                          IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                          bool ceil_mode) {
  const PoolingWindows w =
      pooling_windows(kMaxPool[spatial - 1], spatial, kernel_size, stride, padding, dilation);
  return at::_max_pool(self, w.kernel, w.stride, w.padding, w.dilation, ceil_mode);
}

/// One number for each sample, channel and dimension; further samples are ignored, as in PyTorch.
void check_random_samples(const char* op, const Tensor& self, const Tensor& random_samples,
                          int64_t samples, int64_t channels, size_t spatial) {
  TORCH_CHECK(random_samples.scalar_type() == self.scalar_type(), op,
              ": Expect _random_samples to have the same dtype as input, but got ",
              random_samples.scalar_type(), " and ", self.scalar_type());

  const IntArrayRef sizes = random_samples.sizes();
  TORCH_CHECK(sizes.size() == 3, op, ": Expect _random_samples to have 3 dimensions, got ",
              sizes.size());
  TORCH_CHECK(sizes[0] >= samples, op,
              ": Expect _random_samples.size(0) no less then input batch size, ", samples, ", got ",
              sizes[0]);
  TORCH_CHECK(sizes[1] == channels, op,
              ": Expect _random_samples.size(1) equals to input channel size, ", channels, ", got ",
              sizes[1]);
  TORCH_CHECK(sizes[2] == static_cast<int64_t>(spatial), op,
              ": Expect _random_samples.size(2) equals to ", spatial, "; got ", sizes[2], ".");
}

}  // namespace

Specs _max_pool_shape(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                      IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  const char* op = kMaxPool[kernel_size.size() - 1];
  TORCH_CHECK(stride.size() == kernel_size.size() && padding.size() == stride.size() &&
                  dilation.size() == stride.size(),
              op, ": expected as many strides, paddings and dilations as dimensions, got ", stride,
              ", ", padding, " and ", dilation, " for ", kernel_size);

  const PoolingWindows windows =
      pooling_windows(op, kernel_size.size(), kernel_size, stride, padding, dilation);
  return with_indices(spec_in_format_of(self, pooled_sizes(op, self.sizes(), windows, ceil_mode),
                                        kernel_size.size()));
}

Tensor max_pool_values(MaxPoolKernel kernel, size_t spatial, const Tensor& self,
                       IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                       IntArrayRef dilation, bool ceil_mode) {
  const PoolingWindows w =
      pooling_windows(kMaxPool[spatial - 1], spatial, kernel_size, stride, padding, dilation);
  const DimVector sizes = pooled_sizes(kMaxPool[spatial - 1], self.sizes(), w, ceil_mode);
  const Tensor values = empty_from_spec(spec_in_format_of(self, sizes, spatial));
  kernel(self, w.kernel, w.stride, w.padding, w.dilation, ceil_mode, values, Tensor());
  return values;
}

Specs _adaptive_max_pool_shape(const Tensor& self, IntArrayRef output_size) {
  constexpr const char* kNames[] = {"adaptive_max_pool1d", "adaptive_max_pool2d",
                                    "adaptive_max_pool3d"};

  const char* op = kNames[output_size.size() - 1];
  const DimVector sizes = adaptive_sizes(op, self.sizes(), output_size);
  const bool is_batch = self.sizes().size() == output_size.size() + 2;
  TORCH_CHECK(
      !is_batch || self.sizes()[1] > 0, op,
      "(): Expected input to have non-zero size for non-batch dimensions, but input has sizes ",
      self.sizes(), " with dimension 1 being empty");

  if (output_size.size() == 2) return with_indices(spec_in_format_of(self, sizes, 2));
  return with_indices({sizes, self.scalar_type(), self.device()});
}

Specs _fractional_max_pool_shape(const Tensor& self, IntArrayRef kernel_size,
                                 IntArrayRef output_size, const Tensor& random_samples) {
  const size_t spatial = kernel_size.size();
  const char* op = spatial == 3 ? "fractional_max_pool3d" : "fractional_max_pool2d";

  TORCH_CHECK(output_size.size() == spatial, op,
              ": expected as many sizes as dimensions, got output_size ", output_size,
              " for kernel_size ", kernel_size);

  for (const IntArrayRef values : {kernel_size, output_size}) {
    for (const int64_t value : values) {
      TORCH_CHECK(value == static_cast<int32_t>(value), op,
                  ": value cannot be converted to type int without overflow: ", value);
    }
  }

  const DimVector sizes = adaptive_sizes(op, self.sizes(), output_size);
  const size_t leading = sizes.size() - spatial;
  for (size_t d = 0; d < spatial; ++d) {
    // For three dimensions PyTorch requires one element more than the windows need.
    const int64_t needed = output_size[d] + kernel_size[d] - (spatial == 3 ? 0 : 1);
    TORCH_CHECK(output_size[d] > 0 && kernel_size[d] > 0 && needed <= self.sizes()[leading + d], op,
                "(): pool size ", kernel_size, " and output_size ", output_size,
                " do not fit input of size ", self.sizes());
  }

  const int64_t samples = leading == 2 ? sizes[0] : 1;
  const int64_t channels = sizes[leading - 1];

  check_random_samples(op, self, random_samples, samples, channels, spatial);
  return with_indices({sizes, self.scalar_type(), self.device()});
}

/// `spatial` has one element per pooled dimension.
TensorSpec _max_pool_backward_shape(const Tensor& grad, IntArrayRef sizes, const Tensor& indices,
                                    IntArrayRef spatial) {
  bool fits = grad.sizes() == indices.sizes() && grad.sizes().size() == sizes.size() &&
              spatial.size() < sizes.size();
  for (const int64_t size : sizes) fits = fits && size >= 0;
  for (size_t d = 0; fits && d + spatial.size() < sizes.size(); ++d)
    fits = grad.sizes()[d] == sizes[d];

  TORCH_CHECK(fits && indices.scalar_type() == kLong, "_max_pool_backward: gradient of size ",
              grad.sizes(), " and indices of size ", indices.sizes(), " and dtype ",
              indices.scalar_type(), " do not fit input of size ", sizes);

  TensorSpec spec = spec_in_format_of(indices, sizes, spatial.size());
  spec.dtype = grad.scalar_type();
  return spec;
}

/// The elements of each plane that the pooling's indices name; this is the gradient's gradient.
Tensor _gather_from_planes(const Tensor& planes, const Tensor& indices, IntArrayRef spatial) {
  const int64_t first = -static_cast<int64_t>(spatial.size());
  const Tensor lines = at::flatten(planes, first, -1);
  const Tensor places = at::flatten(indices, first, -1);
  return at::reshape(at::gather(lines, -1, places), indices.sizes());
}

ValuesAndIndices max_pool1d_with_indices(const Tensor& self, IntArrayRef kernel_size,
                                         IntArrayRef stride, IntArrayRef padding,
                                         IntArrayRef dilation, bool ceil_mode) {
  return max_pool(1, self, kernel_size, stride, padding, dilation, ceil_mode);
}

ValuesAndIndices max_pool2d_with_indices(const Tensor& self, IntArrayRef kernel_size,
                                         IntArrayRef stride, IntArrayRef padding,
                                         IntArrayRef dilation, bool ceil_mode) {
  return max_pool(2, self, kernel_size, stride, padding, dilation, ceil_mode);
}

ValuesAndIndices max_pool3d_with_indices(const Tensor& self, IntArrayRef kernel_size,
                                         IntArrayRef stride, IntArrayRef padding,
                                         IntArrayRef dilation, bool ceil_mode) {
  return max_pool(3, self, kernel_size, stride, padding, dilation, ceil_mode);
}

Tensor max_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return std::get<0>(max_pool(1, self, kernel_size, stride, padding, dilation, ceil_mode));
}

Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return std::get<0>(max_pool(2, self, kernel_size, stride, padding, dilation, ceil_mode));
}

Tensor max_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return std::get<0>(max_pool(3, self, kernel_size, stride, padding, dilation, ceil_mode));
}

ValuesAndIndices adaptive_max_pool1d(const Tensor& self, IntArrayRef output_size) {
  return at::_adaptive_max_pool(self, output_size);
}

ValuesAndIndices adaptive_max_pool2d(const Tensor& self, IntArrayRef output_size) {
  return at::_adaptive_max_pool(self, output_size);
}

ValuesAndIndices adaptive_max_pool3d(const Tensor& self, IntArrayRef output_size) {
  return at::_adaptive_max_pool(self, output_size);
}

Tensor max_pool2d_with_indices_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef,
                                        IntArrayRef, IntArrayRef, IntArrayRef, bool,
                                        const Tensor& indices) {
  static constexpr int64_t kPlane[] = {0, 0};  // one element for each pooled dimension
  return at::_max_pool_backward(grad_output, self.sizes(), indices, IntArrayRef(kPlane, 2));
}

ValuesAndIndices fractional_max_pool2d(const Tensor& self, IntArrayRef kernel_size,
                                       IntArrayRef output_size, const Tensor& random_samples) {
  return at::_fractional_max_pool(self, kernel_size, output_size, random_samples);
}

ValuesAndIndices fractional_max_pool3d(const Tensor& self, IntArrayRef kernel_size,
                                       IntArrayRef output_size, const Tensor& random_samples) {
  return at::_fractional_max_pool(self, kernel_size, output_size, random_samples);
}

TensorSpec _max_unpool_shape(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  const size_t spatial = output_size.size();
  const size_t dims = self.sizes().size();

  DimVector sizes(self.sizes());
  for (size_t d = 0; d < spatial; ++d) {
    sizes[dims - spatial + d] = output_size[d];
  }

  for (size_t d = dims == spatial + 2 ? 1 : 0; d < dims; ++d) {
    TORCH_CHECK(
        self.sizes()[d] > 0, "max_unpooling", spatial,
        "d_forward_out(): Expected input to have non-zero size for non-batch dimensions, but got ",
        self.sizes(), " with dimension ", d, " being empty.");
  }

  return {sizes, self.scalar_type(), self.device()};
}

Tensor max_unpool2d(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  return at::_max_unpool(self, indices, output_size);
}

Tensor max_unpool3d(const Tensor& self, const Tensor& indices, IntArrayRef output_size,
                    IntArrayRef stride, IntArrayRef padding) {
  return at::_max_unpool(self, indices, output_size);
}

}  // namespace at::native
