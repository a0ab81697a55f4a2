// Splitting a tensor into pieces along a dimension, and the gradients of that.
#include <algorithm>
#include <unistd.h>
#include <vector>

#include "aten/native/declarations/shape/Splitting.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/ops/cat.h"
#include "aten/ops/new_zeros.h"
#include "aten/ops/slice.h"
#include "aten/ops/split.h"
#include "aten/ops/split_with_sizes.h"
#include "aten/ops/stack.h"
#include "aten/ops/tensor_split.h"

namespace at::native {

namespace {

int64_t checked_split_dim(const Tensor& self, int64_t dim) {
  TORCH_CHECK(self.dim() > 0,
              "tensor_split expected at least a 1-dimensional tensor, but got a tensor with ",
              self.dim(), " dims");
  return wrap_dim(dim, self.dim());
}

/// Refuses more pieces than this machine has memory for, before any is made.
void check_pieces(const char* name, int64_t pieces) {
  constexpr int64_t kFew = 1 << 20;  // as they nearly always are: no need to ask the system
  if (pieces <= kFew) return;

  // Each has a body, a Python object and a place in lists of both.
  constexpr uint64_t kBytesOfPiece = 2 * sizeof(TensorImpl);
  const auto memory =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  TORCH_CHECK(static_cast<uint64_t>(pieces) <= memory / kBytesOfPiece, name, ": cannot make ",
              pieces, " tensors, this machine has ", memory, " bytes of memory");
}

/// The dimension that hsplit (`least` is 1), vsplit (2) or dsplit (3) cuts. With `sections` its
/// size must be divisible.
int64_t named_split_dim(const char* name, const Tensor& self, int64_t least,
                        std::optional<int64_t> sections) {
  TORCH_CHECK(self.dim() >= least, "torch.", name, " requires a tensor with at least ", least,
              " dimension, but got a tensor with ", self.dim(), " dimensions!");

  const int64_t dim = least == 1 ? (self.dim() == 1 ? 0 : 1) : (least == 2 ? 0 : 2);

  if (sections.has_value()) {
    const int64_t size = self.sizes()[dim];
    TORCH_CHECK(*sections > 0 && size % *sections == 0, "torch.", name,
                " attempted to split along dimension ", dim, ", but the size of the dimension ",
                size, " is not divisible by the split_size ", *sections, "!");
  }

  return dim;
}

/// A view from a call that returns several, marked as such for autograd.
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

/// The sizes of all pieces.
std::vector<int64_t> split_lengths(int64_t extent, int64_t split_size) {
  const int64_t count = split_count(extent, split_size);
  check_pieces("split", count);
  std::vector<int64_t> lengths(count, split_size);
  lengths[count - 1] = extent - split_size * (count - 1);
  return lengths;
}

/// Checks that pieces of these lengths make up dimension d.
void check_lengths(const Tensor& self, IntArrayRef split_sizes, int64_t d) {
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
}

const Tensor& first_defined(TensorList grads) {
  for (const Tensor& grad : grads) {
    if (grad.defined()) return grad;
  }
  TORCH_CHECK(false, "expected at least one gradient, got none of ", grads.size());
  return grads[0];
}

/// The gradient of a split: the gradients of the pieces joined, with zeros for missing ones.
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

std::vector<Tensor> tensor_split_sections(const Tensor& self, int64_t sections, int64_t dim) {
  const int64_t d = checked_split_dim(self, dim);
  TORCH_CHECK(sections > 0, "number of sections must be larger than 0, got ", sections);
  check_pieces("tensor_split", sections);

  // The first `remainder` pieces are longer by one.
  const int64_t length = self.sizes()[d] / sections;
  const int64_t remainder = self.sizes()[d] % sections;
  std::vector<Tensor> pieces;
  int64_t start = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t end = start + length + (i < remainder ? 1 : 0);
    pieces.push_back(at::slice(self, d, start, end));
    start = end;
  }

  return pieces;
}

std::vector<Tensor> tensor_split_indices(const Tensor& self, IntArrayRef indices, int64_t dim) {
  const int64_t d = checked_split_dim(self, dim);
  std::vector<Tensor> pieces;
  int64_t start = 0;
  for (const int64_t end : indices) {
    pieces.push_back(at::slice(self, d, start, end));
    start = end;
  }
  pieces.push_back(at::slice(self, d, start, self.sizes()[d]));

  return pieces;
}

std::vector<Tensor> tensor_split_tensor(const Tensor& self, const Tensor& indices, int64_t dim) {
  TORCH_CHECK(self.dim() > 0,
              "tensor_split expected at least a 1-dimensional tensor, but got a tensor with ",
              self.dim(), " dims");
  TORCH_CHECK(indices.is_cpu(),
              "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on ",
              indices.device());
  TORCH_CHECK(indices.scalar_type() == kLong,
              "tensor_split expected tensor_indices_or_sections to have dtype of long, but got ",
              scalar_type_name(indices.scalar_type()));
  TORCH_CHECK(indices.dim() <= 1,
              "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
              "one-dimensional tensor, but got a tensor with ",
              indices.dim(), " dims");

  if (indices.dim() == 0) return at::tensor_split(self, indices.item<int64_t>(), dim);
  const Tensor values = indices.contiguous();
  return at::tensor_split(self, IntArrayRef(values.data_ptr<int64_t>(), values.numel()), dim);
}

std::vector<Tensor> hsplit_int(const Tensor& self, int64_t sections) {
  return at::tensor_split(self, sections, named_split_dim("hsplit", self, 1, sections));
}
std::vector<Tensor> hsplit_array(const Tensor& self, IntArrayRef indices) {
  return at::tensor_split(self, indices, named_split_dim("hsplit", self, 1, std::nullopt));
}
std::vector<Tensor> vsplit_int(const Tensor& self, int64_t sections) {
  return at::tensor_split(self, sections, named_split_dim("vsplit", self, 2, sections));
}
std::vector<Tensor> vsplit_array(const Tensor& self, IntArrayRef indices) {
  return at::tensor_split(self, indices, named_split_dim("vsplit", self, 2, std::nullopt));
}
std::vector<Tensor> dsplit_int(const Tensor& self, int64_t sections) {
  return at::tensor_split(self, sections, named_split_dim("dsplit", self, 3, sections));
}
std::vector<Tensor> dsplit_array(const Tensor& self, IntArrayRef indices) {
  return at::tensor_split(self, indices, named_split_dim("dsplit", self, 3, std::nullopt));
}

std::vector<Tensor> unsafe_split(const Tensor& self, int64_t split_size, int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "split expects at least a 1-dimensional tensor");
  TORCH_CHECK(split_size >= 0,
              "split expects split_size be non-negative, but got split_size=", split_size);
  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t extent = self.sizes()[d];
  TORCH_CHECK(split_size > 0 || extent == 0,
              "split_size can only be 0 if dimension size is 0, but got dimension size of ",
              extent);

  check_pieces("unsafe_split", split_count(extent, split_size));

  std::vector<Tensor> pieces;
  int64_t start = 0;
  do {
    const int64_t length = std::min(split_size, extent - start);
    pieces.push_back(at::slice(self, d, start, start + length));
    start += length;
  } while (start < extent);

  return pieces;
}

std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntArrayRef split_sizes,
                                            int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "split_with_sizes expects at least a 1-dimensional tensor");
  const int64_t d = wrap_dim(dim, self.dim());

  check_lengths(self, split_sizes, d);

  std::vector<Tensor> pieces;
  int64_t start = 0;
  for (const int64_t length : split_sizes) {
    pieces.push_back(at::slice(self, d, start, start + length));
    start += length;
  }
  return pieces;
}

std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  TORCH_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);

  const int64_t extent = self.size(dim);
  const int64_t length = extent == 0 ? 0 : (extent - 1) / chunks + 1;
  if (length == 0) check_pieces("unsafe_chunk", chunks);
  if (length == 0) return unsafe_split_with_sizes(self, DimVector(chunks, 0), dim);
  return unsafe_split(self, length, dim);
}

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

  check_lengths(self, split_sizes, d);
  return pieces_of(self, split_sizes, d);
}

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  TORCH_CHECK_INDEX(self.dim() > 0, "Dimension specified as ", dim,
                    " but tensor has no dimensions");
  const int64_t d = wrap_dim(dim, self.dim());

  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  sizes.erase(sizes.begin() + d);
  strides.erase(strides.begin() + d);

  check_pieces("unbind", self.sizes()[d]);
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

  // An empty dimension still gives as many chunks as were asked for.
  if (length == 0) check_pieces("chunk", chunks);
  if (length == 0) return at::split_with_sizes(self, std::vector<int64_t>(chunks, 0), dim);
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
  const Tensor& some = first_defined(grads);
  DimVector slice(sizes.begin(), sizes.end());
  slice.erase(slice.begin() + d);

  std::vector<Tensor> slices;
  for (const Tensor& grad : grads)
    slices.push_back(grad.defined() ? grad : at::new_zeros(some, slice));

  return at::stack(slices, d);
}

}  // namespace at::native
