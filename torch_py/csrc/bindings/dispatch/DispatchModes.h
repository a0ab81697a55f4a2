// The stack of TorchDispatchModes of each thread.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "torch_py/csrc/bindings/ObjectPtr.h"

namespace torch::python {

/// Whether this thread has entered a mode that does not handle a call at the moment.
bool in_dispatch_mode();

/// Whether one of this thread's modes receives allocations: Note [Allocations seen by modes].
bool mode_sees_allocations();

/// Takes the innermost mode off while it handles a call, so that those outside of it see what it
/// does.
class StashedMode {
 public:
  StashedMode();
  ~StashedMode();
  StashedMode(const StashedMode&) = delete;
  StashedMode& operator=(const StashedMode&) = delete;

  PyObject* get() const { return mode_.get(); }

 private:
  ObjectPtr mode_;
};

void init_dispatch_modes(PyObject* module);

}  // namespace torch::python
