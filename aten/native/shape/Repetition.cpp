// Repeating whole tensors or single slices.
#include <algorithm>

#include "aten/native/declarations/shape/Repetition.h"
#include "aten/ops/clone.h"
#include "aten/ops/expand.h"
#include "aten/ops/flatten.h"
#include "aten/ops/index_select.h"
#include "aten/ops/repeat_interleave.h"
#include "aten/ops/reshape.h"
#include "aten/ops/unsqueeze.h"

namespace at::native {

Tensor repeat_interleave_meta(const Tensor& repeats, std::optional<int64_t> output_size) {
  TORCH_CHECK(output_size.has_value(),
              "cannot repeat_interleave a meta tensor without output_size");
  TORCH_CHECK(*output_size >= 0,
              "repeat_interleave: expected an output_size that is not negative, got ",
              *output_size);
  return empty_tensor({*output_size}, repeats.scalar_type(), repeats.device());
}

Tensor repeat_interleave_tensor(const Tensor& self, const Tensor& repeats,
                                std::optional<int64_t> dim, std::optional<int64_t> output_size) {
  const Tensor source = dim.has_value() ? self : at::flatten(self);
  const Tensor input = source.dim() == 0 ? at::reshape(source, {1}) : source;
  const int64_t d = wrap_dim(dim.value_or(0), input.dim());
  const int64_t extent = input.sizes()[d];

  TORCH_CHECK(repeats.dim() <= 1, "repeats must be 0-dim or 1-dim tensor");

  Tensor counts = repeats;
  if (repeats.numel() == 1) {
    counts = at::expand(at::reshape(repeats, {1}), {extent});
  } else {
    TORCH_CHECK(repeats.numel() == extent,
                "repeats must have the same size as input along dim, but got repeats.size(0) = ",
                repeats.numel(), " and input.size(", d, ") = ", extent);
  }

  return at::index_select(input, d, at::repeat_interleave(counts, output_size));
}

Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  TORCH_CHECK(static_cast<int64_t>(repeats.size()) >= self.dim(),
              "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
              "tensor: repeats ",
              repeats, ", tensor ", self.sizes());

  // Each repeat becomes an expanded dimension in front of its size and is then merged with it: the
  // shapes are (1, s0, 1, s1, ...), (r0, s0, r1, s1, ...) and (r0 * s0, r1 * s1, ...).
  const size_t added = repeats.size() - self.dim();
  DimVector split_shape;
  DimVector expanded;
  DimVector merged;
  for (size_t i = 0; i < repeats.size(); ++i) {
    TORCH_CHECK(repeats[i] >= 0, "Trying to create tensor with negative dimension ", repeats[i],
                ": repeats ", repeats);
    const int64_t size = i < added ? 1 : self.sizes()[i - added];
    split_shape.append({1, size});
    expanded.append({repeats[i], size});

    int64_t length = 0;
    TORCH_CHECK(!__builtin_mul_overflow(repeats[i], size, &length),
                "Storage size calculation overflowed: ", size, " elements repeated ", repeats[i],
                " times");
    merged.push_back(length);
  }

  // Clone: without any repetition contiguous() would return `self` itself.
  const Tensor repeated = at::expand(at::reshape(self, split_shape), expanded);
  return at::reshape(at::clone(repeated, MemoryFormat::Contiguous), merged);
}

Tensor tile(const Tensor& self, IntArrayRef dims) {
  DimVector repeats(std::max<int64_t>(0, self.dim() - static_cast<int64_t>(dims.size())), 1);
  repeats.append(dims.begin(), dims.end());
  return repeat(self, repeats);
}

Tensor repeat_interleave_int(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                             std::optional<int64_t> output_size) {
  TORCH_CHECK(repeats >= 0, "Repeats must be non-negative, got ", repeats);
  const Tensor source = dim.has_value() && self.dim() > 0 ? self : at::flatten(self);
  const int64_t d = wrap_dim(dim.value_or(0), source.dim());
  const int64_t length = source.sizes()[d] * repeats;
  TORCH_CHECK(output_size.value_or(length) == length,
              "repeat_interleave: Invalid output_size, expected ", length, " but got ",
              output_size.value_or(0));

  DimVector expanded(source.sizes());
  expanded.insert(expanded.begin() + d + 1, repeats);
  const Tensor repeated = at::expand(at::unsqueeze(source, d + 1), expanded);
  return at::flatten(at::clone(repeated, MemoryFormat::Contiguous), d, d + 1);
}

}  // namespace at::native
