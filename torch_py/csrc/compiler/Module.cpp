// Makes torch_py._C._compiler of the parts that other files register.
#include "torch_py/csrc/compiler/Module.h"

#include <vector>

#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"

namespace torch::python::compiler {

namespace {

// Never freed: filled by static initialisers.
std::vector<void (*)(PyObject*)>& parts() {
  static auto* list = new std::vector<void (*)(PyObject*)>;
  return *list;
}

}  // namespace

RegisterPart::RegisterPart(void (*add)(PyObject* module)) { parts().push_back(add); }

void init_compiler(PyObject* module) {
  constexpr const char* kName = "torch_py._C._compiler";
  const ObjectPtr own = ObjectPtr::steal(checked(PyModule_New(kName)));
  for (const auto add : parts()) add(own.get());
  check_status(PyModule_AddObjectRef(module, "_compiler", own.get()));
  check_status(PyDict_SetItemString(PyImport_GetModuleDict(), kName, own.get()));
}

}  // namespace torch::python::compiler
