// SmallVector: a vector with room for its first elements inside.
#pragma once

// For std::reverse_iterator and the iterator concepts: <iterator> and <memory> take ten times as
// long to compile.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

#include "c10/util/ArrayRef.h"
#include "c10/util/Export.h"

namespace c10 {

/// A vector whose first N elements live inside it: no allocation up to N. The interface is
/// std::vector's. Moving a SmallVector moves its elements while they are inline, so pointers into
/// it do not survive a move.
template <class T, unsigned N>
class SmallVector {
  static constexpr bool kTrivial = std::is_trivially_copyable_v<T>;

 public:
  using value_type = T;
  using size_type = size_t;
  using difference_type = ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  SmallVector() noexcept : data_(inline_data()), size_(0), capacity_(N) {}
  explicit SmallVector(size_t count) : SmallVector() { resize(count); }
  SmallVector(size_t count, const T& value) : SmallVector() { assign(count, value); }
  template <std::input_iterator Iterator>
  SmallVector(Iterator first, Iterator last) : SmallVector() {
    append(first, last);
  }
  SmallVector(std::initializer_list<T> list) : SmallVector() { append(list.begin(), list.end()); }
  template <class Container>
    requires(std::is_convertible_v<const Container&, ArrayRef<T>> &&
             !std::is_convertible_v<const Container&, T> && !std::is_same_v<Container, SmallVector>)
  explicit SmallVector(const Container& container) : SmallVector() {
    const ArrayRef<T> view(container);
    append(view.begin(), view.end());
  }
  SmallVector(ArrayRef<T> view) : SmallVector() { append(view.begin(), view.end()); }
  SmallVector(const SmallVector& other) : SmallVector() { append(other.begin(), other.end()); }
  SmallVector(SmallVector&& other) noexcept : SmallVector() { take(other); }
  ~SmallVector() { release(); }

  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      release();
      reset_to_inline();
      take(other);
    }
    return *this;
  }
  SmallVector& operator=(std::initializer_list<T> list) {
    assign(list.begin(), list.end());
    return *this;
  }
  SmallVector& operator=(ArrayRef<T> view) {
    if (view.data() != data_) assign(view.begin(), view.end());
    else truncate(view.size());
    return *this;
  }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }
  size_t capacity() const noexcept { return capacity_; }
  bool empty() const noexcept { return size_ == 0; }
  iterator begin() noexcept { return data_; }
  iterator end() noexcept { return data_ + size_; }
  const_iterator begin() const noexcept { return data_; }
  const_iterator end() const noexcept { return data_ + size_; }
  reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
  reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
  T& operator[](size_t index) noexcept { return data_[index]; }
  const T& operator[](size_t index) const noexcept { return data_[index]; }
  T& front() noexcept { return data_[0]; }
  const T& front() const noexcept { return data_[0]; }
  T& back() noexcept { return data_[size_ - 1]; }
  const T& back() const noexcept { return data_[size_ - 1]; }

  void reserve(size_t capacity) {
    if (capacity > capacity_) grow(capacity);
  }
  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }

  template <class... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    if (C10_UNLIKELY(size_ == capacity_)) {
      // A copy first: the arguments may refer to the storage that growing frees.
      T value(std::forward<Arguments>(arguments)...);
      grow(size_ + 1);
      return *new (data_ + size_++) T(std::move(value));
    }
    return *new (data_ + size_++) T(std::forward<Arguments>(arguments)...);
  }

  void pop_back() noexcept { data_[--size_].~T(); }
  void clear() noexcept { truncate(0); }

  /// New elements are value-initialised: zero for numbers.
  void resize(size_t count) {
    if (count <= size_) return truncate(count);
    reserve(count);
    while (size_ < count) new (data_ + size_++) T();
  }
  void resize(size_t count, const T& value) {
    if (count <= size_) return truncate(count);
    const T copy(value);
    reserve(count);
    while (size_ < count) new (data_ + size_++) T(copy);
  }

  void assign(size_t count, const T& value) {
    const T copy(value);
    clear();
    resize(count, copy);
  }
  template <std::input_iterator Iterator>
  void assign(Iterator first, Iterator last) {
    clear();
    append(first, last);
  }

  template <std::input_iterator Iterator>
  void append(Iterator first, Iterator last) {
    if constexpr (std::random_access_iterator<Iterator>) {
      reserve(size_ + static_cast<size_t>(last - first));
      T* to = data_ + size_;
      for (; first != last; ++first, ++to) {
        new (to) T(*first);
        ++size_;
      }
    } else {
      for (; first != last; ++first) emplace_back(*first);
    }
  }
  void append(ArrayRef<T> view) { append(view.begin(), view.end()); }

  iterator insert(const_iterator position, T value) {
    const size_t index = static_cast<size_t>(position - data_);
    emplace_back(std::move(value));
    rotate_right(index, size_ - 1, 1);
    return data_ + index;
  }
  /// The range must not lie inside this vector.
  template <std::input_iterator Iterator>
  iterator insert(const_iterator position, Iterator first, Iterator last) {
    const size_t index = static_cast<size_t>(position - data_);
    const size_t old_size = size_;
    append(first, last);
    rotate_right(index, old_size, size_ - old_size);
    return data_ + index;
  }
  iterator erase(const_iterator position) { return erase(position, position + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    const size_t index = static_cast<size_t>(first - data_);
    T* to = data_ + index;
    for (const T* from = last; from != end(); ++from, ++to) *to = std::move(*const_cast<T*>(from));
    truncate(static_cast<size_t>(to - data_));
    return data_ + index;
  }
  void swap(SmallVector& other) noexcept { std::swap(*this, other); }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return ArrayRef<T>(a).equals(b);
  }
  friend bool operator==(const SmallVector& a, ArrayRef<T> b) { return b.equals(a); }

 private:
  T* inline_data() noexcept { return reinterpret_cast<T*>(inline_storage_); }
  bool is_inline() const noexcept {
    return reinterpret_cast<const unsigned char*>(data_) == inline_storage_;
  }

  void reset_to_inline() noexcept {
    data_ = inline_data();
    size_ = 0;
    capacity_ = N;
  }

  void truncate(size_t count) noexcept {
    if constexpr (std::is_trivially_destructible_v<T>) {
      size_ = static_cast<uint32_t>(count);
    } else {
      while (size_ > count) pop_back();
    }
  }

  void release() noexcept {
    truncate(0);
    if (!is_inline()) ::operator delete(data_, std::align_val_t(alignof(T)));
  }

  // Takes the elements of `other` and leaves it empty. *this must be empty and inline.
  void take(SmallVector& other) noexcept {
    if (other.is_inline()) {
      move_elements(other.data_, other.size_, data_);
      size_ = std::exchange(other.size_, 0);
    } else {
      data_ = other.data_;
      size_ = other.size_;
      capacity_ = other.capacity_;
      other.reset_to_inline();
    }
  }

  static void move_elements(T* from, size_t count, T* to) noexcept {
    if constexpr (kTrivial) {
      if (count) std::memcpy(static_cast<void*>(to), from, count * sizeof(T));
    } else {
      for (size_t i = 0; i < count; ++i) {
        new (to + i) T(std::move(from[i]));
        from[i].~T();
      }
    }
  }

  C10_NOINLINE void grow(size_t at_least) {
    const size_t capacity = at_least > size_t{2} * capacity_ ? at_least : size_t{2} * capacity_;
    T* fresh = static_cast<T*>(::operator new(capacity * sizeof(T), std::align_val_t(alignof(T))));
    move_elements(data_, size_, fresh);
    if (!is_inline()) ::operator delete(data_, std::align_val_t(alignof(T)));
    data_ = fresh;
    capacity_ = static_cast<uint32_t>(capacity);
  }

  // Moves the last `count` elements, from `middle` on, in front of the one at `first`.
  void rotate_right(size_t first, size_t middle, size_t count) {
    SmallVector moved(std::make_move_iterator(data_ + middle),
                      std::make_move_iterator(data_ + middle + count));
    for (size_t i = middle; i-- > first;) data_[i + count] = std::move(data_[i]);
    for (size_t i = 0; i < count; ++i) data_[first + i] = std::move(moved[i]);
  }

  T* data_;  // inline_storage_ or the heap
  uint32_t size_;
  uint32_t capacity_;  // N while inline
  alignas(T) unsigned char inline_storage_[N * sizeof(T)];
};

/// Sizes and strides of up to six dimensions without an allocation.
using DimVector = SmallVector<int64_t, 6>;

}  // namespace c10
