// Operator calls that run without the GIL, and the memory that is taken from under them.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <vector>

#include "aten/core/Tensor.h"
#include "torch_py/csrc/bindings/Gil.h"

namespace torch::python {

/// Note [Memory that other threads read]
/// While a call runs without the GIL, another thread may give one of its tensors other memory:
/// tensor.data = other, set_(), resize_(), swap_tensors(), share_memory_(), storage.resize_(). The
/// kernel has the address of the old memory already. So whoever takes memory away hands it to the
/// calls in progress on other threads, which keep it until they end. If the tensor itself is an
/// argument of such a call, the change first waits for the end of the call, so that the kernel does
/// not see half of it, but at most kMostWaitMs: the call may wait for this thread.
///
/// A call pays for its place in the list, under the GIL that guards it, and only if it releases the
/// GIL at all. Tested in tests/torch_py/test_lifetimes.py.
struct CallInProgress {
  static constexpr int kMostGiven = 4;

  PyThreadState* thread;
  CallInProgress* next;
  CallInProgress** link;                    // the pointer that refers to this one
  const at::TensorImpl* given[kMostGiven];  // arguments, then null; not those of lists
  std::vector<at::Storage>* kept;           // null until there is something
};

/// Adds the call, whose `given` is set, to the list and releases the GIL.
TORCH_PY_API void begin_call(CallInProgress& call);
/// Takes the GIL back and removes the call.
TORCH_PY_API void end_call(CallInProgress& call);

/// Call before the tensor gets other memory or another shape, with the GIL held.
void before_new_memory(const at::Tensor& tensor);
/// Whether a call in progress on another thread has the tensor as an argument. Asked with the GIL
/// held.
bool is_in_call(const at::Tensor& tensor);
/// Frees memory that was replaced in a storage, when no call in progress can read it any more.
void release_replaced(at::DataPtr memory);

/// Releases the GIL for a scope that reads tensors which nobody can name beforehand (backward).
class GilReleaseForCall {
 public:
  GilReleaseForCall() {
    call_.given[0] = nullptr;
    begin_call(call_);
  }
  ~GilReleaseForCall() { end_call(call_); }
  GilReleaseForCall(const GilReleaseForCall&) = delete;
  GilReleaseForCall& operator=(const GilReleaseForCall&) = delete;

 private:
  CallInProgress call_;
};

void init_calls_in_progress(PyObject* module);

}  // namespace torch::python
