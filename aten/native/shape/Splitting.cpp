// Joining, splitting and repeating tensors.
#include <algorithm>
#include <limits>

#include "aten/native/shared/ResultLayout.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/native/declarations/shape/Splitting.h"
#include "aten/ops/cat.h"
#include "aten/ops/clone.h"
#include "aten/ops/constant_pad_nd.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/ops/diagonal.h"
#include "aten/ops/expand.h"
#include "aten/ops/flatten.h"
#include "aten/ops/movedim.h"
#include "aten/ops/narrow.h"
#include "aten/ops/new_zeros.h"
#include "aten/ops/reshape.h"
#include "aten/ops/roll.h"
#include "aten/ops/select.h"
#include "aten/ops/split.h"
#include "aten/ops/split_with_sizes.h"
#include "aten/ops/stack.h"
#include "aten/ops/transpose.h"
#include "aten/ops/unsqueeze.h"
#include "aten/ops/view.h"
#include "aten/ops/zeros_like.h"

namespace at::native {

namespace {

/// Old programs concatenate to torch.empty(0): such a tensor of one dimension and no element joins
/// anything.
bool is_skipped(const Tensor& tensor) { return tensor.dim() == 1 && tensor.sizes()[0] == 0; }

/// channels_last if all tensors are.
MemoryFormat common_format(TensorList tensors) {
  std::optional<MemoryFormat> common;
  for (const Tensor& tensor : tensors) {
    if (is_skipped(tensor)) continue;
    const MemoryFormat format = format_like(tensor);
    if (format == MemoryFormat::Contiguous || common.value_or(format) != format)
      return MemoryFormat::Contiguous;
    common = format;
  }
  return common.value_or(MemoryFormat::Contiguous);
}

const Tensor& first_joined(TensorList tensors) {
  for (const Tensor& tensor : tensors) {
    if (!is_skipped(tensor)) return tensor;
  }
  return tensors[0];
}

}  // namespace

TensorSpec cat_shape(TensorList tensors, int64_t dim) {
  TORCH_CHECK_VALUE(!tensors.empty(), "torch.cat(): expected a non-empty list of Tensors");
  for (size_t i = 0; i < tensors.size(); ++i) {
    TORCH_CHECK(tensors[i].dim() > 0, "zero-dimensional tensor (at position ", i,
                ") cannot be concatenated");
    TORCH_CHECK(
        tensors[i].device() == tensors[0].device(),
        "cat(): Expected all tensors to be on the same device, but found at least two devices, ",
        tensors[0].device(), " and ", tensors[i].device(), "!");
  }
  const Tensor& first = first_joined(tensors);
  const int64_t d = wrap_dim(dim, first.dim());
  DimVector sizes(first.sizes());
  sizes[d] = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (is_skipped(tensors[i])) continue;
    TORCH_CHECK(tensors[i].dim() == first.dim(),
                "Tensors must have same number of dimensions: got ", first.dim(), " and ",
                tensors[i].dim());
    for (int64_t k = 0; k < first.dim(); ++k) {
      TORCH_CHECK(k == d || tensors[i].sizes()[k] == first.sizes()[k],
                  "Sizes of tensors must match except in dimension ", d, ". Expected size ",
                  first.sizes()[k], " but got size ", tensors[i].sizes()[k], " for tensor number ",
                  i, " in the list.");
    }
    sizes[d] += tensors[i].sizes()[d];
  }
  if (is_skipped(first)) sizes[0] = 0;
  return {sizes, result_type(tensors), first.device(),
          strides_in_format(sizes, common_format(tensors))};
}

/// `lengths`: along `dim`, -1 for a tensor that was skipped.
std::vector<Tensor> _cat_backward(const Tensor& grad, IntArrayRef lengths, int64_t dim) {
  std::vector<Tensor> grads;
  const int64_t d = wrap_dim(dim, grad.dim());
  int64_t start = 0;
  for (const int64_t length : lengths) {
    if (length < 0) {
      grads.push_back(at::new_zeros(grad, {0}));
      continue;
    }
    grads.push_back(at::narrow(grad, d, start, length));
    start += length;
  }
  return grads;
}

Tensor stack(TensorList tensors, int64_t dim) {
  TORCH_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
  const int64_t d = wrap_dim(dim, tensors[0].dim() + 1);
  for (size_t i = 0; i < tensors.size(); ++i) {
    TORCH_CHECK(tensors[i].sizes() == tensors[0].sizes(),
                "stack expects each tensor to be equal size, but got ", tensors[0].sizes(),
                " at entry 0 and ", tensors[i].sizes(), " at entry ", i);
  }
  if (d < tensors[0].dim()) {  // joined in the memory format of the tensors, then seen with one
                               // dimension more
    DimVector sizes(tensors[0].sizes());
    sizes.insert(sizes.begin() + d, static_cast<int64_t>(tensors.size()));
    return at::view(at::cat(tensors, d), sizes);
  }
  std::vector<Tensor> columns;
  for (const Tensor& tensor : tensors) columns.push_back(at::unsqueeze(tensor, d));
  return at::cat(columns, d);
}

namespace {
/// Tensors with at least `ndim` dimensions: a vector becomes a row.
std::vector<Tensor> at_least(TensorList tensors, int64_t ndim) {
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) {
    Tensor grown = tensor;
    while (grown.dim() < ndim) grown = at::unsqueeze(grown, 0);
    result.push_back(grown);
  }
  return result;
}
}  // namespace

Tensor hstack(TensorList tensors) {
  TORCH_CHECK(!tensors.empty(), "hstack expects a non-empty TensorList");
  const std::vector<Tensor> grown = at_least(tensors, 1);
  return at::cat(grown, grown[0].dim() == 1 ? 0 : 1);
}

Tensor vstack(TensorList tensors) {
  TORCH_CHECK(!tensors.empty(), "vstack expects a non-empty TensorList");
  return at::cat(at_least(tensors, 2), 0);
}

namespace {

/// One of the views that a call makes.
Tensor one_of_several(const Tensor& self, IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  Tensor view = alias_with_sizes_and_strides(self, sizes, strides, offset);
  auto* impl = view.unsafe_impl();
  if (impl->view_origin() == c10::ViewOrigin::Ordinary)
    impl->set_view_origin(c10::ViewOrigin::MultiOutput);
  return view;
}

Tensor piece_of(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  DimVector sizes(self.sizes());
  sizes[dim] = length;
  return one_of_several(self, sizes, self.strides(),
                        self.storage_offset() + start * self.strides()[dim]);
}

std::vector<Tensor> pieces_of(const Tensor& self, IntArrayRef lengths, int64_t dim) {
  std::vector<Tensor> pieces;
  pieces.reserve(lengths.size());
  int64_t start = 0;
  for (const int64_t length : lengths) {
    pieces.push_back(piece_of(self, dim, start, length));
    start += length;
  }
  return pieces;
}

int64_t split_count(int64_t extent, int64_t split_size) {
  return split_size == 0 || extent == 0 ? 1 : (extent - 1) / split_size + 1;
}

/// As many as an expanded dimension may have: std::vector reports a length that cannot be.
std::vector<int64_t> split_lengths(int64_t extent, int64_t split_size) {
  const int64_t count = split_count(extent, split_size);
  std::vector<int64_t> lengths(count, split_size);
  lengths[count - 1] = extent - split_size * (count - 1);
  return lengths;
}

const Tensor& first_defined(TensorList grads) {
  for (const Tensor& grad : grads) {
    if (grad.defined()) return grad;
  }
  TORCH_CHECK(false, "expected at least one gradient, got none of ", grads.size());
  return grads[0];
}

/// A dimension of tensors of `sizes`, which must have one.
int64_t wrap_dim_of(IntArrayRef sizes, int64_t dim) {
  TORCH_CHECK_INDEX(!sizes.empty(), "Dimension specified as ", dim,
                    " but tensor has no dimensions");
  return wrap_dim(dim, static_cast<int64_t>(sizes.size()));
}

/// The gradient of a split: pieces joined, missing ones as zeros.
Tensor join_pieces(TensorList grads, IntArrayRef sizes, IntArrayRef lengths, int64_t dim) {
  const Tensor& some = first_defined(grads);
  TORCH_CHECK(grads.size() == lengths.size(), "expected the gradients of ", lengths.size(),
              " pieces, got ", grads.size());
  std::vector<Tensor> pieces;
  for (size_t i = 0; i < grads.size(); ++i) {
    DimVector piece(sizes.begin(), sizes.end());
    piece[dim] = lengths[i];
    pieces.push_back(grads[i].defined() ? grads[i] : at::new_zeros(some, piece));
  }
  return at::cat(pieces, dim);
}

}  // namespace

std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "split expects at least a 1-dimensional tensor");
  TORCH_CHECK(split_size >= 0,
              "split expects split_size be non-negative, but got split_size=", split_size);
  const int64_t d = wrap_dim(dim, self.dim());
  TORCH_CHECK(split_size > 0 || self.sizes()[d] == 0,
              "split_size can only be 0 if dimension size is 0, but got dimension size of ",
              self.sizes()[d]);
  return pieces_of(self, split_lengths(self.sizes()[d], split_size), d);
}

std::vector<Tensor> split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "split_with_sizes expects at least a 1-dimensional tensor");
  const int64_t d = wrap_dim(dim, self.dim());
  int64_t total = 0;
  bool fits = true;
  for (const int64_t length : split_sizes) {
    TORCH_CHECK(
        length >= 0,
        "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=",
        split_sizes);
    fits = fits && !__builtin_add_overflow(total, length, &total);
  }
  TORCH_CHECK(fits && total == self.sizes()[d],
              "split_with_sizes expects split_sizes to sum exactly to ", self.sizes()[d],
              " (input tensor's size at dimension ", d, "), but got split_sizes=", split_sizes);
  return pieces_of(self, split_sizes, d);
}

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  TORCH_CHECK_INDEX(self.dim() > 0, "Dimension specified as ", dim,
                    " but tensor has no dimensions");
  const int64_t d = wrap_dim(dim, self.dim());
  DimVector sizes(self.sizes()), strides(self.strides());
  sizes.erase(sizes.begin() + d);
  strides.erase(strides.begin() + d);
  std::vector<Tensor> slices;
  slices.reserve(self.sizes()[d]);
  for (int64_t i = 0; i < self.sizes()[d]; ++i) {
    slices.push_back(
        one_of_several(self, sizes, strides, self.storage_offset() + i * self.strides()[d]));
  }
  return slices;
}

std::vector<Tensor> split_sizes(const Tensor& self, IntArrayRef split_size, int64_t dim) {
  return at::split_with_sizes(self, split_size, dim);
}

std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  TORCH_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t extent = self.size(dim);
  const int64_t length = extent == 0 ? 0 : (extent - 1) / chunks + 1;
  if (length == 0)
    return at::split_with_sizes(self, std::vector<int64_t>(chunks, 0),
                                dim);  // an empty dimension gives all the chunks asked for
  return at::split(self, length, dim);
}

Tensor _split_backward(TensorList grads, IntArrayRef sizes, int64_t split_size, int64_t dim) {
  const int64_t d = wrap_dim_of(sizes, dim);
  TORCH_CHECK(sizes[d] >= 0 && static_cast<int64_t>(grads.size()) ==
                                   split_count(sizes[d], std::max<int64_t>(split_size, 0)),
              "expected the gradients of all pieces of size ", split_size, " of ", sizes[d],
              ", got ", grads.size());
  TORCH_CHECK(split_size > 0 || (split_size == 0 && sizes[d] == 0),
              "split_size can only be 0 if dimension size is 0, but got split_size=", split_size,
              " for dimension size of ", sizes[d]);
  return join_pieces(grads, sizes, split_lengths(sizes[d], split_size), d);
}

Tensor _split_with_sizes_backward(TensorList grads, IntArrayRef sizes, IntArrayRef split_sizes,
                                  int64_t dim) {
  return join_pieces(grads, sizes, split_sizes, wrap_dim_of(sizes, dim));
}

Tensor _unbind_backward(TensorList grads, IntArrayRef sizes, int64_t dim) {
  const int64_t d = wrap_dim_of(sizes, dim);
  DimVector slice(sizes.begin(), sizes.end());
  slice.erase(slice.begin() + d);
  const Tensor& some = first_defined(grads);
  std::vector<Tensor> slices;
  for (const Tensor& grad : grads)
    slices.push_back(grad.defined() ? grad : at::new_zeros(some, slice));
  return at::stack(slices, d);
}

Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  TORCH_CHECK(static_cast<int64_t>(repeats.size()) >= self.dim(),
              "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
              "tensor: repeats ",
              repeats, ", tensor ", self.sizes());
  // (r0, s0, r1, s1, ...): repeats are expanded dimensions in front of each size, then merged with
  // it.
  const size_t added = repeats.size() - self.dim();
  DimVector split_shape, expanded, merged;
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
  // A copy even where everything is repeated once and contiguous() would give back `self`.
  return at::reshape(
      at::clone(at::expand(at::reshape(self, split_shape), expanded), MemoryFormat::Contiguous),
      merged);
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
  const int64_t d = wrap_dim(dim.value_or(0), source.dim()), length = source.sizes()[d] * repeats;
  TORCH_CHECK(output_size.value_or(length) == length,
              "repeat_interleave: Invalid output_size, expected ", length, " but got ",
              output_size.value_or(0));
  DimVector expanded(source.sizes());
  expanded.insert(expanded.begin() + d + 1, repeats);
  return at::flatten(
      at::clone(at::expand(at::unsqueeze(source, d + 1), expanded), MemoryFormat::Contiguous), d,
      d + 1);
}

TensorSpec flip_shape(const Tensor& self, IntArrayRef dims) {
  TORCH_CHECK(self.dim() <= 64, "only tensors with up to 64 dims are supported, got ", self.dim());
  wrap_dims(dims, self.dim());
  return {DimVector(self.sizes()), self.scalar_type(), self.device(), strides_in_order_of(self)};
}

TensorSpec roll_shape(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  TORCH_CHECK(!shifts.empty(), "`shifts` required");
  TORCH_CHECK(dims.empty() ? shifts.size() == 1 : shifts.size() == dims.size(),
              "shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  if (self.numel() == 0)
    return {DimVector(self.sizes()), self.scalar_type(),
            self.device()};  // dimensions are not looked at
  for (const int64_t dim : dims)
    wrap_dim_of(self.sizes(), dim);  // a repeated one adds up its shifts
  for (const int64_t shift : shifts) {
    TORCH_CHECK(shift != std::numeric_limits<int64_t>::min(), "roll(): a shift of ", shift,
                " cannot be reversed");
  }
  return {DimVector(self.sizes()), self.scalar_type(), self.device()};
}

Tensor _roll_backward(const Tensor& grad, IntArrayRef shifts, IntArrayRef dims) {
  DimVector back;
  for (const int64_t shift : shifts) back.push_back(-shift);
  return at::roll(grad, back, dims);
}

TensorSpec constant_pad_nd_shape(const Tensor& self, IntArrayRef pad, const Scalar&) {
  TORCH_CHECK(pad.size() % 2 == 0, "Length of pad must be even but instead it equals ", pad.size());
  TORCH_CHECK(static_cast<int64_t>(pad.size()) <= 2 * self.dim(),
              "Length of pad should be no more than twice the number of dimensions of the input. "
              "Pad length is ",
              pad.size(), " while the input has ", self.dim(), " dimensions.");
  DimVector sizes(self.sizes());
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    int64_t& size = sizes[sizes.size() - 1 - i];
    // A side that is cut off takes existing elements only, whatever the other side adds.
    int64_t padded = 0;
    TORCH_CHECK(!__builtin_add_overflow(size, pad[2 * i], &padded) &&
                    !__builtin_add_overflow(padded, pad[2 * i + 1], &padded),
                "constant_pad_nd: padding of ", pad[2 * i], " and ", pad[2 * i + 1],
                " overflows at size ", size);
    const bool cuts_all = size + std::min<int64_t>(pad[2 * i], 0) < 0 ||
                          size + std::min<int64_t>(pad[2 * i + 1], 0) < 0;
    TORCH_CHECK(!cuts_all || padded < 0, "narrow(): length must be non-negative: padding of ",
                pad[2 * i], " and ", pad[2 * i + 1], " cuts more than the ", size,
                " elements of dimension ", sizes.size() - 1 - i);
    TORCH_CHECK(padded >= 0, "The input size ", size, ", plus negative padding ", pad[2 * i],
                " and ", pad[2 * i + 1],
                " resulted in a negative output size, which is invalid. Check dimension ",
                sizes.size() - 1 - i, " of your input.");
    size = padded;
  }
  return {sizes, self.scalar_type(), self.device(), strides_in_format(sizes, format_like(self))};
}

Tensor _constant_pad_backward(const Tensor& grad, IntArrayRef pad) {
  DimVector negated;
  for (const int64_t width : pad) {
    TORCH_CHECK(width != std::numeric_limits<int64_t>::min(), "constant_pad_nd: a padding of ",
                width, " cannot be reversed");
    negated.push_back(-width);
  }
  return at::constant_pad_nd(grad, negated);
}

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t row = wrap_dim(dim1, self.dim() + 1), column = wrap_dim(dim2, self.dim() + 1);
  TORCH_CHECK(row != column, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  int64_t n = 0;
  TORCH_CHECK(offset != std::numeric_limits<int64_t>::min() &&
                  !__builtin_add_overflow(self.size(-1), std::abs(offset), &n),
              "diag_embed(): offset ", offset, " is too large for a dimension of size ",
              self.size(-1));
  DimVector sizes(self.sizes().begin(), self.sizes().end() - 1);
  sizes.insert(sizes.begin() + std::min(row, column), n);
  sizes.insert(sizes.begin() + std::max(row, column), n);
  Tensor result = at::new_zeros(self, sizes);
  at::copy_(at::diagonal(result, offset, row, column), self);
  return result;
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2, "diag(): Supports 1D or 2D tensors. Got ",
              self.dim(), "D");
  return self.dim() == 1 ? diag_embed(self, diagonal, -2, -1)
                         : at::contiguous(at::diagonal(self, diagonal));
}

std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing) {
  TORCH_CHECK(!tensors.empty(), "meshgrid expects a non-empty TensorList");
  TORCH_CHECK(indexing == "ij" || indexing == "xy",
              "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
  DimVector shape;
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK(
        tensor.dim() <= 1,
        "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: ", tensor.dim(), "D");
    TORCH_CHECK(tensor.scalar_type() == tensors[0].scalar_type(),
                "torch.meshgrid expects all tensors to have the same dtype");
    shape.push_back(tensor.numel());
  }
  const bool swap = indexing == "xy" && tensors.size() >= 2;
  std::vector<Tensor> grids;
  for (size_t i = 0; i < tensors.size(); ++i) {
    DimVector own(tensors.size(), 1);
    own[i] = tensors[i].numel();
    const Tensor grid = at::expand(at::reshape(tensors[i], own), shape);
    grids.push_back(swap ? at::transpose(grid, 0, 1) : grid);
  }
  return grids;
}

}  // namespace at::native
