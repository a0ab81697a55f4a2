// Frames of CPython 3.10: they are objects, hold cells and free variables when they begin, and know
// the blocks that they are in.
#pragma once
#include <frameobject.h>

namespace torch::python::compiler::frames {

using Frame = PyFrameObject;

inline PyObject* code_of(Frame* frame) { return reinterpret_cast<PyObject*>(frame->f_code); }

/// The instructions, as bytes; a new reference.
inline PyObject* bytes_of(PyCodeObject* code) { return Py_NewRef(code->co_code); }

/// The slots of a frame: locals, cells and free variables, then the stack.
inline PyObject** slots_of(Frame* frame) { return frame->f_localsplus; }
inline Py_ssize_t cell_count(PyCodeObject* code) { return PyTuple_GET_SIZE(code->co_cellvars); }
inline Py_ssize_t free_count(PyCodeObject* code) { return PyTuple_GET_SIZE(code->co_freevars); }
inline Py_ssize_t slot_count(PyCodeObject* code) {
  return code->co_nlocals + cell_count(code) + free_count(code);
}
/// Whether a slot that is not a free variable holds a cell.
inline bool is_cell(PyCodeObject* code, Py_ssize_t slot) { return slot >= code->co_nlocals; }
/// The name of a slot that is not a free variable.
inline PyObject* slot_name(PyCodeObject* code, Py_ssize_t slot) {
  const bool is_local = slot < code->co_nlocals;
  return is_local ? PyTuple_GET_ITEM(code->co_varnames, slot)
                  : PyTuple_GET_ITEM(code->co_cellvars, slot - code->co_nlocals);
}
inline PyObject* parameter_names(PyCodeObject* code) { return code->co_varnames; }

/// How many values are on the stack above the slots.
inline void set_stack_depth(Frame* frame, Py_ssize_t depth) {
  frame->f_stackdepth = static_cast<int>(depth);
}
/// Lets the frame go on at an instruction, counted in units of two bytes.
inline void set_next_unit(Frame* frame, int unit) { frame->f_lasti = unit - 1; }

/// The blocks of a frame: (type, unit of the handler, stack depth), outermost first.
constexpr Py_ssize_t kMaxBlocks = CO_MAXBLOCKS;
inline void set_block(Frame* frame, int i, int type, int handler, int level) {
  frame->f_blockstack[i] = {type, handler, level};
  frame->f_iblock = i + 1;
}

/// The first unit from which a frame whose slots are filled may go on.
inline int first_unit(PyCodeObject*) { return 0; }

// --- Frames that begin ---

inline bool is_beginning(Frame* frame) { return frame->f_lasti < 0; }

/// A function like the one whose call it is, which frames do not know; a new reference, null with
/// an exception set.
inline PyObject* function_of(Frame* frame) {
  PyObject* function = PyFunction_New(reinterpret_cast<PyObject*>(frame->f_code), frame->f_globals);
  const Py_ssize_t count = free_count(frame->f_code);
  if (function == nullptr || count == 0) return function;

  PyObject* closure = PyTuple_New(count);
  PyObject** cells = slots_of(frame) + frame->f_code->co_nlocals + cell_count(frame->f_code);
  for (Py_ssize_t i = 0; closure != nullptr && i < count; ++i)
    PyTuple_SET_ITEM(closure, i, Py_NewRef(cells[i]));
  if (closure == nullptr || PyFunction_SetClosure(function, closure) < 0) Py_CLEAR(function);
  Py_XDECREF(closure);
  return function;
}

/// An argument, in the order of co_varnames; borrowed. It may have moved to a cell.
inline PyObject* argument_of(Frame* frame, Py_ssize_t i) {
  PyCodeObject* code = frame->f_code;
  if (slots_of(frame)[i] != nullptr || code->co_cell2arg == nullptr) return slots_of(frame)[i];
  for (Py_ssize_t k = 0; k < cell_count(code); ++k) {
    if (code->co_cell2arg[k] == i) return PyCell_GET(slots_of(frame)[code->co_nlocals + k]);
  }
  return nullptr;
}

/// Whether a frame that the interpreter does not get to see has to be cleared.
constexpr bool kHasToClear = false;
inline void set_code(Frame*, PyObject*) {}

}  // namespace torch::python::compiler::frames
