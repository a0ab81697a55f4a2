// The Python objects of operators: torch.ops.aten.add.Tensor.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "c10/dispatch/OperatorEntry.h"

namespace torch::python {

/// torch_py._C._OperatorBase, which torch._ops.OpOverload extends: calls one overload, through the
/// dispatcher and boxed. Each entry has one object, made when it is first asked for.
struct OperatorObject {
  PyObject_HEAD
  c10::OperatorEntry* entry;
  vectorcallfunc vectorcall;
  PyObject* dict;
};

/// A new reference to the object of an operator.
PyObject* operator_object(c10::OperatorEntry& entry);

/// Whether an object is that of an operator.
bool is_operator(PyObject* object);

void init_operators(PyObject* module);

}  // namespace torch::python
