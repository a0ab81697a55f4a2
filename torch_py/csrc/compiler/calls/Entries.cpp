// Pairs of guards and code, and tuples of them.
#include "torch_py/csrc/compiler/calls/Entries.h"

#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/types/AddType.h"

namespace torch::python::compiler {

namespace {

PyTypeObject EntryType = {PyVarObject_HEAD_INIT(nullptr, 0)};

EntryObject* as_entry(PyObject* object) { return reinterpret_cast<EntryObject*>(object); }

int entry_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(as_entry(self)->guards);
  Py_VISIT(as_entry(self)->code);
  return 0;
}

void entry_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  Py_CLEAR(as_entry(self)->guards);
  Py_CLEAR(as_entry(self)->code);
  Py_TYPE(self)->tp_free(self);
}

PyObject* get_guards(PyObject* self, void*) { return Py_NewRef(as_entry(self)->guards); }
PyObject* get_code(PyObject* self, void*) { return Py_NewRef(as_entry(self)->code); }

PyGetSetDef properties[] = {
    {"guards", get_guards, nullptr, "the GuardProgram that a call has to pass", nullptr},
    {"code", get_code, nullptr, "called with the bound arguments of such a call", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

PyObject* make_entry(PyObject* guards, PyObject* code) {
  PyObject* self = EntryType.tp_alloc(&EntryType, 0);
  if (self == nullptr) return nullptr;
  as_entry(self)->guards = Py_NewRef(guards);
  as_entry(self)->code = Py_NewRef(code);
  return self;
}

PyObject* with_first(PyObject* entries, PyObject* entry) {
  const Py_ssize_t count = PyTuple_GET_SIZE(entries);
  PyObject* more = checked(PyTuple_New(count + 1));
  PyTuple_SET_ITEM(more, 0, Py_NewRef(entry));
  for (Py_ssize_t i = 0; i < count; ++i)
    PyTuple_SET_ITEM(more, i + 1, Py_NewRef(PyTuple_GET_ITEM(entries, i)));
  return more;
}

void move_to_front(PyObject** entries, Py_ssize_t i) {
  const bool is_shared = Py_REFCNT(*entries) > 2;
  if (is_shared) {
    PyObject* copy = checked(PyTuple_New(PyTuple_GET_SIZE(*entries)));
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(copy); ++k)
      PyTuple_SET_ITEM(copy, k, Py_NewRef(PyTuple_GET_ITEM(*entries, k)));
    Py_SETREF(*entries, copy);
  }

  PyObject* chosen = PyTuple_GET_ITEM(*entries, i);
  for (; i > 0; --i) PyTuple_SET_ITEM(*entries, i, PyTuple_GET_ITEM(*entries, i - 1));
  PyTuple_SET_ITEM(*entries, 0, chosen);
}

void add_entry_type(PyObject* module) {
  PyTypeObject& type = EntryType;
  type.tp_name = "torch_py._C._compiler.Entry";
  type.tp_doc = "Compiled code and the guards under which it may run.";
  type.tp_basicsize = sizeof(EntryObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_dealloc = entry_dealloc;
  type.tp_traverse = entry_traverse;
  type.tp_getset = properties;
  add_type(module, type);
}

}  // namespace torch::python::compiler
