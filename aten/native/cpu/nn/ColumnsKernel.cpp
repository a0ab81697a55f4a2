// The kernels of im2col and col2im. A row of the matrix of columns is what one kernel element sees
// of one channel; one thread does a whole channel.
#include <algorithm>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/native/declarations/cpu/nn/ColumnsKernel.h"
#include "aten/native/functors/ColumnWindows.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/ops/empty.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

namespace {

struct Windows : ColumnWindows {
  using ColumnWindows::ColumnWindows;

  /// Calls f(place in the columns of a channel, place in its plane); the second is -1 outside the
  /// plane.
  template <typename F>
  void for_each(const F& f) const {
    int64_t column = 0;

    for (int64_t e = 0; e < elements(); ++e) {
      const int64_t dy = e / kernel[1] * dilation[0] - padding[0];
      const int64_t dx = e % kernel[1] * dilation[1] - padding[1];

      for (int64_t y = 0; y < count[0]; ++y) {
        const int64_t row = y * stride[0] + dy;
        const bool row_inside = row >= 0 && row < size[0];
        for (int64_t x = 0; x < count[1]; ++x) {
          const int64_t at = x * stride[1] + dx;
          f(column++, row_inside && at >= 0 && at < size[1] ? row * size[1] + at : -1);
        }
      }
    }
  }
};

/// Calls f(k) for every channel k of every sample, on several threads.
template <typename F>
void for_each_channel(const Windows& w, int64_t channels, const F& f) {
  const int64_t work = std::max<int64_t>(1, w.elements() * w.windows());
  parallel_for(0, channels, std::max<int64_t>(1, kDefaultGrainSize / work),
               [&](int64_t begin, int64_t end) {
                 for (int64_t k = begin; k < end; ++k) f(k);
               });
}

}  // namespace

void im2col_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation,
                   IntArrayRef padding, IntArrayRef stride, const Tensor& out0) {
  if (out0.numel() == 0) return;

  const Tensor input = self.contiguous();
  const Windows w(self.sizes(), kernel_size, dilation, padding, stride);
  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "im2col", [&] {
    const scalar_t* in = input.const_data_ptr<scalar_t>();
    scalar_t* out = out0.data_ptr<scalar_t>();

    for_each_channel(w, input.numel() / w.plane(), [&](int64_t k) {
      const scalar_t* plane = in + k * w.plane();
      scalar_t* columns = out + k * w.elements() * w.windows();
      w.for_each([&](int64_t column, int64_t place) {
        columns[column] = place < 0 ? scalar_t(0) : plane[place];
      });
    });
  });
}

void col2im_kernel(const Tensor& self, IntArrayRef, IntArrayRef kernel_size, IntArrayRef dilation,
                   IntArrayRef padding, IntArrayRef stride, const Tensor& out0) {
  if (out0.numel() == 0) return;

  // The sum of booleans says whether any of them is true.
  if (self.scalar_type() == kBool) {
    const Tensor counts = at::empty(out0.sizes(), kFloat, {}, self.device());
    col2im_kernel(self.to(kFloat), {}, kernel_size, dilation, padding, stride, counts);
    at::copy_(out0, counts);
    return;
  }

  const Tensor input = self.contiguous();
  const Windows w(out0.sizes(), kernel_size, dilation, padding, stride);
  AT_DISPATCH_FLOATING_AND_COMPLEX(self.scalar_type(), "col2im", [&] {
    using acc_t = opmath_type<scalar_t>;
    const scalar_t* in = input.const_data_ptr<scalar_t>();
    scalar_t* out = out0.data_ptr<scalar_t>();

    for_each_channel(w, out0.numel() / w.plane(), [&](int64_t k) {
      std::vector<acc_t> sums(w.plane(), acc_t(0));
      const scalar_t* columns = in + k * w.elements() * w.windows();
      w.for_each([&](int64_t column, int64_t place) {
        if (place >= 0) sums[place] += static_cast<acc_t>(columns[column]);
      });
      for (int64_t i = 0; i < w.plane(); ++i)
        out[k * w.plane() + i] = static_cast<scalar_t>(sums[i]);
    });
  });
}

}  // namespace at::native
