#pragma once
// Tensors of numbers that a composite, or the program, computes on the host.
#include "aten/core/Allocation.h"
#include "aten/ops/_readable.h"
#include "aten/ops/all.h"
#include "aten/ops/item.h"
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

/// Whether a check of the elements has any to read, if only those of the members of a batch.
inline bool can_be_checked(const Tensor& tensor) {
  return has_elements(tensor) || tensor.key_set().has(DispatchKey::Transform);
}

/// What a check reads: of a tensor inside of vmap the elements of all members.
inline Tensor readable(const Tensor& tensor) {
  return tensor.key_set().has(DispatchKey::Transform) ? at::_readable(tensor) : tensor;
}

/// Whether a condition is true everywhere, as far as there are elements to read.
inline bool holds(const Tensor& condition) {
  const Tensor values = readable(condition);
  return !has_elements(values) || at::item(at::all(values)).to_bool();
}

}  // namespace at::native
