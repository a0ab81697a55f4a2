// Reading and writing by indices: shape rules and compositions.
#include <algorithm>

#include "aten/core/Warning.h"
#include "aten/iteration/Gather.h"
#include "aten/iteration/MemoryOverlap.h"
#include "aten/native/shared/AdvancedIndexing.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/native/declarations/indexing/Indexing.h"
#include "aten/ops/_masked_fill.h"
#include "aten/ops/any.h"
#include "aten/ops/clone.h"
#include "aten/ops/expand.h"
#include "aten/ops/fill.h"
#include "aten/ops/full.h"
#include "aten/ops/gather.h"
#include "aten/ops/index.h"
#include "aten/ops/index_add.h"
#include "aten/ops/index_put.h"
#include "aten/ops/index_select.h"
#include "aten/ops/masked_fill.h"
#include "aten/ops/max.h"
#include "aten/ops/movedim.h"
#include "aten/ops/narrow.h"
#include "aten/ops/ne.h"
#include "aten/ops/new_zeros.h"
#include "aten/ops/nonzero.h"
#include "aten/ops/ones_like.h"
#include "aten/ops/reshape.h"
#include "aten/ops/scatter.h"
#include "aten/ops/sum.h"
#include "aten/ops/unsqueeze.h"
#include "aten/ops/zeros.h"
#include "aten/parallel/Parallel.h"
#include "c10/core/ScalarChecks.h"

namespace at::native {

namespace {

void check_index_dtype(const char* op, const Tensor& index) {
  TORCH_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt, op,
              "(): Expected dtype int32/int64 for index, got ", index.scalar_type());
}

void check_same_dtype(const char* op, const char* argument, const Tensor& self,
                      const Tensor& other) {
  TORCH_CHECK(self.scalar_type() == other.scalar_type(), op,
              "(): Expected self.dtype to be equal to ", argument, ".dtype, got ",
              self.scalar_type(), " and ", other.scalar_type());
}

/// Kernels read the memory of all their arguments.
void check_same_device(const char* op, const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.is_meta() || self.device() == other.device(), op,
              "(): Expected all tensors to be on the same device, but found at least two devices, ",
              self.device(), " and ", other.device(), "!");
}

int64_t dims_or_one(const Tensor& tensor) { return std::max<int64_t>(1, tensor.dim()); }

/// index may be smaller than `tensor` in every dimension but `dim` (all dimensions when dim is -1).
void check_index_fits(const char* op, const char* name, const Tensor& tensor, const Tensor& index,
                      int64_t dim) {
  check_same_device(op, tensor, index);
  TORCH_CHECK(dims_or_one(tensor) == dims_or_one(index), op,
              "(): Index tensor must have the same number of dimensions as ", name, " tensor");
  if (tensor.dim() == 0 || index.dim() == 0) return;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    TORCH_CHECK(d == dim || index.sizes()[d] <= tensor.sizes()[d],
                "Size does not match at dimension ", d, " expected index ", index.sizes(),
                " to be no larger than ", name, " ", tensor.sizes(), " apart from dimension ", dim);
  }
}

/// Sizes of one slice along `dim`.
DimVector slice_sizes(const Tensor& tensor, int64_t dim) {
  DimVector sizes(tensor.sizes());
  if (dim < tensor.dim()) sizes.erase(sizes.begin() + dim);
  return sizes;
}

/// Rows of an embedding's weight. The check of index_select is that of the embedding, in other
/// words.
Tensor rows_of(const Tensor& weight, const Tensor& indices) {
  try {
    return at::index_select(weight, 0, indices);
  } catch (const c10::IndexError&) {
    const Tensor positions = indices.to(kLong).contiguous();
    const int64_t* position = positions.data_ptr<int64_t>();
    const int64_t rows = weight.sizes()[0];
    const int64_t* wrong = std::find_if(position, position + positions.numel(),
                                        [&](int64_t p) { return p < 0 || p >= rows; });
    if (wrong == position + positions.numel()) throw;
    TORCH_CHECK_INDEX(false, "embedding(): index ", *wrong,
                      " in 'input' is out of range: 'weight' has ", rows, " rows");
  }
}

/// Writing by index_put_ would count these from the end.
void check_not_negative(const char* op, const Tensor& index, int64_t dim, int64_t size) {
  if (!index.is_cpu()) return;
  const Tensor positions = index.to(kLong).contiguous();
  const int64_t* position = positions.data_ptr<int64_t>();
  for (int64_t i = 0; i < positions.numel(); ++i) {
    TORCH_CHECK_INDEX(position[i] >= 0, op, "(): index ", position[i],
                      " is out of bounds for dimension ", dim, " with size ", size);
  }
}

}  // namespace

// ---- advanced indexing
// ------------------------------------------------------------

Tensor index(const Tensor& self, TensorList indices) {
  const IndexPlan plan = plan_index(self, indices);
  const DimVector sizes = plan.result_sizes(), strides = plan.result_strides();
  if (self.is_meta())
    return empty_strided_tensor(sizes, strides, self.scalar_type(), self.device());
  Tensor result = empty_tensor(sizes, self.scalar_type(), self.device());
  if (result.numel() == 0) return result;
  const RowShape shape = row_shape(plan);
  const size_t itemsize = self.itemsize();
  char* out = static_cast<char*>(result.data());
  const int64_t grain = std::max<int64_t>(1, 16384 / shape.length);
  parallel_for(0, shape.rows, grain, [&](int64_t begin, int64_t end) {
    for_each_row(plan, begin, end, [&](int64_t row, const char* address) {
      gather(out + row * shape.length * static_cast<int64_t>(itemsize), address, shape.stride,
             itemsize, shape.length);
    });
  });
  if (IntArrayRef(strides) == result.strides()) return result;
  return empty_strided_tensor(sizes, strides, self.scalar_type(), self.device())
      .copy_(result)
      .as_new();
}

Tensor _index_backward(const Tensor& grad, IntArrayRef sizes, TensorList indices) {
  Tensor result = at::new_zeros(grad, sizes);
  at::index_put_(result, indices, grad, true);  // adds in float where grad is narrower
  return result;
}

Tensor _index_put_backward(const Tensor& grad, TensorList indices, bool accumulate) {
  if (accumulate) return grad;
  Tensor result = at::clone(grad);
  at::index_put_(result, indices, at::zeros({}, grad.scalar_type(), std::nullopt, grad.device()));
  return result;
}

// ---- selection along one dimension
// ------------------------------------------------------------

TensorSpec index_select_shape(const Tensor& self, int64_t dim, const Tensor& index) {
  check_index_dtype("index_select", index);
  TORCH_CHECK_INDEX(index.dim() <= 1, "index_select(): Index is supposed to be a vector, but got ",
                    index.dim(), " dimensions");
  const int64_t d = wrap_dim(dim, self.dim());
  TORCH_CHECK(self.device() == index.device() || self.is_meta(),
              "index_select(): Expected all tensors to be on the same device, but found at least "
              "two devices, ",
              self.device(), " and ", index.device(), "!");
  DimVector sizes(self.sizes());
  if (self.dim() > 0) {
    sizes[d] = index.numel();
  } else {
    TORCH_CHECK(index.numel() == 1, "index_select(): Index to scalar can have only 1 value, got ",
                index.numel(), " value(s)");
  }
  return {sizes, self.scalar_type(), self.device()};
}

TensorSpec index_add_shape(const Tensor& self, int64_t dim, const Tensor& index,
                           const Tensor& source, const Scalar&) {
  check_index_dtype("index_add", index);
  check_same_dtype("index_add", "source", self, source);
  check_same_device("index_add", self, index);
  check_same_device("index_add", self, source);
  TORCH_CHECK_INDEX(index.dim() <= 1,
                    "index_add(): Index is supposed to be a vector, but got dim: ", index.dim());
  const int64_t d = wrap_dim(dim, self.dim());
  TORCH_CHECK(dims_or_one(self) == dims_or_one(source),
              "index_add(): source tensor shape must match self tensor shape, excluding the "
              "specified dimension. Got self.shape = ",
              self.sizes(), " source.shape = ", source.sizes());
  for (int64_t k = 0; k < std::min(self.dim(), source.dim()); ++k) {
    TORCH_CHECK(k == d || self.sizes()[k] == source.sizes()[k],
                "index_add(): source tensor shape must match self tensor shape, excluding the "
                "specified dimension. Got self.shape = ",
                self.sizes(), " source.shape = ", source.sizes());
  }
  TORCH_CHECK_INDEX(index.numel() == (source.dim() == 0 ? 1 : source.sizes()[d]),
                    "index_add(): Number of indices (", index.numel(),
                    ") should be equal to source.size(dim): (",
                    source.dim() == 0 ? 1 : source.sizes()[d], "), for dim: ", dim);
  return {DimVector(self.sizes()), self.scalar_type(), self.device()};
}

namespace {

/// Elements of an expanded tensor that share memory are filled when the mask of any of them says
/// so.
void fill_masked(const char* op, const Tensor& self, const Tensor& mask, const Scalar& value) {
  Tensor target = self, chosen = mask;
  if (has_internal_overlap(self)) {
    warn("Use of ", op,
         " on expanded tensors is deprecated. Please clone() the tensor before performing this "
         "operation. "
         "This also applies to advanced indexing e.g. tensor[mask] = scalar");
    chosen = at::expand(mask, self.sizes());
    for (int64_t d = 0; d < self.dim(); ++d) {
      if (self.strides()[d] != 0 || self.sizes()[d] < 2) continue;
      target = at::narrow(target, d, 0, 1);
      chosen = at::any(chosen, d, true);
    }
  }
  at::_masked_fill_(target, chosen, value);
}

}  // namespace

namespace {

/// True along `dim` at `index`, of a shape that broadcasts to that of self.
Tensor mask_of_index(const Tensor& self, int64_t dim, const Tensor& index) {
  TORCH_CHECK_INDEX(index.scalar_type() == kLong || index.scalar_type() == kInt,
                    "index_fill(): Expected dtype int32/int64 for index, got ",
                    index.scalar_type());
  TORCH_CHECK_INDEX(index.dim() <= 1, "Index has to be a vector/scalar");
  check_same_device("index_fill", self, index);
  const int64_t d = wrap_dim(dim, self.dim());
  Tensor mask =
      at::zeros({self.dim() == 0 ? 1 : self.sizes()[d]}, kBool, std::nullopt, self.device());
  at::index_put_(mask, {index}, at::ones_like(index, kBool));
  DimVector shape(self.dim(), 1);
  if (self.dim() > 0) shape[d] = -1;
  return at::reshape(mask, shape);
}

/// Whether positions are a vector or a number of integers, on self's device.
bool is_slice_index(const Tensor& self, const Tensor& index) {
  return (index.scalar_type() == kLong || index.scalar_type() == kInt) && index.dim() <= 1 &&
         index.device() == self.device();
}

}  // namespace

void index_fill_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  c10::check_representable(value, self.scalar_type());
  if (self.dim() > 0 && !has_internal_overlap(self) && is_slice_index(self, index)) {
    at::index_put_(at::movedim(self, dim, 0), {at::reshape(index, {-1})},
                   at::full({}, value, self.scalar_type(), {}, self.device()));
    return;
  }
  fill_masked("index_fill_", self, mask_of_index(self, dim, index), value);
}

Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return at::masked_fill_(at::clone(self), mask_of_index(self, dim, index), value);
}

namespace {

/// The dimension, wrapped.
int64_t check_index_copy(const Tensor& self, int64_t dim, const Tensor& index,
                         const Tensor& source) {
  check_index_dtype("index_copy", index);
  check_same_dtype("index_copy", "source", self, source);
  check_same_device("index_copy", self, index);
  check_same_device("index_copy", self, source);
  const int64_t d = wrap_dim(dim, self.dim());
  TORCH_CHECK_INDEX(index.dim() <= 1, "index_copy_(): Index should have dimension 1 or 0 (got ",
                    index.dim(), ")");
  TORCH_CHECK_INDEX(source.dim() > 0 || index.numel() == 1,
                    "index_copy_(): When source is scalar, index should have one element (got ",
                    index.numel(), ")");
  TORCH_CHECK_INDEX(source.dim() == 0 || self.dim() == 0 || source.dim() == self.dim(),
                    "index_copy_(): When source and destination are not scalars, their "
                    "dimensionality must match. Source dimensionality (",
                    source.dim(), "), destination dimensionality (", self.dim(), ")");
  TORCH_CHECK(slice_sizes(self, d) == slice_sizes(source, d),
              "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
              "slice shape: ",
              slice_sizes(self, d), " at dimension ", d,
              " and source slice shape: ", slice_sizes(source, d), " at dimension 0.");
  TORCH_CHECK_INDEX(source.dim() == 0 || index.numel() == source.size(d),
                    "index_copy_(): Number of indices (", index.numel(),
                    ") should be equal to source.size(dim) (",
                    source.dim() == 0 ? 1 : source.size(d), ")");
  check_not_negative("index_copy_", index, d, self.dim() == 0 ? 1 : self.sizes()[d]);
  return d;
}

void write_slices(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  const Tensor positions = at::reshape(index, {-1});
  if (self.dim() == 0) {
    at::index_put_(at::reshape(self, {1}), {positions}, at::reshape(source, {-1}));
  } else {
    const Tensor rows = source.dim() == 0 ? at::reshape(source, {1}) : at::movedim(source, dim, 0);
    at::index_put_(at::movedim(self, dim, 0), {positions}, rows);
  }
}

}  // namespace

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  const int64_t d = check_index_copy(self, dim, index, source);
  Tensor result = at::clone(self, MemoryFormat::Contiguous);
  write_slices(result, d, index, source);
  return result;
}

void index_copy_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  check_no_internal_overlap("index_copy_", self);
  write_slices(self, check_index_copy(self, dim, index, source), index, source);
}

TensorSpec gather_shape(const Tensor& self, int64_t dim, const Tensor& index, bool) {
  check_index_dtype("gather", index);
  const int64_t d = wrap_dim(dim, self.dim());
  if (index.numel() != 0) check_index_fits("gather", "input", self, index, d);
  return {DimVector(index.sizes()), self.scalar_type(), self.device()};
}

TensorSpec scatter_shape(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_index_dtype("scatter", index);
  check_same_dtype("scatter", "src", self, src);
  check_same_device("scatter", self, src);
  const int64_t d = wrap_dim(dim, self.dim());
  if (index.numel() != 0) {
    check_index_fits("scatter", "self", self, index, d);
    check_index_fits("scatter", "src", src, index, -1);
  }
  return {DimVector(self.sizes()), self.scalar_type(), self.device()};
}

TensorSpec scatter_value_shape(const Tensor& self, int64_t dim, const Tensor& index,
                               const Scalar&) {
  check_index_dtype("scatter", index);
  const int64_t d = wrap_dim(dim, self.dim());
  if (index.numel() != 0) check_index_fits("scatter", "self", self, index, d);
  return {DimVector(self.sizes()), self.scalar_type(), self.device()};
}

Tensor take(const Tensor& self, const Tensor& index) {
  check_index_dtype("take", index);
  return at::index(at::reshape(self, {-1}), {index.contiguous()});
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  check_index_dtype("take_along_dim", indices);
  if (!dim.has_value()) return at::gather(at::reshape(self, {-1}), 0, at::reshape(indices, {-1}));
  TORCH_CHECK(self.dim() == indices.dim(),
              "torch.take_along_dim(): input and indices should have the same number of "
              "dimensions, but got ",
              self.dim(), " dimensions for input, and ", indices.dim(), " dimensions for indices");
  const int64_t d = wrap_dim(*dim, self.dim());
  DimVector own(self.sizes()), wanted(indices.sizes());
  own[d] = wanted[d] = 1;
  DimVector shape = broadcast_sizes(own, wanted);
  shape[d] = indices.sizes()[d];
  const Tensor index = at::expand(indices, shape);
  shape[d] = self.sizes()[d];
  return at::gather(at::expand(self, shape), d, index);
}

// ---- masks
// ------------------------------------------------------------

void masked_fill_(const Tensor& self, const Tensor& mask, const Scalar& value) {
  const DimVector shape = broadcast_sizes(self.sizes(), mask.sizes());
  TORCH_CHECK(self.sizes() == IntArrayRef(shape), "output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", IntArrayRef(shape), " in masked_fill_");
  c10::check_representable(value, self.scalar_type());
  fill_masked("masked_fill_", self, mask, value);
}

TensorSpec masked_fill_shape(const Tensor& self, const Tensor& mask, const Scalar& value) {
  TORCH_CHECK(self.device() == mask.device() || self.is_meta() ||
                  (mask.dim() == 0 && mask.is_cpu()),
              "masked_fill: expected self and mask to be on the same device, but got mask on ",
              mask.device(), " and self on ", self.device());
  c10::check_representable(value, self.scalar_type());
  return {broadcast_sizes(self.sizes(), mask.sizes()), self.scalar_type(), self.device()};
}

Tensor masked_fill_tensor(const Tensor& self, const Tensor& mask, const Tensor& value) {
  if (self.is_meta()) return at::masked_fill(self, mask, Scalar(0));
  if (!value.requires_grad()) return at::masked_fill(self, mask, value.item());
  const Tensor kept = at::masked_fill(self, mask, Scalar(0));
  return kept + mask.to(self.scalar_type()) * value.to(self.scalar_type());
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == kBool, "masked_select: expected BoolTensor for mask, got ",
              mask.scalar_type());
  const DimVector shape = broadcast_sizes(self.sizes(), mask.sizes());
  if (shape.empty()) return at::index(at::reshape(self, {1}), {at::reshape(mask, {1})});
  if (self.is_meta() || mask.is_meta())
    return at::index(at::expand(self, shape), {at::expand(mask, shape)});
  // As lines: one number says where an element is.
  const Tensor places = at::nonzero(at::reshape(at::expand(mask, shape), {-1}));
  return at::index_select(at::reshape(at::expand(self, shape), {-1}), 0, at::reshape(places, {-1}));
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  TORCH_CHECK(mask.scalar_type() == kBool,
              "masked_scatter_ only supports boolean masks, but got mask with dtype ",
              mask.scalar_type());
  check_same_dtype("masked_scatter", "source", self, source);
  const DimVector shape = broadcast_sizes(self.sizes(), mask.sizes());
  if (self.is_meta()) return at::clone(at::expand(self, shape), MemoryFormat::Contiguous);
  const Tensor full_mask = at::reshape(at::expand(mask, shape), {-1});
  const int64_t count = at::sum(full_mask).item<int64_t>();
  TORCH_CHECK(
      count <= source.numel(),
      "masked_scatter: expected self and source to have same number of elements: the mask selects ",
      count, ", source has ", source.numel());
  Tensor result = at::clone(at::expand(self, shape), MemoryFormat::Contiguous);
  at::index_put_(at::reshape(result, {-1}), {full_mask},
                 at::narrow(at::reshape(source, {-1}), 0, 0, count));
  return result;
}

// ---- classes
// ------------------------------------------------------------

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  TORCH_CHECK(self.scalar_type() == kLong,
              "one_hot is only applicable to index tensor of type LongTensor, got ",
              self.scalar_type());
  if (self.numel() == 0) {
    TORCH_CHECK(num_classes > 0, "Can not infer total number of classes from empty tensor.");
    DimVector sizes(self.sizes());
    sizes.push_back(num_classes);
    return at::zeros(sizes, kLong, std::nullopt, self.device());
  }
  const int64_t largest = at::max(self).item<int64_t>();
  TORCH_CHECK(-at::max(-self).item<int64_t>() >= 0, "Class values must be non-negative.");
  TORCH_CHECK(num_classes == -1 || num_classes > largest,
              "Class values must be smaller than num_classes.");
  DimVector sizes(self.sizes());
  sizes.push_back(num_classes == -1 ? largest + 1 : num_classes);
  return at::scatter(at::zeros(sizes, kLong, std::nullopt, self.device()), -1,
                     at::unsqueeze(self, -1), Scalar(1));
}

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t, bool, bool sparse) {
  TORCH_CHECK(weight.dim() == 2, "'weight' must be 2-D, got ", weight.dim(), "-D");
  TORCH_CHECK_NOT_IMPLEMENTED(!sparse, "embedding: sparse gradients are not available");
  TORCH_CHECK(indices.scalar_type() == kLong || indices.scalar_type() == kInt,
              "Expected tensor for argument #1 'indices' to have one of the following scalar "
              "types: Long, Int; but got ",
              indices.scalar_type(), " instead (while checking arguments for embedding)");
  DimVector sizes(indices.sizes());
  sizes.push_back(weight.sizes()[1]);
  return at::reshape(rows_of(weight, at::reshape(indices, {-1})), sizes);
}

Tensor _embedding_backward(const Tensor& grad, const Tensor& indices, IntArrayRef sizes,
                           int64_t padding_idx, bool scale_grad_by_freq) {
  const Tensor flat = at::reshape(indices, {-1}).to(kLong);
  Tensor rows = at::reshape(grad, {flat.numel(), sizes[1]});
  if (padding_idx >= 0)
    rows = rows * at::unsqueeze(at::ne(flat, Scalar(padding_idx)), 1).to(rows.scalar_type());
  if (scale_grad_by_freq) {
    const Tensor ones = at::ones_like(flat, rows.scalar_type());
    const Tensor counts = at::index_add(at::new_zeros(ones, {sizes[0]}), 0, flat, ones);
    rows = rows / at::unsqueeze(at::index_select(counts, 0, flat), 1);
  }
  return at::index_add(at::new_zeros(grad, sizes), 0, flat, rows);
}

}  // namespace at::native
