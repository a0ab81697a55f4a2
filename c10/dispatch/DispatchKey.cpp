// The names of dispatch keys.
#include "c10/dispatch/DispatchKey.h"

namespace c10 {

namespace {
constexpr const char* kNames[] = {
#define TORCH_PY_NAME(name) #name,
    TORCH_PY_FORALL_DISPATCH_KEYS(TORCH_PY_NAME)
#undef TORCH_PY_NAME
};
}  // namespace

const char* dispatch_key_name(DispatchKey key) { return kNames[static_cast<int>(key)]; }

}  // namespace c10
