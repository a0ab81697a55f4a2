// Pixel shuffle and unshuffle, which move elements between channels and planes; channel shuffle.
#include "aten/native/declarations/nn/PixelShuffle.h"

#include "aten/native/shared/ResultFormat.h"
#include "aten/ops/clone.h"
#include "aten/ops/reshape.h"
#include "aten/ops/transpose.h"

namespace at::native {

namespace {

void check_factor(const char* op, const char* name, const Tensor& self, int64_t factor) {
  TORCH_CHECK(self.dim() >= 3, op,
              " expects input to have at least 3 dimensions, but got input with ", self.dim(),
              " dimension(s)");

  TORCH_CHECK(factor > 0, op, " expects a positive ", name, ", but got ", factor);
  TORCH_CHECK(factor <= INT32_MAX, op, ": ", name, " is too large: ", factor);
}

/// The last three sizes replaced, in the memory format of the input.
TensorSpec spec_of(const Tensor& self, int64_t channels, int64_t height, int64_t width) {
  DimVector sizes(self.sizes());
  const size_t leading = sizes.size() - 3;
  sizes[leading] = channels;
  sizes[leading + 1] = height;
  sizes[leading + 2] = width;
  return spec_in_format_of(self, sizes, 2);
}

}  // namespace

TensorSpec pixel_shuffle_shape(const Tensor& self, int64_t upscale_factor) {
  check_factor("pixel_shuffle", "upscale_factor", self, upscale_factor);
  const int64_t r = upscale_factor;
  const IntArrayRef sizes = self.sizes().slice(self.sizes().size() - 3);

  TORCH_CHECK(sizes[0] % r == 0 && sizes[0] / r % r == 0,
              "pixel_shuffle expects its input's 'channel' dimension to be divisible by the ",
              "square of upscale_factor, but input.size(-3)=", sizes[0], " is not divisible by ", r,
              " squared");

  int64_t height = 0, width = 0;
  TORCH_CHECK(!__builtin_mul_overflow(sizes[1], r, &height) &&
                  !__builtin_mul_overflow(sizes[2], r, &width),
              "pixel_shuffle: upscale_factor is too large: ", r);

  return spec_of(self, sizes[0] / r / r, height, width);
}

TensorSpec pixel_unshuffle_shape(const Tensor& self, int64_t downscale_factor) {
  check_factor("pixel_unshuffle", "downscale_factor", self, downscale_factor);
  const int64_t r = downscale_factor;
  const IntArrayRef sizes = self.sizes().slice(self.sizes().size() - 3);

  TORCH_CHECK(
      sizes[1] % r == 0,
      "pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)=",
      sizes[1], " is not divisible by ", r);

  TORCH_CHECK(
      sizes[2] % r == 0,
      "pixel_unshuffle expects width to be divisible by downscale_factor, but input.size(-1)=",
      sizes[2], " is not divisible by ", r);

  int64_t channels = 0;
  TORCH_CHECK(!__builtin_mul_overflow(sizes[0], r * r, &channels),
              "pixel_unshuffle: downscale_factor is too large: ", r);

  return spec_of(self, channels, sizes[1] / r, sizes[2] / r);
}

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  TORCH_CHECK(self.dim() > 2,
              "channel_shuffle expects input with > 2 dims, but got input with sizes ",
              self.sizes());

  TORCH_CHECK(groups > 0,
              "Number of groups to divide channels in must be positive. Value of groups:", groups);

  const int64_t channels = self.sizes()[1];
  TORCH_CHECK(channels % groups == 0, "Number of channels must be divisible by groups. Got ",
              channels, " channels and ", groups, " groups.");

  if (groups == 1) return at::clone(self);

  // (N, groups * n, ...) as (N, groups, n, ...), with groups and n exchanged.
  DimVector sizes(self.sizes());
  sizes[1] = channels / groups;
  sizes.insert(sizes.begin() + 1, groups);

  const Tensor parts = at::transpose(at::reshape(self, sizes), 1, 2);
  const Tensor result = at::reshape(parts, self.sizes());
  return result.contiguous(self.suggest_memory_format());
}

}  // namespace at::native
