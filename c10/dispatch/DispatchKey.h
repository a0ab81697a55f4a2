#pragma once
#include <cstdint>

#include "c10/util/Export.h"

namespace c10 {

// Lowest priority first: a call goes to the highest key of its arguments that is not excluded.
// Autograd comes after all backends. Tensors of a layout with kernels of its own (MkldnnCPU) also
// have its Autograd key, at all times and with the highest priority: an operator without a kernel
// for the layout is then an error, whatever else its arguments are.
//
// Python is between backends and autograd: kernels written in Python, and whatever else wants to
// see every call, come after autograd has recorded it. Note [Boxed calls] tells how. Transform is
// that of tensors inside of a function transform (aten/transforms): what their calls become is
// recorded by autograd. Automatic dtypes are chosen once for a whole call, before transforms take
// it apart: a batch and a value with its tangent are converted like any other tensor. The profiler
// comes first, so that its times are those of whole calls.
#define TORCH_PY_FORALL_DISPATCH_KEYS(_) \
  _(Undefined)                           \
  _(CPU)                                 \
  _(CUDA)                                \
  _(PrivateUse1)                         \
  _(Meta)                                \
  _(MkldnnCPU)                           \
  _(Python)                              \
  _(AutogradCPU)                         \
  _(AutogradCUDA)                        \
  _(AutogradPrivateUse1)                 \
  _(AutogradMeta)                        \
  _(AutogradOther)                       \
  _(AutogradMkldnnCPU)                   \
  _(Transform)                           \
  _(AutocastCPU)                         \
  _(AutocastCUDA)                        \
  _(Profiler)

enum class DispatchKey : uint8_t {
#define TORCH_PY_ENUM(name) name,
  TORCH_PY_FORALL_DISPATCH_KEYS(TORCH_PY_ENUM)
#undef TORCH_PY_ENUM
      EndOfKeys
};
constexpr int kNumDispatchKeys = static_cast<int>(DispatchKey::EndOfKeys);
static_assert(kNumDispatchKeys <= 64, "a DispatchKeySet is one 64-bit word");

TORCH_PY_API const char* dispatch_key_name(DispatchKey key);

}  // namespace c10
