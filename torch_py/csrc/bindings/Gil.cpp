// Threads at the end of the interpreter. See Note [The end of the interpreter].
#include "torch_py/csrc/bindings/Gil.h"

#include <unistd.h>

#include <atomic>

#include "torch_py/csrc/bindings/Errors.h"

namespace torch::python {

namespace {

std::atomic<bool> ended{false};

bool holds_gil() noexcept {
  const PyThreadState* own = PyGILState_GetThisThreadState();
#if PY_VERSION_HEX >= 0x030D0000
  return own != nullptr && own == PyThreadState_GetUnchecked();
#else
  return own != nullptr && own == _PyThreadState_UncheckedGet();
#endif
}

}  // namespace

bool python_has_ended() noexcept { return ended.load(std::memory_order_acquire); }

void sleep_until_exit() noexcept {
  while (true) pause();
}

void sleep_if_cut_off() noexcept {
  if (!holds_gil()) sleep_until_exit();
}

// Up to Python 3.13 both functions may end the thread by unwinding, which the handlers intercept.

void restore_thread(PyThreadState* state) noexcept {
  try {
    PyEval_RestoreThread(state);
  } catch (...) {
    sleep_until_exit();
  }
}

PyGILState_STATE ensure_gil() noexcept {
  if (C10_UNLIKELY(python_is_ending())) sleep_if_cut_off();
  try {
    return PyGILState_Ensure();
  } catch (...) {
    sleep_until_exit();
  }
}

void init_gil(PyObject*) {
  // Runs at the very end of Py_Finalize.
  check_status(Py_AtExit([] { ended.store(true, std::memory_order_release); }));
}

}  // namespace torch::python
