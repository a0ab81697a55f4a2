// PlannedTensor, an operand of a TensorIterator.
#pragma once
#include <utility>

#include "aten/core/NumberTensor.h"

namespace at {

/// A tensor of the caller's, without a count of its own, or one that the plan keeps: to count the
/// owners of two operands up and down would take as long as a quarter of a small addition.
class PlannedTensor {
 public:
  PlannedTensor() : tensor_() {}
  PlannedTensor(Tensor kept) : tensor_(std::move(kept)) {}
  PlannedTensor(NumberTensor number) : tensor_(number.release()), kind_(Kind::Number) {}
  /// Valid as long as the caller has the tensor.
  static PlannedTensor borrowed(const Tensor& tensor) {
    PlannedTensor result(Tensor(intrusive_ptr<TensorImpl>::reclaim(tensor.unsafe_impl())));
    result.kind_ = Kind::Borrowed;
    return result;
  }

  PlannedTensor(const PlannedTensor& other) : tensor_(other.tensor_) {}
  PlannedTensor(PlannedTensor&& other) noexcept
      : tensor_(std::move(other.tensor_)), kind_(other.kind_) {}
  PlannedTensor& operator=(PlannedTensor other) noexcept {
    std::swap(tensor_, other.tensor_);
    std::swap(kind_, other.kind_);
    return *this;
  }
  ~PlannedTensor() {
    if (kind_ == Kind::Number) NumberTensor::give_back(std::move(tensor_));
    if (kind_ != Kind::Borrowed) tensor_.~Tensor();
  }

  const Tensor& get() const { return tensor_; }
  /// The tensor as its new owner's.
  Tensor take() { return kind_ == Kind::Borrowed ? Tensor(tensor_) : std::move(tensor_); }

 private:
  enum class Kind : uint8_t { Kept, Borrowed, Number };

  union {
    Tensor tensor_;  // not destroyed while borrowed
  };
  Kind kind_ = Kind::Kept;
};

}  // namespace at
