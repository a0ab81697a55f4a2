// Conversions to another dtype or device, and to Python numbers.
#include "aten/native/declarations/creation/Conversion.h"
#include "aten/ops/_to_copy.h"
#include "aten/ops/copy.h"
#include "aten/ops/empty_like.h"
#include "aten/ops/item.h"
#include "c10/core/DeviceHooks.h"

namespace at::native {

namespace {

Tensor convert_to(const Tensor& self, ScalarType dtype, Device device, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) {
  const Device target = resolved(device);
  const bool same_device =
      self.device().type == target.type &&
      (!target.has_index() || self.device().index == target.index || target.is_cpu());
  const bool same_format =
      !format.has_value() || *format == MemoryFormat::Preserve || self.is_contiguous(*format);

  if (!copy && self.scalar_type() == dtype && same_device && same_format) return self;
  return at::_to_copy(self, dtype, target, format, non_blocking);
}

/// An element as a number of the widest type of its kind.
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

Tensor _to_copy(const Tensor& self, ScalarType dtype, Device device,
                std::optional<MemoryFormat> memory_format, bool non_blocking) {
  Tensor result = at::empty_like(self, dtype, std::nullopt, device, std::nullopt, memory_format);
  return at::copy_(result, self, non_blocking).as_new();
}

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
                std::optional<bool> /*masked_grad: for sparse tensors*/) {
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

bool is_nonzero(const Tensor& self) {
  TORCH_CHECK(self.numel() != 0, "Boolean value of Tensor with no values is ambiguous");
  TORCH_CHECK(self.numel() == 1, "Boolean value of Tensor with more than one value is ambiguous");
  return at::item(self).to_bool();
}

}  // namespace at::native
