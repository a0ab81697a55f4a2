// Tensors of numbers that follow a rule.
#include <algorithm>
#include <cmath>
#include <limits>

#include "aten/native/declarations/creation/Ranges.h"
#include "aten/ops/_arange_fill.h"
#include "aten/ops/cat.h"
#include "aten/ops/cumprod.h"
#include "aten/ops/empty.h"
#include "aten/ops/empty_like.h"
#include "aten/ops/empty_strided.h"
#include "aten/ops/expand.h"
#include "aten/ops/flip.h"
#include "aten/ops/item.h"
#include "aten/ops/linspace.h"
#include "aten/ops/logspace.h"
#include "aten/ops/new_ones.h"
#include "aten/ops/pow.h"
#include "aten/ops/random.h"
#include "aten/ops/unsqueeze.h"

namespace at::native {

// ---- evenly spaced
// ------------------------------------------------------------

Tensor range_step(const Scalar& start, const Scalar& end, const Scalar& step,
                  std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool> pin_memory) {
  TORCH_CHECK(!start.is_complex() && !end.is_complex() && !step.is_complex(),
              "range(): complex bounds are not supported, got start=", start, ", end=", end,
              ", step=", step);
  const ScalarType type = dtype.value_or(default_dtype());
  TORCH_CHECK_NOT_IMPLEMENTED(!c10::is_complex(type) && type != kBool,
                              "\"range\" not implemented for '", scalar_type_name(type), "'");
  if (is_integral(type, false) &&
      !(start.is_integral(true) && end.is_integral(true) && step.is_integral(true))) {
    // An integer result counts with the integer parts.
    return range_step(Scalar(start.unchecked_to<int64_t>()), Scalar(end.unchecked_to<int64_t>()),
                      Scalar(step.unchecked_to<int64_t>()), dtype, layout, device, pin_memory);
  }
  const double first = start.to_double(), last = end.to_double(), width = step.to_double();
  TORCH_CHECK(width != 0, "step must be nonzero");
  TORCH_CHECK(std::isfinite(first) && std::isfinite(last), "unsupported range: ", first, " -> ",
              last);
  TORCH_CHECK((width > 0 && last >= first) || (width < 0 && last <= first),
              "upper bound and lower bound inconsistent with step sign");
  const double length = std::floor((last - first) / width) + 1;
  TORCH_CHECK(length <= 9.0e18, "range(): invalid size, possible overflow: ", length, " elements");
  Tensor result = at::empty({static_cast<int64_t>(length)}, type, layout, device, pin_memory);
  return at::_arange_fill_(result, start, step).as_new();
}

Tensor range(const Scalar& start, const Scalar& end, std::optional<ScalarType> dtype,
             std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory) {
  return range_step(start, end, Scalar(1), dtype, layout, device, pin_memory);
}

namespace {

/// A result without values takes bounds without values.
Scalar bound(const char* op, const char* name, const Tensor& tensor, std::optional<Device> device) {
  TORCH_CHECK(tensor.dim() == 0, op, " only supports 0-dimensional start and end tensors, but got ",
              name, " with ", tensor.dim(), " dimension(s).");
  if (!tensor.is_meta() || !device.has_value() || !device->is_meta()) return tensor.item();
  return tensor.is_complex() ? Scalar(c10::complex<double>(0, 0)) : Scalar(0.0);
}

}  // namespace

Tensor linspace_tensor_tensor(const Tensor& start, const Tensor& end, int64_t steps,
                              std::optional<ScalarType> dtype, std::optional<Layout> layout,
                              std::optional<Device> device, std::optional<bool> pin_memory) {
  return at::linspace(bound("linspace", "start", start, device),
                      bound("linspace", "end", end, device), steps, dtype, layout, device,
                      pin_memory);
}
Tensor linspace_tensor_scalar(const Tensor& start, const Scalar& end, int64_t steps,
                              std::optional<ScalarType> dtype, std::optional<Layout> layout,
                              std::optional<Device> device, std::optional<bool> pin_memory) {
  return at::linspace(bound("linspace", "start", start, device), end, steps, dtype, layout, device,
                      pin_memory);
}
Tensor linspace_scalar_tensor(const Scalar& start, const Tensor& end, int64_t steps,
                              std::optional<ScalarType> dtype, std::optional<Layout> layout,
                              std::optional<Device> device, std::optional<bool> pin_memory) {
  return at::linspace(start, bound("linspace", "end", end, device), steps, dtype, layout, device,
                      pin_memory);
}

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base,
                std::optional<ScalarType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool> pin_memory) {
  const bool is_complex_bound = start.is_complex() || end.is_complex();
  const ScalarType type =
      dtype.value_or(is_complex_bound ? to_complex(default_dtype()) : default_dtype());
  TORCH_CHECK(!is_complex_bound || c10::is_complex(type),
              "torch.logspace(): complex bounds cannot be cast to the passed dtype ",
              scalar_type_name(type));
  // In double precision, and rounded once.
  const ScalarType wide = c10::is_complex(type) ? kComplexDouble : kDouble;
  const Tensor exponents = at::linspace(start, end, steps, wide, layout, device, pin_memory);
  return at::pow(Scalar(base), exponents).to(type).as_new();
}
Tensor logspace_tensor_tensor(const Tensor& start, const Tensor& end, int64_t steps, double base,
                              std::optional<ScalarType> dtype, std::optional<Layout> layout,
                              std::optional<Device> device, std::optional<bool> pin_memory) {
  return logspace(bound("logspace", "start", start, device), bound("logspace", "end", end, device),
                  steps, base, dtype, layout, device, pin_memory);
}
Tensor logspace_tensor_scalar(const Tensor& start, const Scalar& end, int64_t steps, double base,
                              std::optional<ScalarType> dtype, std::optional<Layout> layout,
                              std::optional<Device> device, std::optional<bool> pin_memory) {
  return logspace(bound("logspace", "start", start, device), end, steps, base, dtype, layout,
                  device, pin_memory);
}
Tensor logspace_scalar_tensor(const Scalar& start, const Tensor& end, int64_t steps, double base,
                              std::optional<ScalarType> dtype, std::optional<Layout> layout,
                              std::optional<Device> device, std::optional<bool> pin_memory) {
  return logspace(start, bound("logspace", "end", end, device), steps, base, dtype, layout, device,
                  pin_memory);
}

// ---- positions
// ------------------------------------------------------------

namespace {

using Wide = __int128;  // sizes and offsets come unchecked

/// The sum of clamp(k, 0, columns) over k up to m.
Wide clamped_sum(Wide m, Wide columns) {
  if (m <= 0) return 0;
  return m <= columns ? m * (m + 1) / 2 : columns * (columns + 1) / 2 + (m - columns) * columns;
}

int64_t clamped(Wide value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : static_cast<int64_t>(value);
}

/// Rows and columns of the elements on and below the diagonal (`lower`), or on and above it.
Tensor triangle_positions(const char* op, bool lower, int64_t rows, int64_t columns, int64_t offset,
                          std::optional<ScalarType> dtype, std::optional<Layout> layout,
                          std::optional<Device> device) {
  TORCH_CHECK(rows >= 0, "row must be non-negative, got ", rows);
  TORCH_CHECK(columns >= 0, "col must be non-negative, got ", columns);
  const ScalarType type = dtype.value_or(kLong);
  TORCH_CHECK_NOT_IMPLEMENTED(layout.value_or(Layout::Strided) == Layout::Strided, op, ": layout ",
                              layout_name(*layout), " is not available");
  TORCH_CHECK_NOT_IMPLEMENTED(type == kLong || type == kInt, "\"", op, "\" not implemented for '",
                              scalar_type_name(type), "'");
  const Wide below = clamped_sum(Wide(rows) + offset, columns) - clamped_sum(offset, columns);
  const Wide strictly_below =
      clamped_sum(Wide(rows) + offset - 1, columns) - clamped_sum(Wide(offset) - 1, columns);
  const Wide wanted = lower ? below : Wide(rows) * columns - strictly_below;
  TORCH_CHECK(wanted <= std::numeric_limits<int64_t>::max() / 32, op,
              "(): the result has too many elements for a matrix of ", rows, " x ", columns);
  const auto count = static_cast<int64_t>(wanted);
  if (device.has_value() && !device->is_cpu()) return at::empty({2, count}, type, layout, device);
  const Tensor result = empty_tensor({2, count}, kLong, kCPU);
  int64_t *to_row = result.data_ptr<int64_t>(), *to_column = to_row + count;
  // Only rows that have elements: there may be far more without.
  const int64_t first_row = lower ? clamped(-Wide(offset), 0, rows) : 0,
                end_row = lower ? rows : clamped(Wide(columns) - offset, 0, rows);
  for (int64_t row = first_row; columns > 0 && row < end_row; ++row) {
    const int64_t begin = lower ? 0 : clamped(Wide(row) + offset, 0, columns);
    const int64_t end = lower ? clamped(Wide(row) + offset + 1, 0, columns) : columns;
    for (int64_t column = begin; column < end; ++column) {
      *to_row++ = row;
      *to_column++ = column;
    }
  }
  return result.to(type);
}

}  // namespace

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device,
                    std::optional<bool>) {
  return triangle_positions("tril_indices", true, row, col, offset, dtype, layout, device);
}

Tensor triu_indices(int64_t row, int64_t col, int64_t offset, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device,
                    std::optional<bool>) {
  return triangle_positions("triu_indices", false, row, col, offset, dtype, layout, device);
}

// ---- others
// ------------------------------------------------------------

Tensor vander(const Tensor& x, std::optional<int64_t> N, bool increasing) {
  TORCH_CHECK(x.dim() == 1, "x must be a one-dimensional tensor.");
  const int64_t columns = N.value_or(x.numel());
  TORCH_CHECK(columns >= 0, "N must be non-negative.");
  const Tensor base = is_integral(x.scalar_type(), true) ? x.to(kLong) : x;
  const Tensor ones = at::new_ones(base, {x.numel(), std::min<int64_t>(columns, 1)});
  if (columns < 2) return ones;
  const Tensor powers =
      at::cumprod(at::expand(at::unsqueeze(base, 1), {x.numel(), columns - 1}), 1);
  const Tensor result = at::cat({ones, powers}, 1);
  return increasing ? result : at::flip(result, {1});
}

Tensor empty_permuted(IntArrayRef size, IntArrayRef physical_layout,
                      std::optional<ScalarType> dtype, std::optional<Layout> layout,
                      std::optional<Device> device, std::optional<bool> pin_memory) {
  const int64_t ndim = static_cast<int64_t>(size.size());
  TORCH_CHECK(physical_layout.size() == size.size(),
              "Number of dimensions in size does not match the length of the physical_layout; i.e. "
              "len(size) = ",
              size.size(), " is not equal to len(physical_layout) = ", physical_layout.size());
  DimVector stored, strides(ndim, -1);
  for (int64_t i = 0; i < ndim; ++i) {
    const int64_t d = physical_layout[i];
    TORCH_CHECK(d >= 0 && d < ndim, "Dimension out of range (expected to be between 0 and ",
                ndim - 1, ", but got ", d, " at index ", i,
                "); negative dimensions are not supported");
    TORCH_CHECK(size[d] >= 0, "Trying to create tensor with negative dimension ", size[d], ": ",
                size);
    stored.push_back(size[d]);
  }
  const DimVector stored_strides = contiguous_strides(stored);
  for (int64_t i = 0; i < ndim; ++i) {
    TORCH_CHECK(strides[physical_layout[i]] == -1, "Duplicate dim not allowed");
    strides[physical_layout[i]] = stored_strides[i];
  }
  return at::empty_strided(size, strides, dtype, layout, device, pin_memory);
}

#define LIKE_OPTIONS                                                                           \
  std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device, \
      std::optional<bool> pin_memory, std::optional<MemoryFormat> memory_format

Tensor randint_like_low_generator(const Tensor& self, int64_t low, int64_t high,
                                  Generator* generator, LIKE_OPTIONS) {
  return at::random_(at::empty_like(self, dtype, layout, device, pin_memory, memory_format), low,
                     high, generator)
      .as_new();
}

Tensor randint_like_generator(const Tensor& self, int64_t high, Generator* generator,
                              LIKE_OPTIONS) {
  return randint_like_low_generator(self, 0, high, generator, dtype, layout, device, pin_memory,
                                    memory_format);
}

Tensor randint_like_tensor_generator(const Tensor& self, const Tensor& high, Generator* generator,
                                     LIKE_OPTIONS) {
  const bool is_meta = self.is_meta() && high.is_meta();  // no values to be drawn
  TORCH_CHECK(high.dim() == 0 && (high.is_cpu() || is_meta),
              "high must be a scalar tensor and on CPU");
  if (is_meta) return at::empty_like(self, dtype, layout, device, pin_memory, memory_format);
  const int64_t limit = high.item().to<int64_t>();
  return randint_like_low_generator(self, 0, limit, generator, dtype, layout, device, pin_memory,
                                    memory_format);
}

Tensor randint_like_low(const Tensor& self, int64_t low, int64_t high, LIKE_OPTIONS) {
  return randint_like_low_generator(self, low, high, nullptr, dtype, layout, device, pin_memory,
                                    memory_format);
}

Tensor randint_like(const Tensor& self, int64_t high, LIKE_OPTIONS) {
  return randint_like_low_generator(self, 0, high, nullptr, dtype, layout, device, pin_memory,
                                    memory_format);
}

Tensor randint_like_tensor(const Tensor& self, const Tensor& high, LIKE_OPTIONS) {
  return randint_like_tensor_generator(self, high, nullptr, dtype, layout, device, pin_memory,
                                       memory_format);
}

#undef LIKE_OPTIONS

}  // namespace at::native
