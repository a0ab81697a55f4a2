// Numbers with equal steps or equal ratios: arange, range, linspace and logspace.
#include <cmath>
#include <limits>

#include "aten/Dispatch.h"
#include "aten/native/declarations/creation/Ranges.h"
#include "aten/native/shared/FactoryArguments.h"
#include "aten/native/shared/Neighbours.h"
#include "aten/ops/_arange_fill.h"
#include "aten/ops/_linspace_fill.h"
#include "aten/ops/empty.h"
#include "aten/ops/linspace.h"
#include "aten/ops/pow.h"
#include "c10/core/ScalarChecks.h"

namespace at::native {

namespace {

/// (end - start) / step, for finite bounds and steps that lead from the first to the second.
double steps_between(const Scalar& start, const Scalar& end, const Scalar& step) {
  const double first = start.to_double();
  const double last = end.to_double();
  const double width = step.to_double();
  TORCH_CHECK(width != 0, "step must be nonzero");
  TORCH_CHECK(std::isfinite(first) && std::isfinite(last), "unsupported range: ", first, " -> ",
              last);
  TORCH_CHECK((width > 0 && last >= first) || (width < 0 && last <= first),
              "upper bound and lower bound inconsistent with step sign");

  return (last - first) / width;
}

/// ceil((end - start) / step), computed in integers if all three are.
int64_t arange_length(const Scalar& start, const Scalar& end, const Scalar& step) {
  TORCH_CHECK(!start.is_complex() && !end.is_complex() && !step.is_complex(),
              "arange(): complex bounds are not supported, got start=", start, ", end=", end);
  const double steps = steps_between(start, end, step);

  if (start.is_integral(true) && end.is_integral(true) && step.is_integral(true)) {
    const int64_t divisor = step.to_long();
    int64_t distance = 0;
    // The least integer divided by -1 overflows, too.
    TORCH_CHECK(!__builtin_sub_overflow(end.to_long(), start.to_long(), &distance) &&
                    !(divisor == -1 && distance == std::numeric_limits<int64_t>::min()),
                "arange(): invalid size, possible overflow? start=", start, ", end=", end,
                ", step=", step);
    return distance / divisor + (distance % divisor != 0);
  }

  const double length = std::ceil(steps);
  TORCH_CHECK(length <= 9.0e18, "arange(): invalid size, possible overflow: ", length, " elements");
  return static_cast<int64_t>(length);
}

/// The number in a tensor that bounds a range. A meta result accepts meta bounds, read as 0.
Scalar bound(const char* op, const char* name, const Tensor& tensor, std::optional<Device> device) {
  TORCH_CHECK(tensor.dim() == 0, op, " only supports 0-dimensional start and end tensors, but got ",
              name, " with ", tensor.dim(), " dimension(s).");

  if (!tensor.is_meta() || !device.has_value() || !device->is_meta()) return tensor.item();
  return tensor.is_complex() ? Scalar(c10::complex<double>(0, 0)) : Scalar(0.0);
}

/// The number as an integer dtype holds it: without its fraction, and modulo the dtype's range.
Scalar in_dtype(const Scalar& number, ScalarType type) {
  Scalar result;
  AT_DISPATCH_INTEGRAL(type, "logspace",
                       [&] { result = Scalar(static_cast<int64_t>(number.to<scalar_t>())); });
  return result;
}

}  // namespace

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              std::optional<ScalarType> dtype, std::optional<Layout> layout,
              std::optional<Device> device, std::optional<bool>) {
  check_strided(layout, "arange");
  TORCH_CHECK_NOT_IMPLEMENTED(!dtype.has_value() || (*dtype != kBool && !c10::is_complex(*dtype)),
                              "\"arange\" not implemented for '",
                              scalar_type_name(dtype.value_or(kBool)), "'");

  const bool integral = start.is_integral(true) && end.is_integral(true) && step.is_integral(true);
  if (dtype == kLong && !integral) {
    // An int64 result counts with the integer parts; results of narrower integer dtypes have as
    // many elements as a float64 one.
    arange_length(start, end, step);
    TORCH_CHECK_VALUE(step.unchecked_to<int64_t>() != 0, "step must be nonzero: ", step,
                      " is 0 as an integer");
    return arange(Scalar(start.unchecked_to<int64_t>()), Scalar(end.unchecked_to<int64_t>()),
                  Scalar(step.unchecked_to<int64_t>()), dtype, layout, device, std::nullopt);
  }

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
    // A result of an integer dtype counts with the integer parts.
    return range_step(Scalar(start.unchecked_to<int64_t>()), Scalar(end.unchecked_to<int64_t>()),
                      Scalar(step.unchecked_to<int64_t>()), dtype, layout, device, pin_memory);
  }

  const double length = std::floor(steps_between(start, end, step)) + 1;
  TORCH_CHECK(length <= 9.0e18, "range(): invalid size, possible overflow: ", length, " elements");

  Tensor result = at::empty({static_cast<int64_t>(length)}, type, layout, device, pin_memory);
  return at::_arange_fill_(result, start, step).as_new();
}

Tensor range(const Scalar& start, const Scalar& end, std::optional<ScalarType> dtype,
             std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory) {
  return range_step(start, end, Scalar(1), dtype, layout, device, pin_memory);
}

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

  if (is_integral(type, false) && steps > 1) {
    // The bounds lose their fractions first, the powers between them afterwards.
    const Scalar first = in_dtype(start, type);
    const Scalar last = in_dtype(end, type);
    const Tensor exponents = at::linspace(first, last, steps, kDouble, layout, device, pin_memory);
    return at::pow(Scalar(base), exponents).to(type).as_new();
  }

  // Computed in double precision and rounded once.
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

}  // namespace at::native
