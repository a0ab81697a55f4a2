// The last number of each dtype, kept by every thread.
#include "aten/core/NumberTensor.h"

#include "c10/dispatch/LocalState.h"

namespace at {
namespace {

/// The last number of each dtype that this thread made.
thread_local Tensor last_numbers[c10::kNumScalarTypes];

/// Lets new tensors be ordinary ones, for a scope: an inference tensor could not be used again
/// outside of inference mode.
class OrdinaryTensors {
 public:
  OrdinaryTensors() { c10::local_state().inference_mode = false; }
  ~OrdinaryTensors() { c10::local_state().inference_mode = before_; }

 private:
  const bool before_ = c10::local_state().inference_mode;
};

Tensor make_number(ScalarType dtype) {
  const OrdinaryTensors ordinary;
  Tensor tensor = empty_tensor({}, dtype, kCPU);
  tensor.unsafe_impl()->set_wrapped_number(true);
  return tensor;
}

bool is_only_owner(const c10::intrusive_ptr_target& target) {
  return target.use_count() == 1 && target.weak_use_count() == 1;
}

/// Whether nobody can tell `tensor` from a new number: only this cache holds it and its memory, and
/// it was not changed, differentiated or shown to Python.
bool is_as_new(const Tensor& tensor) {
  if (!tensor.defined()) return false;

  const c10::TensorImpl& impl = *tensor.unsafe_impl();
  return is_only_owner(impl) && impl.storage() && is_only_owner(*impl.storage()) &&
         impl.is_wrapped_number() && impl.dim() == 0 && impl.storage_offset() == 0 &&
         impl.version() == 0 && !impl.is_view() && impl.autograd_meta() == nullptr &&
         impl.pyobj.load(std::memory_order_relaxed) == nullptr;
}

}  // namespace

Tensor number_tensor(ScalarType dtype) {
  Tensor& last = last_numbers[static_cast<size_t>(dtype)];
  if (C10_UNLIKELY(!is_as_new(last) || last.scalar_type() != dtype)) last = make_number(dtype);
  return last;
}

}  // namespace at
