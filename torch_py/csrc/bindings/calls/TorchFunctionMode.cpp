// The stack of TorchFunctionModes of each thread: every call goes to the mode entered last.
#include <vector>

#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Arguments.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/calls/TorchFunction.h"

namespace torch::python {

// Changes only with the GIL held.
int function_mode_count = 0;

namespace {

// Owned, as plain pointers: a thread may end after the interpreter.
thread_local std::vector<PyObject*> modes;
thread_local bool modes_enabled = true;

void push(PyObject* mode) {
  modes.push_back(Py_NewRef(mode));
  ++function_mode_count;
}

ObjectPtr pop() {
  if (modes.empty()) throw_python(PyExc_AssertionError, "trying to pop from empty mode stack");
  const ObjectPtr top = ObjectPtr::steal(modes.back());
  modes.pop_back();
  --function_mode_count;
  return top;
}

/// Takes the innermost mode off while it handles a call, so that those outside of it see what it
/// does.
class Stash {
 public:
  Stash() : mode_(pop()) {}
  ~Stash() { push(mode_.get()); }
  Stash(const Stash&) = delete;
  Stash& operator=(const Stash&) = delete;

  PyObject* get() const { return mode_.get(); }

 private:
  ObjectPtr mode_;
};

PyObject* push_mode(PyObject*, PyObject* mode) {
  TORCH_PY_TRY
  push(mode);
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* pop_mode(PyObject*, PyObject*) {
  TORCH_PY_TRY
  return pop().release();
  TORCH_PY_CATCH(nullptr)
}

PyObject* count_modes(PyObject*, PyObject*) { return PyLong_FromSize_t(modes.size()); }

PyObject* mode_at(PyObject*, PyObject* position) {
  TORCH_PY_TRY
  const int64_t i = to_int64(position);
  if (i < 0 || static_cast<size_t>(i) >= modes.size()) {
    throw_python(PyExc_IndexError, "_get_function_stack_at: position %lld of a stack of %zu modes",
                 static_cast<long long>(i), modes.size());
  }
  return Py_NewRef(modes[static_cast<size_t>(i)]);
  TORCH_PY_CATCH(nullptr)
}

PyObject* is_active(PyObject*, PyObject*) { return PyBool_FromLong(in_function_mode()); }

PyObject* set_enabled(PyObject*, PyObject* value) {
  const int enabled = PyObject_IsTrue(value);
  if (enabled < 0) return nullptr;
  return PyBool_FromLong(std::exchange(modes_enabled, enabled != 0));
}

PyMethodDef functions[] = {
    {"_push_on_torch_function_stack", push_mode, METH_O,
     "Enters a TorchFunctionMode on this thread."},
    {"_pop_torch_function_stack", pop_mode, METH_NOARGS,
     "Leaves the mode entered last and returns it."},
    {"_len_torch_function_stack", count_modes, METH_NOARGS, "How many modes this thread is in."},
    {"_get_function_stack_at", mode_at, METH_O,
     "The mode at a position, the one entered first at 0."},
    {"_is_torch_function_mode_enabled", is_active, METH_NOARGS,
     "Whether calls on this thread go to a mode."},
    {"_set_torch_function_modes_enabled", set_enabled, METH_O,
     "Whether calls go to modes on this thread; returns what it was."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool in_function_mode() { return function_mode_count != 0 && modes_enabled && !modes.empty(); }

PyObject* call_function_mode(PyObject* function, PyObject* types, PyObject* args,
                             PyObject* kwargs) {
  const Stash mode;
  const ObjectPtr handler =
      ObjectPtr::steal(checked(PyObject_GetAttrString(mode.get(), "__torch_function__")));
  return checked(
      PyObject_CallFunctionObjArgs(handler.get(), function, types, args, kwargs, nullptr));
}

std::string name_of_function_mode() {
  return in_function_mode() ? std::string("\n\n  - mode object ") + Py_TYPE(modes.back())->tp_name
                            : std::string();
}

void init_torch_function_mode(PyObject* module) {
  check_status(PyModule_AddFunctions(module, functions));
}

}  // namespace torch::python
