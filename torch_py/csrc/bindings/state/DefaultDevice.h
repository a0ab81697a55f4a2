#pragma once
#include <optional>

#include "c10/core/Device.h"
#include "torch_py/csrc/bindings/calls/Arguments.h"

namespace torch::python {

/// The device of new tensors for which none is named, chosen on this thread: nullopt where nobody
/// has.
TORCH_PY_API std::optional<c10::Device> default_device();
/// What a factory is to use: argument `slot` if given, else the default device.
inline std::optional<c10::Device> device_of_new(const Arguments& arguments, int slot) {
  return arguments.given(slot) ? arguments.device(slot) : default_device();
}

/// `with device:` on this thread; leaving takes the innermost one back.
void enter_device(c10::Device device);
void leave_device();

/// _set_default_device, _get_default_device.
void init_default_device(PyObject* module);

}  // namespace torch::python
