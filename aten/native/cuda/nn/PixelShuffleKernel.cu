// The kernels of pixel shuffle and unshuffle: one thread for each element, moved by its size.
#include "aten/core/Tensor.h"
#include "aten/native/cuda/MovedBytes.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/cuda/WideDivisor.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"

namespace at::native::cuda {

namespace {

/// Small planes are (planes, factor, factor, height, width), large ones (planes, height * factor,
/// width * factor). Threads follow the large ones.
template <class T>
struct PixelShuffle {
  WideDivisor factor, height, width;
  const T* in;
  T* out;
  bool up;  // from small planes to a large one

  SIMT_DEVICE void operator()(int64_t index) const {
    // (plane, h, i, w, j) in the large plane is (plane, i, j, h, w) in the small ones.
    const int64_t pixel = factor.quotient(index);
    const int64_t line = width.quotient(pixel);
    const int64_t row = factor.quotient(line);
    const int64_t plane = height.quotient(row);
    const int64_t j = index - pixel * factor.value();
    const int64_t w = pixel - line * width.value();
    const int64_t i = line - row * factor.value();
    const int64_t h = row - plane * height.value();

    const int64_t channel = (plane * factor.value() + i) * factor.value() + j;
    const int64_t small = (channel * height.value() + h) * width.value() + w;
    if (up) {
      out[index] = in[small];
    } else {
      out[small] = in[index];
    }
  }
};

void shuffle(const char* name, const Tensor& self, int64_t factor, bool up, const Tensor& out0) {
  if (out0.numel() == 0) return;

  const Tensor input = self.contiguous();
  const Tensor out =
      out0.is_contiguous() ? out0 : empty_tensor(out0.sizes(), out0.scalar_type(), out0.device());
  const Tensor& small = up ? input : out;

  with_moved_type(static_cast<int64_t>(self.itemsize()), [&](auto element) {
    using T = decltype(element);
    per_index(name, out0.numel(),
              PixelShuffle<T>{WideDivisor(factor), WideDivisor(small.size(-2)),
                              WideDivisor(small.size(-1)), static_cast<const T*>(input.data()),
                              static_cast<T*>(out.data()), up});
  });

  if (!out.is_same(out0)) at::copy_(out0, out);
}

}  // namespace

void pixel_shuffle_kernel(const Tensor& self, int64_t upscale_factor, const Tensor& out0) {
  shuffle("pixel_shuffle", self, upscale_factor, true, out0);
}

void pixel_unshuffle_kernel(const Tensor& self, int64_t downscale_factor, const Tensor& out0) {
  shuffle("pixel_unshuffle", self, downscale_factor, false, out0);
}

}  // namespace at::native::cuda
