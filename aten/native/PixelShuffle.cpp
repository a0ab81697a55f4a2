// Channels to places and back: views and one copy, in the memory format of the input.
#include "aten/native/declarations/PixelShuffle.h"

#include "aten/ops/permute.h"
#include "aten/ops/reshape.h"
#include "aten/ops/transpose.h"

namespace at::native {

namespace {

/// `sizes` of the result; contiguous, or channels_last like self.
Tensor in_format_of(const Tensor& self, const Tensor& result) {
  const MemoryFormat format = self.suggest_memory_format();
  return format == MemoryFormat::Contiguous || result.dim() != self.dim() ? result : result.contiguous(format);
}

/// The leading dimensions, then `rest`.
DimVector with_leading(IntArrayRef sizes, size_t leading, std::initializer_list<int64_t> rest) {
  DimVector result(sizes.slice(0, leading));
  for (const int64_t size : rest) result.push_back(size);
  return result;
}

/// Dimensions 0 .. leading - 1, then the others as given, counted from `leading`.
DimVector permuted(size_t leading, std::initializer_list<int64_t> rest) {
  DimVector dims;
  for (size_t d = 0; d < leading; ++d) dims.push_back(static_cast<int64_t>(d));
  for (const int64_t d : rest) dims.push_back(static_cast<int64_t>(leading) + d);
  return dims;
}

}  // namespace

Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  TORCH_CHECK(self.dim() >= 3, "pixel_shuffle expects input to have at least 3 dimensions, but got input with ", self.dim(),
              " dimension(s)");
  TORCH_CHECK(upscale_factor <= INT32_MAX, "pixel_shuffle: upscale_factor is too large: ", upscale_factor);
  TORCH_CHECK(upscale_factor > 0, "pixel_shuffle expects a positive upscale_factor, but got ", upscale_factor);
  const size_t leading = self.sizes().size() - 3;
  const int64_t r = upscale_factor, channels = self.sizes()[leading], height = self.sizes()[leading + 1], width = self.sizes()[leading + 2];
  TORCH_CHECK(channels % r == 0 && channels / r % r == 0, "pixel_shuffle expects its input's 'channel' dimension to be divisible by the ",
              "square of upscale_factor, but input.size(-3)=", channels, " is not divisible by ", r, " squared");
  const int64_t out = channels / r / r;
  const Tensor parts = at::reshape(self, with_leading(self.sizes(), leading, {out, r, r, height, width}));
  const Tensor ordered = at::permute(parts, permuted(leading, {0, 3, 1, 4, 2}));
  return in_format_of(self, at::reshape(ordered, with_leading(self.sizes(), leading, {out, height * r, width * r})));
}

Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  TORCH_CHECK(self.dim() >= 3, "pixel_unshuffle expects input to have at least 3 dimensions, but got input with ", self.dim(),
              " dimension(s)");
  TORCH_CHECK(downscale_factor > 0, "pixel_unshuffle expects a positive downscale_factor, but got ", downscale_factor);
  const size_t leading = self.sizes().size() - 3;
  const int64_t r = downscale_factor, channels = self.sizes()[leading], height = self.sizes()[leading + 1],
                width = self.sizes()[leading + 2];
  TORCH_CHECK(height % r == 0, "pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)=", height,
              " is not divisible by ", r);
  TORCH_CHECK(width % r == 0, "pixel_unshuffle expects width to be divisible by downscale_factor, but input.size(-1)=", width,
              " is not divisible by ", r);
  const Tensor parts = at::reshape(self, with_leading(self.sizes(), leading, {channels, height / r, r, width / r, r}));
  const Tensor ordered = at::permute(parts, permuted(leading, {0, 2, 4, 1, 3}));
  return in_format_of(self, at::reshape(ordered, with_leading(self.sizes(), leading, {channels * r * r, height / r, width / r})));
}

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  TORCH_CHECK(self.dim() > 2, "channel_shuffle expects input with > 2 dims, but got input with sizes ", self.sizes());
  TORCH_CHECK(groups > 0, "Number of groups to divide channels in must be positive. Value of groups:", groups);
  const int64_t channels = self.sizes()[1];
  TORCH_CHECK(channels % groups == 0, "Number of channels must be divisible by groups. Got ", channels, " channels and ", groups,
              " groups.");
  DimVector sizes(self.sizes());
  sizes[1] = channels / groups;
  sizes.insert(sizes.begin() + 1, groups);
  const Tensor parts = at::transpose(at::reshape(self, sizes), 1, 2);
  return in_format_of(self, at::reshape(parts, self.sizes()));
}

}  // namespace at::native
