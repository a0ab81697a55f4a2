#pragma once
#include "c10/core/TensorImpl.h"
#include "c10/dispatch/LocalState.h"

namespace c10 {

// Note [Inference mode]
//
// Nothing is recorded, whatever grad mode says, and what is made is an inference tensor: one
// without a version counter, so that it can neither be saved for backward nor be changed in place
// later, as nobody could notice. A view of a normal tensor is a normal tensor that, like those made
// without grad mode, may not be changed where it would be recorded.
//
// All inference tensors refer to one counter that stands still at kInferenceVersion. Views and
// detached tensors share the counter of the tensor they show, and so are inference tensors exactly
// when that is one; TensorImpl.cpp makes it. See tests/torch_py/autograd/test_inference_mode.py.

constexpr uint32_t kInferenceVersion = ~uint32_t{0};

inline bool is_inference(const TensorImpl& tensor) { return tensor.version() == kInferenceVersion; }

struct InferenceMode {
  static bool is_enabled() { return local_state().inference_mode; }
  static void set_enabled(bool enabled) {
    LocalState& state = local_state();
    state.inference_mode = enabled;
    state.user_excluded =
        enabled ? state.user_excluded | kAutogradKeys : state.user_excluded - kAutogradKeys;
    state.refresh();
  }
};

}  // namespace c10
