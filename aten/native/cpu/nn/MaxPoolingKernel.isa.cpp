// Max pooling: the largest element of every window and its place in the plane. The windows of each
// dimension are a table, which can come from a kernel, from adaptive or from fractional pooling.
#include <algorithm>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/native/cpu/nn/MaxPoolLoops.h"
#include "aten/native/declarations/cpu/nn/MaxPoolingKernel.isa.h"
#include "aten/native/declarations/nn/MaxPooling.h"
#include "aten/native/nn/MaxPooling.h"
#include "aten/native/shared/ResultFormat.h"
#include "aten/ops/contiguous.h"
#include "aten/parallel/Parallel.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// Pools all blocks of the tensor; axes_of(block) gives the windows of a block.
template <typename scalar_t, typename AxesOf>
void pool_blocks(const AxesOf& axes_of, int64_t in_plane, int64_t out_plane, const Tensor& input,
                 const Tensor& values, const Tensor& indices, const PlaneLayout& layout) {
  TORCH_CHECK(in_plane <= INT32_MAX,
              "max pooling: expected planes of less than 2^31 elements, got size ", input.sizes());

  const scalar_t* in = input.const_data_ptr<scalar_t>();
  scalar_t* out = values.data_ptr<scalar_t>();
  int64_t* places = indices.defined() ? indices.data_ptr<int64_t>() : nullptr;

  const int64_t work = std::max<int64_t>(1, std::max(in_plane, out_plane) * layout.inner * 4);
  const int64_t grain = std::max<int64_t>(1, kDefaultGrainSize / work);
  parallel_for(0, layout.outer, grain, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const scalar_t* source = in + k * in_plane * layout.inner;
      const int64_t to = k * out_plane * layout.inner;
      int64_t* to_places = places == nullptr ? nullptr : places + to;

      const auto& axes = axes_of(k);
      if (layout.inner == 1 && axes[2].kernel > 0 && axes[2].out >= 8) {
        pool_lines(axes, source, out + to, to_places);
      } else if (layout.inner == 1) {
        pool_plane(axes, source, out + to, to_places);
      } else {
        pool_channels(axes, layout.inner, source, out + to, to_places);
      }
    }
  });
}

/// Pools with the same windows for every block. Undefined `indices` are not computed.
void pool(const char* name, const WindowAxes& axes, int64_t spatial, const Tensor& self,
          const Tensor& values, const Tensor& indices) {
  if (values.numel() == 0) return;
  const PlaneLayout layout(values, spatial, self);
  const Tensor input = self.contiguous(layout.format);
  const int64_t in_plane = plane_of(axes, true);
  const int64_t out_plane = plane_of(axes, false);
  const auto axes_of = [&](int64_t) -> const WindowAxes& { return axes; };

  pool_in_compared_type(name, input, values, [&]<typename T>(const Tensor& from, const Tensor& to) {
    pool_blocks<T>(axes_of, in_plane, out_plane, from, to, indices, layout);
  });
}

}  // namespace

void _max_pool_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                      IntArrayRef padding, IntArrayRef dilation,
                      bool /*ceil_mode: in the sizes of out0*/, const Tensor& out0,
                      const Tensor& out1) {
  if (out0.numel() == 0) return;  // other sizes of the result may be too large to list its windows

  WindowAxes axes;
  const size_t spatial = kernel_size.size();
  const size_t leading = self.sizes().size() - spatial;
  for (size_t d = 0; d < spatial; ++d) {
    axes[3 - spatial + d] = dilated_axis(self.sizes()[leading + d], out0.sizes()[leading + d],
                                         kernel_size[d], stride[d], padding[d], dilation[d]);
  }

  pool("max_pool", axes, static_cast<int64_t>(spatial), self, out0, out1);
}

Tensor max_pool1d_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                         IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return max_pool_values(_max_pool_kernel, 1, self, kernel_size, stride, padding, dilation,
                         ceil_mode);
}

Tensor max_pool2d_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                         IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return max_pool_values(_max_pool_kernel, 2, self, kernel_size, stride, padding, dilation,
                         ceil_mode);
}

Tensor max_pool3d_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                         IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return max_pool_values(_max_pool_kernel, 3, self, kernel_size, stride, padding, dilation,
                         ceil_mode);
}

void _adaptive_max_pool_kernel(const Tensor& self, IntArrayRef output_size, const Tensor& out0,
                               const Tensor& out1) {
  if (out0.numel() == 0) return;  // however long the other dimensions are

  WindowAxes axes;
  const size_t spatial = output_size.size();
  const size_t leading = self.sizes().size() - spatial;
  for (size_t d = 0; d < spatial; ++d)
    axes[3 - spatial + d] = adaptive_axis(self.sizes()[leading + d], output_size[d]);

  pool("adaptive_max_pool", axes, static_cast<int64_t>(spatial), self, out0, out1);
}

// Random samples are stored by sample, channel and dimension. Two dimensions are stored width
// first, three depth first.
void _fractional_max_pool_kernel(const Tensor& self, IntArrayRef kernel_size,
                                 IntArrayRef output_size, const Tensor& random_samples,
                                 const Tensor& out0, const Tensor& out1) {
  if (out0.numel() == 0) return;
  const int64_t spatial = static_cast<int64_t>(kernel_size.size());
  const int64_t leading = self.dim() - spatial;
  const Tensor input = self.contiguous();
  const Tensor samples = random_samples.contiguous();

  int64_t in_plane = 1;
  int64_t out_plane = 1;
  for (int64_t d = 0; d < spatial; ++d) {
    in_plane *= self.sizes()[leading + d];
    out_plane *= output_size[d];
  }

  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "fractional_max_pool", [&] {
    const scalar_t* sample = samples.const_data_ptr<scalar_t>();
    const auto axes_of = [&](int64_t block) {
      WindowAxes axes;
      for (int64_t d = 0; d < spatial; ++d) {
        const auto drawn = static_cast<opmath_type<scalar_t>>(
            sample[block * spatial + (spatial == 2 ? 1 - d : d)]);
        axes[3 - spatial + d] =
            fractional_axis(self.sizes()[leading + d], output_size[d], kernel_size[d], drawn);
      }
      return axes;
    };

    pool_blocks<scalar_t>(axes_of, in_plane, out_plane, input, out0, out1,
                          PlaneLayout(out0, spatial, input));
  });
}

void _max_pool_backward_kernel(const Tensor& grad, IntArrayRef, const Tensor& indices,
                               IntArrayRef spatial, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const PlaneLayout layout(out0, static_cast<int64_t>(spatial.size()), indices);
  const Tensor grads = grad.contiguous(layout.format);
  const Tensor places = indices.contiguous(layout.format);
  const int64_t inner = layout.inner;
  const int64_t plane = out0.numel() / (layout.outer * inner);
  const int64_t pooled = grads.numel() / (layout.outer * inner);

  AT_DISPATCH_FLOATING_AND_REDUCED(grad.scalar_type(), "max_pool_backward", [&] {
    using acc_t = opmath_type<scalar_t>;
    const scalar_t* from = grads.const_data_ptr<scalar_t>();
    const int64_t* place = places.const_data_ptr<int64_t>();
    scalar_t* out = out0.data_ptr<scalar_t>();

    const int64_t grain = std::max<int64_t>(1, kDefaultGrainSize / (plane * inner));
    parallel_for(0, layout.outer, grain, [&](int64_t begin, int64_t end) {
      // Sums of a block, in the arithmetic type.
      std::vector<acc_t> sums(plane * inner);
      for (int64_t k = begin; k < end; ++k) {
        std::fill(sums.begin(), sums.end(), acc_t(0));
        for (int64_t row = k * pooled * inner; row < (k + 1) * pooled * inner; row += inner) {
          for (int64_t c = 0; c < inner; ++c) {
            const int64_t to = place[row + c];
            TORCH_CHECK_INDEX(to >= 0 && to < plane, "max_pool_backward: found index ", to,
                              " outside of a plane of ", plane, " elements");
            sums[to * inner + c] += static_cast<acc_t>(from[row + c]);
          }
        }

        for (int64_t i = 0; i < plane * inner; ++i)
          out[k * plane * inner + i] = static_cast<scalar_t>(sums[i]);
      }
    });
  });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
