// The kernels of im2col and col2im: one thread for each element of the result.
#include "aten/Dispatch.h"
#include "aten/native/cuda/MovedBytes.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/cuda/WideDivisor.h"
#include "aten/native/functors/ColumnWindows.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/ops/to.h"

namespace at::native::cuda {

namespace {

template <class T>
struct ImageToColumns {
  ColumnWindows windows;
  WideDivisor count[2], kernel[2];
  const T* in;
  T* out;

  SIMT_DEVICE void operator()(int64_t index) const {
    const int64_t line = count[1].quotient(index);
    const int64_t window = count[0].quotient(line);  // of an element of the kernel
    const int64_t row = kernel[1].quotient(window);
    const int64_t channel = kernel[0].quotient(row);

    const int64_t y = (line - window * count[0].value()) * windows.stride[0] - windows.padding[0] +
                      (row - channel * kernel[0].value()) * windows.dilation[0];
    const int64_t x = (index - line * count[1].value()) * windows.stride[1] - windows.padding[1] +
                      (window - row * kernel[1].value()) * windows.dilation[1];

    const bool is_inside = y >= 0 && y < windows.size[0] && x >= 0 && x < windows.size[1];
    out[index] = is_inside ? in[channel * windows.plane() + y * windows.size[1] + x] : T(0);
  }
};

/// Adds up, in the order of the kernel's elements, what the windows took from one place.
template <class T>
struct ColumnsToImage {
  ColumnWindows windows;
  WideDivisor size[2], stride[2];
  const T* in;
  T* out;

  SIMT_DEVICE void operator()(int64_t index) const {
    const int64_t line = size[1].quotient(index);
    const int64_t channel = size[0].quotient(line);
    const int64_t row = line - channel * size[0].value() + windows.padding[0];
    const int64_t column = index - line * size[1].value() + windows.padding[1];
    const T* columns = in + channel * windows.elements() * windows.windows();

    opmath_type<T> sum(0);
    for (int64_t i = 0; i < windows.kernel[0]; ++i) {
      const int64_t y = window_at(0, row - i * windows.dilation[0]);
      if (y < 0) continue;

      for (int64_t j = 0; j < windows.kernel[1]; ++j) {
        const int64_t x = window_at(1, column - j * windows.dilation[1]);
        if (x < 0) continue;
        const int64_t element = i * windows.kernel[1] + j;
        sum += static_cast<opmath_type<T>>(
            columns[(element * windows.count[0] + y) * windows.count[1] + x]);
      }
    }
    out[index] = static_cast<T>(sum);
  }

  /// The window that begins at this place of the padded image; -1 if none does.
  SIMT_DEVICE int64_t window_at(int d, int64_t begin) const {
    if (begin < 0) return -1;
    const int64_t window = stride[d].quotient(begin);
    return window * windows.stride[d] == begin && window < windows.count[d] ? window : -1;
  }
};

}  // namespace

void im2col_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation,
                   IntArrayRef padding, IntArrayRef stride, const Tensor& out0) {
  if (out0.numel() == 0) return;

  const Tensor input = self.contiguous();
  const ColumnWindows w(self.sizes(), kernel_size, dilation, padding, stride);
  with_moved_type(static_cast<int64_t>(self.itemsize()), [&](auto element) {
    using T = decltype(element);
    per_index("im2col", out0.numel(),
              ImageToColumns<T>{w,
                                {WideDivisor(w.count[0]), WideDivisor(w.count[1])},
                                {WideDivisor(w.kernel[0]), WideDivisor(w.kernel[1])},
                                static_cast<const T*>(input.data()),
                                static_cast<T*>(out0.data())});
  });
}

void col2im_kernel(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size,
                   IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride,
                   const Tensor& out0) {
  if (out0.numel() == 0) return;

  // The sum of booleans says whether any of them is true.
  if (self.scalar_type() == kBool) {
    const Tensor counts = empty_tensor(out0.sizes(), kFloat, self.device());
    col2im_kernel(self.to(kFloat), output_size, kernel_size, dilation, padding, stride, counts);
    at::copy_(out0, counts);
    return;
  }

  const Tensor input = self.contiguous();
  const ColumnWindows w(out0.sizes(), kernel_size, dilation, padding, stride);
  AT_DISPATCH_FLOATING_AND_COMPLEX(self.scalar_type(), "col2im", [&] {
    per_index("col2im", out0.numel(),
              ColumnsToImage<scalar_t>{w,
                                       {WideDivisor(w.size[0]), WideDivisor(w.size[1])},
                                       {WideDivisor(w.stride[0]), WideDivisor(w.stride[1])},
                                       input.const_data_ptr<scalar_t>(),
                                       out0.data_ptr<scalar_t>()});
  });
}

}  // namespace at::native::cuda
