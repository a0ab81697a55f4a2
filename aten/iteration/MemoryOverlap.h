#pragma once
// Whether tensors share memory, within themselves and with each other.
#include <initializer_list>

#include "aten/core/Tensor.h"

namespace at {

/// Refuses a tensor of inference mode outside of it, before anything is written.
TORCH_PY_API void check_changeable(const Tensor& tensor);

/// How the memory of two tensors relates. Full: the same elements in the same order. Partial: dense
/// blocks that overlap in another way. Strided: some elements of strided tensors share memory, or
/// of tensors with different storages over one foreign buffer; this is not an error.
enum class Overlap : uint8_t { No, Full, Partial, Strided };

/// Whether two elements of one tensor share memory, as a stride of 0 makes certain.
TORCH_PY_API bool has_internal_overlap(const Tensor& tensor);
/// How the memory of two tensors relates. Strided is a guess for layouts that are not nested.
TORCH_PY_API Overlap memory_overlap(const Tensor& a, const Tensor& b);

/// Whether the elements of `input` may change when `out` gets `sizes`, by which it may grow, and is
/// written to.
TORCH_PY_API bool write_reaches(const Tensor& out, IntArrayRef sizes, const Tensor& input);

/// Refuses an input that is `out` or overlaps it, unless its elements are between those of `out`;
/// the caller then reads a copy. `own` may be `out` itself.
TORCH_PY_API void check_no_overlap(const char* op_name, const Tensor& out,
                                   std::initializer_list<TensorList> inputs,
                                   const Tensor& own = Tensor());
/// The tensor to read while `out` is written to: `input`, or a copy of it if both share memory.
TORCH_PY_API Tensor readable_beside(const Tensor& out, const Tensor& input);

}  // namespace at
