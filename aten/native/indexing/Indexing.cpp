// Reading and writing by indices: shape rules, argument checks, and operators composed of index,
// index_put and gather.
#include <algorithm>

#include "aten/dispatch/Outputs.h"
#include "aten/iteration/Gather.h"
#include "aten/iteration/Lanes.h"
#include "aten/iteration/MemoryOverlap.h"
#include "aten/native/declarations/indexing/Indexing.h"
#include "aten/native/indexing/Masking.h"
#include "aten/native/shared/AdvancedIndexing.h"
#include "aten/native/shared/DtypeChecks.h"
#include "aten/native/shared/HostValues.h"
#include "aten/ops/clamp.h"
#include "aten/ops/clone.h"
#include "aten/ops/copy.h"
#include "aten/ops/empty_like.h"
#include "aten/ops/expand.h"
#include "aten/ops/full.h"
#include "aten/ops/gather.h"
#include "aten/ops/index.h"
#include "aten/ops/index_fill.h"
#include "aten/ops/index_put.h"
#include "aten/ops/logical_not.h"
#include "aten/ops/masked_fill.h"
#include "aten/ops/movedim.h"
#include "aten/ops/new_zeros.h"
#include "aten/ops/ones_like.h"
#include "aten/ops/remainder.h"
#include "aten/ops/reshape.h"
#include "aten/ops/to.h"
#include "aten/ops/where.h"
#include "aten/ops/zeros.h"
#include "aten/ops/zeros_like.h"
#include "aten/parallel/Parallel.h"
#include "c10/core/ScalarChecks.h"

namespace at::native {

namespace {

int64_t dims_or_one(const Tensor& tensor) { return std::max<int64_t>(1, tensor.dim()); }

/// Raises unless `other` is on the device of self, whose kernel reads the memory of all arguments.
void check_same_device(const char* op, const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.is_meta() || self.device() == other.device(), op,
              "(): Expected all tensors to be on the same device, but found at least two devices, ",
              self.device(), " and ", other.device(), "!");
}

/// Whether `index` holds integers in at most one dimension, on self's device.
bool is_slice_index(const Tensor& self, const Tensor& index) {
  return (index.scalar_type() == kLong || index.scalar_type() == kInt) && index.dim() <= 1 &&
         index.device() == self.device();
}

/// A mask that is True at `index` along `dim` and broadcasts to the shape of self.
Tensor mask_of_index(const Tensor& self, int64_t dim, const Tensor& index) {
  check_same_device("index_fill", self, index);

  const int64_t d = wrap_dim(dim, self.dim());
  Tensor mask =
      at::zeros({self.dim() == 0 ? 1 : self.sizes()[d]}, kBool, std::nullopt, self.device());
  at::index_put_(mask, {index}, at::ones_like(index, kBool));

  DimVector shape(self.dim(), 1);
  if (self.dim() > 0) shape[d] = -1;
  return at::reshape(mask, shape);
}

/// Sizes of one slice along `dim`.
DimVector slice_sizes(const Tensor& tensor, int64_t dim) {
  DimVector sizes(tensor.sizes());
  if (dim < tensor.dim()) sizes.erase(sizes.begin() + dim);
  return sizes;
}

/// Raises for negative indices, which index_put_ would count from the end.
void check_not_negative(const char* op, const Tensor& index, int64_t dim, int64_t size) {
  if (!has_elements(index)) return;

  const Tensor positions = at::to(index, kCPU, kLong).contiguous();
  const int64_t* position = positions.data_ptr<int64_t>();
  for (int64_t i = 0; i < positions.numel(); ++i) {
    TORCH_CHECK_INDEX(position[i] >= 0, op, "(): index ", position[i],
                      " is out of bounds for dimension ", dim, " with size ", size);
  }
}

/// Checks the arguments of index_copy and returns the wrapped dimension.
int64_t check_index_copy(const Tensor& self, int64_t dim, const Tensor& index,
                         const Tensor& source) {
  check_same_dtype("index_copy", "source", self, source);
  check_same_device("index_copy", self, index);
  check_same_device("index_copy", self, source);

  const int64_t d = wrap_dim(dim, self.dim());
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

/// Writes the slices of `source` to those of self that `index` names along `dim`.
void write_slices(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  const Tensor positions = at::reshape(index, {-1});
  if (self.dim() == 0) {
    at::index_put_(at::reshape(self, {1}), {positions}, at::reshape(source, {-1}));
  } else {
    const Tensor rows = source.dim() == 0 ? at::reshape(source, {1}) : at::movedim(source, dim, 0);
    at::index_put_(at::movedim(self, dim, 0), {positions}, rows);
  }
}

/// Whether `index` is at most as large as `tensor` in every dimension but `dim`, or in every
/// dimension if dim is -1.
bool fits_within(const Tensor& index, const Tensor& tensor, int64_t dim) {
  for (int64_t d = 0; d < dims_or_one(index); ++d) {
    if (d != dim && lane_size(index, d) > lane_size(tensor, d)) return false;
  }
  return true;
}

void check_index_dims(const char* op, const char* name, const Tensor& tensor, const Tensor& index) {
  check_same_device(op, tensor, index);
  TORCH_CHECK(dims_or_one(tensor) == dims_or_one(index), op,
              "(): Index tensor must have the same number of dimensions as ", name, " tensor");
}

/// Raises unless each element of `index` has a place in the lanes of self, and in src if defined.
void check_scatter_index(const Tensor& self, const Tensor& index, int64_t dim, const Tensor& src) {
  check_index_dims("scatter", "self", self, index);
  if (!src.defined()) {
    TORCH_CHECK(fits_within(index, self, dim), "Expected index ", index.sizes(),
                " to be no larger than self ", self.sizes(), " apart from dimension ", dim);
    return;
  }

  check_index_dims("scatter", "src", src, index);
  TORCH_CHECK(fits_within(index, self, dim) && fits_within(index, src, -1), "Expected index ",
              index.sizes(), " to be no larger than self ", self.sizes(), " apart from dimension ",
              dim, " and to be no larger size than src ", src.sizes());
}

/// `result`, which was written in order, with dimensions that lie in memory as `strides` say.
Tensor in_strides(const Tensor& result, IntArrayRef sizes, IntArrayRef strides) {
  if (strides == result.strides()) return result;
  return empty_strided_tensor(sizes, strides, result.scalar_type(), result.device())
      .copy_(result)
      .as_new();
}

/// Elements of `itemsize` bytes at byte offsets, one after another.
void gather_elements(char* out, const char* base, const int64_t* offsets, int64_t count,
                     size_t itemsize) {
  const auto assign = [&](auto element) {
    using T = decltype(element);
    T* to = reinterpret_cast<T*>(out);
    for (int64_t i = 0; i < count; ++i) to[i] = *reinterpret_cast<const T*>(base + offsets[i]);
  };

  switch (itemsize) {
    case 1: return assign(uint8_t());
    case 2: return assign(uint16_t());
    case 4: return assign(uint32_t());
    case 8: return assign(uint64_t());
    default: return assign(c10::complex<double>());
  }
}

/// Integer indices moved to the nearest element of their dimension.
std::vector<Tensor> inside(const Tensor& self, TensorList indices) {
  std::vector<Tensor> result;
  for (size_t d = 0; d < indices.size(); ++d) {
    const Tensor& index = indices[d];
    const bool is_moved = index.defined() && d < self.sizes().size() &&
                          is_integral(index.scalar_type(), false) && index.scalar_type() != kByte;
    result.push_back(
        is_moved ? at::clamp(index, Scalar(-self.sizes()[d]), Scalar(self.sizes()[d] - 1)) : index);
  }
  return result;
}

/// `fill` in the shape of an empty tensor, in which dimensions of size 0 have size 1.
Tensor one_element_each(const Tensor& self, const Scalar& fill) {
  DimVector sizes(self.sizes());
  for (int64_t& size : sizes) size = std::max<int64_t>(size, 1);
  return at::full(sizes, fill, self.scalar_type(), {}, self.device());
}

}  // namespace

/// Checks what can be checked without elements: a mask on meta selects an unknown number.
void index_put_meta(const Tensor& self, TensorList indices, const Tensor& values, bool) {
  check_index_put(self, indices, values);
  const bool has_mask = std::any_of(indices.begin(), indices.end(), [](const Tensor& index) {
    return index.defined() && index.is_meta() && is_integral(index.scalar_type(), true) &&
           element_size(index.scalar_type()) == 1;
  });
  if (has_mask) return check_masks(self, indices);
  plan_index_put(self, indices, values);
}

Tensor index(const Tensor& self, TensorList indices) {
  const IndexPlan plan = plan_index(self, indices);
  const DimVector sizes = plan.result_sizes();
  const DimVector strides = plan.result_strides();
  if (self.is_meta())
    return empty_strided_tensor(sizes, strides, self.scalar_type(), self.device());
  Tensor result = empty_tensor(sizes, self.scalar_type(), self.device());
  if (result.numel() == 0) return result;

  const RowShape shape = row_shape(plan);
  const size_t itemsize = self.itemsize();
  char* out = static_cast<char*>(result.data());
  const int64_t grain = std::max<int64_t>(1, 16384 / shape.length);

  // Rows of one element are assigned, which avoids a call for each.
  if (shape.length == 1 && plan.before_sizes.empty() && plan.after_sizes.size() <= 1) {
    const char* base = static_cast<const char*>(plan.source.data());
    parallel_for(0, shape.rows, grain, [&](int64_t begin, int64_t end) {
      gather_elements(out + begin * static_cast<int64_t>(itemsize), base,
                      plan.offsets.data() + begin, end - begin, itemsize);
    });
    return in_strides(result, sizes, strides);
  }

  parallel_for(0, shape.rows, grain, [&](int64_t begin, int64_t end) {
    for_each_row(plan, begin, end, [&](int64_t row, const char* address) {
      gather(out + row * shape.length * static_cast<int64_t>(itemsize), address, shape.stride,
             itemsize, shape.length);
    });
  });

  return in_strides(result, sizes, strides);
}

Tensor _index_backward(const Tensor& grad, IntArrayRef sizes, TensorList indices) {
  Tensor result = at::new_zeros(grad, sizes);
  at::index_put_(result, indices, grad, true);  // sums float16 and bfloat16 in float32
  return result;
}

Tensor _index_put_backward(const Tensor& grad, TensorList indices, bool accumulate) {
  if (accumulate) return grad;

  Tensor result = at::clone(grad);
  at::index_put_(result, indices, at::zeros({}, grad.scalar_type(), std::nullopt, grad.device()));
  return result;
}

TensorSpec index_select_shape(const Tensor& self, int64_t dim, const Tensor& index) {
  const int64_t d = wrap_dim(dim, self.dim());
  TORCH_CHECK(self.device() == index.device() || self.is_meta(),
              "index_select(): Expected all tensors to be on the same device, but found at least "
              "two devices, ",
              self.device(), " and ", index.device(), "!");

  DimVector sizes(self.sizes());
  if (self.dim() > 0) {
    sizes[d] = index.numel();
  }

  return {sizes, self.scalar_type(), self.device()};
}

TensorSpec index_add_shape(const Tensor& self, int64_t dim, const Tensor& index,
                           const Tensor& source, const Scalar&) {
  check_same_dtype("index_add", "source", self, source);
  check_same_device("index_add", self, index);
  check_same_device("index_add", self, source);

  const int64_t d = wrap_dim(dim, self.dim());
  TORCH_CHECK(same_slices(self, source, d),
              "index_add(): source tensor shape must match self tensor shape, excluding the "
              "specified dimension. Got self.shape = ",
              self.sizes(), " source.shape = ", source.sizes());
  TORCH_CHECK_INDEX(index.numel() == (source.dim() == 0 ? 1 : source.sizes()[d]),
                    "index_add(): Number of indices (", index.numel(),
                    ") should be equal to source.size(dim): (",
                    source.dim() == 0 ? 1 : source.sizes()[d], "), for dim: ", dim);

  return {DimVector(self.sizes()), self.scalar_type(), self.device()};
}

void index_fill_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  c10::check_representable(value, self.scalar_type());

  // Slices are written directly where possible. The mask serves 0-dimensional and expanded tensors,
  // and its check reports an index on another device.
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

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  const int64_t d = check_index_copy(self, dim, index, source);
  Tensor result = at::clone(self, MemoryFormat::Contiguous);
  write_slices(result, d, index, source);
  return result;
}

void index_copy_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  write_slices(self, check_index_copy(self, dim, index, source), index, source);
}

TensorSpec gather_shape(const Tensor& self, int64_t dim, const Tensor& index, bool) {
  const int64_t d = wrap_dim(dim, self.dim());
  if (index.numel() != 0) {
    check_index_dims("gather", "input", self, index);
    TORCH_CHECK(fits_within(index, self, d), "Size does not match at dimension ", d,
                " expected index ", index.sizes(), " to be no larger than self ", self.sizes(),
                " apart from dimension ", d);
  }
  return {DimVector(index.sizes()), self.scalar_type(), self.device()};
}

TensorSpec scatter_shape(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_same_dtype("scatter", "src", self, src);
  check_same_device("scatter", self, src);
  const int64_t d = wrap_dim(dim, self.dim());
  if (index.numel() != 0) check_scatter_index(self, index, d, src);
  return {DimVector(self.sizes()), self.scalar_type(), self.device()};
}

TensorSpec scatter_value_shape(const Tensor& self, int64_t dim, const Tensor& index,
                               const Scalar& value) {
  const int64_t d = wrap_dim(dim, self.dim());
  if (index.numel() != 0) {
    check_scatter_index(self, index, d, Tensor());
    c10::check_representable(value, self.scalar_type());
  }
  return {DimVector(self.sizes()), self.scalar_type(), self.device()};
}

Tensor take(const Tensor& self, const Tensor& index) {
  return at::index(at::reshape(self, {-1}), {index.contiguous()});
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  if (!dim.has_value()) return at::gather(at::reshape(self, {-1}), 0, at::reshape(indices, {-1}));

  // Both broadcast to a common shape in all dimensions but d.
  const int64_t d = wrap_dim(*dim, self.dim());
  DimVector self_shape(self.sizes());
  DimVector index_shape(indices.sizes());
  self_shape[d] = 1;
  index_shape[d] = 1;
  DimVector shape = broadcast_sizes(self_shape, index_shape);

  shape[d] = indices.sizes()[d];
  // Indices wrap around, as in PyTorch.
  const Tensor index = at::expand(at::remainder(indices, Scalar(self.sizes()[d])), shape);
  shape[d] = self.sizes()[d];
  return at::gather(at::expand(self, shape), d, index);
}

Tensor index_fill_tensor(const Tensor& self, int64_t dim, const Tensor& index,
                         const Tensor& value) {
  if (self.is_meta()) return at::index_fill(self, dim, index, Scalar(0));
  if (!value.requires_grad() && has_elements(value))
    return at::index_fill(self, dim, index, value.item());

  // Composed with where, which passes the gradient on to value.
  const Tensor mask = at::index_fill(at::zeros_like(self, kBool), dim, index, Scalar(true));
  return at::where(mask, value.to(self.scalar_type()), self);
}

Tensor index_put(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  Tensor result = at::clone(self);
  return at::index_put_(result, indices, values, accumulate);
}

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  Tensor flat = at::clone(at::reshape(self, {-1}));
  at::index_put_(flat, {at::reshape(index, {-1})}, at::reshape(source, {-1}), accumulate);
  const Tensor result = at::reshape(flat, self.sizes());
  return self.is_contiguous() ? result : at::copy_(at::empty_like(self), result);
}

void put_(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  if (self.is_contiguous()) {
    at::index_put_(at::reshape(self, {-1}), {at::reshape(index, {-1})}, at::reshape(source, {-1}),
                   accumulate);
  } else {
    copy_to_self("put_", self,
                 native::put(value_before(self, {source}), index, source, accumulate));
  }
}

Tensor _unsafe_masked_index(const Tensor& self, const Tensor& mask, TensorList indices,
                            const Scalar& fill) {
  const Tensor source = self.numel() > 0 ? self : one_element_each(self, fill);
  const Tensor found = at::index(source, inside(source, indices));
  return at::masked_fill(found, at::logical_not(mask), fill);
}

Tensor _unsafe_masked_index_put_accumulate(const Tensor& self, const Tensor& mask,
                                           TensorList indices, const Tensor& values) {
  if (self.numel() == 0) return at::clone(self);
  const Tensor kept = at::masked_fill(values, at::logical_not(mask), Scalar(0));
  return at::index_put(self, inside(self, indices), kept, true);
}

}  // namespace at::native
