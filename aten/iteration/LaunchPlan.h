// LaunchPlan: what a device kernel has to know of a TensorIterator, as plain data.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "c10/core/ScalarType.h"
#include "c10/util/Export.h"

namespace at {

class TensorIterator;
using TensorIteratorBase = TensorIterator;

/// One operand of a launch: device memory, or a number that travels in the launch's arguments.
struct LaunchOperand {
  char* data = nullptr;  // null for a number
  ScalarType dtype = ScalarType::Undefined;
  bool is_number = false;
  bool is_wrapped_number = false;             // a Python number
  std::optional<float> unrounded{};           // see TensorIterator::unrounded_number
  alignas(16) unsigned char number[16] = {};  // one element of `dtype`

  template <class T>
  T number_as() const {
    T value;
    std::memcpy(&value, number, sizeof(T));
    return value;
  }
};

/// The coalesced loop of a TensorIterator. Files compiled for a device include this instead of the
/// iterator, whose header costs them more than their kernels.
struct LaunchPlan {
  static constexpr int kMaxOperands = 8;
  static constexpr int kMaxDims = 12;
  /// Bytes that the elements of one operand may span in one launch, so that 32 bits index them.
  static constexpr int64_t kMaxSpan = (int64_t{1} << 31) - 1;

  const char* op_name = "";
  ScalarType common_dtype = ScalarType::Undefined;
  int operands = 0;
  int dims = 0;
  int64_t numel = 0;
  int64_t sizes[kMaxDims] = {};                  // fastest dimension first
  int64_t strides[kMaxOperands][kMaxDims] = {};  // bytes; 0 for numbers
  LaunchOperand operand[kMaxOperands];

  ScalarType dtype(int k = 0) const { return operand[k].dtype; }
  std::optional<float> unrounded_number(int k) const { return operand[k].unrounded; }

  /// Bytes between the first byte of the lowest element and the last of the highest.
  int64_t span(int k) const {
    int64_t bytes = static_cast<int64_t>(element_size(operand[k].dtype));
    for (int d = 0; d < dims; ++d) {
      const int64_t stride = strides[k][d] < 0 ? -strides[k][d] : strides[k][d];
      bytes += stride * (sizes[d] - 1);
    }
    return bytes;
  }

  /// Indices [begin, end) of dimension d.
  LaunchPlan slice(int d, int64_t begin, int64_t end) const {
    LaunchPlan part = *this;
    part.numel = numel / sizes[d] * (end - begin);
    part.sizes[d] = end - begin;
    for (int k = 0; k < operands; ++k) {
      if (!operand[k].is_number) part.operand[k].data += begin * strides[k][d];
    }
    return part;
  }
};

/// The plan of `iter`. Operands that are 0-dim CPU tensors become numbers; all others must be on
/// the iterator's device. Throws if more than kMaxDims dimensions remain.
TORCH_PY_API LaunchPlan launch_plan(const TensorIterator& iter);

/// The plan of a loop over the result of `iter` alone, for a reduction of zero elements.
TORCH_PY_API LaunchPlan result_plan(const TensorIterator& iter);

namespace detail {

/// The dimension to halve: the one along which operands extend furthest, or that with the most
/// elements if there are too many of these.
inline int widest_dimension(const LaunchPlan& plan) {
  int widest = 0;
  int64_t most = -1;
  for (int d = 0; d < plan.dims; ++d) {
    int64_t extent = plan.sizes[d] - 1;
    for (int k = 0; k < plan.operands; ++k) {
      const int64_t stride = plan.strides[k][d] < 0 ? -plan.strides[k][d] : plan.strides[k][d];
      if (stride * (plan.sizes[d] - 1) > extent) extent = stride * (plan.sizes[d] - 1);
    }
    if (plan.sizes[d] > 1 && extent > most) {
      most = extent;
      widest = d;
    }
  }
  return widest;
}

inline bool fits(const LaunchPlan& plan, int64_t limit) {
  bool fits = plan.numel <= limit;
  for (int k = 0; k < plan.operands; ++k) fits = fits && plan.span(k) <= limit;
  return fits;
}

}  // namespace detail

/// Calls f(part) for parts of `plan` in which neither the number of elements nor the span of an
/// operand exceeds `limit`. Only tests pass another limit.
template <class F>
void for_each_part(const LaunchPlan& plan, const F& f, int64_t limit = LaunchPlan::kMaxSpan) {
  if (plan.numel == 0) return;
  if (plan.numel == 1 || detail::fits(plan, limit)) return f(plan);

  // Halves of a long dimension begin at whole packs.
  constexpr int64_t kAligned = 64;
  const int d = detail::widest_dimension(plan);
  int64_t half = plan.sizes[d] / 2;
  if (half > kAligned) half -= half % kAligned;

  for_each_part(plan.slice(d, 0, half), f, limit);
  for_each_part(plan.slice(d, half, plan.sizes[d]), f, limit);
}

}  // namespace at
