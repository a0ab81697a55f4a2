// Runs operators without the GIL.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "aten/core/Tensor.h"
#include "torch_py/csrc/bindings/Gil.h"

namespace torch::python {

/// The number of elements that makes a call worth a release of the GIL.
/// Note [Releasing the GIL]: releasing and taking the GIL costs as much as a small kernel, so calls
/// whose tensor arguments hold fewer elements together keep it. Calls without tensors (factories)
/// count as large.
constexpr int64_t kManyElements = 4096;

namespace detail {

/// Releases the GIL for a scope, if `release`.
class MaybeGilRelease {
 public:
  explicit MaybeGilRelease(bool release) : state_(release ? PyEval_SaveThread() : nullptr) {}
  ~MaybeGilRelease() {
    if (state_ != nullptr) restore_thread(state_);
  }
  MaybeGilRelease(const MaybeGilRelease&) = delete;
  MaybeGilRelease& operator=(const MaybeGilRelease&) = delete;

 private:
  PyThreadState* state_;
};

inline int64_t count_elements(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.numel() : 0;
}
inline int64_t count_elements(at::TensorList tensors) {
  int64_t count = 0;
  for (const at::Tensor& tensor : tensors) count += count_elements(tensor);
  return count;
}

}  // namespace detail

/// Runs `f` (an operator call), without the GIL if the tensors are large. `f` must not touch Python
/// objects.
template <class F, class... T>
inline auto unlocked(F&& f, const T&... tensors) {
  const bool large =
      sizeof...(T) == 0 || (int64_t{0} + ... + detail::count_elements(tensors)) >= kManyElements;
  const detail::MaybeGilRelease release(large);
  return f();
}

}  // namespace torch::python
