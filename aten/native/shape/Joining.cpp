// Joining tensors along an existing or a new dimension, and the gradient of cat.
#include <vector>

#include "aten/native/declarations/shape/Joining.h"
#include "aten/native/shared/ResultLayout.h"
#include "aten/ops/cat.h"
#include "aten/ops/constant_pad_nd.h"
#include "aten/ops/hstack.h"
#include "aten/ops/narrow.h"
#include "aten/ops/new_zeros.h"
#include "aten/ops/reshape.h"
#include "aten/ops/unsqueeze.h"
#include "aten/ops/view.h"
#include "aten/ops/zeros.h"

namespace at::native {

namespace {

/// Applies `grow` to every tensor.
std::vector<Tensor> each(TensorList tensors, Tensor (*grow)(const Tensor&)) {
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) result.push_back(grow(tensor));
  return result;
}

/// An empty vector such as torch.empty(0) joins tensors of any shape: old programs start with it.
bool is_skipped(const Tensor& tensor) { return tensor.dim() == 1 && tensor.sizes()[0] == 0; }

/// channels_last if all joined tensors are, contiguous otherwise.
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

/// The tensor that determines the number of dimensions and the other sizes of the result.
const Tensor& first_joined(TensorList tensors) {
  for (const Tensor& tensor : tensors) {
    if (!is_skipped(tensor)) return tensor;
  }
  return tensors[0];
}

/// Adds leading dimensions to tensors of fewer than `ndim`: a vector becomes a row.
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

Tensor atleast_1d(const Tensor& self) { return self.dim() == 0 ? at::reshape(self, {1}) : self; }
Tensor atleast_2d(const Tensor& self) {
  return self.dim() < 2 ? at::unsqueeze(atleast_1d(self), 0) : self;
}
Tensor atleast_3d(const Tensor& self) {
  return self.dim() < 3 ? at::unsqueeze(atleast_2d(self), -1) : self;
}

std::vector<Tensor> atleast_1d_each(TensorList tensors) { return each(tensors, atleast_1d); }
std::vector<Tensor> atleast_2d_each(TensorList tensors) { return each(tensors, atleast_2d); }
std::vector<Tensor> atleast_3d_each(TensorList tensors) { return each(tensors, atleast_3d); }

Tensor dstack(TensorList tensors) {
  TORCH_CHECK(!tensors.empty(), "dstack expects a non-empty TensorList");
  return at::cat(each(tensors, atleast_3d), 2);
}

Tensor column_stack(TensorList tensors) {
  TORCH_CHECK(!tensors.empty(), "column_stack expects a non-empty TensorList");
  return at::hstack(each(
      tensors, [](const Tensor& t) { return t.dim() <= 1 ? at::reshape(t, {t.numel(), 1}) : t; }));
}

Tensor block_diag(TensorList tensors) {
  if (tensors.empty()) return at::zeros({1, 0});

  std::vector<Tensor> blocks;
  int64_t columns = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    TORCH_CHECK(tensors[i].dim() <= 2,
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input ", i,
                " has ", tensors[i].dim(), " dimensions");
    TORCH_CHECK(tensors[i].device() == tensors[0].device(),
                "torch.block_diag: input tensors must all be on the same device. Input 0 is on ",
                tensors[0].device(), " and input ", i, " is on ", tensors[i].device());
    blocks.push_back(atleast_2d(tensors[i]));
    columns += blocks.back().sizes()[1];
  }

  const ScalarType dtype = result_type(tensors);
  int64_t columns_before = 0;
  for (Tensor& block : blocks) {
    const int64_t width = block.sizes()[1];
    const int64_t columns_after = columns - columns_before - width;
    block = at::constant_pad_nd(block.to(dtype), {columns_before, columns_after});
    columns_before += width;
  }

  return at::cat(blocks, 0);
}

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

  // If every tensor was skipped, the result is an empty vector, too.
  if (is_skipped(first)) sizes[0] = 0;
  return {sizes, result_type(tensors), first.device(),
          strides_in_format(sizes, common_format(tensors))};
}

/// `lengths` holds the size of each tensor along `dim`, or -1 if cat skipped the tensor.
std::vector<Tensor> _cat_backward(const Tensor& grad, IntArrayRef lengths, int64_t dim) {
  const int64_t d = wrap_dim(dim, grad.dim());
  std::vector<Tensor> grads;
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

  // Tensors joined along an existing dimension keep their memory format; a view then splits that
  // dimension in two.
  if (d < tensors[0].dim()) {
    DimVector sizes(tensors[0].sizes());
    sizes.insert(sizes.begin() + d, static_cast<int64_t>(tensors.size()));
    return at::view(at::cat(tensors, d), sizes);
  }

  std::vector<Tensor> columns;
  for (const Tensor& tensor : tensors) columns.push_back(at::unsqueeze(tensor, d));
  return at::cat(columns, d);
}

Tensor hstack(TensorList tensors) {
  TORCH_CHECK(!tensors.empty(), "hstack expects a non-empty TensorList");

  const std::vector<Tensor> grown = at_least(tensors, 1);
  return at::cat(grown, grown[0].dim() == 1 ? 0 : 1);
}

Tensor vstack(TensorList tensors) {
  TORCH_CHECK(!tensors.empty(), "vstack expects a non-empty TensorList");
  return at::cat(at_least(tensors, 2), 0);
}

Tensor _chunk_cat(TensorList tensors, int64_t dim, int64_t num_chunks) {
  const int64_t dims = tensors[0].dim();
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK(tensor.numel() > 0, "_chunk_cat expects non-empty tensor");
    TORCH_CHECK(tensor.scalar_type() == tensors[0].scalar_type(),
                "_chunk_cat expects all input tensors with the same dtype");
    TORCH_CHECK(dim >= 0 || tensor.dim() == dims,
                "_chunk_cat expects non-negative dim when input tensors have different ndims");
    TORCH_CHECK(dim < tensor.dim() || tensor.dim() == dims,
                "_chunk_cat expects dim < ndim for all input tensors");
  }

  const auto d = static_cast<size_t>(wrap_dim(dim, dims));
  TORCH_CHECK(dims > 0, "_chunk_cat expects tensors of at least one dimension");
  const IntArrayRef leading = tensors[0].sizes().slice(0, d);

  std::vector<Tensor> rows;
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK(tensor.dim() > static_cast<int64_t>(d) && tensor.sizes().slice(0, d) == leading,
                "_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors");
    const int64_t size = tensor.sizes()[d];
    const int64_t part = size / num_chunks + (size % num_chunks != 0);
    int64_t filled = 0;
    TORCH_CHECK(!__builtin_mul_overflow(part, num_chunks, &filled),
                "_chunk_cat: num_chunks is too large, got ", num_chunks);

    // Zeros behind the last element of dimension d; pads are written from the last dimension on.
    DimVector pad(2 * (tensor.sizes().size() - d), 0);
    pad.back() = filled - size;

    DimVector shape(leading);
    shape.push_back(num_chunks);
    shape.push_back(-1);
    const Tensor whole = filled == size ? tensor : at::constant_pad_nd(tensor, pad, Scalar(0));
    rows.push_back(at::reshape(whole, shape));
  }

  return at::cat(rows, static_cast<int64_t>(d) + 1);
}

}  // namespace at::native
