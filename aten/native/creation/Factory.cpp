// Tensors from nothing.
#include <cmath>
#include <limits>

#include "aten/core/Uninitialized.h"
#include "aten/iteration/TensorIterator.h"
#include "aten/native/declarations/creation/Factory.h"
#include "aten/ops/_arange_fill.h"
#include "aten/ops/_linspace_fill.h"
#include "aten/ops/diagonal.h"
#include "aten/ops/empty.h"
#include "aten/ops/empty_strided.h"
#include "aten/ops/fill.h"
#include "aten/ops/full.h"
#include "aten/ops/zero.h"
#include "aten/ops/zeros.h"
#include "c10/core/ScalarChecks.h"

namespace at::native {

namespace {

void check_strided(std::optional<Layout> layout, const char* op) {
  TORCH_CHECK_NOT_IMPLEMENTED(layout.value_or(Layout::Strided) == Layout::Strided, op, ": layout ",
                              layout_name(*layout), " is not available");
}

/// The device with its index filled in, so that tensors of "cuda" and "cuda:0" compare equal.
Device resolved(std::optional<Device> device) {
  return device.value_or(kCPU).is_cpu() ? kCPU : *device;
}

Tensor filled(IntArrayRef size, const Scalar& value, ScalarType dtype,
              std::optional<Device> device) {
  Tensor result = empty_tensor(size, dtype, resolved(device));
  return at::fill_(result, value).as_new();
}

/// dtype of arange and full when none is given: that of the numbers.
ScalarType inferred(std::initializer_list<const Scalar*> values) {
  ScalarType type = kBool;
  for (const Scalar* value : values) {
    const ScalarType own = value->is_unsigned() ? kLong : value->type();
    type = promote_types(type, value->is_floating()  ? default_dtype()
                               : value->is_complex() ? to_complex(default_dtype())
                                                     : own);
  }
  return type;
}

}  // namespace

Tensor empty(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
             std::optional<Device> device, std::optional<bool> pin_memory,
             std::optional<MemoryFormat> memory_format) {
  check_strided(layout, "empty");
  TORCH_CHECK(!pin_memory.value_or(false),
              "empty(): pinned memory needs an accelerator, and none is available");
  const ScalarType type = dtype.value_or(default_dtype());
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Contiguous);
  TORCH_CHECK(format != MemoryFormat::Preserve,
              "empty(): unsupported memory format option preserve_format");
  if (format == MemoryFormat::Contiguous)
    return fill_if_wanted(empty_tensor(size, type, resolved(device)));
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

namespace {

/// Layout of what is like `self`.
Tensor unfilled_like(const Tensor& self, ScalarType type, Device where, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous || self.is_contiguous(format)) {
    if (self.is_contiguous() && format != MemoryFormat::ChannelsLast &&
        format != MemoryFormat::ChannelsLast3d)
      return empty_tensor(self.sizes(), type, where);
  }
  if (format == MemoryFormat::Contiguous) return empty_tensor(self.sizes(), type, where);
  if (format != MemoryFormat::Preserve)
    return empty_strided_tensor(self.sizes(), channels_last_strides(self.sizes()), type, where);
  if (self.is_non_overlapping_and_dense())
    return empty_strided_tensor(self.sizes(), self.strides(), type, where);
  return empty_strided_tensor(self.sizes(), strides_in_order_of(self), type, where);
}

}  // namespace

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

namespace {
Tensor new_like(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype,
                std::optional<Layout> layout, std::optional<Device> device) {
  check_strided(layout, "new_empty");
  return empty_tensor(size, dtype.value_or(self.scalar_type()),
                      device.has_value() ? resolved(device) : self.device());
}
}  // namespace

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

namespace {

/// ceil((end - start) / step), in integers when all three are.
int64_t arange_length(const Scalar& start, const Scalar& end, const Scalar& step) {
  TORCH_CHECK(!start.is_complex() && !end.is_complex() && !step.is_complex(),
              "arange(): complex bounds are not supported, got start=", start, ", end=", end);
  const double first = start.to_double(), last = end.to_double(), width = step.to_double();
  TORCH_CHECK(width != 0, "step must be nonzero");
  TORCH_CHECK(std::isfinite(first) && std::isfinite(last), "unsupported range: ", first, " -> ",
              last);
  TORCH_CHECK((width > 0 && last >= first) || (width < 0 && last <= first),
              "upper bound and lower bound inconsistent with step sign");
  if (start.is_integral(true) && end.is_integral(true) && step.is_integral(true)) {
    const int64_t s = step.to_long();
    int64_t distance = 0;
    // Nor can the least integer be divided by -1.
    TORCH_CHECK(!__builtin_sub_overflow(end.to_long(), start.to_long(), &distance) &&
                    !(s == -1 && distance == std::numeric_limits<int64_t>::min()),
                "arange(): invalid size, possible overflow? start=", start, ", end=", end,
                ", step=", step);
    return distance / s + (distance % s != 0);
  }
  const double length = std::ceil((last - first) / width);
  TORCH_CHECK(length <= 9.0e18, "arange(): invalid size, possible overflow: ", length, " elements");
  return static_cast<int64_t>(length);
}

}  // namespace

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              std::optional<ScalarType> dtype, std::optional<Layout> layout,
              std::optional<Device> device, std::optional<bool>) {
  check_strided(layout, "arange");
  TORCH_CHECK_NOT_IMPLEMENTED(!dtype.has_value() || (*dtype != kBool && !c10::is_complex(*dtype)),
                              "\"arange\" not implemented for '",
                              scalar_type_name(dtype.value_or(kBool)), "'");
  if (dtype == kLong &&
      !(start.is_integral(true) && end.is_integral(true) && step.is_integral(true))) {
    // An int64 result counts with the integer parts; narrower ones have as many elements as a
    // float64 one.
    arange_length(start, end, step);
    TORCH_CHECK_VALUE(step.unchecked_to<int64_t>() != 0, "step must be nonzero: ", step,
                      " is 0 as an integer");
    return arange(Scalar(start.unchecked_to<int64_t>()), Scalar(end.unchecked_to<int64_t>()),
                  Scalar(step.unchecked_to<int64_t>()), dtype, layout, device, std::nullopt);
  }
  const bool integral = start.is_integral(true) && end.is_integral(true) && step.is_integral(true);
  const int64_t length = arange_length(start, end, step);
  Tensor result =
      empty_tensor({length}, dtype.value_or(integral ? kLong : default_dtype()), resolved(device));
  return at::_arange_fill_(result, start, step).as_new();
}
Tensor arange_start(const Scalar& start, const Scalar& end, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device,
                    std::optional<bool> pin_memory) {
  return arange(start, end, Scalar(1), dtype, layout, device, pin_memory);
}
Tensor arange_end(const Scalar& end, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool> pin_memory) {
  return arange(Scalar(0), end, Scalar(1), dtype, layout, device, pin_memory);
}

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                std::optional<ScalarType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool>) {
  check_strided(layout, "linspace");
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative, got ", steps);
  const ScalarType type = dtype.value_or(
      start.is_complex() || end.is_complex() ? to_complex(default_dtype()) : default_dtype());
  TORCH_CHECK(!(start.is_complex() || end.is_complex()) || c10::is_complex(type),
              "torch.linspace(): inferred dtype ", to_complex(default_dtype()),
              " can't be safely cast to passed dtype ", type);
  c10::check_representable(start, type);
  c10::check_representable(end, type);
  Tensor result = empty_tensor({steps}, type, resolved(device));
  return at::_linspace_fill_(result, start, end).as_new();
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

TensorSpec triangle_shape(const Tensor& self, int64_t) {
  return {DimVector(self.sizes()), self.scalar_type(), self.device()};
}

}  // namespace at::native
