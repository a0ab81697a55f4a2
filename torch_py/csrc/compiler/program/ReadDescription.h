// Programs as Python writes them down.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "torch_py/csrc/compiler/program/Steps.h"

namespace torch::python {

/// The arguments of Program(), borrowed.
struct WrittenProgram {
  PyObject* inputs;     // int
  PyObject* slots;      // (dtype, sizes, strides, device) or int, of each slot
  PyObject* steps;      // tuples that begin with the name of the step
  PyObject* outputs;    // slots
  PyObject* constants;  // tensors
  PyObject* library;    // a path, or None
  PyObject* symbols;    // (input, dimension or None)
  PyObject* names;      // of slots, for people; may be empty
  PyObject* name;       // of the program, or null
};

/// Throws PythonError (TypeError, ValueError) that names the part that is wrong.
programs::Description read_description(const WrittenProgram& written);

/// An operator call as steps describe it: (operator, args, kwargs, results).
programs::CallExtern read_extern(PyObject* step, programs::Description& description);

/// A number or a formula: ("s0", 1, "+", 2, "//").
bool is_formula(PyObject* object);
programs::Integer read_integer(PyObject* object, programs::Description& description);
programs::Slot read_slot(PyObject* object);

}  // namespace torch::python
