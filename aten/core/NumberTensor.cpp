// The last number of each dtype, kept by every thread.
#include "aten/core/NumberTensor.h"

#include "aten/core/Allocation.h"
#include "c10/dispatch/LocalState.h"

namespace at {
namespace {

using LastNumbers = Tensor[c10::kNumScalarTypes];

// The numbers of this thread that no call uses: null before the first and after the thread's end.
// See LocalState.h about the model.
thread_local constinit __attribute__((tls_model("initial-exec"))) LastNumbers* last_numbers =
    nullptr;

/// Keeps the numbers while the thread runs.
struct NumbersOwner {
  LastNumbers numbers;

  NumbersOwner() { last_numbers = &numbers; }
  ~NumbersOwner() { last_numbers = nullptr; }
};

/// Lets new tensors be ordinary ones, for a scope: an inference tensor could not be used again
/// outside of inference mode.
class OrdinaryTensors {
 public:
  OrdinaryTensors() { c10::local_state().inference_mode = false; }
  ~OrdinaryTensors() { c10::local_state().inference_mode = before_; }

 private:
  const bool before_ = c10::local_state().inference_mode;
};

C10_NOINLINE Tensor make_number(ScalarType dtype) {
  thread_local NumbersOwner owner;
  (void)owner;

  const OrdinaryTensors ordinary;
  Tensor tensor = empty_real_tensor({}, dtype, kCPU);
  tensor.unsafe_impl()->set_wrapped_number(true);
  return tensor;
}

bool is_only_owner(const c10::intrusive_ptr_target& target) {
  return target.use_count() == 1 && target.weak_use_count() == 1;
}

/// Whether nobody can tell `tensor` from a new number: only the caller holds it and its memory, and
/// it was not changed, differentiated or shown to Python.
bool is_as_new(const c10::TensorImpl& impl) {
  return is_only_owner(impl) && impl.storage() && is_only_owner(*impl.storage()) &&
         impl.is_wrapped_number() && impl.dim() == 0 && impl.storage_offset() == 0 &&
         impl.version() == 0 && !impl.is_view() && impl.autograd_meta() == nullptr &&
         impl.pyobj.load(std::memory_order_relaxed) == nullptr;
}

template <class T>
void set_element(const Tensor& tensor, T value) {
  *static_cast<T*>(tensor.data()) = value;
}

ScalarType dtype_of(const Scalar& value) {
  switch (value.kind()) {
    case Scalar::Kind::Bool: return kBool;
    case Scalar::Kind::Int: return kLong;
    case Scalar::Kind::Double: return kDouble;
    case Scalar::Kind::Complex: return kComplexDouble;
    case Scalar::Kind::Unsigned: return kUInt64;
  }
  return ScalarType::Undefined;
}

}  // namespace

NumberTensor::NumberTensor(ScalarType dtype) {
  if (C10_LIKELY(last_numbers != nullptr))
    tensor_ = std::move((*last_numbers)[static_cast<size_t>(dtype)]);
  if (C10_UNLIKELY(!tensor_.defined())) tensor_ = make_number(dtype);
}

NumberTensor::NumberTensor(const Scalar& value) : NumberTensor(dtype_of(value)) {
  switch (value.kind()) {
    case Scalar::Kind::Bool: set_element(tensor_, value.to_bool()); break;
    case Scalar::Kind::Int: set_element(tensor_, value.to_long()); break;
    case Scalar::Kind::Double: set_element(tensor_, value.to_double()); break;
    case Scalar::Kind::Complex: set_element(tensor_, value.to_complex_double()); break;
    case Scalar::Kind::Unsigned: set_element(tensor_, value.to<uint64_t>()); break;
  }
}

void NumberTensor::keep(Tensor tensor) {
  if (C10_UNLIKELY(last_numbers == nullptr || !is_as_new(*tensor.unsafe_impl()))) return;
  Tensor& last = (*last_numbers)[static_cast<size_t>(tensor.scalar_type())];
  if (!last.defined()) last = std::move(tensor);
}

}  // namespace at
