#pragma once
// Results in generated wrappers: the tensor that a kernel writes to, and how its values reach the
// tensor that the caller passed.
#include <initializer_list>
#include <tuple>
#include <vector>

#include "aten/core/Tensor.h"
#include "aten/iteration/MemoryOverlap.h"
#include "c10/cpu/WatchedBlocks.h"
#include "c10/util/SmallVector.h"

namespace at {

/// An argument of a call: one tensor, which may be undefined, or several.
struct NamedTensors {
  const char* name;
  TensorList tensors;
  bool may_be_on_cpu = false;  // indices
};

/// Whether a call's tensors are on several devices. Takes the keys alone, as every call pays for
/// it.
inline bool mixes_devices(DispatchKeySet keys) {
  const uint64_t devices = (keys & kDenseBackends).bits();
  return (devices & (devices - 1)) != 0;
}
/// Checks that all arguments are on the device of the first, as kernels assume. A 0-dimensional CPU
/// tensor counts as a number and goes with any device.
TORCH_PY_API void check_one_device(const char* op_name,
                                   std::initializer_list<NamedTensors> arguments);

/// The version of a tensor that a kernel is about to write to. Refuses tensors of inference mode
/// outside of it.
inline uint32_t version_of(const Tensor& written) {
  check_changeable(written);
  return written.unsafe_impl()->version();
}
TORCH_PY_API c10::SmallVector<uint32_t, 8> version_of(TensorList written);

/// A kernel has written to a tensor, which had a version before. The call counts as one change,
/// also if the kernel has called others that count; one that throws has written nothing. Another
/// thread may have read the old values since the kernel began: see Note [Watched contents].
inline void end_write(const Tensor& written, uint32_t version) {
  if (written.unsafe_impl()->version() == version) written.unsafe_impl()->bump_version();
  if (const Storage& storage = written.storage()) c10::contents_written(storage->data.get());
}
TORCH_PY_API void end_write(TensorList written, const c10::SmallVector<uint32_t, 8>& versions);

/// Whether `out` must have the dtype of the result (Exact, e.g. int64 indices) or any dtype that
/// the result can be cast to (Castable).
enum class OutputDtype : uint8_t { Exact, Castable };

/// Checks that the results of one call do not share memory, where they would overwrite each other.
TORCH_PY_API void check_distinct_outputs(const char* op_name, std::initializer_list<Tensor> outs);
/// The tensor that a kernel writes to when the caller passed `out`: `out` itself, resized, if it
/// can hold the result as it is and shares no memory with an input; otherwise a new tensor, from
/// which store_output copies. An `out` that overlaps part of an input is an error.
TORCH_PY_API Tensor output_buffer(const char* op_name, const Tensor& out, const TensorSpec& spec,
                                  std::initializer_list<TensorList> inputs, OutputDtype dtype);
/// Ends an out= call whose kernel wrote to `buffer`.
TORCH_PY_API void store_output(const Tensor& out, const Tensor& buffer);
/// Gives `out` the sizes and values of `result`, which must be castable to its dtype.
TORCH_PY_API void copy_to_output(const char* op_name, const Tensor& out, const Tensor& result,
                                 OutputDtype dtype);
/// The same for several results, which may not share memory.
TORCH_PY_API void copy_to_outputs(const char* op_name, std::initializer_list<Tensor> outs,
                                  std::initializer_list<Tensor> results, OutputDtype dtype);
/// The tensor that an in-place kernel writes to: self, if it can hold the result and shares no
/// memory with the others; otherwise a new one, from which store_inplace copies.
TORCH_PY_API Tensor inplace_buffer(const TensorSpec& spec, const Tensor& self,
                                   std::initializer_list<TensorList> others);
/// Ends an in-place call whose kernel wrote to `buffer`.
TORCH_PY_API void store_inplace(const Tensor& self, const Tensor& buffer);
/// `self` as the in-place form of a composite reads it: a copy if autograd may save it, because
/// self is overwritten afterwards.
TORCH_PY_API Tensor value_before(const Tensor& self, std::initializer_list<TensorList> others = {});
/// Replaces the values of `self` by those of `result`, which must have its sizes and a dtype that
/// can be cast to its own.
TORCH_PY_API void copy_to_self(const char* op_name, const Tensor& self, const Tensor& result);
/// Ends a call on tensors of another layout: gives `written`, which must have this layout too, the
/// elements of `result`. Only an out, not self in place, takes over another size.
TORCH_PY_API void store_opaque(const char* op_name, const Tensor& written, const Tensor& result,
                               bool is_out);
/// Checks, before anything changes, that `self` can hold a result with these sizes and this dtype.
TORCH_PY_API void check_inplace_result(const char* op_name, const Tensor& self, IntArrayRef sizes,
                                       ScalarType dtype);

}  // namespace at
