// {{ banner }}
// The Python module of the operators that {{ source }} declares.
#include "torch_py/csrc/bindings/Operators.h"

namespace torch::python {
{% for topic in topics %}
extern const MethodTable {{ topic }}_library_table;
extern const MethodTable {{ topic }}_method_table;
{% endfor %}
}  // namespace torch::python

namespace {

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "{{ library }}", {{ doc|cpp_string }}, -1, nullptr, nullptr, nullptr, nullptr, nullptr};

}  // namespace

extern "C" __attribute__((visibility("default"))) PyObject* PyInit_{{ library }}() {
  using namespace torch::python;
  // The operators use the types and the dispatcher of torch_py.
  const ObjectPtr core = ObjectPtr::steal(PyImport_ImportModule("torch_py"));
  if (core.get() == nullptr) return nullptr;

  PyObject* module = PyModule_Create(&definition);
  if (module == nullptr) return nullptr;

  HANDLE_ERRORS
  PyObject* tensor_type = reinterpret_cast<PyObject*>(tensor_class);
{% for topic in topics %}
  install_methods(module, {{ topic }}_library_table.methods, {{ topic }}_library_table.count);
  install_methods(tensor_type, {{ topic }}_method_table.methods, {{ topic }}_method_table.count);
{% endfor %}
  return module;
  END_HANDLE_ERRORS
}
