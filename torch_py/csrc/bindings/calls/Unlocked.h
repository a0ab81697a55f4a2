// Runs operators without the GIL.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <algorithm>

#include "aten/core/Tensor.h"
#include "torch_py/csrc/bindings/calls/CallsInProgress.h"

namespace torch::python {

/// The number of elements that makes a call worth a release of the GIL.
/// Note [Releasing the GIL]: releasing and taking the GIL costs as much as a small kernel, so calls
/// whose tensor arguments hold fewer elements together keep it. Factories without tensors count the
/// elements of their result, and other calls without tensors as large. Calls on tensors of an
/// accelerator only put work into a stream and keep the GIL; those that wait for the device release
/// it themselves.
constexpr int64_t kManyElements = 4096;

namespace detail {

/// Releases the GIL for a scope, if `release`: see Note [Memory that other threads read].
class MaybeGilRelease {
 public:
  template <class... T>
  explicit MaybeGilRelease(bool release, const T&... tensors) : is_released_(release) {
    if (!release) return;
    int count = 0;
    (note(count, tensors), ...);
    if (count < CallInProgress::kMostGiven) call_.given[count] = nullptr;
    begin_call(call_);
  }
  ~MaybeGilRelease() {
    if (is_released_) end_call(call_);
  }
  MaybeGilRelease(const MaybeGilRelease&) = delete;
  MaybeGilRelease& operator=(const MaybeGilRelease&) = delete;

 private:
  void note(int& count, const at::Tensor& tensor) {
    if (count < CallInProgress::kMostGiven && tensor.defined())
      call_.given[count++] = tensor.unsafe_impl();
  }
  void note(int&, at::TensorList) {}
  void note(int&, at::IntArrayRef) {}

  CallInProgress call_;  // set if is_released_
  bool is_released_;
};

inline int64_t count_elements(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.numel() : 0;
}
inline int64_t count_elements(at::TensorList tensors) {
  int64_t count = 0;
  for (const at::Tensor& tensor : tensors) count += count_elements(tensor);
  return count;
}

/// The elements of a tensor with these sizes, which may be wrong; kManyElements if there are more.
inline int64_t count_elements(at::IntArrayRef sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    if (size < 0 || size >= kManyElements) return kManyElements;
    count = std::min(count * size, kManyElements);
  }
  return count;
}

/// Whether the host computes with the tensor.
inline bool is_of_host(const at::Tensor& tensor) { return tensor.defined() && !tensor.is_cuda(); }
inline bool is_of_host(at::TensorList tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (is_of_host(tensor)) return true;
  }
  return false;
}

inline bool is_of_host(at::IntArrayRef) { return true; }

}  // namespace detail

/// Runs `f` (an operator call), without the GIL if the tensors are large. `f` must not touch Python
/// objects.
template <class F, class... T>
inline auto unlocked(F&& f, const T&... tensors) {
  const bool large =
      sizeof...(T) == 0 || ((int64_t{0} + ... + detail::count_elements(tensors)) >= kManyElements &&
                            (false || ... || detail::is_of_host(tensors)));
  const detail::MaybeGilRelease release(large, tensors...);
  return f();
}

}  // namespace torch::python
