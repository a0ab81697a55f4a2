// torch_py._C._compiler.GuardProgram: rows that a call has to pass before compiled code may run.
#include "torch_py/csrc/compiler/guards/GuardProgram.h"

#include <new>

#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/types/AddType.h"
#include "torch_py/csrc/compiler/Module.h"
#include "torch_py/csrc/compiler/guards/ThreadState.h"

namespace torch::python::compiler {

namespace {

struct ProgramObject {
  PyObject_HEAD
  Rows rows;
};

PyTypeObject ProgramType = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject* program_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  TORCH_PY_TRY
  static const char* names[] = {"rows", "registers", nullptr};
  PyObject* given = nullptr;
  Py_ssize_t registers = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "On:GuardProgram", const_cast<char**>(names),
                                   &given, &registers))
    return nullptr;

  Rows rows = parse_rows(given, registers);
  PyObject* self = checked(type->tp_alloc(type, 0));
  new (&rows_of(self)) Rows(std::move(rows));
  return self;
  TORCH_PY_CATCH(nullptr)
}

int program_traverse(PyObject* self, visitproc visit, void* arg) {
  for (const ObjectPtr& object : rows_of(self).objects) Py_VISIT(object.get());
  return rows_of(self).watches.traverse(visit, arg);
}

/// A program without its objects passes nothing.
int program_clear(PyObject* self) {
  Rows old = std::move(rows_of(self));
  rows_of(self) = Rows();
  rows_of(self).rows.push_back({Kind::Never});
  rows_of(self).texts.push_back(nullptr);
  return 0;
}

void program_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  rows_of(self).~Rows();
  Py_TYPE(self)->tp_free(self);
}

PyObject* program_check(PyObject* self, PyObject* args) {
  TORCH_PY_TRY
  if (!PyTuple_Check(args) && !PyList_Check(args))
    throw_python(PyExc_TypeError, "GuardProgram.check(): expected a tuple or list, got %s",
                 type_name(args));
  const ObjectPtr tuple = ObjectPtr::steal(checked(PySequence_Tuple(args)));
  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(tuple.get()));

  Rows& rows = rows_of(self);
  if (count < rows.input_count) {
    throw_python(PyExc_ValueError, "GuardProgram.check(): the program reads %u arguments, got %zu",
                 rows.input_count, count);
  }

  std::string reason;
  switch (run_rows(rows, &PyTuple_GET_ITEM(tuple.get(), 0), count, &reason)) {
    case Verdict::Pass: Py_RETURN_NONE;
    case Verdict::Raise: return nullptr;
    case Verdict::Fail: break;
  }
  return checked(
      PyUnicode_DecodeUTF8(reason.data(), static_cast<Py_ssize_t>(reason.size()), "replace"));
  TORCH_PY_CATCH(nullptr)
}

PyObject* program_len(PyObject* self, void*) {
  return PyLong_FromSize_t(rows_of(self).rows.size());
}

PyObject* thread_state_py(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(thread_state());
}

PyObject* can_watch(PyObject*, PyObject* object) {
  return PyBool_FromLong(WatchList::is_reliable(object));
}

PyMethodDef methods[] = {{"check", program_check, METH_O,
                          "check(arguments) -> None if all rows pass, else why one does not: "
                          "\"L['x'].size(0) was 8, is 9\"."},
                         {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"row_count", program_len, nullptr, "how many rows the program has", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef functions[] = {{"thread_state", thread_state_py, METH_NOARGS,
                            "thread_state() -> int: grad mode, autocast, default dtype and the "
                            "like, for a row ('state', word, text)."},
                           {"can_watch", can_watch, METH_O,
                            "Whether changes of an object can be told. If not, rows of ('watched', "
                            "(object,), rows, text) are run in every "
                            "call: for objects without a __dict__, and in Python 3.13.0 for those "
                            "whose __dict__ was never replaced."},
                           {nullptr, nullptr, 0, nullptr}};

void add_guard_program(PyObject* module) {
  PyTypeObject& type = ProgramType;
  type.tp_name = "torch_py._C._compiler.GuardProgram";
  type.tp_doc = "GuardProgram(rows, registers)\n--\n\n"
                "Conditions on the arguments of a call, and on what can be reached from them. "
                "Registers hold the arguments\n"
                "first; rows fill further ones. ParseRows.cpp lists the rows.";
  type.tp_basicsize = sizeof(ProgramObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC;
  type.tp_new = program_new;
  type.tp_dealloc = program_dealloc;
  type.tp_traverse = program_traverse;
  type.tp_clear = program_clear;
  type.tp_methods = methods;
  type.tp_getset = properties;

  add_type(module, type);
  check_status(PyModule_AddFunctions(module, functions));
}

const RegisterPart part(add_guard_program);

}  // namespace

bool is_guard_program(PyObject* object) { return Py_TYPE(object) == &ProgramType; }

Rows& rows_of(PyObject* program) { return reinterpret_cast<ProgramObject*>(program)->rows; }

}  // namespace torch::python::compiler
