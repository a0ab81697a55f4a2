// The debugging switch that fills new, uninitialised tensors with nan or the largest integer.
#include "aten/core/Uninitialized.h"

#include <atomic>
#include <limits>

#include "aten/ops/fill.h"

namespace at {

namespace {

std::atomic<bool> enabled{false};

Scalar largest_integer(ScalarType dtype) {
  const int bits = 8 * static_cast<int>(element_size(dtype));
  if (dtype == kBool) return true;
  if (!c10::is_signed(dtype))
    return Scalar::from_unsigned(std::numeric_limits<uint64_t>::max() >> (64 - bits));
  return static_cast<int64_t>(std::numeric_limits<int64_t>::max() >> (64 - bits));
}

}  // namespace

void set_fill_uninitialized(bool value) { enabled.store(value, std::memory_order_relaxed); }

bool fills_uninitialized() { return enabled.load(std::memory_order_relaxed); }

Tensor fill_if_wanted(Tensor tensor) {
  if (!fills_uninitialized() || tensor.is_meta()) return tensor;
  const bool is_real = is_floating(tensor.scalar_type()) || is_complex(tensor.scalar_type());
  return at::fill_(tensor, is_real ? Scalar(std::numeric_limits<double>::quiet_NaN())
                                   : largest_integer(tensor.scalar_type()))
      .as_new();
}

}  // namespace at
