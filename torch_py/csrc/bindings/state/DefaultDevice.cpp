// The stack of default devices of each thread.
#include "torch_py/csrc/bindings/state/DefaultDevice.h"

#include <algorithm>
#include <vector>

#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/types/DeviceType.h"

// Note [Default device]
// Only functions that Python calls use the default device, and only those that make a tensor from
// nothing (generated for factories without tensor arguments, hand-written for torch.tensor,
// as_tensor and asarray). Tensors that operators make inside stay on the devices of their
// arguments.

namespace torch::python {

int default_device_choices = 0;

namespace {

/// A device that was chosen, by `with device:` or by set_default_device (at most one).
struct Choice {
  c10::Device device;
  bool is_block;
};

thread_local std::vector<Choice> choices;  // the last one is in force

void erase_last(bool is_block) {
  const auto matches = [is_block](const Choice& choice) { return choice.is_block == is_block; };
  const auto found = std::find_if(choices.rbegin(), choices.rend(), matches);
  if (found == choices.rend()) return;
  choices.erase(std::next(found).base());
  --default_device_choices;
}

void choose(const Choice& choice) {
  choices.push_back(choice);
  ++default_device_choices;
}

PyObject* set_default_device(PyObject*, PyObject* device) {
  TORCH_PY_TRY
  std::optional<c10::Device> chosen;
  if (device != Py_None) {
    if (!is_device(device)) {
      throw_python(PyExc_TypeError,
                   "set_default_device(): argument 'device' must be torch.device, not %s",
                   type_name(device));
    }
    chosen = to_device(device);
  }

  erase_last(false);
  if (chosen) choose({*chosen, false});
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* get_default_device(PyObject*, PyObject*) {
  TORCH_PY_TRY
  return make_device(default_device().value_or(c10::kCPU));
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {
    {"_set_default_device", set_default_device, METH_O,
     "Where this thread makes tensors if no device is named; None means the CPU."},
    {"_get_default_device", get_default_device, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

std::optional<c10::Device> default_device() {
  return choices.empty() ? std::nullopt : std::optional(choices.back().device);
}

void enter_device(c10::Device device) { choose({device, true}); }

void leave_device() { erase_last(true); }

void init_default_device(PyObject* module) {
  check_status(PyModule_AddFunctions(module, functions));
}

}  // namespace torch::python
