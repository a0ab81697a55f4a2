// Runs calls that wait for a device.
#pragma once
#include "torch_py/csrc/bindings/calls/Unlocked.h"

namespace torch::python {

/// Runs `f`, which waits for a device, without the GIL however small the tensors are.
template <class F, class... T>
inline auto unlocked_while_waiting(F&& f, const T&... tensors) {
  const detail::MaybeGilRelease release(true, tensors...);
  return f();
}

}  // namespace torch::python
