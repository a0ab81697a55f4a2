// 0-dim CPU tensors for the numbers of a call, used again from call to call.
#pragma once
#include <utility>

#include "aten/core/Tensor.h"

namespace at {

/// A tensor that holds a number for the length of a call, or nothing. It is taken from the calling
/// thread, which gets it back afterwards if nobody else has learned of it by then.
class TORCH_PY_API NumberTensor {
 public:
  NumberTensor() = default;
  /// 0-dimensional, on the CPU, and marked as a number; its element is not set yet.
  explicit NumberTensor(ScalarType dtype);
  /// The number in its own dtype.
  explicit NumberTensor(const Scalar& value);

  NumberTensor(NumberTensor&& other) noexcept = default;
  NumberTensor& operator=(NumberTensor&& other) noexcept {
    std::swap(tensor_, other.tensor_);
    return *this;
  }
  ~NumberTensor() { give_back(std::move(tensor_)); }

  bool defined() const { return tensor_.defined(); }
  const Tensor& get() const { return tensor_; }
  /// The tensor; the thread gets it back by give_back().
  Tensor release() { return std::move(tensor_); }
  static void give_back(Tensor tensor) {
    if (tensor.defined()) keep(std::move(tensor));
  }

 private:
  static void keep(Tensor tensor);

  Tensor tensor_;
};

}  // namespace at
