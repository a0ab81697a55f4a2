// Fibers: functions on stacks of their own that one OS thread switches between by hand.
#pragma once

#include <cstddef>

namespace emulation {

/// Names the sanitizer this was compiled for; the emulation behaves differently under each.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kRaceMode = true;
#else
inline constexpr bool kRaceMode = false;
#endif
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressMode = true;
#else
inline constexpr bool kAddressMode = false;
#endif

/// A stack and the place where its function was left. The default-constructed one stands for the
/// stack of an OS thread: it is what one switches away from first.
class Fiber {
 public:
  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Lets the next switch to this fiber call entry(argument), which must not return. Whatever was
  /// on the stack is forgotten; its memory is used again.
  void start(void (*entry)(void*), void* argument);

  /// Lets the race detector forget the fiber, and order what it did before what the caller does
  /// next. start() makes it usable again.
  void retire();

  /// Leaves the running fiber, which must be *this, and continues `next` where it was left. For
  /// the race detector this orders nothing, unless `orders`.
  void switch_to(Fiber& next, bool orders = false);

  /// For reports of the race detector.
  void set_name(const char* name);

  /// What the race detector takes for the thread; null without it, and before the first switch.
  void* race_context() const { return race_context_; }

 private:
  friend void fiber_begin(Fiber& fiber);

  void map_stack();
  void unmap_stack();

  void* stack_pointer_ = nullptr;  // a ucontext_t where switches are not written in assembly
  char* stack_ = nullptr;          // lowest address above the guard page
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  Fiber* previous_ = nullptr;  // who switched here last

  // Of the stack, as AddressSanitizer wants to be told them.
  const void* bottom_ = nullptr;
  size_t size_ = 0;
  void* fake_stack_ = nullptr;

  void* race_context_ = nullptr;
};

/// Whether memory accesses of this thread are hidden from the race detector: the emulation's own
/// bookkeeping is shared by fibers that nothing orders.
class HiddenFromRaceDetector {
 public:
  HiddenFromRaceDetector();
  ~HiddenFromRaceDetector();
  HiddenFromRaceDetector(const HiddenFromRaceDetector&) = delete;
  HiddenFromRaceDetector& operator=(const HiddenFromRaceDetector&) = delete;
};

/// What the calling fiber did so far happens, for the race detector, before what another one does
/// after acquire_from() with the same address.
void release_to(void* address);
void acquire_from(void* address);

}  // namespace emulation
