// The function by which the interpreter evaluates frames (PEP 523), while something replaces it.
#pragma once
#include "torch_py/csrc/compiler/frames/FrameLayout.h"

namespace torch::python::compiler::frames {

/// Note [Evaluating frames]
/// The interpreter has one function that evaluates frames, for all threads. While it is replaced,
/// calls of Python functions take longer, and from 3.11 on they are no longer inlined. So it is
/// replaced for as short as possible: to resume, from the call of a function to the beginning of
/// its frame; for a frame hook, while one is set. Uses are counted: other threads may resume at the
/// same time, as may destructors that run in between. A function that was there before, such as a
/// debugger's, gets all frames that are not meant for us.

/// Changes how the next frame of `code` on this thread begins.
struct Beginning {
  PyObject* code;
  void (*change)(Frame* frame, void* how);
  void* how;
  bool is_done = false;
};

/// Calls a function of Beginning::code such that its frame begins as given. Null with an exception
/// set.
PyObject* call_with_beginning(Beginning& beginning, PyObject* function, PyObject* const* args,
                              size_t nargs, PyObject* kwnames);

/// The unit of the first instruction of a kind; -1 if the code has no such.
int find_unit(PyObject* code, unsigned char opcode);

/// Asked for each frame that begins. True if it took the frame over: then `result` is what the
/// frame returned, null with an exception set.
using FrameHook = bool (*)(PyThreadState* state, Frame* frame, PyObject** result);
/// Asks `hook` until stop_asking(): calls may nest, with the same hook.
void start_asking(FrameHook hook);
void stop_asking();

}  // namespace torch::python::compiler::frames
