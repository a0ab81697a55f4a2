// ArrayRef: a view of an array that is owned elsewhere.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>

#include "c10/util/Export.h"

namespace c10 {

/// A view of a contiguous array that is owned elsewhere. Pass it by value and never keep it beyond
/// the owner's life. Anything with data() and size() converts to it, and so does a single element
/// or a braced list, for the duration of the call.
template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;

  constexpr ArrayRef() noexcept : data_(nullptr), size_(0) {}
  constexpr ArrayRef(const T& element) noexcept : data_(&element), size_(1) {}
  constexpr ArrayRef(const T* data, size_t size) noexcept : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end) noexcept
      : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  constexpr ArrayRef(const std::initializer_list<T>& list) noexcept
      : data_(first_of(list)), size_(list.size()) {}
  template <size_t N>
  constexpr ArrayRef(const T (&array)[N]) noexcept : data_(array), size_(N) {}
  template <class Container>
    requires requires(const Container& container) {
      { container.data() } -> std::convertible_to<const T*>;
      container.size();
    } && (!std::is_same_v<Container, ArrayRef>)
  constexpr ArrayRef(const Container& container) noexcept
      : data_(container.data()), size_(static_cast<size_t>(container.size())) {}

  constexpr const T* begin() const noexcept { return data_; }
  constexpr const T* end() const noexcept { return data_ + size_; }
  constexpr const T* data() const noexcept { return data_; }
  constexpr size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr const T& operator[](size_t index) const noexcept { return data_[index]; }
  constexpr const T& front() const noexcept { return data_[0]; }
  constexpr const T& back() const noexcept { return data_[size_ - 1]; }

  /// `count` elements from `start`; both must lie inside.
  constexpr ArrayRef slice(size_t start, size_t count) const noexcept {
    return {data_ + start, count};
  }
  constexpr ArrayRef slice(size_t start) const noexcept { return {data_ + start, size_ - start}; }

  constexpr bool equals(ArrayRef other) const {
    if (size_ != other.size_) return false;
    for (size_t i = 0; i < size_; ++i) {
      if (!(data_[i] == other.data_[i])) return false;
    }
    return true;
  }
  friend constexpr bool operator==(ArrayRef a, ArrayRef b) { return a.equals(b); }

  /// A copy that owns its elements, e.g. `sizes.to<std::vector<int64_t>>()` or `to<DimVector>()`.
  template <class Container>
  Container to() const {
    return Container(begin(), end());
  }

 private:
  /// A function of its own, because compilers warn of a list that a constructor keeps. Here the
  /// list is an argument of the caller's call, which outlives this view.
  static constexpr const T* first_of(const std::initializer_list<T>& list) noexcept {
    return list.size() ? list.begin() : nullptr;
  }

  const T* data_;
  size_t size_;
};

using IntArrayRef = ArrayRef<int64_t>;

/// An optional IntArrayRef that can own a single integer. In `sum(x, -1)` the int64_t that a plain
/// IntArrayRef would refer to is a temporary of the conversion, gone before the call.
class OptionalIntArrayRef : public std::optional<IntArrayRef> {
  using Base = std::optional<IntArrayRef>;

 public:
  using Base::Base;
  OptionalIntArrayRef() = default;
  OptionalIntArrayRef(const Base& list) : Base(list) {}
  template <class Integer>
    requires std::is_integral_v<std::remove_cvref_t<Integer>>
  OptionalIntArrayRef(Integer&& value) : single_(static_cast<int64_t>(value)) {
    this->emplace(&single_, 1);
  }
  OptionalIntArrayRef(const std::initializer_list<int64_t>& list) : Base(std::in_place, list) {}
  OptionalIntArrayRef(const OptionalIntArrayRef& other) : Base(other), single_(other.single_) {
    adopt(other);
  }
  OptionalIntArrayRef& operator=(const OptionalIntArrayRef& other) {
    Base::operator=(other);
    single_ = other.single_;
    adopt(other);
    return *this;
  }

 private:
  /// Refers to this object's integer if `other` referred to its own.
  void adopt(const OptionalIntArrayRef& other) {
    if (has_value() && (*this)->data() == &other.single_) this->emplace(&single_, 1);
  }

  int64_t single_ = 0;
};

}  // namespace c10
