// The Python objects of operators: torch.ops.aten.add.Tensor.
#include "torch_py/csrc/bindings/dispatch/OperatorType.h"

#include <string>
#include <unordered_map>

#include "aten/dispatch/RuntimeOperator.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/TorchFunction.h"
#include "torch_py/csrc/bindings/calls/Unlocked.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
#include "torch_py/csrc/bindings/dispatch/Keys.h"
#include "torch_py/csrc/bindings/dispatch/PythonKernel.h"
#include "torch_py/csrc/bindings/dispatch/Values.h"
#include "torch_py/csrc/bindings/types/AddType.h"

namespace torch::python {

namespace {

PyTypeObject OperatorBaseType = {PyVarObject_HEAD_INIT(nullptr, 0)};
// torch._ops.OpOverload, once Python has named it.
PyTypeObject* operator_class = &OperatorBaseType;

/// The objects that exist, owned. Used with the GIL held.
std::unordered_map<const c10::OperatorEntry*, PyObject*>& objects() {
  static auto* map = new std::unordered_map<const c10::OperatorEntry*, PyObject*>;
  return *map;
}

OperatorObject* as_operator(PyObject* object) { return reinterpret_cast<OperatorObject*>(object); }

/// Runs `call` without the GIL if the arguments are large, as calls of generated functions do.
template <class Call>
void run(const at::Stack& arguments, Call&& call) {
  at::Tensor given[4];
  int count = 0;
  for (const at::Value& value : arguments) {
    if (count < 4 && value.is<at::Tensor>()) given[count++] = value.get<at::Tensor>();
  }
  unlocked(call, given[0], given[1], given[2], given[3]);
}

/// Whether __torch_function__ of a mode or an argument takes the call over.
bool is_overridden(PyObject* const* args, Py_ssize_t count) {
  if (has_function_modes() && in_function_mode()) return true;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (overrides(args[i])) return true;
    if (!is_sequence(args[i])) continue;
    for (Py_ssize_t k = 0; k < sequence_length(args[i]); ++k) {
      if (overrides(sequence_item(args[i], k))) return true;
    }
  }
  return false;
}

PyObject* call_override(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                        PyObject* kwnames) {
  const ObjectPtr positional = ObjectPtr::steal(checked(PyTuple_New(nargs)));
  for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(positional.get(), i, Py_NewRef(args[i]));

  const ObjectPtr keywords = ObjectPtr::steal(checked(PyDict_New()));
  for (Py_ssize_t i = 0; kwnames != nullptr && i < PyTuple_GET_SIZE(kwnames); ++i)
    check_status(PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(kwnames, i), args[nargs + i]));

  return call_torch_function(self, as_operator(self)->entry->name(), positional.get(),
                             keywords.get());
}

PyObject* call_operator(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  TORCH_PY_TRY
  const Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
  const Py_ssize_t keywords = kwnames != nullptr ? PyTuple_GET_SIZE(kwnames) : 0;
  if (C10_UNLIKELY(is_overridden(args, nargs + keywords)))
    return call_override(self, args, nargs, kwnames);

  const c10::OperatorEntry& entry = *as_operator(self)->entry;
  at::Stack stack;
  push_arguments(stack, entry, args, nargs, kwnames);
  run(stack, [&] { entry.call_boxed(stack); });
  return wrap_results(stack);
  TORCH_PY_CATCH(nullptr)
}

/// redispatch(keyset, *args, **kwargs)
PyObject* redispatch(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  TORCH_PY_TRY
  if (nargs == 0) throw_python(PyExc_TypeError, "redispatch() expects a DispatchKeySet first");
  const c10::OperatorEntry& entry = *as_operator(self)->entry;
  const c10::DispatchKeySet keys = to_key_set(args[0]);

  at::Stack stack;
  push_arguments(stack, entry, args + 1, nargs - 1, kwnames);
  run(stack, [&] { entry.redispatch_boxed(keys, stack); });
  return wrap_results(stack);
  TORCH_PY_CATCH(nullptr)
}

// --- What an operator is ---

PyObject* text_of(const char* text) { return PyUnicode_FromString(text); }

PyObject* get_name(PyObject* self, void*) { return text_of(as_operator(self)->entry->name()); }
PyObject* get_schema(PyObject* self, void*) {
  return text_of(as_operator(self)->entry->schema_text());
}
PyObject* is_declared_at_run_time(PyObject* self, void*) {
  return PyBool_FromLong(as_operator(self)->entry->is_declared_at_run_time());
}
PyObject* get_structure(PyObject* self, void*) {
  return text_of(as_operator(self)->entry->facts().structure);
}
PyObject* get_tags(PyObject* self, void*) {
  return text_of(as_operator(self)->entry->facts().tags);
}
PyObject* get_dtypes(PyObject* self, void*) {
  return text_of(as_operator(self)->entry->facts().dtypes);
}

/// (name, type, default or None as text, is keyword only, alias, is written)
PyObject* describe(const c10::SchemaValue& value) {
  const char* default_text = value.default_text ? value.default_text->c_str() : nullptr;
  return checked(Py_BuildValue("(sszNsN)", value.name.c_str(), value.type_text.c_str(),
                               default_text, PyBool_FromLong(value.is_keyword_only),
                               value.alias.c_str(), PyBool_FromLong(value.is_written)));
}

PyObject* describe_all(const std::vector<c10::SchemaValue>& values) {
  ObjectPtr tuple = ObjectPtr::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(values.size()))));
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), describe(values[i]));
  return tuple.release();
}

PyObject* get_arguments(PyObject* self, void*) {
  TORCH_PY_TRY
  return describe_all(as_operator(self)->entry->schema().arguments);
  TORCH_PY_CATCH(nullptr)
}
PyObject* get_results(PyObject* self, void*) {
  TORCH_PY_TRY
  return describe_all(as_operator(self)->entry->schema().results);
  TORCH_PY_CATCH(nullptr)
}

PyObject* has_kernel(PyObject* self, PyObject* key) {
  TORCH_PY_TRY
  const c10::DispatchKey wanted = to_key(key);
  const c10::OperatorEntry& entry = *as_operator(self)->entry;
  return PyBool_FromLong(entry.has_kernel(wanted) || entry.has_boxed_kernel(wanted));
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_python_kernel(PyObject* self, PyObject* args) {
  TORCH_PY_TRY
  PyObject* key = nullptr;
  PyObject* function = nullptr;
  int takes_keys = 0;
  if (!PyArg_ParseTuple(args, "OO|p:_set_python_kernel", &key, &function, &takes_keys))
    return nullptr;

  c10::OperatorEntry& entry = *as_operator(self)->entry;
  entry.set_boxed_kernel(
      to_key(key), function == Py_None ? nullptr : make_python_kernel(function, takes_keys != 0));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

void operator_dealloc(PyObject* self) {
  // Only of objects that failed to be made: the map owns the others for good.
  PyObject_GC_UnTrack(self);
  Py_CLEAR(as_operator(self)->dict);
  Py_TYPE(self)->tp_free(self);
}

int operator_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(as_operator(self)->dict);
  return 0;
}

PyObject* operator_reduce(PyObject* self, PyObject*) {
  const ObjectPtr module = ObjectPtr::steal(PyImport_ImportModule("torch_py._ops"));
  if (!module) return nullptr;
  const ObjectPtr find = ObjectPtr::steal(PyObject_GetAttrString(module.get(), "find_overload"));
  if (!find) return nullptr;
  return Py_BuildValue("(O(s))", find.get(), as_operator(self)->entry->name());
}

PyMethodDef methods[] = {
    {"redispatch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(redispatch)),
     METH_FASTCALL | METH_KEYWORDS,
     "redispatch(keyset, *args, **kwargs): calls the kernel for the highest key of the set."},
    {"has_kernel_for_dispatch_key", has_kernel, METH_O,
     "Whether the operator has a kernel of its own for a dispatch key."},
    {"_set_python_kernel", set_python_kernel, METH_VARARGS,
     "_set_python_kernel(key, function or None, takes_keys=False): serves a key in Python."},
    {"__reduce__", operator_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"_entry_name", get_name, nullptr, "'add.Tensor'", nullptr},
    {"_schema_text", get_schema, nullptr, "'add.Tensor(Tensor self, ...) -> Tensor'", nullptr},
    {"_is_declared_at_run_time", is_declared_at_run_time, nullptr,
     "Whether the program has declared the operator, in Python.", nullptr},
    {"_structure", get_structure, nullptr, "the structure of the entry, 'pointwise'", nullptr},
    {"_tag_words", get_tags, nullptr, "the tags of the entry, separated by spaces", nullptr},
    {"_dtype_words", get_dtypes, nullptr, "the dtypes of the entry, separated by spaces", nullptr},
    {"_schema_arguments", get_arguments, nullptr,
     "(name, type, default or None, is keyword only, alias, is written) of each argument", nullptr},
    {"_schema_results", get_results, nullptr, "the same of each result", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// --- Functions of the module ---

PyObject* find_operator_object(PyObject*, PyObject* name) {
  TORCH_PY_TRY
  c10::OperatorEntry* entry = c10::Dispatcher::singleton().find(to_string_view(name));
  if (entry == nullptr) Py_RETURN_NONE;
  return operator_object(*entry);
  TORCH_PY_CATCH(nullptr)
}

PyObject* declare(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  const char* schema = nullptr;
  const char* tags = "";
  if (!PyArg_ParseTuple(args, "s|s:_declare_operator", &schema, &tags)) return nullptr;
  return operator_object(at::declare_operator(schema, tags));
  TORCH_PY_CATCH(nullptr)
}

PyObject* forget(PyObject*, PyObject* object) {
  TORCH_PY_TRY
  if (!is_operator(object))
    throw_python(PyExc_TypeError, "_forget_operator(): expected an operator");
  const c10::OperatorEntry* entry = as_operator(object)->entry;
  TORCH_CHECK(entry->is_declared_at_run_time(), entry->name(),
              " is an operator of torch_py itself");
  c10::Dispatcher::singleton().remove(entry);
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* set_operator_class(PyObject*, PyObject* type) {
  TORCH_PY_TRY
  const bool fits = PyType_Check(type) &&
                    PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), &OperatorBaseType);
  if (!fits)
    throw_python(PyExc_TypeError, "_set_operator_class(): expected a subclass of _OperatorBase");
  operator_class = reinterpret_cast<PyTypeObject*>(Py_NewRef(type));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* parse_schema_text(PyObject*, PyObject* text) {
  TORCH_PY_TRY
  const c10::OperatorSchema schema = c10::parse_schema(to_string_view(text));
  const ObjectPtr arguments = ObjectPtr::steal(describe_all(schema.arguments));
  const ObjectPtr results = ObjectPtr::steal(describe_all(schema.results));
  return checked(Py_BuildValue("(ssOO)", schema.name.c_str(), schema.overload.c_str(),
                               arguments.get(), results.get()));
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {
    {"_find_operator", find_operator_object, METH_O,
     "_find_operator('add.Tensor') -> OpOverload; None if there is no such overload."},
    {"_declare_operator", declare, METH_VARARGS,
     "_declare_operator(schema, tags='') -> OpOverload: a new operator, without kernels yet."},
    {"_forget_operator", forget, METH_O,
     "Takes the name of an operator declared in Python back; its object stays usable."},
    {"_set_operator_class", set_operator_class, METH_O, "Names the class of operators' objects."},
    {"_parse_schema", parse_schema_text, METH_O,
     "_parse_schema(text) -> (name, overload, arguments, results); ValueError shows the place of a "
     "mistake."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool is_operator(PyObject* object) { return PyObject_TypeCheck(object, &OperatorBaseType); }

PyObject* operator_object(c10::OperatorEntry& entry) {
  const auto found = objects().find(&entry);
  if (found != objects().end()) return Py_NewRef(found->second);

  // The module names the class; most programs never need it.
  if (operator_class == &OperatorBaseType)
    ObjectPtr::steal(checked(PyImport_ImportModule("torch_py._ops")));

  ObjectPtr object = ObjectPtr::steal(checked(operator_class->tp_alloc(operator_class, 0)));
  as_operator(object.get())->entry = &entry;
  as_operator(object.get())->vectorcall = call_operator;
  objects()[&entry] = Py_NewRef(object.get());
  return object.release();
}

void init_operators(PyObject* module) {
  PyTypeObject& type = OperatorBaseType;
  type.tp_name = "torch_py._C._OperatorBase";
  type.tp_doc = "One overload of an operator; calling it dispatches.";
  type.tp_basicsize = sizeof(OperatorObject);
  type.tp_flags =
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL;

  type.tp_dealloc = operator_dealloc;
  type.tp_traverse = operator_traverse;
  type.tp_vectorcall_offset = offsetof(OperatorObject, vectorcall);
  type.tp_dictoffset = offsetof(OperatorObject, dict);
  type.tp_call = PyVectorcall_Call;
  type.tp_methods = methods;
  type.tp_getset = properties;

  add_type(module, type);
  check_status(PyModule_AddFunctions(module, functions));
}

}  // namespace torch::python
