// torch_py._C._compiler.CompiledFunction: what torch.compile returns for a function.
#include <cstddef>
#include <new>

#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/types/AddType.h"
#include "torch_py/csrc/compiler/Module.h"
#include "torch_py/csrc/compiler/calls/Entries.h"
#include "torch_py/csrc/compiler/calls/Signature.h"
#include "torch_py/csrc/compiler/guards/GuardProgram.h"

// Note [Calls of compiled functions]
// A call binds its arguments as the function would and runs the first entry whose guards pass. If
// none does, `miss` is asked for a callable, after which there usually is one entry more. The tuple
// of entries is never changed while anybody else refers to it: guards may run Python code, which
// may call the function again, add entries, or let another thread do so. When there are `limit`
// entries, `miss` is asked once more; after that, calls that fit none run the function itself,
// until entries are cleared or the limit is raised.

namespace torch::python::compiler {

namespace {

struct CompiledFunction {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject* function;
  PyObject* miss;
  PyObject* entries;  // a tuple, the one used last first
  PyObject* dict;
  PyObject* weak_references;
  Py_ssize_t limit;
  bool knows_limit;  // miss was asked when there were `limit` entries
  Signature signature;
};

PyTypeObject CompiledFunctionType = {PyVarObject_HEAD_INIT(nullptr, 0)};

// Whether all calls run the functions themselves. Changes with the GIL held.
bool eager_calls = false;

CompiledFunction& as_compiled(PyObject* self) { return *reinterpret_cast<CompiledFunction*>(self); }

/// A call as it was made, and its arguments bound.
struct Call {
  PyObject* const* args;
  size_t nargsf;
  PyObject* kwnames;
  PyObject* const* bound;
  size_t count;
};

// --- Calling ---

/// Code takes the bound arguments; the function itself, which may stand for code, those of the
/// call.
PyObject* call_code(CompiledFunction& self, PyObject* code, const Call& call) {
  if (C10_UNLIKELY(code == self.function))
    return PyObject_Vectorcall(code, call.args, call.nargsf, call.kwnames);
  if (PyFunction_Check(code)) return PyObject_Vectorcall(code, call.bound, call.count, nullptr);

  // Python functions count their depth themselves.
  if (Py_EnterRecursiveCall(" while calling a compiled function")) return nullptr;
  PyObject* result = PyObject_Vectorcall(code, call.bound, call.count, nullptr);
  Py_LeaveRecursiveCall();
  return result;
}

ObjectPtr tuple_of(const Call& call) {
  ObjectPtr tuple = ObjectPtr::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(call.count))));
  for (size_t i = 0; i < call.count; ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), Py_NewRef(call.bound[i]));
  return tuple;
}

/// Why none of the entries fits, in their order.
ObjectPtr reasons_of(PyObject* entries, const Call& call) {
  ObjectPtr reasons = ObjectPtr::steal(checked(PyList_New(0)));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(entries); ++i) {
    std::string reason;
    const Verdict verdict =
        run_rows(rows_of(entry_at(entries, i).guards), call.bound, call.count, &reason);
    if (verdict == Verdict::Raise) throw PythonError();
    const ObjectPtr text = ObjectPtr::steal(checked(
        PyUnicode_DecodeUTF8(reason.data(), static_cast<Py_ssize_t>(reason.size()), "replace")));
    check_status(PyList_Append(reasons.get(), text.get()));
  }
  return reasons;
}

PyObject* call_without_entry(PyObject* object, PyObject* entries, const Call& call) {
  CompiledFunction& self = as_compiled(object);
  const bool is_full = PyTuple_GET_SIZE(entries) >= self.limit;
  if (is_full && self.knows_limit) return call_code(self, self.function, call);

  const ObjectPtr bound = tuple_of(call);
  const ObjectPtr reasons = reasons_of(entries, call);
  const ObjectPtr code = ObjectPtr::steal(checked(
      PyObject_CallFunctionObjArgs(self.miss, object, bound.get(), reasons.get(), nullptr)));
  if (is_full) self.knows_limit = true;

  if (!PyCallable_Check(code.get()))
    throw_python(PyExc_TypeError, "CompiledFunction: miss returned %s, which is not callable",
                 type_name(code.get()));
  return call_code(self, code.get(), call);
}

PyObject* call_bound(PyObject* object, const Call& call) {
  CompiledFunction& self = as_compiled(object);
  const ObjectPtr entries = ObjectPtr::borrow(self.entries);  // keeps the code, too
  const Py_ssize_t count = PyTuple_GET_SIZE(entries.get());

  for (Py_ssize_t i = 0; i < count; ++i) {
    const EntryObject& entry = entry_at(entries.get(), i);
    const Verdict verdict = run_rows(rows_of(entry.guards), call.bound, call.count, nullptr);
    if (verdict == Verdict::Raise) return nullptr;
    if (verdict == Verdict::Fail) continue;

    if (C10_UNLIKELY(i > 0 && self.entries == entries.get())) move_to_front(&self.entries, i);
    return call_code(self, entry.code, call);
  }
  return call_without_entry(object, entries.get(), call);
}

/// The function got another code: what was compiled for the old one is of no use.
void refresh(CompiledFunction& self) {
  PyObject* none = checked(PyTuple_New(0));
  self.signature = Signature(self.function);
  self.knows_limit = false;
  Py_SETREF(self.entries, none);
}

PyObject* bind_and_call(PyObject* object, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  CompiledFunction& self = as_compiled(object);
  if (!self.signature.is_current()) refresh(self);

  const auto nargs = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
  if (kwnames == nullptr && self.signature.is_complete(nargs))
    return call_bound(object, {args, nargsf, kwnames, args, nargs});

  BoundArguments bound;
  if (self.signature.bind(bound, args, nargs, kwnames))
    return call_bound(object, {args, nargsf, kwnames, bound.data(), bound.size()});
  // The function says best what is wrong with its arguments.
  return PyErr_Occurred() != nullptr ? nullptr
                                     : PyObject_Vectorcall(self.function, args, nargsf, kwnames);
}

PyObject* call_or_raise(PyObject* object, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  TORCH_PY_TRY
  return bind_and_call(object, args, nargsf, kwnames);
  TORCH_PY_CATCH(nullptr)
}

/// Drops frames of the compiler from the traceback of the exception that is raised. If that fails,
/// they stay.
void keep_frames_of_program() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);

  if (traceback != nullptr) {
    const ObjectPtr module =
        ObjectPtr::steal(PyImport_ImportModule("torch_py._dynamo.program_frames"));
    PyObject* kept = module
                         ? PyObject_CallMethod(module.get(), "traceback_of_program", "O", traceback)
                         : nullptr;
    if (kept == Py_None) Py_CLEAR(kept);
    if (kept != nullptr || PyErr_Occurred() == nullptr) Py_XSETREF(traceback, kept);
    PyErr_Clear();
  }

  PyErr_Restore(type, value, traceback);
}

PyObject* call_compiled(PyObject* object, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  if (C10_UNLIKELY(eager_calls))
    return PyObject_Vectorcall(as_compiled(object).function, args, nargsf, kwnames);

  PyObject* result = call_or_raise(object, args, nargsf, kwnames);
  if (C10_UNLIKELY(result == nullptr)) keep_frames_of_program();
  return result;
}

// --- Making and freeing ---

/// What functools.wraps() copies, and the function under the names by which it is looked for.
void copy_names(CompiledFunction& self) {
  self.dict = checked(PyDict_New());
  for (const char* name : {"__module__", "__name__", "__qualname__", "__doc__", "__annotations__",
                           "__type_params__"}) {
    const ObjectPtr value = ObjectPtr::steal(PyObject_GetAttrString(self.function, name));
    if (!value) {
      if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw PythonError();
      PyErr_Clear();
      continue;
    }
    check_status(PyDict_SetItemString(self.dict, name, value.get()));
  }

  const ObjectPtr attributes =
      ObjectPtr::steal(checked(PyObject_GetAttrString(self.function, "__dict__")));
  check_status(PyDict_Update(self.dict, attributes.get()));
  check_status(PyDict_SetItemString(self.dict, "__wrapped__", self.function));
  check_status(PyDict_SetItemString(self.dict, "_torchdynamo_orig_callable", self.function));
}

PyObject* compiled_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  static const char* names[] = {"function", "miss", "limit", nullptr};
  PyObject* function = nullptr;
  PyObject* miss = nullptr;
  Py_ssize_t limit = 8;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O|n:CompiledFunction",
                                   const_cast<char**>(names), &PyFunction_Type, &function, &miss,
                                   &limit))
    return nullptr;
  if (!PyCallable_Check(miss))
    throw_python(PyExc_TypeError, "CompiledFunction(): argument 'miss' must be callable, not %s",
                 type_name(miss));
  if (limit < 0)
    throw_python(PyExc_ValueError,
                 "CompiledFunction(): argument 'limit' must not be negative, got %zd", limit);

  const ObjectPtr none = ObjectPtr::steal(checked(PyTuple_New(0)));
  ObjectPtr object = ObjectPtr::steal(checked(type->tp_alloc(type, 0)));
  CompiledFunction& self = as_compiled(object.get());
  self.vectorcall = call_compiled;
  self.function = Py_NewRef(function);
  self.miss = Py_NewRef(miss);
  self.entries = Py_NewRef(none.get());
  self.limit = limit;
  new (&self.signature) Signature(function);

  copy_names(self);
  return object.release();
  TORCH_PY_CATCH(nullptr)
}

int compiled_traverse(PyObject* object, visitproc visit, void* arg) {
  CompiledFunction& self = as_compiled(object);
  Py_VISIT(self.function);
  Py_VISIT(self.miss);
  Py_VISIT(self.entries);
  Py_VISIT(self.dict);
  return 0;
}

/// The function stays: it breaks no cycle that the others do not.
int compiled_clear(PyObject* object) {
  CompiledFunction& self = as_compiled(object);
  Py_CLEAR(self.dict);
  PyObject* none = PyTuple_New(0);  // shared, cannot fail
  Py_SETREF(self.entries, none);
  Py_SETREF(self.miss, Py_NewRef(Py_None));
  return 0;
}

void compiled_dealloc(PyObject* object) {
  CompiledFunction& self = as_compiled(object);
  PyObject_GC_UnTrack(object);
  if (self.weak_references != nullptr) PyObject_ClearWeakRefs(object);
  Py_CLEAR(self.dict);
  Py_CLEAR(self.entries);
  Py_CLEAR(self.miss);
  self.signature.~Signature();
  Py_CLEAR(self.function);
  Py_TYPE(object)->tp_free(object);
}

// --- What Python sees ---

PyObject* compiled_bind(PyObject* self, PyObject* owner, PyObject*) {
  return owner == nullptr || owner == Py_None ? Py_NewRef(self) : PyMethod_New(self, owner);
}

PyObject* compiled_repr(PyObject* self) {
  return PyUnicode_FromFormat("<compiled %R>", as_compiled(self).function);
}

PyObject* add(PyObject* object, PyObject* args) {
  TORCH_PY_TRY
  PyObject* guards = nullptr;
  PyObject* code = nullptr;
  if (!PyArg_ParseTuple(args, "OO:add", &guards, &code)) return nullptr;
  if (!is_guard_program(guards))
    throw_python(PyExc_TypeError, "CompiledFunction.add(): expected a GuardProgram, got %s",
                 type_name(guards));
  if (!PyCallable_Check(code))
    throw_python(PyExc_TypeError, "CompiledFunction.add(): expected a callable, got %s",
                 type_name(code));

  CompiledFunction& self = as_compiled(object);
  if (!self.signature.is_current()) refresh(self);
  const size_t parameters = self.signature.parameter_count();
  const size_t read = rows_of(guards).input_count;
  if (read > parameters)
    throw_python(PyExc_ValueError,
                 "CompiledFunction.add(): the guards read %zu arguments, the function has %zu",
                 read, parameters);
  if (PyTuple_GET_SIZE(self.entries) >= self.limit)
    throw_python(PyExc_RuntimeError,
                 "CompiledFunction.add(): there are %zd entries already, the limit", self.limit);

  const ObjectPtr entry = ObjectPtr::steal(checked(make_entry(guards, code)));
  PyObject* more = with_first(self.entries, entry.get());
  Py_SETREF(self.entries, more);
  return Py_NewRef(entry.get());
  TORCH_PY_CATCH(nullptr)
}

PyObject* clear(PyObject* object, PyObject*) {
  TORCH_PY_TRY
  refresh(as_compiled(object));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

/// pickle and copy find it by its name, as they do for functions.
PyObject* reduce(PyObject* object, PyObject*) {
  return PyObject_GetAttrString(object, "__qualname__");
}

PyObject* get_entries(PyObject* object, void*) { return Py_NewRef(as_compiled(object).entries); }
PyObject* get_limit(PyObject* object, void*) {
  return PyLong_FromSsize_t(as_compiled(object).limit);
}

int set_limit(PyObject* object, PyObject* value, void*) {
  TORCH_PY_TRY
  const int64_t limit = value != nullptr ? to_int64(value) : -1;
  if (limit < 0)
    throw_python(PyExc_ValueError, "CompiledFunction.limit must be an int that is not negative");
  as_compiled(object).limit = static_cast<Py_ssize_t>(limit);
  as_compiled(object).knows_limit = false;
  return 0;
  TORCH_PY_CATCH(-1)
}

PyObject* set_eager_calls(PyObject*, PyObject* enabled) {
  const int is_true = PyObject_IsTrue(enabled);
  if (is_true < 0) return nullptr;
  return PyBool_FromLong(std::exchange(eager_calls, is_true != 0));
}

PyMethodDef methods[] = {
    {"add", add, METH_VARARGS,
     "add(guards, code) -> Entry: calls that pass the guards run code(*bound arguments)."},
    {"clear", clear, METH_NOARGS, "Forgets all entries."},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"entries", get_entries, nullptr, "tuple of entries, the one used last first", nullptr},
    {"limit", get_limit, set_limit, "how many entries there may be", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef functions[] = {{"set_eager_calls", set_eager_calls, METH_O,
                            "set_eager_calls(bool) -> bool: whether calls of compiled functions "
                            "run the functions themselves, on all "
                            "threads; returns what it was."},
                           {nullptr, nullptr, 0, nullptr}};

void add_compiled_function(PyObject* module) {
  PyTypeObject& type = CompiledFunctionType;
  type.tp_name = "torch_py._C._compiler.CompiledFunction";
  type.tp_doc = "CompiledFunction(function, miss, limit=8)\n--\n\n"
                "Calls the entry whose guards fit the arguments. If none does, miss(self, bound "
                "arguments, reasons) returns a\n"
                "callable, which is called with the bound arguments (the function itself: with "
                "those of the call).";
  type.tp_basicsize = sizeof(CompiledFunction);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                  Py_TPFLAGS_METHOD_DESCRIPTOR;

  type.tp_new = compiled_new;
  type.tp_dealloc = compiled_dealloc;
  type.tp_traverse = compiled_traverse;
  type.tp_clear = compiled_clear;
  type.tp_vectorcall_offset = offsetof(CompiledFunction, vectorcall);
  type.tp_dictoffset = offsetof(CompiledFunction, dict);
  type.tp_weaklistoffset = offsetof(CompiledFunction, weak_references);
  type.tp_call = PyVectorcall_Call;
  type.tp_descr_get = compiled_bind;
  type.tp_repr = compiled_repr;
  type.tp_methods = methods;
  type.tp_getset = properties;

  add_entry_type(module);
  add_type(module, type);
  check_status(PyModule_AddFunctions(module, functions));
}

const RegisterPart part(add_compiled_function);

}  // namespace

}  // namespace torch::python::compiler
