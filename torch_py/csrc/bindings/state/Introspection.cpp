// The operators of this build, for people and tools: dispatch tables, schemas, the instruction set.
#include <string>

#include "aten/blas/Blas.h"

#include "c10/cpu/CpuInfo.h"
#include "c10/dispatch/OperatorEntry.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Operators.h"
#include "torch_py/csrc/bindings/state/GlobalState.h"

namespace torch::python {

namespace {

const c10::OperatorEntry& find_operator(PyObject* name) {
  const std::string text(to_string_view(name));
  const c10::OperatorEntry* entry = c10::Dispatcher::singleton().find(text);
  TORCH_CHECK(entry != nullptr, "unknown operator '", text,
              "'; names are as in native_functions.yaml, with the overload: 'add.Tensor'");
  return *entry;
}

PyObject* dispatch_table(PyObject*, PyObject* name) {
  TORCH_PY_TRY
  return PyUnicode_FromString(find_operator(name).dispatch_table().c_str());
  TORCH_PY_CATCH(nullptr)
}

PyObject* operator_schemas(PyObject*, PyObject*) {
  TORCH_PY_TRY
  ObjectPtr schemas = ObjectPtr::steal(checked(PyDict_New()));
  for (const c10::OperatorEntry* entry : c10::Dispatcher::singleton().all()) {
    const ObjectPtr text = ObjectPtr::steal(checked(PyUnicode_FromString(entry->schema_text())));
    check_status(PyDict_SetItemString(schemas.get(), entry->name(), text.get()));
  }
  return schemas.release();
  TORCH_PY_CATCH(nullptr)
}

PyObject* dispatch_keys(PyObject*, PyObject* tensor) {
  TORCH_PY_TRY
  if (!is_tensor(tensor))
    throw_python(PyExc_TypeError, "_dispatch_keys(): expected a Tensor, got %s", type_name(tensor));

  const c10::DispatchKeySet keys = unpack(tensor).key_set();
  ObjectPtr names = ObjectPtr::steal(checked(PyList_New(0)));
  for (int i = c10::kNumDispatchKeys - 1; i > 0; --i) {
    if (!keys.has(static_cast<c10::DispatchKey>(i))) continue;
    const ObjectPtr name = ObjectPtr::steal(
        checked(PyUnicode_FromString(c10::dispatch_key_name(static_cast<c10::DispatchKey>(i)))));
    check_status(PyList_Append(names.get(), name.get()));
  }
  return names.release();
  TORCH_PY_CATCH(nullptr)
}

PyObject* cpu_capability(PyObject*, PyObject*) {
  return PyUnicode_FromString(c10::cpu_capability_name(c10::cpu_capability()));
}

PyObject* blas_choices(PyObject*, PyObject*) {
  TORCH_PY_TRY
  ObjectPtr list = ObjectPtr::steal(checked(PyList_New(0)));
  for (const at::blas::Choice& choice : at::blas::choices()) {
    const ObjectPtr row = ObjectPtr::steal(checked(Py_BuildValue(
        "(sssdd)", choice.type, choice.backend, choice.reason, choice.own, choice.library)));
    check_status(PyList_Append(list.get(), row.get()));
  }
  return list.release();
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {
    {"_blas_choices", blas_choices, METH_NOARGS,
     "_blas_choices() -> list of (dtype, backend, reason, own Gop/s, library Gop/s)."},
    {"_cpu_capability", cpu_capability, METH_NOARGS,
     "_cpu_capability() -> str: the instruction set that kernels use."},
    {"_dispatch_table", dispatch_table, METH_O,
     "_dispatch_table('add.Tensor') -> str: one line per dispatch key that has a kernel."},
    {"_operator_schemas", operator_schemas, METH_NOARGS,
     "_operator_schemas() -> dict: name with overload -> schema."},
    {"_dispatch_keys", dispatch_keys, METH_O,
     "_dispatch_keys(tensor) -> list of str, highest priority first."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_introspection(PyObject* module) {
  check_status(PyModule_AddStringConstant(module, "_blas", at::blas::backend_name()));
  check_status(PyModule_AddFunctions(module, functions));
}

}  // namespace torch::python
