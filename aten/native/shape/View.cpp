// Views: other geometry on the same memory.
#include <algorithm>

#include "aten/native/shared/ViewHelpers.h"
#include "aten/native/declarations/shape/View.h"
#include "aten/ops/_imag_view.h"
#include "aten/ops/_real_view.h"
#include "aten/ops/clone.h"
#include "aten/ops/conj.h"
#include "aten/ops/expand.h"
#include "aten/ops/permute.h"
#include "aten/ops/reshape.h"
#include "aten/ops/slice.h"
#include "aten/ops/transpose.h"
#include "aten/ops/view.h"
#include "aten/ops/view_as_complex.h"

namespace at::native {

Tensor alias(const Tensor& self) {
  return alias_with_sizes_and_strides(self, self.sizes(), self.strides(), self.storage_offset());
}

namespace {

/// Strides and offset count elements of `dtype`.
Tensor view_with_dtype(const Tensor& self, ScalarType dtype, IntArrayRef sizes, IntArrayRef strides,
                       int64_t offset) {
  auto impl = make_intrusive<TensorImpl>(self.storage(), dtype, self.device(),
                                         self.key_set() - kAutogradKeys);
  impl->set_sizes_and_strides(sizes, strides, offset);
  return as_view_of(self, std::move(impl));
}

/// One of the two numbers that make each complex element.
Tensor component(const Tensor& self, int64_t which) {
  TORCH_CHECK(self.is_complex(), "expected a complex tensor, got ", self.scalar_type());
  DimVector strides(self.strides());
  for (int64_t& stride : strides) stride *= 2;
  return view_with_dtype(self, to_real(self.scalar_type()), self.sizes(), strides,
                         2 * self.storage_offset() + which);
}

}  // namespace

Tensor real_view(const Tensor& self) { return component(self, 0); }
Tensor imag_view(const Tensor& self) { return component(self, 1); }
Tensor real(const Tensor& self) { return self.is_complex() ? at::_real_view(self) : self; }
Tensor imag(const Tensor& self) {
  TORCH_CHECK(self.is_complex(), "imag is not implemented for tensors with non-complex dtypes.");
  return at::_imag_view(self);
}
Tensor _times_i(const Tensor& grad) {
  return grad.to(to_complex(grad.scalar_type())) * Scalar(c10::complex<double>(0, 1));
}

Tensor view_as_real(const Tensor& self) {
  TORCH_CHECK(self.is_complex(), "view_as_real is only supported for complex tensors");
  DimVector sizes(self.sizes()), strides(self.strides());
  for (int64_t& stride : strides) stride *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  return view_with_dtype(self, to_real(self.scalar_type()), sizes, strides,
                         2 * self.storage_offset());
}

Tensor view_as_complex(const Tensor& self) {
  TORCH_CHECK(self.scalar_type() == kFloat || self.scalar_type() == kDouble ||
                  self.scalar_type() == kHalf,
              "view_as_complex is only supported for half, float and double tensors, but got a "
              "tensor of scalar type: ",
              self.scalar_type());
  TORCH_CHECK(self.dim() > 0, "Input tensor must have one or more dimensions");
  DimVector sizes(self.sizes()), strides(self.strides());
  TORCH_CHECK(sizes.back() == 2, "Tensor must have a last dimension of size 2");
  TORCH_CHECK(strides.back() == 1, "Tensor must have a last dimension with stride 1");
  TORCH_CHECK(self.storage_offset() % 2 == 0, "Tensor must have a storage_offset divisible by 2");
  sizes.pop_back();
  strides.pop_back();
  for (int64_t& stride : strides) {
    TORCH_CHECK(stride % 2 == 0,
                "Tensor must have a stride divisible by 2 for all but last dimension");
    stride /= 2;
  }
  return view_with_dtype(self, to_complex(self.scalar_type()), sizes, strides,
                         self.storage_offset() / 2);
}

Tensor _numbers_as_complex(const Tensor& grad) {
  TORCH_CHECK(grad.dim() > 0, "Input tensor must have one or more dimensions");
  bool suits = grad.strides().back() == 1 && grad.storage_offset() % 2 == 0;
  for (const int64_t stride : grad.strides().slice(0, grad.dim() - 1))
    suits = suits && stride % 2 == 0;
  return at::view_as_complex(suits ? grad : at::clone(grad, MemoryFormat::Contiguous));
}

namespace {

/// How messages about bits of another type begin and end.
std::string as_bits(const Tensor& self, ScalarType dtype) {
  return c10::str(" to view ", scalar_type_name(self.scalar_type()), " as ",
                  scalar_type_name(dtype), " (different element sizes)");
}

/// Sizes and strides of smaller elements: each becomes `count` of them in the last dimension.
void split_elements(const Tensor& self, ScalarType dtype, int64_t count, DimVector& sizes,
                    DimVector& strides, int64_t& offset) {
  TORCH_CHECK(strides.back() == 1, "self.stride(-1) must be 1", as_bits(self, dtype), ", but got ",
              strides.back());
  sizes.back() *= count;
  for (int64_t& stride : strides) stride *= count;
  strides.back() = 1;
  offset *= count;
}

/// Of larger elements, each made of `count`.
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

}  // namespace

Tensor view_dtype(const Tensor& self, ScalarType dtype) {
  const int64_t from = static_cast<int64_t>(self.itemsize()),
                to = static_cast<int64_t>(element_size(dtype));
  DimVector sizes(self.sizes()), strides(self.strides());
  int64_t offset = self.storage_offset();
  TORCH_CHECK(from == to || self.dim() > 0, "self.dim() cannot be 0", as_bits(self, dtype));
  if (from > to) split_elements(self, dtype, from / to, sizes, strides, offset);
  if (from < to) join_elements(self, dtype, to / from, sizes, strides, offset);
  if (!self.requires_grad()) return view_with_dtype(self, dtype, sizes, strides, offset);
  // Of what requires grad, a view would be taken for differentiable.
  auto impl = make_intrusive<TensorImpl>(self.storage(), dtype, self.device(),
                                         self.key_set() - kAutogradKeys);
  impl->set_sizes_and_strides(sizes, strides, offset);
  impl->share_version_with(*self.unsafe_impl());
  return Tensor(std::move(impl));
}

Tensor adjoint(const Tensor& self) {
  TORCH_CHECK(
      self.dim() != 1,
      "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.");
  const Tensor turned = self.dim() == 0 ? self : at::transpose(self, -2, -1);
  return self.is_complex() ? at::conj(turned) : turned;
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

Tensor reshape(const Tensor& self, IntArrayRef shape) {
  const DimVector sizes = infer_size(shape, self.numel());
  if (view_strides(self.sizes(), self.strides(), sizes).has_value()) return at::view(self, sizes);
  return at::view(at::clone(self, MemoryFormat::Contiguous), sizes);
}

Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                  std::optional<int64_t> storage_offset) {
  const int64_t offset = storage_offset.value_or(self.storage_offset());
  TORCH_CHECK(size.size() == stride.size(), "mismatch in length of strides and shape: size ", size,
              ", stride ", stride);
  TORCH_CHECK(offset >= 0, "as_strided: Tensor: invalid storage offset ", offset);
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
  TORCH_CHECK(empty || self.is_meta() || last < available, "setStorage: sizes ", size, ", strides ",
              stride, ", storage offset ", offset, ", and itemsize ", self.itemsize(),
              " requiring a storage size of ", (last + 1) * static_cast<int64_t>(self.itemsize()),
              " are out of bounds for storage of size ", self.storage()->nbytes);
  return alias_with_sizes_and_strides(self, size, stride, offset);
}

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  const int64_t a = wrap_dim(dim0, self.dim()), b = wrap_dim(dim1, self.dim());
  DimVector sizes(self.sizes()), strides(self.strides());
  if (self.dim() > 0) {
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
  }
  return alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
}

Tensor t(const Tensor& self) {
  return self.dim() < 2 ? alias(self) : native::transpose(self, 0, 1);
}
Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) {
  return at::transpose(self, axis0, axis1);
}

Tensor permute(const Tensor& self, IntArrayRef dims) {
  TORCH_CHECK(
      static_cast<int64_t>(dims.size()) == self.dim(),
      "permute(): number of dimensions in the tensor input does not match the length of the "
      "desired ordering of dimensions i.e. input.dim() = ",
      self.dim(), " is not equal to len(dims) = ", dims.size());
  const DimVector order = wrap_dims(dims, self.dim());
  DimVector sizes, strides;
  for (const int64_t d : order) {
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  return alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
}

Tensor expand(const Tensor& self, IntArrayRef size, bool) {
  TORCH_CHECK(static_cast<int64_t>(size.size()) >= self.dim(), "expand(",
              scalar_type_name(self.scalar_type()), "Tensor{", self.sizes(), "}, size=", size,
              "): the number of sizes provided (", size.size(),
              ") must be greater or equal to the number of dimensions in the tensor (", self.dim(),
              ")");
  const int64_t added = static_cast<int64_t>(size.size()) - self.dim();
  DimVector sizes(size.begin(), size.end()), strides(size.size(), 0);
  for (int64_t i = static_cast<int64_t>(size.size()) - 1; i >= 0; --i) {
    const int64_t have = i >= added ? self.sizes()[i - added] : 1;
    if (size[i] == -1) {
      TORCH_CHECK(i >= added,
                  "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing "
                  "dimension ",
                  i);
      sizes[i] = have;
    }
    TORCH_CHECK(sizes[i] >= 0 && (have == sizes[i] || have == 1),
                "The expanded size of the tensor (", sizes[i], ") must match the existing size (",
                have, ") at non-singleton dimension ", i, ".  Target sizes: ", size,
                ".  Tensor sizes: ", self.sizes());
    const int64_t stride =
        i >= added
            ? self.strides()[i - added]
            : (i + 1 < static_cast<int64_t>(size.size()) ? sizes[i + 1] * strides[i + 1] : 1);
    strides[i] = have == 1 && sizes[i] != 1 ? 0 : stride;
  }
  return alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
}

Tensor expand_as(const Tensor& self, const Tensor& other) {
  return at::expand(self, other.sizes());
}
Tensor view_as(const Tensor& self, const Tensor& other) { return at::view(self, other.sizes()); }
Tensor reshape_as(const Tensor& self, const Tensor& other) {
  return at::reshape(self, other.sizes());
}
Tensor broadcast_to(const Tensor& self, IntArrayRef size) { return at::expand(self, size); }

Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start,
             std::optional<int64_t> end, int64_t step) {
  TORCH_CHECK_INDEX(self.dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  const int64_t d = wrap_dim(dim, self.dim());
  const SliceRange range = slice_range(self.sizes()[d], start, end, step);
  DimVector sizes(self.sizes()), strides(self.strides());
  const int64_t offset = self.storage_offset() + range.start * strides[d];
  sizes[d] = range.length;
  strides[d] *= step;
  return alias_with_sizes_and_strides(self, sizes, strides, offset);
}

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  TORCH_CHECK_INDEX(self.dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t size = self.sizes()[d];
  TORCH_CHECK_INDEX(index >= -size && index < size, "select(): index ", index,
                    " out of range for tensor of size ", self.sizes(), " at dimension ", d);
  const int64_t offset =
      self.storage_offset() + (index < 0 ? index + size : index) * self.strides()[d];
  DimVector sizes(self.sizes()), strides(self.strides());
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

namespace {

/// Without the dimensions of size 1 for which drop(d) holds.
template <typename Drop>
Tensor squeeze_where(const Tensor& self, const Drop& drop) {
  DimVector sizes, strides;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.sizes()[d] == 1 && drop(d)) continue;
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  return alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
}

}  // namespace

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
  DimVector sizes(self.sizes()), strides(self.strides());
  const int64_t stride = d < self.dim() ? sizes[d] * strides[d] : 1;
  sizes.insert(sizes.begin() + d, 1);
  strides.insert(strides.begin() + d, stride);
  return alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t row = wrap_dim(dim1, self.dim()), column = wrap_dim(dim2, self.dim());
  TORCH_CHECK(row != column, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int64_t rows = self.sizes()[row], columns = self.sizes()[column];
  const int64_t length = std::max<int64_t>(0, offset >= 0 ? std::min(rows, columns - offset)
                                                          : std::min(rows + offset, columns));
  int64_t start = self.storage_offset();
  if (length > 0)
    start += offset >= 0 ? offset * self.strides()[column] : -offset * self.strides()[row];
  DimVector sizes, strides;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d == row || d == column) continue;
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  sizes.push_back(length);
  strides.push_back(self.strides()[row] + self.strides()[column]);
  return alias_with_sizes_and_strides(self, sizes, strides, start);
}

Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  const int64_t d = wrap_dim(dimension, self.dim());
  const int64_t extent = self.dim() == 0 ? 1 : self.sizes()[d];
  TORCH_CHECK(size >= 0, "size is ", size, " but must be >= 0");
  TORCH_CHECK(size <= extent, "maximum size for tensor at dimension ", d, " is ", extent,
              " but size is ", size);
  TORCH_CHECK(step > 0, "step is ", step, " but must be > 0");
  DimVector sizes(self.sizes()), strides(self.strides());
  sizes.push_back(size);
  strides.push_back(self.dim() == 0 ? 1 : self.strides()[d]);
  if (self.dim() > 0) {
    sizes[d] = (extent - size) / step + 1;
    strides[d] *= step;
  }
  return alias_with_sizes_and_strides(self, sizes, strides, self.storage_offset());
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  const int64_t first = wrap_dim(start_dim, self.dim()), last = wrap_dim(end_dim, self.dim());
  TORCH_CHECK(first <= last, "flatten() has invalid args: start_dim cannot come after end_dim");
  if (self.dim() == 0) return at::reshape(self, {1});
  if (first == last) return self;
  DimVector sizes(self.sizes().begin(), self.sizes().begin() + first);
  int64_t merged = 1;
  for (int64_t d = first; d <= last; ++d) merged *= self.sizes()[d];
  sizes.push_back(merged);
  sizes.append(self.sizes().begin() + last + 1, self.sizes().end());
  return at::reshape(self, sizes);
}

Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  const int64_t d = wrap_dim(dim, self.dim());
  TORCH_CHECK(!sizes.empty(), "unflatten: sizes must be non-empty");
  int64_t known = 1, inferred = 0;
  bool fits = true;
  for (const int64_t size : sizes) {
    if (size == -1) {
      ++inferred;
    } else {
      fits = fits && !__builtin_mul_overflow(known, size, &known);
    }
  }
  const int64_t extent = self.size(d);
  TORCH_CHECK(inferred <= 1, "only one dimension can be inferred");
  TORCH_CHECK(fits && (inferred == 1 ? known > 0 && extent % known == 0 : known == extent),
              "unflatten: Provided sizes ", sizes, " don't multiply up to the size of dim ", d,
              " (", extent, ") in the input tensor");
  DimVector shape(self.sizes().begin(), self.sizes().begin() + d);
  for (const int64_t size : sizes) shape.push_back(size == -1 ? extent / known : size);
  shape.append(self.sizes().begin() + d + 1, self.sizes().end());
  return at::view(self, shape);
}

Tensor ravel(const Tensor& self) { return at::reshape(self.contiguous(), {-1}); }

Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  TORCH_CHECK(source.size() == destination.size(),
              "movedim: Invalid source or destination dims: source (", source,
              " dims) should contain the same number of dims as destination (", destination,
              " dims)");
  auto unique_dims = [&](IntArrayRef dims, const char* name) {
    DimVector wrapped;
    for (const int64_t dim : dims) {
      const int64_t d = wrap_dim(dim, self.dim());
      TORCH_CHECK(std::find(wrapped.begin(), wrapped.end(), d) == wrapped.end(),
                  "movedim: repeated dim in `", name, "` (", dims, ")");
      wrapped.push_back(d);
    }
    return wrapped;
  };
  const DimVector from = unique_dims(source, "source"),
                  to = unique_dims(destination, "destination");
  DimVector order(self.dim(), -1);
  for (size_t i = 0; i < from.size(); ++i) order[to[i]] = from[i];
  int64_t next = 0;
  for (int64_t& d : order) {
    if (d >= 0) continue;
    while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
    d = next++;
  }
  return at::permute(self, order);
}

Tensor movedim_int(const Tensor& self, int64_t source, int64_t destination) {
  return movedim(self, {source}, {destination});
}

}  // namespace at::native
