// Frames of CPython 3.11: plain memory, whose first instructions make cells and copy free
// variables.
#pragma once
#include <internal/pycore_frame.h>

#include <internal/pycore_code.h>

namespace torch::python::compiler::frames {

using Frame = _PyInterpreterFrame;

inline PyObject* code_of(Frame* frame) { return reinterpret_cast<PyObject*>(frame->f_code); }

/// The instructions, as bytes; a new reference.
inline PyObject* bytes_of(PyCodeObject* code) { return PyCode_GetCode(code); }

/// The slots of a frame: locals and cells, free variables, then the stack.
inline PyObject** slots_of(Frame* frame) { return frame->localsplus; }
inline Py_ssize_t free_count(PyCodeObject* code) { return code->co_nfreevars; }
inline Py_ssize_t slot_count(PyCodeObject* code) { return code->co_nlocalsplus; }
/// Whether a slot that is not a free variable holds a cell.
inline bool is_cell(PyCodeObject* code, Py_ssize_t slot) {
  return (_PyLocals_GetKind(code->co_localspluskinds, static_cast<int>(slot)) & CO_FAST_CELL) != 0;
}
/// The name of a slot that is not a free variable.
inline PyObject* slot_name(PyCodeObject* code, Py_ssize_t slot) {
  return PyTuple_GET_ITEM(code->co_localsplusnames, slot);
}
inline PyObject* parameter_names(PyCodeObject* code) { return code->co_localsplusnames; }

/// How many values are on the stack above the slots.
inline void set_stack_depth(Frame* frame, Py_ssize_t depth) {
  frame->stacktop = frame->f_code->co_nlocalsplus + static_cast<int>(depth);
}
/// Lets the frame go on at an instruction, counted in units of two bytes.
inline void set_next_unit(Frame* frame, int unit) {
  frame->prev_instr = _PyCode_CODE(frame->f_code) + unit - 1;
}

/// Blocks are a table of the code.
constexpr Py_ssize_t kMaxBlocks = 0;
inline void set_block(Frame*, int, int, int, int) {}

/// The first unit from which a frame whose slots are filled may go on: RESUME.
inline int first_unit(PyCodeObject* code) { return code->_co_firsttraceable; }

// --- Frames that begin ---

inline bool is_beginning(Frame* frame) { return frame->prev_instr < _PyCode_CODE(frame->f_code); }

/// The function whose call it is; a new reference, null with an exception set.
inline PyObject* function_of(Frame* frame) {
  return Py_NewRef(reinterpret_cast<PyObject*>(frame->f_func));
}

/// An argument, in the order of co_varnames; borrowed.
inline PyObject* argument_of(Frame* frame, Py_ssize_t i) { return frame->localsplus[i]; }

/// Whether a frame that the interpreter does not get to see has to be cleared.
constexpr bool kHasToClear = false;
inline void set_code(Frame*, PyObject*) {}

}  // namespace torch::python::compiler::frames
