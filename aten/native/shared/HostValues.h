#pragma once
// Tensors of numbers that a composite, or the program, computes on the host.
#include "aten/core/Allocation.h"
#include "aten/ops/lift_fresh.h"
#include "c10/dispatch/OperatorEntry.h"

namespace at::native {

/// A tensor that was just filled, for use as an argument of operators: dispatch modes get to know
/// it. See Note [Allocations seen by modes].
inline Tensor lifted(Tensor tensor) {
  const bool is_seen = c10::effective_keys({}).has(DispatchKey::Python);
  return is_seen ? at::lift_fresh(tensor) : tensor;
}

/// Whether the elements of a tensor can be read: not those of a meta tensor, nor of a tensor that
/// stands for another. Checks of elements leave such tensors alone.
inline bool has_elements(const Tensor& tensor) {
  return !tensor.is_meta() && (tensor.storage() || tensor.layout() != Layout::Strided);
}

}  // namespace at::native
