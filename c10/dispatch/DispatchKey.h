#pragma once
#include <cstdint>
#include <string_view>

#include "c10/util/Export.h"

namespace c10 {

// Lowest priority first: a call goes to the highest key of its arguments that is not excluded.
// Backends come first, then what wraps backends, then autograd, then transforms around autograd.
#define TORCH_PY_FORALL_DISPATCH_KEYS(_) \
  _(Undefined)                           \
  _(CPU)                                 \
  _(CUDA)                                \
  _(PrivateUse1)                         \
  _(Meta)                                \
  _(MkldnnCPU)                           \
  _(SparseCPU)                           \
  _(SparseCUDA)                          \
  _(SparsePrivateUse1)                   \
  _(SparseMeta)                          \
  _(SparseCsrCPU)                        \
  _(SparseCsrCUDA)                       \
  _(SparseCsrPrivateUse1)                \
  _(SparseCsrMeta)                       \
  _(QuantizedCPU)                        \
  _(QuantizedCUDA)                       \
  _(QuantizedPrivateUse1)                \
  _(QuantizedMeta)                       \
  _(Fake)                                \
  _(Python)                              \
  _(Functionalize)                       \
  _(AutogradCPU)                         \
  _(AutogradCUDA)                        \
  _(AutogradPrivateUse1)                 \
  _(AutogradMeta)                        \
  _(AutogradOther)                       \
  _(FuncTorchBatched)                    \
  _(FuncTorchVmapMode)                   \
  _(FuncTorchGradWrapper)                \
  _(FuncTorchDynamicLayerBack)           \
  _(FuncTorchDynamicLayerFront)          \
  _(PythonDispatcher)

enum class DispatchKey : uint8_t {
#define TORCH_PY_ENUM(name) name,
  TORCH_PY_FORALL_DISPATCH_KEYS(TORCH_PY_ENUM)
#undef TORCH_PY_ENUM
      EndOfKeys
};
constexpr int kNumDispatchKeys = static_cast<int>(DispatchKey::EndOfKeys);
static_assert(kNumDispatchKeys <= 64, "a DispatchKeySet is one 64-bit word");

TORCH_PY_API const char* dispatch_key_name(DispatchKey key);
/// Undefined when no key has that name.
TORCH_PY_API DispatchKey dispatch_key_from_name(std::string_view name);

}  // namespace c10
