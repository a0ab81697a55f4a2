// What is done with the arguments of a kernel besides calling it.
#include "aten/dispatch/DeviceKernels.h"

#include <string_view>

#include "aten/dispatch/Dtypes.h"
#include "c10/core/DeviceHooks.h"

namespace at {

void note_use(const Tensor& tensor) {
  if (!tensor.defined() || !c10::is_accelerator(tensor.device()) || !tensor.storage()) return;

  c10::DeviceHooks& hooks = c10::device_hooks(tensor.device().type);
  hooks.record_stream(tensor.storage()->data, hooks.current_stream(tensor.device().index));
}

void note_use(TensorList tensors) {
  for (const Tensor& tensor : tensors) note_use(tensor);
}

void note_use(const TensorIterator& iter) {
  for (int k = 0; k < iter.ntensors(); ++k) note_use(iter.tensor(k));
}

void ElementsCheck::see(const Tensor& tensor) {
  if (!tensor.defined()) return;
  if (!dtype_.has_value()) dtype_ = tensor.scalar_type();
  has_empty_ |= tensor.numel() == 0;
}

void ElementsCheck::see(TensorList tensors) {
  for (const Tensor& tensor : tensors) see(tensor);
}

void ElementsCheck::see(const std::optional<Scalar>& number) {
  if (number.has_value()) see(*number);
}

namespace {

/// Whether a dtype is one of `names`, "float32 float64"; without names, every dtype is.
bool is_claimed(std::string_view names, std::string_view dtype) {
  if (names.empty()) return true;
  for (size_t at = names.find(dtype); at != names.npos; at = names.find(dtype, at + 1)) {
    const size_t end = at + dtype.size();
    if ((at == 0 || names[at - 1] == ' ') && (end == names.size() || names[end] == ' '))
      return true;
  }
  return false;
}

void convert(const Scalar& number, ScalarType dtype) {
  switch (dtype) {
#define CONVERT(type, name, python) \
  case ScalarType::name: number.to<type>(); return;
    TORCH_PY_FORALL_SCALAR_TYPES(CONVERT)
#undef CONVERT
    case ScalarType::Undefined: return;
  }
}

}  // namespace

void ElementsCheck::check(const c10::OperatorEntry& entry) const {
  const bool makes_results = std::string_view(entry.facts().structure) == "shaped";
  if (!dtype_.has_value() || (makes_results && has_empty_)) return;
  // Bytes are copied in any dtype; loops refuse those that are for storage only.
  if (!c10::is_storage_only(*dtype_) && !is_claimed(entry.facts().dtypes, c10::dtype_name(*dtype_)))
    throw_not_implemented(entry.name(), *dtype_);

  // Products compute in a wider type.
  const ScalarType type = makes_results && is_reduced_floating(*dtype_) ? kFloat : *dtype_;
  for (const Scalar* number : numbers_) convert(*number, type);
}

}  // namespace at
