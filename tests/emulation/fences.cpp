// Fences: what CUDA orders by a fence and an atomic, told to the race detector.
#include "tests/emulation/fences.h"

#include "tests/emulation/block_run.h"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#define NOT_INSTRUMENTED __attribute__((no_sanitize("thread")))
#endif

// Note [Fences in race mode]
// All atomics of kernels are relaxed, which orders nothing for the detector. CUDA orders memory
// when one thread writes, fences and changes an atomic, and another reads that atomic, fences and
// reads: neither half works without its fence. So every thread that uses either gets a second
// context, a messenger. A fence hands what the thread did to the messenger, and what the messenger
// knows to the thread. An atomic lets the messenger, not the thread, publish and receive at its
// address.

namespace emulation {

#if !defined(__SANITIZE_THREAD__)

void fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void pass_on_fences(void*) {}
void take_fences(void*) {}
void Messenger::retire() {}

#else

namespace {

constexpr unsigned kNoSync = __tsan_switch_to_fiber_no_sync;

Messenger& messenger() {
  const HiddenFromRaceDetector hidden;
  return running_block().current().fiber->messenger;
}

void* controller() {
  const HiddenFromRaceDetector hidden;
  return running_block().controller_race_context();
}

// A context knows what its creator did: the controller's has seen no thread of the block.
NOT_INSTRUMENTED void* make_context(void* controller) {
  void* const own = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(controller, kNoSync);
  void* const context = __tsan_create_fiber(0);
  __tsan_switch_to_fiber(own, kNoSync);
  return context;
}

NOT_INSTRUMENTED void exchange_with(Messenger& messenger) {
  void* const own = __tsan_get_current_fiber();
  __tsan_release(&messenger.to_messenger);
  __tsan_switch_to_fiber(messenger.context, kNoSync);
  __tsan_acquire(&messenger.to_messenger);
  __tsan_release(&messenger.to_thread);
  __tsan_switch_to_fiber(own, kNoSync);
  __tsan_acquire(&messenger.to_thread);
}

NOT_INSTRUMENTED void meet_at(void* address, void* context) {
  void* const own = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(context, kNoSync);
  __tsan_release(address);
  __tsan_acquire(address);
  __tsan_switch_to_fiber(own, kNoSync);
}

NOT_INSTRUMENTED void need_context(Messenger& messenger) {
  if (messenger.context != nullptr) return;
  messenger.context = make_context(controller());

  const HiddenFromRaceDetector hidden;
  running_block().uses_fences() = true;
}

bool is_watched() {
  const HiddenFromRaceDetector hidden;
  return running_block().is_watched();
}

bool block_uses_fences() {
  const HiddenFromRaceDetector hidden;
  return running_block().uses_fences();
}

NOT_INSTRUMENTED void as_messenger(void* context, void (*act)(void*), void* mark) {
  void* const own = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(context, kNoSync);
  act(mark);
  __tsan_switch_to_fiber(own, kNoSync);
}

}  // namespace

NOT_INSTRUMENTED void fence() {
  if (!is_watched()) return;
  Messenger& mine = messenger();
  need_context(mine);
  exchange_with(mine);
}

NOT_INSTRUMENTED void note_atomic(void* address) {
  if (!is_watched()) return;
  Messenger& mine = messenger();
  need_context(mine);
  meet_at(address, mine.context);
}

NOT_INSTRUMENTED void pass_on_fences(void* mark) {
  Messenger& mine = messenger();
  if (mine.context != nullptr) as_messenger(mine.context, __tsan_release, mark);
}

NOT_INSTRUMENTED void take_fences(void* mark) {
  if (!block_uses_fences()) return;
  Messenger& mine = messenger();
  need_context(mine);
  as_messenger(mine.context, __tsan_acquire, mark);
}

NOT_INSTRUMENTED void Messenger::retire() {
  if (context != nullptr) __tsan_destroy_fiber(context);
  context = nullptr;
}

#endif

}  // namespace emulation
