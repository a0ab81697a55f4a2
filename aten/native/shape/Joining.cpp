// Joining and cutting up tensors by the conventions of NumPy's stack and split families.
#include <unistd.h>

#include <algorithm>

#include "aten/native/shared/ViewHelpers.h"
#include "aten/native/declarations/shape/Joining.h"
#include "aten/ops/arange.h"
#include "aten/ops/cat.h"
#include "aten/ops/clone.h"
#include "aten/ops/constant_pad_nd.h"
#include "aten/ops/diag.h"
#include "aten/ops/flatten.h"
#include "aten/ops/flip.h"
#include "aten/ops/hstack.h"
#include "aten/ops/index_select.h"
#include "aten/ops/meshgrid.h"
#include "aten/ops/narrow.h"
#include "aten/ops/new_empty.h"
#include "aten/ops/repeat_interleave.h"
#include "aten/ops/reshape.h"
#include "aten/ops/slice.h"
#include "aten/ops/stack.h"
#include "aten/ops/tensor_split.h"
#include "aten/ops/transpose.h"
#include "aten/ops/unsqueeze.h"
#include "aten/ops/zeros.h"

namespace at::native {

// ---- a number of dimensions
// ------------------------------------------------------------

Tensor atleast_1d(const Tensor& self) { return self.dim() == 0 ? at::reshape(self, {1}) : self; }
Tensor atleast_2d(const Tensor& self) {
  return self.dim() < 2 ? at::unsqueeze(atleast_1d(self), 0) : self;
}
Tensor atleast_3d(const Tensor& self) {
  return self.dim() < 3 ? at::unsqueeze(atleast_2d(self), -1) : self;
}

namespace {

std::vector<Tensor> each(TensorList tensors, Tensor (*grow)(const Tensor&)) {
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) result.push_back(grow(tensor));
  return result;
}

}  // namespace

std::vector<Tensor> atleast_1d_each(TensorList tensors) { return each(tensors, atleast_1d); }
std::vector<Tensor> atleast_2d_each(TensorList tensors) { return each(tensors, atleast_2d); }
std::vector<Tensor> atleast_3d_each(TensorList tensors) { return each(tensors, atleast_3d); }

// ---- joining
// ------------------------------------------------------------

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
  int64_t before = 0;
  for (Tensor& block : blocks) {
    const int64_t width = block.sizes()[1];
    block = at::constant_pad_nd(block.to(dtype), {before, columns - before - width});
    before += width;
  }
  return at::cat(blocks, 0);
}

Tensor cartesian_prod(TensorList tensors) {
  for (const Tensor& tensor : tensors)
    TORCH_CHECK(tensor.dim() == 1, "Expect a 1D vector, but got shape ", tensor.sizes());
  if (tensors.size() == 1) return tensors[0];
  return at::stack(
      each(at::meshgrid(tensors, "ij"), [](const Tensor& grid) { return at::flatten(grid); }), 1);
}

namespace {

/// Positions of all combinations in lexicographic order, `r` after `r`.
std::vector<int64_t> combination_positions(int64_t n, int64_t r, bool with_replacement) {
  std::vector<int64_t> result, current;
  const int64_t step = with_replacement ? 0 : 1;
  if (n == 0 || (!with_replacement && r > n)) return result;
  for (int64_t i = 0; i < r; ++i) current.push_back(i * step);
  while (true) {
    result.insert(result.end(), current.begin(), current.end());
    int64_t i = r - 1;
    while (i >= 0 && current[i] == (with_replacement ? n - 1 : n - r + i)) --i;
    if (i < 0) return result;
    ++current[i];
    for (int64_t k = i + 1; k < r; ++k) current[k] = current[k - 1] + step;
  }
}

Tensor long_tensor(const std::vector<int64_t>& values) {
  Tensor result = empty_tensor({static_cast<int64_t>(values.size())}, kLong, kCPU);
  std::copy(values.begin(), values.end(), result.data_ptr<int64_t>());
  return result;
}

}  // namespace

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  TORCH_CHECK(self.dim() == 1, "Expect a 1D vector, but got shape ", self.sizes());
  TORCH_CHECK(r >= 0, "Expect a non-negative number, but got ", r);
  if (r == 0) return at::new_empty(self, {0});
  const Tensor positions = long_tensor(combination_positions(self.numel(), r, with_replacement));
  return at::reshape(at::index_select(self, 0, positions), {positions.numel() / r, r});
}

// ---- cutting
// ------------------------------------------------------------

namespace {

int64_t checked_split_dim(const Tensor& self, int64_t dim) {
  TORCH_CHECK(self.dim() > 0,
              "tensor_split expected at least a 1-dimensional tensor, but got a tensor with ",
              self.dim(), " dims");
  return wrap_dim(dim, self.dim());
}

/// Refuses, before the first is made, more pieces than this machine has memory for.
void check_pieces(const char* name, int64_t pieces) {
  const auto memory =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  TORCH_CHECK(static_cast<uint64_t>(pieces) <= memory / sizeof(TensorImpl), name, ": cannot make ",
              pieces, " tensors, this machine has ", memory, " bytes of memory");
}

}  // namespace

std::vector<Tensor> tensor_split_sections(const Tensor& self, int64_t sections, int64_t dim) {
  const int64_t d = checked_split_dim(self, dim);
  TORCH_CHECK(sections > 0, "number of sections must be larger than 0, got ", sections);
  check_pieces("tensor_split", sections);
  const int64_t length = self.sizes()[d] / sections, longer = self.sizes()[d] % sections;
  std::vector<Tensor> pieces;
  int64_t start = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t end = start + length + (i < longer ? 1 : 0);
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

namespace {

/// The dimension that a split by name cuts, which must have equal pieces where `sections` is given.
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

}  // namespace

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
  const int64_t d = wrap_dim(dim, self.dim()), extent = self.sizes()[d];
  TORCH_CHECK(split_size > 0 || extent == 0,
              "split_size can only be 0 if dimension size is 0, but got dimension size of ",
              extent);
  std::vector<Tensor> pieces;
  int64_t start = 0;
  do {
    pieces.push_back(at::slice(self, d, start, start + split_size));
    start += split_size;
  } while (start < extent);
  return pieces;
}

std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntArrayRef split_sizes,
                                            int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "split_with_sizes expects at least a 1-dimensional tensor");
  const int64_t d = wrap_dim(dim, self.dim());
  std::vector<Tensor> pieces;
  int64_t start = 0;
  for (const int64_t length : split_sizes) {
    TORCH_CHECK(
        length >= 0,
        "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=",
        split_sizes);
    pieces.push_back(at::slice(self, d, start, start + length));
    start += length;
  }
  TORCH_CHECK(start == self.sizes()[d], "split_with_sizes expects split_sizes to sum exactly to ",
              self.sizes()[d], " (input tensor's size at dimension ", d,
              "), but got split_sizes=", split_sizes);
  return pieces;
}

std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  TORCH_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  TORCH_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t extent = self.size(dim), length = extent == 0 ? 0 : (extent - 1) / chunks + 1;
  if (length == 0) check_pieces("unsafe_chunk", chunks);
  if (length == 0) return unsafe_split_with_sizes(self, DimVector(chunks, 0), dim);
  return unsafe_split(self, length, dim);
}

// ---- reversing
// ------------------------------------------------------------

Tensor rot90(const Tensor& self, int64_t k, IntArrayRef dims) {
  TORCH_CHECK(dims.size() == 2, "expected total rotation dims == 2, but got dims = ", dims.size());
  TORCH_CHECK(self.dim() >= 2, "expected total dims >= 2, but got total dims = ", self.dim());
  const int64_t from = wrap_dim(dims[0], self.dim()), to = wrap_dim(dims[1], self.dim());
  TORCH_CHECK(from != to, "expected rotation dims to be different, but got dim0 = ", dims[0],
              " and dim1 = ", dims[1]);
  switch ((k % 4 + 4) % 4) {
    case 1: return at::transpose(at::flip(self, {to}), from, to);
    case 2: return at::flip(self, {from, to});
    case 3: return at::transpose(at::flip(self, {from}), from, to);
    default: return at::clone(self, MemoryFormat::Contiguous);
  }
}

Tensor fliplr(const Tensor& self) {
  TORCH_CHECK(self.dim() >= 2, "Input must be >= 2-d.");
  return at::flip(self, {1});
}

Tensor flipud(const Tensor& self) {
  TORCH_CHECK(self.dim() >= 1, "Input must be >= 1-d.");
  return at::flip(self, {0});
}

Tensor diagflat(const Tensor& self, int64_t offset) {
  return at::diag(at::reshape(self.contiguous(), {-1}), offset);
}

}  // namespace at::native
