// Collects tables of generated functions and adds them to torch_py._C.
#include "torch_py/csrc/bindings/Registry.h"

#include <string>
#include <string_view>
#include <vector>

#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/tensor/TensorType.h"

namespace torch::python {

namespace {

/// A module, or the Tensor type, by the names that callers use.
struct Namespace {
  const char* owner;
  const char* attribute;  // of torch_py._C
};
// In the order of enum Module, followed by those without operators.
constexpr Namespace namespaces[] = {{"torch", "_torch"},      {"nn", "_nn"},
                                    {"linalg", "_linalg"},    {"special", "_special"},
                                    {"fft", "_fft"},          {"ops", "_ops"},
                                    {"Tensor", "TensorBase"}, {"return_types", "_return_types"}};

// Never freed: static initialisers of several libraries register tables, which are used until the
// process ends.
std::vector<MethodTable>& tables() {
  static auto* list = new std::vector<MethodTable>;
  return *list;
}

PyObject* core_module = nullptr;

PyObject* make_namespace(PyObject* module, const Namespace& space) {
  const std::string name = std::string("torch_py._C.") + space.attribute;
  const ObjectPtr object = ObjectPtr::steal(checked(PyModule_New(name.c_str())));
  check_status(PyModule_AddObjectRef(module, space.attribute, object.get()));
  return object.get();  // kept alive by the module
}

void install_functions(PyObject* module, const PyMethodDef* methods, int count) {
  const ObjectPtr name = ObjectPtr::steal(checked(PyObject_GetAttrString(module, "__name__")));
  for (int i = 0; i < count && methods[i].ml_name != nullptr; ++i) {
    auto* method = const_cast<PyMethodDef*>(&methods[i]);  // CPython only reads it
    const ObjectPtr function =
        ObjectPtr::steal(checked(PyCFunction_NewEx(method, nullptr, name.get())));
    check_status(PyObject_SetAttrString(module, method->ml_name, function.get()));
  }
}

void install_tensor_methods(const PyMethodDef* methods, int count) {
  for (int i = 0; i < count && methods[i].ml_name != nullptr; ++i) {
    auto* method = const_cast<PyMethodDef*>(&methods[i]);
    // Hand-written methods have precedence.
    if (PyDict_GetItemString(TensorBaseType.tp_dict, method->ml_name) != nullptr) continue;

    const ObjectPtr descriptor =
        ObjectPtr::steal(checked(PyDescr_NewMethod(&TensorBaseType, method)));
    check_status(PyDict_SetItemString(TensorBaseType.tp_dict, method->ml_name, descriptor.get()));
  }
  PyType_Modified(&TensorBaseType);
}

}  // namespace

RegisterMethods::RegisterMethods(MethodTable table) { tables().push_back(table); }

void install_methods(PyObject* target, const PyMethodDef* methods, int count) {
  if (target == reinterpret_cast<PyObject*>(&TensorBaseType) ||
      target == reinterpret_cast<PyObject*>(tensor_class)) {
    install_tensor_methods(methods, count);
  } else {
    install_functions(target, methods, count);
  }
}

PyObject* namespace_of(const char* owner) {
  for (const Namespace& space : namespaces) {
    if (std::string_view(space.owner) == owner || std::string_view(space.attribute) == owner) {
      return PyObject_GetAttrString(core_module, space.attribute);
    }
  }

  if (std::string_view(owner) == "_C") return Py_NewRef(core_module);
  // An operator library names the module that its functions are in.
  return PyImport_ImportModule(owner);
}

FastMethod find_tensor_method(const char* name) {
  for (const MethodTable& table : tables()) {
    for (int i = 0;
         table.module == Module::Method && i < table.count && table.methods[i].ml_name != nullptr;
         ++i) {
      if (std::string_view(table.methods[i].ml_name) != name) continue;
      return reinterpret_cast<FastMethod>(reinterpret_cast<void (*)()>(table.methods[i].ml_meth));
    }
  }
  return nullptr;
}

void install_registered_methods(PyObject* module) {
  core_module = Py_NewRef(module);
  constexpr int method_place = static_cast<int>(Module::Method);
  PyObject* targets[std::size(namespaces)] = {};
  for (size_t i = 0; i < std::size(namespaces); ++i) {
    targets[i] = i == method_place ? reinterpret_cast<PyObject*>(&TensorBaseType)
                                   : make_namespace(module, namespaces[i]);
  }

  check_status(PyModule_AddObjectRef(module, "_VariableFunctions", targets[0]));
  for (const MethodTable& table : tables())
    install_methods(targets[static_cast<int>(table.module)], table.methods, table.count);
}

}  // namespace torch::python
