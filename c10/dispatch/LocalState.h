// What dispatch needs to know about the calling thread, and guards that change it for a scope.
#pragma once
#include "c10/dispatch/DispatchKeySet.h"
#include "c10/util/Export.h"

namespace c10 {

/// The dispatch state of a thread. `excluded` is kept ready for use: refresh() recomputes it after
/// a change of the fields that it follows from.
struct LocalState {
  DispatchKeySet included;  // added to the keys of every call
  // user_excluded, and the autograd keys while nothing is recorded.
  DispatchKeySet excluded = kAutocastKeys;
  // By ExcludeDispatchKeyGuard, by inference mode, and outside of torch.autocast.
  DispatchKeySet user_excluded = kAutocastKeys;
  int below_autograd = 0;        // nesting depth of AutoDispatchBelowAutograd
  bool grad_mode = true;
  bool inference_mode = false;

  void refresh() {
    excluded =
        (grad_mode && below_autograd == 0) ? user_excluded : (user_excluded | kRecordingKeys);
  }
};

// The initial-exec model makes an access one instruction, also from libraries loaded at run time;
// the struct is small enough for the space that it takes.
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

/// Held by autograd kernels while they call the backend: operators inside are not recorded.
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

/// Hides dispatch keys for a scope.
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

/// Adds dispatch keys for a scope.
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
