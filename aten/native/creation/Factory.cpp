// New tensors: uninitialised, filled with one value, or the identity matrix.
#include "aten/native/declarations/creation/Factory.h"
#include "aten/core/PinnedMemory.h"
#include "aten/core/Uninitialized.h"
#include "aten/native/shared/FactoryArguments.h"
#include "aten/ops/diagonal.h"
#include "aten/ops/empty_strided.h"
#include "aten/ops/fill.h"
#include "aten/ops/zero.h"

namespace at::native {

namespace {

Tensor filled(IntArrayRef size, const Scalar& value, ScalarType dtype,
              std::optional<Device> device) {
  Tensor result = empty_tensor(size, dtype, resolved(device));
  return at::fill_(result, value).as_new();
}

/// The dtype of full() where none is given: that of the numbers.
ScalarType inferred(std::initializer_list<const Scalar*> values) {
  ScalarType type = kBool;
  for (const Scalar* value : values) {
    const ScalarType of_value = value->is_unsigned() ? kLong : value->type();
    type = promote_types(type, value->is_floating()  ? default_dtype()
                               : value->is_complex() ? to_complex(default_dtype())
                                                     : of_value);
  }
  return type;
}

/// An uninitialised tensor with the sizes of `self`; `format` determines its strides.
Tensor unfilled_like(const Tensor& self, ScalarType type, Device where, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous || self.is_contiguous(format)) {
    if (self.is_contiguous() && format != MemoryFormat::ChannelsLast &&
        format != MemoryFormat::ChannelsLast3d)
      return empty_tensor(self.sizes(), type, where);
  }

  if (format == MemoryFormat::Contiguous) return empty_tensor(self.sizes(), type, where);
  if (format != MemoryFormat::Preserve)
    return empty_strided_tensor(self.sizes(), channels_last_strides(self.sizes()), type, where);

  // Preserve: the strides of a dense tensor, or the order of the dimensions of any other.
  if (self.is_non_overlapping_and_dense())
    return empty_strided_tensor(self.sizes(), self.strides(), type, where);
  return empty_strided_tensor(self.sizes(), strides_in_order_of(self), type, where);
}

Tensor new_like(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype,
                std::optional<Layout> layout, std::optional<Device> device) {
  check_strided(layout, "new_empty");
  return empty_tensor(size, dtype.value_or(self.scalar_type()),
                      device.has_value() ? resolved(device) : self.device());
}

}  // namespace

Tensor empty(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
             std::optional<Device> device, std::optional<bool> pin_memory,
             std::optional<MemoryFormat> memory_format) {
  check_strided(layout, "empty");
  const ScalarType type = dtype.value_or(default_dtype());
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Contiguous);
  TORCH_CHECK(format != MemoryFormat::Preserve,
              "empty(): unsupported memory format option preserve_format");

  if (pin_memory.value_or(false)) {
    TORCH_CHECK(!device.has_value() || device->is_cpu(),
                "empty(): only dense CPU tensors can be pinned, got device=", *device);
    const DimVector strides =
        format == MemoryFormat::Contiguous ? contiguous_strides(size) : channels_last_strides(size);
    return fill_if_wanted(empty_pinned(size, strides, type));
  }
  if (format == MemoryFormat::Contiguous) {
    return fill_if_wanted(empty_tensor(size, type, resolved(device)));
  }
  return fill_if_wanted(
      empty_strided_tensor(size, channels_last_strides(size), type, resolved(device)));
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, std::optional<ScalarType> dtype,
                     std::optional<Layout> layout, std::optional<Device> device,
                     std::optional<bool>) {
  check_strided(layout, "empty_strided");
  return fill_if_wanted(
      empty_strided_tensor(size, stride, dtype.value_or(default_dtype()), resolved(device)));
}

Tensor empty_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool>,
                  std::optional<MemoryFormat> memory_format) {
  check_strided(layout, "empty_like");
  const Device where = device.has_value() ? resolved(device) : self.device();
  return fill_if_wanted(unfilled_like(self, dtype.value_or(self.scalar_type()), where,
                                      memory_format.value_or(MemoryFormat::Preserve)));
}

Tensor zeros_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool> pin_memory,
                  std::optional<MemoryFormat> memory_format) {
  Tensor result = empty_like(self, dtype, layout, device, pin_memory, memory_format);
  return at::zero_(result).as_new();
}

Tensor full_like(const Tensor& self, const Scalar& fill_value, std::optional<ScalarType> dtype,
                 std::optional<Layout> layout, std::optional<Device> device,
                 std::optional<bool> pin_memory, std::optional<MemoryFormat> memory_format) {
  Tensor result = empty_like(self, dtype, layout, device, pin_memory, memory_format);
  return at::fill_(result, fill_value).as_new();
}

Tensor ones_like(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool> pin_memory,
                 std::optional<MemoryFormat> memory_format) {
  return full_like(self, Scalar(1), dtype, layout, device, pin_memory, memory_format);
}

Tensor zeros(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
             std::optional<Device> device, std::optional<bool>) {
  check_strided(layout, "zeros");
  Tensor result = empty_tensor(size, dtype.value_or(default_dtype()), resolved(device));
  return at::zero_(result).as_new();
}

Tensor ones(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
            std::optional<Device> device, std::optional<bool>) {
  check_strided(layout, "ones");
  return filled(size, Scalar(1), dtype.value_or(default_dtype()), device);
}

Tensor full(IntArrayRef size, const Scalar& fill_value, std::optional<ScalarType> dtype,
            std::optional<Layout> layout, std::optional<Device> device, std::optional<bool>) {
  check_strided(layout, "full");
  return filled(size, fill_value, dtype.value_or(inferred({&fill_value})), device);
}

Tensor scalar_tensor(const Scalar& s, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                     std::optional<Device> device, std::optional<bool>) {
  check_strided(layout, "scalar_tensor");
  return filled({}, s, dtype.value_or(default_dtype()), device);
}

Tensor new_empty(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype,
                 std::optional<Layout> layout, std::optional<Device> device, std::optional<bool>) {
  return fill_if_wanted(new_like(self, size, dtype, layout, device));
}

Tensor new_zeros(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype,
                 std::optional<Layout> layout, std::optional<Device> device, std::optional<bool>) {
  Tensor result = new_like(self, size, dtype, layout, device);
  return at::zero_(result).as_new();
}

Tensor new_full(const Tensor& self, IntArrayRef size, const Scalar& fill_value,
                std::optional<ScalarType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool>) {
  Tensor result = new_like(self, size, dtype, layout, device);
  return at::fill_(result, fill_value).as_new();
}

Tensor new_ones(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype,
                std::optional<Layout> layout, std::optional<Device> device,
                std::optional<bool> pin_memory) {
  return new_full(self, size, Scalar(1), dtype, layout, device, pin_memory);
}

Tensor new_empty_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                         std::optional<ScalarType> dtype, std::optional<Layout> layout,
                         std::optional<Device> device, std::optional<bool>) {
  check_strided(layout, "new_empty_strided");
  const Device where = device.has_value() ? resolved(device) : self.device();
  return fill_if_wanted(
      empty_strided_tensor(size, stride, dtype.value_or(self.scalar_type()), where));
}

Tensor eye_m(int64_t n, int64_t m, std::optional<ScalarType> dtype, std::optional<Layout> layout,
             std::optional<Device> device, std::optional<bool> pin_memory) {
  TORCH_CHECK(n >= 0, "n must be greater or equal to 0, got ", n);
  TORCH_CHECK(m >= 0, "m must be greater or equal to 0, got ", m);

  Tensor result = zeros({n, m}, dtype, layout, device, pin_memory);
  at::fill_(at::diagonal(result), Scalar(1));
  return result.as_new();
}

Tensor eye(int64_t n, std::optional<ScalarType> dtype, std::optional<Layout> layout,
           std::optional<Device> device, std::optional<bool> pin_memory) {
  return eye_m(n, n, dtype, layout, device, pin_memory);
}

Tensor empty_permuted(IntArrayRef size, IntArrayRef physical_layout,
                      std::optional<ScalarType> dtype, std::optional<Layout> layout,
                      std::optional<Device> device, std::optional<bool> pin_memory) {
  const int64_t ndim = static_cast<int64_t>(size.size());
  TORCH_CHECK(physical_layout.size() == size.size(),
              "Number of dimensions in size does not match the length of the physical_layout; i.e. "
              "len(size) = ",
              size.size(), " is not equal to len(physical_layout) = ", physical_layout.size());

  // The sizes in the order of memory.
  DimVector stored;
  for (int64_t i = 0; i < ndim; ++i) {
    const int64_t d = physical_layout[i];
    TORCH_CHECK(d >= 0 && d < ndim, "Dimension out of range (expected to be between 0 and ",
                ndim - 1, ", but got ", d, " at index ", i,
                "); negative dimensions are not supported");
    TORCH_CHECK(size[d] >= 0, "Trying to create tensor with negative dimension ", size[d], ": ",
                size);
    stored.push_back(size[d]);
  }

  // Each dimension gets the stride of its place in memory; -1 marks those without one.
  const DimVector stored_strides = contiguous_strides(stored);
  DimVector strides(ndim, -1);
  for (int64_t i = 0; i < ndim; ++i) {
    TORCH_CHECK(strides[physical_layout[i]] == -1, "Duplicate dim not allowed");
    strides[physical_layout[i]] = stored_strides[i];
  }

  return at::empty_strided(size, strides, dtype, layout, device, pin_memory);
}

}  // namespace at::native
