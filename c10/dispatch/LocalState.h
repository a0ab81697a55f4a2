#pragma once
#include "c10/dispatch/DispatchKeySet.h"
#include "c10/util/Export.h"

namespace c10 {

/// What dispatch needs to know of the calling thread. `excluded` is kept ready to use: it already
/// contains the autograd keys while grad mode is off or a kernel runs below autograd.
struct LocalState {
  DispatchKeySet included;
  DispatchKeySet excluded;
  DispatchKeySet user_excluded;  // by ExcludeDispatchKeyGuard; excluded = user_excluded | autograd
                                 // keys when due
  int below_autograd = 0;        // nesting depth of AutoDispatchBelowAutograd
  bool grad_mode = true;
  bool inference_mode = false;
  uint8_t autocast =
      0;  // a bit for each DeviceType whose operators choose their dtypes: aten/core/Autocast.h

  void refresh() {
    excluded = (grad_mode && below_autograd == 0) ? user_excluded : (user_excluded | kAutogradKeys);
  }
};

// Initial-exec: one instruction per access, also from libraries loaded at run time (the struct is
// small).
extern TORCH_PY_API
    __attribute__((tls_model("initial-exec"))) constinit thread_local LocalState local_state_value;
inline LocalState& local_state() { return local_state_value; }

struct GradMode {
  static bool is_enabled() { return local_state().grad_mode; }
  static void set_enabled(bool enabled) {
    LocalState& state = local_state();
    state.grad_mode = enabled;
    state.refresh();
  }
};

/// Sets grad mode for a scope.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) : previous_(GradMode::is_enabled()) {
    GradMode::set_enabled(enabled);
  }
  ~AutoGradMode() { GradMode::set_enabled(previous_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool previous_;
};

struct NoGradGuard : AutoGradMode {
  NoGradGuard() : AutoGradMode(false) {}
};

/// Held by autograd kernels while they call the backend: nothing inside records a graph.
class AutoDispatchBelowAutograd {
 public:
  AutoDispatchBelowAutograd() {
    LocalState& state = local_state();
    ++state.below_autograd;
    state.refresh();
  }
  ~AutoDispatchBelowAutograd() {
    LocalState& state = local_state();
    --state.below_autograd;
    state.refresh();
  }
  AutoDispatchBelowAutograd(const AutoDispatchBelowAutograd&) = delete;
  AutoDispatchBelowAutograd& operator=(const AutoDispatchBelowAutograd&) = delete;
};

class ExcludeDispatchKeyGuard {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKeySet keys) : previous_(local_state().user_excluded) {
    set(previous_ | keys);
  }
  ~ExcludeDispatchKeyGuard() { set(previous_); }
  ExcludeDispatchKeyGuard(const ExcludeDispatchKeyGuard&) = delete;
  ExcludeDispatchKeyGuard& operator=(const ExcludeDispatchKeyGuard&) = delete;

 private:
  static void set(DispatchKeySet keys) {
    local_state().user_excluded = keys;
    local_state().refresh();
  }
  DispatchKeySet previous_;
};

class IncludeDispatchKeyGuard {
 public:
  explicit IncludeDispatchKeyGuard(DispatchKeySet keys) : previous_(local_state().included) {
    local_state().included = previous_ | keys;
  }
  ~IncludeDispatchKeyGuard() { local_state().included = previous_; }
  IncludeDispatchKeyGuard(const IncludeDispatchKeyGuard&) = delete;
  IncludeDispatchKeyGuard& operator=(const IncludeDispatchKeyGuard&) = delete;

 private:
  DispatchKeySet previous_;
};

}  // namespace c10
