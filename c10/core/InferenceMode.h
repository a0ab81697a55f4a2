// Inference mode: nothing is recorded, and new tensors have no version counter.
#pragma once
#include "c10/core/TensorImpl.h"
#include "c10/dispatch/LocalState.h"

namespace c10 {

// Note [Inference mode]
//
// In inference mode nothing is recorded, whatever grad mode says. New tensors are inference
// tensors: they have no version counter, so later changes could not be noticed. Therefore they
// cannot be saved for backward, or be changed in place outside of the mode. A view of a normal
// tensor is a normal tensor; like views made without grad mode, it must not be changed where the
// change would be recorded.
//
// All inference tensors refer to one counter whose value stays at kInferenceVersion. Views and
// detached tensors share the counter of the tensor that they come from, so they are inference
// tensors exactly if that one is. TensorImpl.cpp hands out the counter. Tested in
// tests/torch_py/autograd/test_inference_mode.py.

constexpr uint32_t kInferenceVersion = ~uint32_t{0};

inline bool is_inference(const TensorImpl& tensor) { return tensor.version() == kInferenceVersion; }

struct InferenceMode {
  static bool is_enabled() { return local_state().inference_mode; }
  static void set_enabled(bool enabled) {
    LocalState& state = local_state();
    state.inference_mode = enabled;
    state.user_excluded =
        enabled ? state.user_excluded | kRecordingKeys : state.user_excluded - kRecordingKeys;
    state.refresh();
  }
};

}  // namespace c10
