#pragma once
// Results of generated wrappers: where a kernel writes, and how a computed result reaches the
// tensor the caller gave.
#include <initializer_list>
#include <tuple>
#include <vector>

#include "aten/core/Tensor.h"

namespace at {

/// An argument of a call: one tensor (which may be undefined) or several.
struct NamedTensors {
  const char* name;
  TensorList tensors;
  bool may_be_on_cpu = false;  // indices
};

/// Whether a call's tensors are on several devices, from its keys alone: what every call pays for
/// the check.
inline bool mixes_devices(DispatchKeySet keys) {
  const uint64_t devices = (keys & kDenseBackends).bits();
  return (devices & (devices - 1)) != 0;
}
/// Kernels read the memory of all their arguments as that of one device. Refuses arguments on
/// another device than the first one's; 0-dim CPU tensors count as numbers, which may meet any
/// device.
TORCH_PY_API void check_one_device(const char* op_name,
                                   std::initializer_list<NamedTensors> arguments);

/// Exact: indices are int64, and a selection keeps the dtype of its source. Castable: the caller
/// may choose by ``out``.
enum class OutputDtype : uint8_t { Exact, Castable };

/// Results that share memory would overwrite one another.
TORCH_PY_API void check_distinct_outputs(const char* op_name, std::initializer_list<Tensor> outs);
/// What a kernel writes to when the caller gave `out`: out itself, resized, when it can hold the
/// result as it is and shares no memory with an input; otherwise a fresh tensor that store_output
/// copies from. An out that overlaps an input in part is refused.
TORCH_PY_API Tensor output_buffer(const char* op_name, const Tensor& out, const TensorSpec& spec,
                                  std::initializer_list<TensorList> inputs, OutputDtype dtype);
/// Ends an out= call whose kernel wrote to `buffer`.
TORCH_PY_API void store_output(const Tensor& out, const Tensor& buffer);
/// Gives `out` the sizes and values of `result`, which must be castable to its dtype.
TORCH_PY_API void copy_to_output(const char* op_name, const Tensor& out, const Tensor& result);
/// What a kernel writes to that may read self and write it: self, where it can hold the result and
/// shares no memory with the others.
TORCH_PY_API Tensor inplace_buffer(const TensorSpec& spec, const Tensor& self,
                                   std::initializer_list<TensorList> others);
/// Ends an in-place call whose kernel wrote to `buffer`.
TORCH_PY_API void store_inplace(const Tensor& self, const Tensor& buffer);
/// `self` as an in-place call of a composite reads it: a copy when autograd may save it, for its
/// own gradient or that of the others, since self is then overwritten.
TORCH_PY_API Tensor value_before(const Tensor& self, std::initializer_list<TensorList> others = {});
/// Replaces the values of `self` by those of `result`, which has its sizes and can be cast to its
/// dtype.
TORCH_PY_API void copy_to_self(const char* op_name, const Tensor& self, const Tensor& result);
/// An in-place call whose result has other sizes, or a dtype that self cannot hold, is refused
/// before anything changes.
TORCH_PY_API void check_inplace_result(const char* op_name, const Tensor& self, IntArrayRef sizes,
                                       ScalarType dtype);

}  // namespace at
