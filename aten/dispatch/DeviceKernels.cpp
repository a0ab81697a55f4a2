// Notes which streams use the memory of a kernel's arguments.
#include "aten/dispatch/DeviceKernels.h"

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

}  // namespace at
