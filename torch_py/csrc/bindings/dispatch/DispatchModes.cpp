// The stack of TorchDispatchModes of each thread: every operator call goes to the mode entered
// last.
#include "torch_py/csrc/bindings/dispatch/DispatchModes.h"

#include <algorithm>
#include <vector>

#include "aten/core/Allocation.h"
#include "aten/ops/empty.h"
#include "aten/ops/empty_strided.h"
#include "c10/dispatch/LocalState.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"

namespace torch::python {

namespace {

struct EnteredMode {
  PyObject* mode;         // owned, as a plain pointer: a thread may end after the interpreter
  bool sees_allocations;  // Note [Allocations seen by modes]
};

thread_local std::vector<EnteredMode> modes;

/// Calls reach the Python key while there are modes.
void include_key() {
  c10::DispatchKeySet& included = c10::local_state().included;
  included =
      modes.empty() ? included - c10::DispatchKey::Python : included | c10::DispatchKey::Python;
}

bool asks_for_allocations(PyObject* mode) {
  const ObjectPtr asks = ObjectPtr::steal(PyObject_GetAttrString(mode, "_sees_allocations"));
  if (!asks) PyErr_Clear();
  return asks.get() == Py_True;
}

void push(PyObject* mode) {
  modes.push_back({Py_NewRef(mode), asks_for_allocations(mode)});
  include_key();
}

ObjectPtr pop() {
  if (modes.empty()) throw_python(PyExc_AssertionError, "trying to pop from empty mode stack");
  ObjectPtr top = ObjectPtr::steal(modes.back().mode);
  modes.pop_back();
  include_key();
  return top;
}

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
    throw_python(PyExc_IndexError, "_get_dispatch_stack_at: position %lld of a stack of %zu modes",
                 static_cast<long long>(i), modes.size());
  }
  return Py_NewRef(modes[static_cast<size_t>(i)].mode);
  TORCH_PY_CATCH(nullptr)
}

/// An allocation as a call that modes receive; undefined if none of this thread asks for it.
at::Tensor seen_allocation(at::IntArrayRef sizes, const at::IntArrayRef* strides,
                           at::ScalarType dtype, at::Device device) {
  if (!mode_sees_allocations()) return {};
  if (strides != nullptr) {
    return at::empty_strided(sizes, *strides, dtype, std::nullopt, device, std::nullopt);
  }
  return at::empty(sizes, dtype, std::nullopt, device, std::nullopt, std::nullopt);
}

PyMethodDef functions[] = {
    {"_push_on_torch_dispatch_stack", push_mode, METH_O,
     "Enters a TorchDispatchMode on this thread."},
    {"_pop_torch_dispatch_stack", pop_mode, METH_NOARGS,
     "Leaves the mode entered last and returns it."},
    {"_len_torch_dispatch_stack", count_modes, METH_NOARGS, "How many modes this thread is in."},
    {"_get_dispatch_stack_at", mode_at, METH_O,
     "The mode at a position, the one entered first at 0."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool in_dispatch_mode() { return !modes.empty(); }

bool mode_sees_allocations() {
  return std::any_of(modes.begin(), modes.end(),
                     [](const EnteredMode& entered) { return entered.sees_allocations; });
}

StashedMode::StashedMode() : mode_(pop()) {}
StashedMode::~StashedMode() { push(mode_.get()); }

void init_dispatch_modes(PyObject* module) {
  check_status(PyModule_AddFunctions(module, functions));
  at::set_allocation_hook(seen_allocation);
}

}  // namespace torch::python
