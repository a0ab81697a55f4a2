// Frames of CPython 3.10: they are objects, hold cells and free variables when they begin, and know
// the blocks that they are in.
#pragma once
#include <frameobject.h>

namespace torch::python::compiler::frames {

using Frame = PyFrameObject;

inline PyObject* code_of(Frame* frame) { return reinterpret_cast<PyObject*>(frame->f_code); }

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

}  // namespace torch::python::compiler::frames
