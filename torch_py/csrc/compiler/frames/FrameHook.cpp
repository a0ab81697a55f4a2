// set_frame_hook(): asks Python about the functions that begin on a thread.
#include "torch_py/csrc/compiler/frames/Evaluator.h"

#include <utility>

#include "c10/util/SmallVector.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/compiler/Module.h"

// Note [Frame hooks]
// While compiled code calls something that was not captured, functions that are called from there
// may be captured on their own. The hook of the thread is asked for each function that begins; what
// it returns is called in place of the function. It is off while the hook itself or such a
// replacement runs: these set one where they want it. Code that is marked to be skipped, such as
// the compiler's own, is not asked for.

namespace torch::python::compiler {

namespace {

using frames::Frame;

// Owned, as a plain pointer: a thread may end after the interpreter. Null without a hook.
thread_local PyObject* hook = nullptr;

// --- Marks of code ---

Py_ssize_t mark_index() {
  static const Py_ssize_t index = _PyEval_RequestCodeExtraIndex(nullptr);
  return index;
}

bool is_skipped(PyObject* code) {
  void* mark = nullptr;
  if (_PyCode_GetExtra(code, mark_index(), &mark) < 0) PyErr_Clear();
  return mark != nullptr;
}

/// Whether the code is that of an ordinary function.
bool can_replace(PyObject* object) {
  constexpr int refused = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
  constexpr int needed = CO_OPTIMIZED | CO_NEWLOCALS;
  const int flags = reinterpret_cast<PyCodeObject*>(object)->co_flags;
  return (flags & refused) == 0 && (flags & needed) == needed;
}

// --- Replacing a frame ---

/// Takes the hook off for a scope.
class HookOff {
 public:
  HookOff() : hook_(std::exchange(hook, nullptr)) {}
  ~HookOff() {
    PyObject* own = std::exchange(hook, hook_);
    if (own == nullptr) return;
    // One that was set meanwhile, and left.
    frames::stop_asking();
    Py_DECREF(own);
  }
  HookOff(const HookOff&) = delete;
  HookOff& operator=(const HookOff&) = delete;

  PyObject* get() const { return hook_; }

 private:
  PyObject* hook_;
};

Py_ssize_t parameter_count(PyCodeObject* code) {
  const int stars = ((code->co_flags & CO_VARARGS) != 0) + ((code->co_flags & CO_VARKEYWORDS) != 0);
  return code->co_argcount + code->co_kwonlyargcount + stars;
}

PyObject* call_replacement(PyObject* replacement, Frame* frame) {
  const Py_ssize_t count = parameter_count(reinterpret_cast<PyCodeObject*>(frames::code_of(frame)));
  c10::SmallVector<PyObject*, 16> arguments;
  for (Py_ssize_t i = 0; i < count; ++i) arguments.push_back(frames::argument_of(frame, i));
  return PyObject_Vectorcall(replacement, arguments.data(), static_cast<size_t>(count), nullptr);
}

// --- Frames that are not evaluated ---

/// Code that is put into a frame, and where it goes on.
struct Ending {
  PyObject* code;
  int unit;
};

/// Returns what is on the stack.
Ending make_returning() {
  const ObjectPtr module =
      ObjectPtr::steal(checked(Py_CompileString("lambda: f()", "<end of a frame>", Py_eval_input)));
  auto* outer = reinterpret_cast<PyCodeObject*>(module.get());
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(outer->co_consts); ++i) {
    PyObject* code = PyTuple_GET_ITEM(outer->co_consts, i);
    if (PyCode_Check(code)) return {Py_NewRef(code), frames::find_unit(code, RETURN_VALUE)};
  }
  throw_python(PyExc_SystemError,
               "set_frame_hook(): the code that ends frames has not its expected form");
}

/// Has not begun: an exception passes through without leaving its name in the traceback.
Ending make_raising() {
  const ObjectPtr space = ObjectPtr::steal(checked(PyDict_New()));
  check_status(PyDict_SetItemString(space.get(), "__builtins__", PyEval_GetBuiltins()));
  const char* text =
      "def outer():\n  free = None\n  return lambda: free\ncode = outer().__code__\n";
  ObjectPtr::steal(checked(PyRun_String(text, Py_file_input, space.get(), space.get())));
  return {Py_NewRef(checked(PyDict_GetItemString(space.get(), "code"))), 0};
}

struct Endings {
  Ending returning;
  Ending raising;
};

/// Throws PythonError if they cannot be made, the first time.
const Endings& endings() {
  static const Endings made{make_returning(), make_raising()};
  return made;
}

/// Ends a frame with a result, or with the exception that is set, as its evaluation would have.
PyObject* end_frame(PyThreadState* state, Frame* frame, PyObject* result) {
  if constexpr (!frames::kHasToClear) return result;

  auto* code = reinterpret_cast<PyCodeObject*>(frames::code_of(frame));
  for (Py_ssize_t i = 0; i < frames::slot_count(code); ++i) Py_CLEAR(frames::slots_of(frame)[i]);

  const Ending& ending = result != nullptr ? endings().returning : endings().raising;
  frames::set_code(frame, ending.code);
  frames::set_next_unit(frame, ending.unit);
  frames::set_stack_depth(frame, result != nullptr ? 1 : 0);
  // On the stack, or a free variable without a cell. Also a frame without slots has room for it:
  // the interpreter leaves one behind the last frame.
  frames::slots_of(frame)[0] = result;
  return _PyEval_EvalFrameDefault(state, frame, result == nullptr);
}

/// The frame's result, null with an exception set; false if the hook leaves it alone.
bool replace(PyThreadState*, Frame* frame, PyObject** result) {
  const HookOff off;
  const ObjectPtr function = ObjectPtr::steal(frames::function_of(frame));
  const ObjectPtr replacement =
      ObjectPtr::steal(function ? PyObject_CallOneArg(off.get(), function.get()) : nullptr);
  if (replacement && replacement.get() == Py_None) return false;

  *result = replacement ? call_replacement(replacement.get(), frame) : nullptr;
  return true;
}

bool ask_hook(PyThreadState* state, Frame* frame, PyObject** result) {
  PyObject* code = frames::code_of(frame);
  if (hook == nullptr || !can_replace(code) || is_skipped(code)) return false;
  if (!replace(state, frame, result)) return false;

  *result = end_frame(state, frame, *result);
  return true;
}

// --- What Python sees ---

PyObject* set_frame_hook(PyObject*, PyObject* given) {
  TORCH_PY_TRY
  if (given != Py_None && !PyCallable_Check(given))
    throw_python(PyExc_TypeError, "set_frame_hook(): expected a callable or None, got %s",
                 type_name(given));

  if (frames::kHasToClear) endings();
  PyObject* now = given == Py_None ? nullptr : Py_NewRef(given);
  PyObject* before = std::exchange(hook, now);
  if (now != nullptr && before == nullptr) frames::start_asking(ask_hook);
  if (now == nullptr && before != nullptr) frames::stop_asking();
  return before != nullptr ? before : Py_NewRef(Py_None);
  TORCH_PY_CATCH(nullptr)
}

PyObject* to_code(PyObject* object, const char* function) {
  if (!PyCode_Check(object))
    throw_python(PyExc_TypeError, "%s(): expected code, got %s", function, type_name(object));
  return object;
}

PyObject* skip_code(PyObject*, PyObject* args) {
  TORCH_PY_TRY
  PyObject* code = nullptr;
  int skip = 1;
  if (!PyArg_ParseTuple(args, "O|p:skip_code", &code, &skip)) return nullptr;
  void* mark = skip != 0 ? &hook : nullptr;  // any address
  check_status(_PyCode_SetExtra(to_code(code, "skip_code"), mark_index(), mark));
  Py_RETURN_NONE;
  TORCH_PY_CATCH(nullptr)
}

PyObject* is_skipped_code(PyObject*, PyObject* code) {
  TORCH_PY_TRY
  return PyBool_FromLong(is_skipped(to_code(code, "is_skipped_code")));
  TORCH_PY_CATCH(nullptr)
}

PyMethodDef functions[] = {
    {"set_frame_hook", set_frame_hook, METH_O,
     "set_frame_hook(hook or None) -> the hook before: on this thread, hook(function) is asked for "
     "each Python function "
     "that begins. It returns None to let it run, or what is called in its place, with the bound "
     "arguments. It is off "
     "while the hook or a replacement runs, and costs time: set it for as short as possible."},
    {"skip_code", skip_code, METH_VARARGS,
     "skip_code(code, skip=True): never asks the hook about functions of this code."},
    {"is_skipped_code", is_skipped_code, METH_O, "Whether skip_code() was called for a code."},
    {nullptr, nullptr, 0, nullptr}};

void add_frame_hook(PyObject* module) { check_status(PyModule_AddFunctions(module, functions)); }

const RegisterPart part(add_frame_hook);

}  // namespace

}  // namespace torch::python::compiler
