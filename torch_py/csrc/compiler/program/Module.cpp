// Adds programs to torch_py._C._compiler.
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/compiler/program/CompiledGraphType.h"
#include "torch_py/csrc/compiler/program/Graphs.h"
#include "torch_py/csrc/compiler/program/ProgramType.h"
#include "torch_py/csrc/compiler/program/SlotType.h"

namespace torch::python {

namespace {

constexpr const char* kName = "torch_py._C._compiler";

/// The submodule, which others of the compiler add to as well.
ObjectPtr compiler_module(PyObject* core) {
  if (PyObject_HasAttrString(core, "_compiler"))
    return ObjectPtr::steal(checked(PyObject_GetAttrString(core, "_compiler")));

  ObjectPtr module = ObjectPtr::steal(checked(PyModule_New(kName)));
  check_status(PyModule_AddObjectRef(core, "_compiler", module.get()));
  check_status(PyDict_SetItemString(PyImport_GetModuleDict(), kName, module.get()));
  return module;
}

}  // namespace

void init_compiled_programs(PyObject* core) {
  const ObjectPtr module = compiler_module(core);
  init_prediction_error(module.get());
  init_slot(module.get());
  init_program(module.get());
  init_compiled_graph(module.get());
}

}  // namespace torch::python
