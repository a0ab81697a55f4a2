// torch_py._C._compiler.Slot: stands for a tensor of a program among the arguments of an operator.
#pragma once
#include <cstdint>

#include "torch_py/csrc/bindings/PythonHeaders.h"

namespace torch::python {

bool is_slot(PyObject* object);
/// The number of a slot object.
int64_t slot_number(PyObject* object);
void init_slot(PyObject* module);

}  // namespace torch::python
