#pragma once
// Maps uint16, uint32 and uint64 to int64 in the same order, for operators that compare integers.
#include <limits>

#include "aten/core/Tensor.h"
#include "aten/ops/bitwise_xor.h"

namespace at::native {

namespace unsigned_order {

/// Flips the highest bit, which is the sign of int64: the order of uint64 becomes that of int64.
inline Tensor flipped(const Tensor& tensor) {
  return at::bitwise_xor(tensor, Scalar(std::numeric_limits<int64_t>::min()));
}

}  // namespace unsigned_order

inline Tensor to_signed_order(const Tensor& tensor) {
  const Tensor keys = tensor.to(kLong);
  return tensor.scalar_type() == kUInt64 ? unsigned_order::flipped(keys) : keys;
}

inline Tensor from_signed_order(const Tensor& keys, ScalarType dtype) {
  return (dtype == kUInt64 ? unsigned_order::flipped(keys) : keys).to(dtype);
}

}  // namespace at::native
