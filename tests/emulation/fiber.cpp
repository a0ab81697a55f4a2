// Fibers: stacks, the switch between them, and what sanitizers have to be told about it.
#include "tests/emulation/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

#if !defined(TORCH_PY_FIBER_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define TORCH_PY_FIBER_UCONTEXT
#endif
#if defined(TORCH_PY_FIBER_UCONTEXT)
#include <ucontext.h>
#endif

// Note [The switch]
// torch_py_fiber_switch(save, load) pushes the registers that a called function has to preserve,
// stores the stack pointer to *save, takes `load` as stack pointer and pops the same registers
// from there. start() lays out a new stack as if it had been left in that function; the return
// address is torch_py_fiber_first, which calls fiber_begin(fiber) with the fiber it finds in a
// preserved register. Its own return address is 0, where stack walkers stop.

extern "C" void torch_py_fiber_switch(void** save, void* load);
extern "C" void torch_py_fiber_first();
extern "C" [[gnu::used]] void torch_py_fiber_begin(emulation::Fiber* fiber);

namespace emulation {

namespace {

constexpr size_t kStackSize = (kRaceMode || kAddressMode ? 512 : 256) * 1024;

// Where on its stack a fiber begins. Were all to begin at the same place of their pages, switching
// among hundreds would use the same few lines of the processor's cache.
size_t next_offset() {
  constexpr size_t kStep = 5 * 64;
  constexpr size_t kOffsets = 64;
  thread_local size_t number = 0;
  return (number++ % kOffsets) * kStep;
}

size_t page_size() {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

#if defined(__SANITIZE_THREAD__)
// A switch without the flag orders; the fiber itself need not run.
__attribute__((no_sanitize("thread"))) void join(void* race_context) {
  void* const own = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(race_context, __tsan_switch_to_fiber_no_sync);
  __tsan_switch_to_fiber(own, 0);
}
#endif

}  // namespace

// Runs on the new stack, for ever.
void fiber_begin(Fiber& fiber) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &fiber.previous_->bottom_, &fiber.previous_->size_);
#endif
  fiber.entry_(fiber.argument_);
  abort();  // entry() must not return
}

}  // namespace emulation

extern "C" void torch_py_fiber_begin(emulation::Fiber* fiber) { emulation::fiber_begin(*fiber); }

#if defined(TORCH_PY_FIBER_UCONTEXT)
// makecontext passes integers only.
static void begin_in_halves(unsigned high, unsigned low) {
  const uintptr_t address = (static_cast<uintptr_t>(high) << 16 << 16) | low;
  torch_py_fiber_begin(reinterpret_cast<emulation::Fiber*>(address));
}
#elif defined(__x86_64__)
asm(R"(
  .text
  .hidden torch_py_fiber_switch
  .globl torch_py_fiber_switch
  .type torch_py_fiber_switch, @function
torch_py_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size torch_py_fiber_switch, .-torch_py_fiber_switch

  .hidden torch_py_fiber_first
  .globl torch_py_fiber_first
  .type torch_py_fiber_first, @function
torch_py_fiber_first:
  .cfi_startproc
  .cfi_undefined rip
  movq %rbx, %rdi
  call torch_py_fiber_begin
  ud2
  .cfi_endproc
  .size torch_py_fiber_first, .-torch_py_fiber_first
)");
#else
asm(R"(
  .text
  .hidden torch_py_fiber_switch
  .globl torch_py_fiber_switch
  .type torch_py_fiber_switch, %function
torch_py_fiber_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .size torch_py_fiber_switch, .-torch_py_fiber_switch

  .hidden torch_py_fiber_first
  .globl torch_py_fiber_first
  .type torch_py_fiber_first, %function
torch_py_fiber_first:
  .cfi_startproc
  .cfi_undefined x30
  mov x0, x19
  mov x29, #0
  mov x30, #0
  bl torch_py_fiber_begin
  brk #1
  .cfi_endproc
  .size torch_py_fiber_first, .-torch_py_fiber_first
)");
#endif

namespace emulation {

Fiber::~Fiber() {
  retire();
  if (stack_ != nullptr) unmap_stack();
#if defined(TORCH_PY_FIBER_UCONTEXT)
  delete static_cast<ucontext_t*>(stack_pointer_);
#endif
}

void Fiber::map_stack() {
  const size_t guard = page_size();
  void* const memory = mmap(nullptr, guard + kStackSize, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();

  // A kernel with too large local variables stops here instead of in a neighbour's stack.
  mprotect(memory, guard, PROT_NONE);
  stack_ = static_cast<char*>(memory) + guard;
  bottom_ = stack_;
  size_ = kStackSize;
}

void Fiber::unmap_stack() {
  munmap(stack_ - page_size(), page_size() + kStackSize);
  stack_ = nullptr;
}

void Fiber::start(void (*entry)(void*), void* argument) {
  retire();
  if (stack_ == nullptr) map_stack();
  entry_ = entry;
  argument_ = argument;

#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(stack_, kStackSize);  // frames that were left for good
  fake_stack_ = nullptr;
#endif
#if defined(__SANITIZE_THREAD__)
  race_context_ = __tsan_create_fiber(0);
#endif

#if defined(TORCH_PY_FIBER_UCONTEXT)
  if (stack_pointer_ == nullptr) stack_pointer_ = new ucontext_t;
  ucontext_t& context = *static_cast<ucontext_t*>(stack_pointer_);
  getcontext(&context);
  context.uc_stack.ss_sp = stack_;
  context.uc_stack.ss_size = kStackSize - next_offset();
  context.uc_link = nullptr;

  const uintptr_t address = reinterpret_cast<uintptr_t>(this);
  makecontext(&context, reinterpret_cast<void (*)()>(&begin_in_halves), 2,
              static_cast<unsigned>(address >> 16 >> 16), static_cast<unsigned>(address));
#elif defined(__x86_64__)
  // Six registers (rbx is the fifth), the address of fiber_first, its return address, alignment.
  void** top = reinterpret_cast<void**>(stack_ + kStackSize - next_offset()) - 9;
  for (int i = 0; i < 9; ++i) top[i] = nullptr;
  top[4] = this;
  top[6] = reinterpret_cast<void*>(&torch_py_fiber_first);
  stack_pointer_ = top;
#else
  void** top = reinterpret_cast<void**>(stack_ + kStackSize - next_offset()) - 20;
  for (int i = 0; i < 20; ++i) top[i] = nullptr;
  top[0] = this;                                             // x19
  top[11] = reinterpret_cast<void*>(&torch_py_fiber_first);  // x30
  stack_pointer_ = top;
#endif
}

void Fiber::retire() {
#if defined(__SANITIZE_THREAD__)
  if (race_context_ == nullptr || stack_ == nullptr) return;
  join(race_context_);
  __tsan_destroy_fiber(race_context_);
  race_context_ = nullptr;
  // The detector remembers who wrote to the stack; only new memory is free of that.
  unmap_stack();
#endif
}

void Fiber::set_name([[maybe_unused]] const char* name) {
#if defined(__SANITIZE_THREAD__)
  __tsan_set_fiber_name(race_context_, name);
#endif
}

// Not instrumented: the detector's own stack of calls belongs to the fiber that is left.
#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("thread")))
#endif
void Fiber::switch_to(Fiber& next, [[maybe_unused]] bool orders) {
  next.previous_ = this;
#if defined(__SANITIZE_THREAD__)
  if (race_context_ == nullptr) race_context_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(next.race_context_, orders ? 0 : __tsan_switch_to_fiber_no_sync);
#endif
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&fake_stack_, next.bottom_, next.size_);
#endif

#if defined(TORCH_PY_FIBER_UCONTEXT)
  if (stack_pointer_ == nullptr) stack_pointer_ = new ucontext_t;
  swapcontext(static_cast<ucontext_t*>(stack_pointer_),
              static_cast<ucontext_t*>(next.stack_pointer_));
#else
  torch_py_fiber_switch(&stack_pointer_, next.stack_pointer_);
#endif

#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack_, &previous_->bottom_, &previous_->size_);
#endif
}

HiddenFromRaceDetector::HiddenFromRaceDetector() {
#if defined(__SANITIZE_THREAD__)
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
}

HiddenFromRaceDetector::~HiddenFromRaceDetector() {
#if defined(__SANITIZE_THREAD__)
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
}

void release_to([[maybe_unused]] void* address) {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(address);
#endif
}

void acquire_from([[maybe_unused]] void* address) {
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(address);
#endif
}

}  // namespace emulation
