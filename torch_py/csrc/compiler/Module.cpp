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
  const ObjectPtr own = ObjectPtr::steal(checked(PyModule_New("torch_py._C._compiler")));
  for (const auto add : parts()) add(own.get());
  check_status(PyModule_AddObjectRef(module, "_compiler", own.get()));
}

}  // namespace torch::python::compiler
