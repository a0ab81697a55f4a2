// Scopes with and without the GIL, also while the interpreter ends.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "c10/util/Export.h"

namespace torch::python {

/// Note [The end of the interpreter]
/// Python ends while daemon threads still run. Up to 3.13 a thread that asks for the GIL after that
/// is ended by pthread_exit(), which unwinds its stack: destructors on the way would drop
/// references without the GIL, and a noexcept function or a catch (...) would abort the process.
/// From 3.14 on such a thread sleeps instead. Here it sleeps in every version: at the first scope,
/// destructor or handler of ours that the unwinding reaches.
///
/// The thread that ends Python holds the GIL to the last and frees what modules hold, tensors and
/// graphs among it, while Py_IsInitialized() is false already. Destructors therefore ask
/// python_has_ended(), which becomes true when no Python object can be reached any more.
/// Tested in tests/torch_py/test_exits.py.

/// Whether the interpreter is gone: Python objects must not be touched, and nobody will.
TORCH_PY_API bool python_has_ended() noexcept;

inline bool python_is_ending() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

/// Puts this thread to sleep until the process has ended.
[[noreturn]] TORCH_PY_API void sleep_until_exit() noexcept;
/// Does that if Python is ending and this thread does not hold the GIL.
TORCH_PY_API void sleep_if_cut_off() noexcept;

/// PyEval_RestoreThread and PyGILState_Ensure for which the note above holds.
TORCH_PY_API void restore_thread(PyThreadState* state) noexcept;
TORCH_PY_API PyGILState_STATE ensure_gil() noexcept;

/// Registers what python_has_ended() needs.
void init_gil(PyObject* module);

/// Releases the GIL for a scope: around kernels, which take long and touch no Python object.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() { restore_thread(state_); }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// Holds the GIL for a scope, on any thread.
class GilAcquire {
 public:
  GilAcquire() : state_(ensure_gil()) {}
  ~GilAcquire() {
    if (C10_UNLIKELY(python_is_ending())) sleep_if_cut_off();
    PyGILState_Release(state_);
  }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace torch::python
