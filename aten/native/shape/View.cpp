// Views: tensors with other sizes and strides on the same memory.
#include <algorithm>

#include "aten/native/declarations/shape/View.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/ops/expand.h"
#include "aten/ops/slice.h"
#include "c10/util/CheckedMath.h"

namespace at::native {

namespace {

/// The part of messages about a view of another dtype that names both dtypes.
std::string as_bits(const Tensor& self, ScalarType dtype) {
  return c10::str(" to view ", scalar_type_name(self.scalar_type()), " as ",
                  scalar_type_name(dtype), " (different element sizes)");
}

/// For smaller elements: each element becomes `count` of them in the last dimension.
void split_elements(const Tensor& self, ScalarType dtype, int64_t count, DimVector& sizes,
                    DimVector& strides, int64_t& offset) {
  TORCH_CHECK(strides.back() == 1, "self.stride(-1) must be 1", as_bits(self, dtype), ", but got ",
              strides.back());

  sizes.back() = c10::checked_multiply("view", sizes.back(), count);
  for (int64_t& stride : strides) stride = c10::wrapping_multiply(stride, count);
  strides.back() = 1;
  offset = c10::checked_multiply("view", offset, count);
}

/// For larger elements: `count` elements of the last dimension become one.
void join_elements(const Tensor& self, ScalarType dtype, int64_t count, DimVector& sizes,
                   DimVector& strides, int64_t& offset) {
  const auto check = [&](int64_t value, const std::string& name) {
    TORCH_CHECK(value % count == 0, "self.", name, " must be divisible by ", count,
                as_bits(self, dtype), ", but got ", value);
  };
  check(sizes.back(), "size(-1)");
  check(offset, "storage_offset()");
  for (int64_t d = 0; d + 1 < self.dim(); ++d) check(strides[d], c10::str("stride(", d, ")"));
  TORCH_CHECK(strides.back() == 1, "self.stride(-1) must be 1", as_bits(self, dtype), ", but got ",
              strides.back());

  sizes.back() /= count;
  for (int64_t& stride : strides) stride /= count;
  strides.back() = 1;
  offset /= count;
}

/// Removes the dimensions of size 1 for which drop(d) holds.
template <typename Drop>
Tensor squeeze_where(const Tensor& self, const Drop& drop) {
  DimVector sizes;
  DimVector strides;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.sizes()[d] == 1 && drop(d)) continue;
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  return alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
}

}  // namespace

Tensor alias(const Tensor& self) {
  return alias_with_sizes_and_strides(self, self.sizes(), self.strides(), self.storage_offset());
}

Tensor view_dtype(const Tensor& self, ScalarType dtype) {
  const int64_t from = static_cast<int64_t>(self.itemsize());
  const int64_t to = static_cast<int64_t>(element_size(dtype));
  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  int64_t offset = self.storage_offset();
  TORCH_CHECK(from == to || self.dim() > 0, "self.dim() cannot be 0", as_bits(self, dtype));

  if (from > to) split_elements(self, dtype, from / to, sizes, strides, offset);
  if (from < to) join_elements(self, dtype, to / from, sizes, strides, offset);

  if (!self.requires_grad()) return view_with_dtype(self, dtype, sizes, strides, offset);

  // Autograd would take a view of a tensor that requires grad for differentiable; this tensor only
  // shares its storage.
  auto impl = make_intrusive<TensorImpl>(self.storage(), dtype, self.device(),
                                         self.key_set() - kAutogradKeys);
  impl->set_sizes_and_strides(sizes, strides, offset);
  impl->share_version_with(*self.unsafe_impl());
  return Tensor(std::move(impl));
}

bool is_same_size(const Tensor& self, const Tensor& other) { return self.sizes() == other.sizes(); }

bool is_set_to(const Tensor& self, const Tensor& tensor) {
  return self.storage() == tensor.storage() && self.storage_offset() == tensor.storage_offset() &&
         self.sizes() == tensor.sizes() && self.strides() == tensor.strides();
}

Tensor view(const Tensor& self, IntArrayRef size) {
  const DimVector shape = infer_size(size, self.numel());
  const auto strides = view_strides(self.sizes(), self.strides(), shape);
  TORCH_CHECK(strides.has_value(), "view size is not compatible with input tensor's size and "
                                   "stride (at least one dimension spans across "
                                   "two contiguous subspaces). Use .reshape(...) instead.");
  return alias_with_sizes_and_strides(self, shape, *strides, self.storage_offset());
}

Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                  std::optional<int64_t> storage_offset) {
  const int64_t offset = storage_offset.value_or(self.storage_offset());
  TORCH_CHECK(size.size() == stride.size(), "mismatch in length of strides and shape: size ", size,
              ", stride ", stride);
  TORCH_CHECK(offset >= 0, "as_strided: Tensor: invalid storage offset ", offset);

  // `last` becomes the position of the last element in the storage.
  int64_t last = offset;
  bool empty = false;
  for (size_t i = 0; i < size.size(); ++i) {
    TORCH_CHECK(
        stride[i] >= 0,
        "as_strided: Negative strides are not supported at the moment, got strides: ", stride);
    TORCH_CHECK(size[i] >= 0, "as_strided: negative size in ", size);
    empty = empty || size[i] == 0;

    int64_t step = 0;
    TORCH_CHECK(size[i] == 0 || (!__builtin_mul_overflow(size[i] - 1, stride[i], &step) &&
                                 !__builtin_add_overflow(last, step, &last)),
                "as_strided: size ", size, " with stride ", stride, " overflows");
  }

  const int64_t available = static_cast<int64_t>(self.storage()->nbytes / self.itemsize());
  TORCH_CHECK(empty || last < available, "setStorage: sizes ", size, ", strides ", stride,
              ", storage offset ", offset, ", and itemsize ", self.itemsize(),
              " requiring a storage size of ", (static_cast<uint64_t>(last) + 1) * self.itemsize(),
              " are out of bounds for storage of size ", self.storage()->nbytes);

  return alias_with_sizes_and_strides(self, size, stride, offset);
}

Tensor expand(const Tensor& self, IntArrayRef size, bool) {
  TORCH_CHECK(static_cast<int64_t>(size.size()) >= self.dim(), "expand(",
              scalar_type_name(self.scalar_type()), "Tensor{", self.sizes(), "}, size=", size,
              "): the number of sizes provided (", size.size(),
              ") must be greater or equal to the number of dimensions in the tensor (", self.dim(),
              ")");

  const int64_t ndim = static_cast<int64_t>(size.size());
  const int64_t added = ndim - self.dim();
  DimVector sizes(size.begin(), size.end());
  DimVector strides(size.size(), 0);
  for (int64_t i = ndim - 1; i >= 0; --i) {
    const bool exists = i >= added;
    const int64_t have = exists ? self.sizes()[i - added] : 1;
    if (size[i] == -1) {
      TORCH_CHECK(exists,
                  "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing "
                  "dimension ",
                  i);
      sizes[i] = have;
    }
    TORCH_CHECK(sizes[i] >= 0 && (have == sizes[i] || have == 1),
                "The expanded size of the tensor (", sizes[i], ") must match the existing size (",
                have, ") at non-singleton dimension ", i, ".  Target sizes: ", size,
                ".  Tensor sizes: ", self.sizes());

    // A new dimension has the stride of one that encloses the next; repeated elements have 0.
    int64_t stride = 1;
    if (exists) {
      stride = self.strides()[i - added];
    } else if (i + 1 < ndim) {
      stride =
          c10::wrapping_multiply(sizes[i + 1], strides[i + 1]);  // nothing reads it if so large
    }
    strides[i] = have == 1 && sizes[i] != 1 ? 0 : stride;
  }

  return alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
}

Tensor expand_as(const Tensor& self, const Tensor& other) {
  return at::expand(self, other.sizes());
}

Tensor broadcast_to(const Tensor& self, IntArrayRef size) { return at::expand(self, size); }

Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start,
             std::optional<int64_t> end, int64_t step) {
  TORCH_CHECK_INDEX(self.dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  const int64_t d = wrap_dim(dim, self.dim());
  const SliceRange range = slice_range(self.sizes()[d], start, end, step);

  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  const int64_t offset = self.storage_offset() + range.start * strides[d];
  sizes[d] = range.length;
  strides[d] = c10::wrapping_multiply(strides[d], step);

  return alias_with_sizes_and_strides(self, sizes, strides, offset);
}

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  TORCH_CHECK_INDEX(self.dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t size = self.sizes()[d];
  TORCH_CHECK_INDEX(index >= -size && index < size, "select(): index ", index,
                    " out of range for tensor of size ", self.sizes(), " at dimension ", d);

  const int64_t position = index < 0 ? index + size : index;
  const int64_t offset = self.storage_offset() + position * self.strides()[d];
  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  sizes.erase(sizes.begin() + d);
  strides.erase(strides.begin() + d);
  return alias_with_sizes_and_strides(self, sizes, strides, offset);
}

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  TORCH_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  TORCH_CHECK(length >= 0, "narrow(): length must be non-negative.");

  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t size = self.sizes()[d];
  TORCH_CHECK_INDEX(start >= -size && start <= size,
                    "start out of range (expected to be in range of [", -size, ", ", size,
                    "], but got ", start, ")");

  const int64_t first = start < 0 ? start + size : start;
  TORCH_CHECK(first <= size - length, "start (", first, ") + length (", length,
              ") exceeds dimension size (", size, ").");
  return at::slice(self, d, first, first + length, 1);
}

Tensor narrow_tensor(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
  TORCH_CHECK(start.dim() == 0 && is_integral(start.scalar_type(), false),
              "start must be an 0-dim integral Tensor.");
  return narrow(self, dim, start.item<int64_t>(), length);
}

Tensor squeeze(const Tensor& self) {
  return squeeze_where(self, [](int64_t) { return true; });
}

Tensor squeeze_dim(const Tensor& self, int64_t dim) {
  const int64_t wanted = wrap_dim(dim, self.dim());
  return squeeze_where(self, [wanted](int64_t d) { return d == wanted; });
}

Tensor squeeze_dims(const Tensor& self, IntArrayRef dim) {
  TORCH_CHECK(self.dim() <= 64, "only tensors with up to 64 dims are supported, got ", self.dim());
  const DimVector wanted = wrap_dims(dim, self.dim());
  return squeeze_where(
      self, [&](int64_t d) { return std::find(wanted.begin(), wanted.end(), d) != wanted.end(); });
}

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  const int64_t d = wrap_dim(dim, self.dim() + 1);
  DimVector sizes(self.sizes());
  DimVector strides(self.strides());

  const int64_t stride = d < self.dim() ? c10::wrapping_multiply(sizes[d], strides[d]) : 1;
  sizes.insert(sizes.begin() + d, 1);
  strides.insert(strides.begin() + d, stride);

  return alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
}

Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  const int64_t d = wrap_dim(dimension, self.dim());
  const int64_t extent = self.dim() == 0 ? 1 : self.sizes()[d];

  TORCH_CHECK(size >= 0, "size is ", size, " but must be >= 0");
  TORCH_CHECK(size <= extent, "maximum size for tensor at dimension ", d, " is ", extent,
              " but size is ", size);
  TORCH_CHECK(step > 0, "step is ", step, " but must be > 0");

  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  sizes.push_back(size);
  strides.push_back(self.dim() == 0 ? 1 : self.strides()[d]);
  if (self.dim() > 0) {
    sizes[d] = (extent - size) / step + 1;
    strides[d] = c10::wrapping_multiply(strides[d], step);
  }

  return alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
}

}  // namespace at::native
