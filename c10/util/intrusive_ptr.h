// intrusive_ptr: a reference-counted pointer whose counts live in the object.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "c10/util/Export.h"

// A handle is one word, an object one allocation, and an object can hand out new owners of itself.

namespace c10 {

template <class T>
class intrusive_ptr;
template <class T>
class weak_intrusive_ptr;

/// Base of objects owned by intrusive_ptr.
///
/// Note [Reference counts]
/// Both counts share one 64-bit word: strong owners in the low half, weak ones in the high half.
/// All strong owners together hold one weak reference. When the last strong owner leaves while weak
/// references exist, release_resources() runs (the object stays valid for them); when the weak
/// count reaches zero, the object is deleted. With one word, a plain load recognises the common
/// case, a single owner and no weak reference, without an atomic read-modify-write.
class TORCH_PY_API intrusive_ptr_target {
 public:
  intrusive_ptr_target() noexcept : counts_(0) {}
  // The counts belong to the place in memory, not to the value: copies start at zero.
  intrusive_ptr_target(const intrusive_ptr_target&) noexcept : counts_(0) {}
  intrusive_ptr_target& operator=(const intrusive_ptr_target&) noexcept { return *this; }

  uint32_t use_count() const noexcept {
    return static_cast<uint32_t>(counts_.load(std::memory_order_acquire));
  }
  uint32_t weak_use_count() const noexcept {
    return static_cast<uint32_t>(counts_.load(std::memory_order_acquire) >> 32);
  }

 protected:
  virtual ~intrusive_ptr_target() = default;
  /// Frees what is expensive while weak references keep the object itself alive. Not called without
  /// weak references; the destructor must free everything.
  virtual void release_resources() {}

 private:
  template <class T>
  friend class intrusive_ptr;
  template <class T>
  friend class weak_intrusive_ptr;

  static constexpr uint64_t kStrong = 1;
  static constexpr uint64_t kWeak = uint64_t{1} << 32;
  static constexpr uint64_t kOnlyOwner = kStrong | kWeak;

  void retain() const noexcept { counts_.fetch_add(kStrong, std::memory_order_relaxed); }
  void retain_weak() const noexcept { counts_.fetch_add(kWeak, std::memory_order_relaxed); }

  void release() const noexcept {
    if (counts_.load(std::memory_order_acquire) == kOnlyOwner) {
      // Destructors see an object without strong owners.
      counts_.store(kWeak, std::memory_order_relaxed);
      delete this;
      return;
    }

    const uint64_t before = counts_.fetch_sub(kStrong, std::memory_order_acq_rel);
    if (static_cast<uint32_t>(before) == 1) release_last_strong(before);
  }

  C10_NOINLINE void release_last_strong(uint64_t before) const noexcept {
    if (before != kOnlyOwner) const_cast<intrusive_ptr_target*>(this)->release_resources();
    release_weak();
  }

  void release_weak() const noexcept {
    if (counts_.fetch_sub(kWeak, std::memory_order_acq_rel) >> 32 == 1) delete this;
  }

  bool retain_if_alive() const noexcept {
    uint64_t seen = counts_.load(std::memory_order_relaxed);
    while (static_cast<uint32_t>(seen) != 0) {
      if (counts_.compare_exchange_weak(seen, seen + kStrong, std::memory_order_acq_rel,
                                        std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  void adopt_first_owner() const noexcept { counts_.store(kOnlyOwner, std::memory_order_relaxed); }

  mutable std::atomic<uint64_t> counts_;  // weak owners << 32 | strong owners
};

/// An owner of a T, or null.
template <class T>
class intrusive_ptr final {
 public:
  using element_type = T;

  intrusive_ptr() noexcept : target_(nullptr) {}
  intrusive_ptr(std::nullptr_t) noexcept : target_(nullptr) {}
  intrusive_ptr(const intrusive_ptr& other) noexcept : target_(other.target_) { retain(); }
  intrusive_ptr(intrusive_ptr&& other) noexcept : target_(other.unsafe_release()) {}
  template <class U>
    requires(std::is_convertible_v<U*, T*>)
  intrusive_ptr(const intrusive_ptr<U>& other) noexcept : target_(other.get()) {
    retain();
  }
  template <class U>
    requires(std::is_convertible_v<U*, T*>)
  intrusive_ptr(intrusive_ptr<U>&& other) noexcept : target_(other.unsafe_release()) {}
  ~intrusive_ptr() noexcept { reset(); }

  intrusive_ptr& operator=(const intrusive_ptr& other) & noexcept {
    intrusive_ptr(other).swap(*this);
    return *this;
  }
  intrusive_ptr& operator=(intrusive_ptr&& other) & noexcept {
    intrusive_ptr(std::move(other)).swap(*this);
    return *this;
  }

  T* get() const noexcept { return target_; }
  T& operator*() const noexcept { return *target_; }
  T* operator->() const noexcept { return target_; }
  explicit operator bool() const noexcept { return target_ != nullptr; }
  bool defined() const noexcept { return target_ != nullptr; }

  void reset() noexcept {
    if (T* old = unsafe_release()) base(old)->release();
  }
  void swap(intrusive_ptr& other) noexcept { std::swap(target_, other.target_); }
  uint32_t use_count() const noexcept { return target_ ? base(target_)->use_count() : 0; }
  uint32_t weak_use_count() const noexcept { return target_ ? base(target_)->weak_use_count() : 0; }
  bool unique() const noexcept { return use_count() == 1; }

  /// Gives the ownership away as a raw pointer; take it back with reclaim().
  [[nodiscard]] T* unsafe_release() noexcept { return std::exchange(target_, nullptr); }
  /// An owner from a pointer that unsafe_release() returned; does not raise the count.
  [[nodiscard]] static intrusive_ptr reclaim(T* target) noexcept {
    intrusive_ptr result;
    result.target_ = target;
    return result;
  }
  /// Another owner of an object that has owners already.
  [[nodiscard]] static intrusive_ptr reclaim_copy(T* target) noexcept {
    intrusive_ptr result = reclaim(target);
    result.retain();
    return result;
  }
  /// The first owner of an object fresh from `new`.
  [[nodiscard]] static intrusive_ptr adopt_new(T* target) noexcept {
    base(target)->adopt_first_owner();
    return reclaim(target);
  }

  friend bool operator==(const intrusive_ptr& a, const intrusive_ptr& b) noexcept {
    return a.target_ == b.target_;
  }
  friend bool operator==(const intrusive_ptr& a, std::nullptr_t) noexcept {
    return a.target_ == nullptr;
  }
  friend bool operator<(const intrusive_ptr& a, const intrusive_ptr& b) noexcept {
    return a.target_ < b.target_;
  }

 private:
  friend class weak_intrusive_ptr<T>;
  static const intrusive_ptr_target* base(const T* target) noexcept { return target; }
  void retain() const noexcept {
    if (target_) base(target_)->retain();
  }

  T* target_;
};

/// Refers to an object without keeping its resources alive. lock() makes an owner, or null if the
/// last owner has left.
template <class T>
class weak_intrusive_ptr final {
 public:
  weak_intrusive_ptr() noexcept : target_(nullptr) {}
  weak_intrusive_ptr(const intrusive_ptr<T>& owner) noexcept : target_(owner.get()) { retain(); }
  weak_intrusive_ptr(const weak_intrusive_ptr& other) noexcept : target_(other.target_) {
    retain();
  }
  weak_intrusive_ptr(weak_intrusive_ptr&& other) noexcept : target_(other.unsafe_release()) {}
  ~weak_intrusive_ptr() noexcept { reset(); }

  weak_intrusive_ptr& operator=(weak_intrusive_ptr other) & noexcept {
    std::swap(target_, other.target_);
    return *this;
  }

  intrusive_ptr<T> lock() const noexcept {
    if (target_ && base(target_)->retain_if_alive()) return intrusive_ptr<T>::reclaim(target_);
    return nullptr;
  }
  bool expired() const noexcept { return use_count() == 0; }
  uint32_t use_count() const noexcept { return target_ ? base(target_)->use_count() : 0; }
  /// For comparing identities only: the object may have released its resources.
  T* unsafe_get() const noexcept { return target_; }
  void reset() noexcept {
    if (T* old = unsafe_release()) base(old)->release_weak();
  }
  [[nodiscard]] T* unsafe_release() noexcept { return std::exchange(target_, nullptr); }
  [[nodiscard]] static weak_intrusive_ptr reclaim(T* target) noexcept {
    weak_intrusive_ptr result;
    result.target_ = target;
    return result;
  }
  friend bool operator==(const weak_intrusive_ptr& a, const weak_intrusive_ptr& b) noexcept {
    return a.target_ == b.target_;
  }

 private:
  static const intrusive_ptr_target* base(const T* target) noexcept { return target; }
  void retain() const noexcept {
    if (target_) base(target_)->retain_weak();
  }

  T* target_;
};

template <class T, class... Arguments>
[[nodiscard]] intrusive_ptr<T> make_intrusive(Arguments&&... arguments) {
  return intrusive_ptr<T>::adopt_new(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace c10
