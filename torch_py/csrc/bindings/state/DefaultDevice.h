// The device of new tensors for which the program names none.
#pragma once
#include <optional>

#include "c10/core/Device.h"
#include "torch_py/csrc/bindings/calls/Arguments.h"

namespace torch::python {

/// Choices of a default device that are in force on all threads, those that ended included. Changes
/// with the GIL held. While it is 0, default_device() need not be asked.
extern int default_device_choices;

/// The device chosen on this thread; nullopt if none was.
TORCH_PY_API std::optional<c10::Device> default_device();
/// The device for a factory: argument `slot` if given, otherwise the default device.
inline std::optional<c10::Device> device_of_new(const Arguments& arguments, int slot) {
  return arguments.given(slot) ? arguments.device(slot) : default_device();
}

/// `with device:` on this thread. Leaving ends the innermost one.
void enter_device(c10::Device device);
void leave_device();

/// Adds _set_default_device and _get_default_device.
void init_default_device(PyObject* module);

}  // namespace torch::python
