// torch.Generator.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "c10/core/Generator.h"

namespace torch::python {

struct GeneratorObject {
  PyObject_HEAD
  c10::Generator* generator;
  bool owns;  // false for the default generator
};
extern PyTypeObject GeneratorType;

/// A new reference to the object of a generator, which must have one.
PyObject* generator_object(c10::Generator* generator);

void init_generator(PyObject* module);

}  // namespace torch::python
