// Replaces the interpreter's function for frames, and puts it back.
#include "torch_py/csrc/compiler/frames/Evaluator.h"

#include <utility>

#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"

namespace torch::python::compiler::frames {

namespace {

// Change with the GIL held.
int uses = 0;
_PyFrameEvalFunction outer = nullptr;  // what was there before
FrameHook frame_hook = nullptr;
int asking = 0;

thread_local Beginning* expected = nullptr;

PyObject* evaluate(PyThreadState* state, Frame* frame, int is_throwing);

void begin_use() {
  if (uses++ > 0) return;
  PyInterpreterState* interpreter = PyInterpreterState_Get();
  outer = _PyInterpreterState_GetEvalFrameFunc(interpreter);
  _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
}

/// Leaves a function that somebody else has set in between: it calls ours, which passes frames on.
void end_use() {
  if (--uses > 0) return;
  PyInterpreterState* interpreter = PyInterpreterState_Get();
  if (_PyInterpreterState_GetEvalFrameFunc(interpreter) == evaluate)
    _PyInterpreterState_SetEvalFrameFunc(interpreter, outer);
}

/// A garbage collection could run destructors, which are Python functions too.
class WithoutCollection {
 public:
  WithoutCollection() : was_enabled_(PyGC_Disable() != 0) {}
  ~WithoutCollection() { end(); }
  WithoutCollection(const WithoutCollection&) = delete;
  WithoutCollection& operator=(const WithoutCollection&) = delete;

  void end() {
    if (std::exchange(was_enabled_, false)) PyGC_Enable();
  }

 private:
  bool was_enabled_;
};

thread_local WithoutCollection* pause = nullptr;

PyObject* begin_as_expected(PyThreadState* state, Frame* frame) {
  Beginning& beginning = *std::exchange(expected, nullptr);
  beginning.is_done = true;
  beginning.change(frame, beginning.how);
  pause->end();
  end_use();
  return _PyEval_EvalFrameDefault(state, frame, 0);
}

PyObject* evaluate(PyThreadState* state, Frame* frame, int is_throwing) {
  if (expected != nullptr && expected->code == code_of(frame) && is_throwing == 0)
    return begin_as_expected(state, frame);

  PyObject* result = nullptr;
  if (asking > 0 && is_throwing == 0 && is_beginning(frame) && frame_hook(state, frame, &result))
    return result;
  return outer(state, frame, is_throwing);
}

}  // namespace

PyObject* call_with_beginning(Beginning& beginning, PyObject* function, PyObject* const* args,
                              size_t nargs, PyObject* kwnames) {
  Beginning* const before = std::exchange(expected, &beginning);
  WithoutCollection own_pause;
  WithoutCollection* const pause_before = std::exchange(pause, &own_pause);

  begin_use();
  PyObject* result = PyObject_Vectorcall(function, args, nargs, kwnames);
  if (!beginning.is_done) end_use();

  expected = before;
  pause = pause_before;
  return result;
}

int find_unit(PyObject* code, unsigned char opcode) {
  const ObjectPtr bytes =
      ObjectPtr::steal(checked(bytes_of(reinterpret_cast<PyCodeObject*>(code))));
  const auto* text = reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(bytes.get()));
  for (int i = 0; 2 * i < PyBytes_GET_SIZE(bytes.get()); ++i) {
    if (text[2 * i] == opcode) return i;
  }
  return -1;
}

void start_asking(FrameHook hook) {
  frame_hook = hook;
  ++asking;
  begin_use();
}

void stop_asking() {
  --asking;
  end_use();
}

}  // namespace torch::python::compiler::frames
