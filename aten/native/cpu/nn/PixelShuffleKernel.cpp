// Pixel shuffle and unshuffle on the CPU. Elements are copied by their size: one line of the small
// planes to every r-th place of a line of the large planes, or back.
#include <algorithm>
#include <cstdint>

#include "aten/native/declarations/cpu/nn/PixelShuffleKernel.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

namespace {

struct SixteenBytes {
  uint64_t halves[2];
};

/// The small planes are (planes, factor, factor, height, width), the large ones (planes,
/// height * factor, width * factor).
struct Shuffle {
  int64_t planes, factor, height, width;
};

template <bool kUp, typename T>
void shuffle_lines(const Shuffle& s, const T* in, T* out) {
  const int64_t r = s.factor;
  const int64_t lines = s.planes * r * s.height;
  const int64_t grain = std::max<int64_t>(1, kDefaultGrainSize / std::max<int64_t>(1, s.width * r));

  parallel_for(0, lines, grain, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      // A line of the large plane is row h * r + i.
      const int64_t plane = line / (r * s.height);
      const int64_t row = line % (r * s.height);
      const int64_t h = row / r;
      const int64_t i = row % r;
      const int64_t large = line * s.width * r;

      for (int64_t j = 0; j < r; ++j) {
        const int64_t small = (((plane * r + i) * r + j) * s.height + h) * s.width;
        for (int64_t w = 0; w < s.width; ++w) {
          if constexpr (kUp) {
            out[large + w * r + j] = in[small + w];
          } else {
            out[small + w] = in[large + w * r + j];
          }
        }
      }
    }
  });
}

template <bool kUp>
void shuffle(const Tensor& self, int64_t factor, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const Tensor input = self.contiguous();
  const Tensor out =
      out0.is_contiguous() ? out0 : empty_tensor(out0.sizes(), out0.scalar_type(), kCPU);
  const Tensor& small = kUp ? input : out;
  const Shuffle s{small.numel() / (factor * factor * small.size(-1) * small.size(-2)), factor,
                  small.size(-2), small.size(-1)};

  const auto run = [&](auto unit) {
    using T = decltype(unit);
    shuffle_lines<kUp>(s, static_cast<const T*>(input.data()), static_cast<T*>(out.data()));
  };

  switch (self.itemsize()) {
    case 1: run(uint8_t()); break;
    case 2: run(uint16_t()); break;
    case 4: run(uint32_t()); break;
    case 8: run(uint64_t()); break;
    default: run(SixteenBytes()); break;
  }

  if (!out.is_same(out0)) at::copy_(out0, out);
}

}  // namespace

void pixel_shuffle_kernel(const Tensor& self, int64_t upscale_factor, const Tensor& out0) {
  shuffle<true>(self, upscale_factor, out0);
}

void pixel_unshuffle_kernel(const Tensor& self, int64_t downscale_factor, const Tensor& out0) {
  shuffle<false>(self, downscale_factor, out0);
}

}  // namespace at::native
