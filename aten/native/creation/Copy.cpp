// Copies, conversions and the mutations that change what a tensor is rather than its values.
#include "aten/native/declarations/creation/Copy.h"

#include <algorithm>

#include "aten/iteration/MemoryOverlap.h"
#include "aten/iteration/TensorIterator.h"
#include "aten/ops/_to_copy.h"
#include "aten/ops/abs.h"
#include "aten/ops/all.h"
#include "aten/ops/clone.h"
#include "aten/ops/copy.h"
#include "aten/ops/empty_like.h"
#include "aten/ops/eq.h"
#include "aten/ops/fill.h"
#include "aten/ops/isfinite.h"
#include "aten/ops/isnan.h"
#include "aten/ops/item.h"
#include "aten/ops/le.h"
#include "aten/ops/logical_and.h"
#include "aten/ops/logical_or.h"
#include "aten/ops/narrow.h"
#include "aten/ops/ones_like.h"
#include "aten/ops/reshape.h"
#include "aten/ops/to.h"
#include "aten/ops/where.h"

namespace at::native {

Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  Tensor result =
      at::empty_like(self, std::nullopt, std::nullopt, std::nullopt, std::nullopt, memory_format);
  return at::copy_(result, self).as_new();
}

Tensor contiguous(const Tensor& self, MemoryFormat memory_format) {
  TORCH_CHECK(memory_format != MemoryFormat::Preserve,
              "contiguous(): preserve memory format is unsupported by the contiguous operator");
  return self.is_contiguous(memory_format) ? self : at::clone(self, memory_format);
}

Tensor detach(const Tensor& self) {
  auto impl = self.unsafe_impl()->shallow_copy();
  impl->share_version_with(*self.unsafe_impl());
  return Tensor(std::move(impl));
}

Tensor _to_copy(const Tensor& self, ScalarType dtype, Device device,
                std::optional<MemoryFormat> memory_format, bool non_blocking) {
  Tensor result = at::empty_like(self, dtype, std::nullopt, device, std::nullopt, memory_format);
  return at::copy_(result, self, non_blocking).as_new();
}

namespace {

Tensor convert_to(const Tensor& self, ScalarType dtype, Device device, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) {
  const bool same_device =
      self.device().type == device.type &&
      (!device.has_index() || self.device().index == device.index || device.is_cpu());
  const bool same_format =
      !format.has_value() || *format == MemoryFormat::Preserve || self.is_contiguous(*format);
  if (!copy && self.scalar_type() == dtype && same_device && same_format) return self;
  return at::_to_copy(self, dtype, device, format, non_blocking);
}

}  // namespace

Tensor to_dtype(const Tensor& self, ScalarType dtype, bool non_blocking, bool copy,
                std::optional<MemoryFormat> memory_format) {
  return convert_to(self, dtype, self.device(), non_blocking, copy, memory_format);
}
Tensor to_device(const Tensor& self, Device device, std::optional<ScalarType> dtype,
                 bool non_blocking, bool copy, std::optional<MemoryFormat> memory_format) {
  return convert_to(self, dtype.value_or(self.scalar_type()), device, non_blocking, copy,
                    memory_format);
}
Tensor to_other(const Tensor& self, const Tensor& other, bool non_blocking, bool copy,
                std::optional<MemoryFormat> memory_format) {
  return convert_to(self, other.scalar_type(), other.device(), non_blocking, copy, memory_format);
}
Tensor to_dtype_layout(const Tensor& self, std::optional<ScalarType> dtype,
                       std::optional<Layout> layout, std::optional<Device> device,
                       std::optional<bool>, bool non_blocking, bool copy,
                       std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK_NOT_IMPLEMENTED(layout.value_or(Layout::Strided) == Layout::Strided,
                              "to(): conversion to layout ", layout_name(*layout),
                              " is not available");
  return convert_to(self, dtype.value_or(self.scalar_type()), device.value_or(self.device()),
                    non_blocking, copy, memory_format);
}
Tensor to_dense(const Tensor& self, std::optional<ScalarType> dtype,
                std::optional<bool> /*masked_grad: of sparse tensors*/) {
  return self.to(dtype.value_or(self.scalar_type()));
}
Tensor type_as(const Tensor& self, const Tensor& other) {
  return to_other(self, other, false, false, std::nullopt);
}

Tensor to_float32(const Tensor& self, std::optional<MemoryFormat> format) {
  return to_dtype(self, kFloat, false, false, format);
}
Tensor to_float64(const Tensor& self, std::optional<MemoryFormat> format) {
  return to_dtype(self, kDouble, false, false, format);
}
Tensor to_float16(const Tensor& self, std::optional<MemoryFormat> format) {
  return to_dtype(self, kHalf, false, false, format);
}
Tensor to_bfloat16(const Tensor& self, std::optional<MemoryFormat> format) {
  return to_dtype(self, kBFloat16, false, false, format);
}
Tensor to_complex64(const Tensor& self, std::optional<MemoryFormat> format) {
  return to_dtype(self, kComplexFloat, false, false, format);
}
Tensor to_complex128(const Tensor& self, std::optional<MemoryFormat> format) {
  return to_dtype(self, kComplexDouble, false, false, format);
}
Tensor to_complex32(const Tensor& self, std::optional<MemoryFormat> format) {
  return to_dtype(self, kComplexHalf, false, false, format);
}
Tensor to_int64(const Tensor& self, std::optional<MemoryFormat> format) {
  return to_dtype(self, kLong, false, false, format);
}
Tensor to_int32(const Tensor& self, std::optional<MemoryFormat> format) {
  return to_dtype(self, kInt, false, false, format);
}
Tensor to_int16(const Tensor& self, std::optional<MemoryFormat> format) {
  return to_dtype(self, kShort, false, false, format);
}
Tensor to_int8(const Tensor& self, std::optional<MemoryFormat> format) {
  return to_dtype(self, kChar, false, false, format);
}
Tensor to_uint8(const Tensor& self, std::optional<MemoryFormat> format) {
  return to_dtype(self, kByte, false, false, format);
}
Tensor to_bool(const Tensor& self, std::optional<MemoryFormat> format) {
  return to_dtype(self, kBool, false, false, format);
}

Tensor fill_scalar(const Tensor& self, const Scalar& value) {
  return at::fill_(at::clone(self), value).as_new();
}
Tensor fill_with_tensor(const Tensor& self, const Tensor& value) {
  TORCH_CHECK(value.dim() == 0, "fill only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  return at::where(at::ones_like(self, kBool), value.to(self.scalar_type()), self);
}

void fill_tensor(const Tensor& self, const Tensor& value) {
  if (!self.is_meta()) at::fill_(self, value.item());
}

namespace {
template <typename T>
Scalar number_of(T value) {
  constexpr ScalarType type = scalar_type_of<T>;
  if constexpr (c10::is_complex(type)) {
    return Scalar(convert<c10::complex<double>>(value));
  } else if constexpr (is_floating(type)) {
    return Scalar(convert<double>(value));
  } else if constexpr (type == kBool) {
    return Scalar(value);
  } else if constexpr (type == kUInt64) {
    return Scalar::from_unsigned(value);
  } else {
    return Scalar(static_cast<int64_t>(value));
  }
}
}  // namespace

Scalar item(const Tensor& self) {
  TORCH_CHECK(!self.is_meta(), "Tensor.item() cannot be called on meta tensors");
  TORCH_CHECK(self.numel() == 1, "a Tensor with ", self.numel(),
              " elements cannot be converted to Scalar");
  switch (self.scalar_type()) {
#define CASE(cpp, name, python) \
  case ScalarType::name: return number_of(*static_cast<const cpp*>(self.data()));
    TORCH_PY_FORALL_SCALAR_TYPES(CASE)
#undef CASE
    case ScalarType::Undefined: break;
  }
  TORCH_CHECK(false, "item(): tensor has no dtype");
  return Scalar();
}

void resize_(const Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(!self.requires_grad(), "cannot resize variables that require grad");
  resize_tensor(self, size);
  if (memory_format.has_value() && *memory_format != MemoryFormat::Contiguous &&
      *memory_format != MemoryFormat::Preserve) {
    self.unsafe_impl()->set_sizes_and_strides(size, channels_last_strides(size));
  }
}

void set_tensor(const Tensor& self, const Tensor& source) {
  TORCH_CHECK(self.scalar_type() == source.scalar_type(), "set_(): expected a tensor of dtype ",
              self.scalar_type(), ", got ", source.scalar_type());
  TORCH_CHECK(self.device() == source.device(), "set_(): expected a tensor on ", self.device(),
              ", got one on ", source.device());
  self.unsafe_impl()->set_storage(source.storage());
  self.unsafe_impl()->set_sizes_and_strides(source.sizes(), source.strides(),
                                            source.storage_offset());
}

bool is_nonzero(const Tensor& self) {
  TORCH_CHECK(self.numel() != 0, "Boolean value of Tensor with no values is ambiguous");
  TORCH_CHECK(self.numel() == 1, "Boolean value of Tensor with more than one value is ambiguous");
  return at::item(self).to_bool();
}

bool equal(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(
      self.device() == other.device(),
      "equal(): Expected all tensors to be on the same device, but found at least two devices, ",
      self.device(), " and ", other.device(), "!");
  if (self.sizes() != other.sizes()) return false;
  if (!self.is_contiguous() || !other.is_contiguous())
    return at::all(at::eq(self, other)).item().to_bool();
  // By pieces: the first difference is enough.
  constexpr int64_t kPiece = 65536;
  const Tensor a = at::reshape(self, {-1}), b = at::reshape(other, {-1});
  for (int64_t start = 0; start < a.numel(); start += kPiece) {
    const int64_t count = std::min(kPiece, a.numel() - start);
    if (!at::all(at::eq(at::narrow(a, 0, start, count), at::narrow(b, 0, start, count)))
             .item()
             .to_bool())
      return false;
  }
  return true;
}

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  TORCH_CHECK(self.scalar_type() == other.scalar_type(), "isclose(): ", self.scalar_type(),
              " did not match ", other.scalar_type());
  TORCH_CHECK(rtol >= 0 && atol >= 0,
              "isclose(): rtol and atol must not be negative, got rtol=", rtol, ", atol=", atol);
  Tensor close = at::eq(self, other);
  if (equal_nan && (self.is_floating_point() || self.is_complex())) {
    close = at::logical_or(close, at::logical_and(at::isnan(self), at::isnan(other)));
  }
  if (rtol == 0 && atol == 0) return close;
  const ScalarType type = is_integral(self.scalar_type(), true) ? kDouble : self.scalar_type();
  const Tensor a = self.to(type);
  const Tensor b = other.to(type);
  const Tensor error = at::abs(a - b);
  const Tensor allowed = at::abs(b) * Scalar(rtol) + Scalar(atol);
  return at::logical_or(close, at::logical_and(at::isfinite(error), at::le(error, allowed)));
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return at::all(isclose(self, other, rtol, atol, equal_nan)).item().to_bool();
}

}  // namespace at::native
