#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "c10/core/Generator.h"

namespace torch::python {

/// torch.Generator. The default generator's object does not own it.
struct GeneratorObject {
  PyObject_HEAD
  c10::Generator* generator;
  bool owns;
};
extern PyTypeObject GeneratorType;

void init_generator(PyObject* module);

}  // namespace torch::python
