// The list of calls without the GIL. See Note [Memory that other threads read].
#include "torch_py/csrc/bindings/calls/CallsInProgress.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "aten/core/ReplacedMemory.h"

namespace torch::python {

namespace {

constexpr int kMostWaitMs = 100;

CallInProgress* calls = nullptr;  // guarded by the GIL

template <class Use>
void for_each_foreign_call(Use use) {
  const PyThreadState* own = PyThreadState_Get();
  for (CallInProgress* call = calls; call != nullptr; call = call->next) {
    if (call->thread != own) use(*call);
  }
}

bool is_given(const at::TensorImpl* impl) {
  bool found = false;
  for_each_foreign_call([&](const CallInProgress& call) {
    for (int i = 0; i < CallInProgress::kMostGiven && call.given[i] != nullptr; ++i)
      found = found || call.given[i] == impl;
  });
  return found;
}

void wait_for_calls_with(const at::TensorImpl* impl) {
  using Clock = std::chrono::steady_clock;
  const auto latest = Clock::now() + std::chrono::milliseconds(kMostWaitMs);
  while (is_given(impl) && Clock::now() < latest) {
    const GilRelease unlocked;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

void hand_to_calls(const at::Storage& memory) {
  for_each_foreign_call([&](CallInProgress& call) {
    if (call.kept == nullptr) call.kept = new std::vector<at::Storage>;
    call.kept->push_back(memory);
  });
}

/// Kernels resize their outputs, with or without the GIL.
void keep_replaced_by_kernel(const at::Storage& memory) {
  if (python_has_ended()) return;
  const GilAcquire gil;
  hand_to_calls(memory);
}

/// A forked child has only the thread that forked; new threads reuse the stacks of the others,
/// where their calls are.
void forget_foreign_calls() {
  const PyThreadState* own = PyGILState_GetThisThreadState();
  CallInProgress** link = &calls;
  for (CallInProgress* call = calls; call != nullptr; call = call->next) {
    if (call->thread != own) continue;
    *link = call;
    call->link = link;
    link = &call->next;
  }
  *link = nullptr;
}

}  // namespace

void begin_call(CallInProgress& call) {
  call.kept = nullptr;
  call.thread = PyThreadState_Get();

  call.next = calls;
  call.link = &calls;
  if (calls != nullptr) calls->link = &call.next;
  calls = &call;

  PyEval_SaveThread();
}

void end_call(CallInProgress& call) {
  restore_thread(call.thread);

  *call.link = call.next;
  if (call.next != nullptr) call.next->link = call.link;
  delete call.kept;
}

void before_new_memory(const at::Tensor& tensor) {
  if (C10_LIKELY(calls == nullptr)) return;
  const at::Tensor alive = tensor;  // the wait releases the GIL
  wait_for_calls_with(alive.unsafe_impl());
  if (alive.storage()) hand_to_calls(alive.storage());
}

bool is_in_call(const at::Tensor& tensor) {
  return C10_UNLIKELY(calls != nullptr) && is_given(tensor.unsafe_impl());
}

void release_replaced(at::DataPtr memory) {
  if (C10_LIKELY(calls == nullptr) || !memory) return;
  hand_to_calls(c10::make_intrusive<at::StorageImpl>(std::move(memory), 0, nullptr));
}

void init_calls_in_progress(PyObject*) {
  pthread_atfork(nullptr, nullptr, forget_foreign_calls);
  at::set_replaced_memory_handler(keep_replaced_by_kernel);
}

}  // namespace torch::python
