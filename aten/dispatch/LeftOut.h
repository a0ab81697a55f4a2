#pragma once
// Operators that a build with some operators alone leaves out: they have a name and a schema, and
// every call is an error.
#include "c10/dispatch/OperatorEntry.h"

namespace at::left_out {

/// Raises NotImplementedError, which says how to add the operator.
[[noreturn]] TORCH_PY_API void refuse(const c10::OperatorEntry& entry);

/// Of such an operator, whose boxed calls are errors, too.
constexpr c10::Boxing boxing() {
  constexpr auto address = [](c10::Boxing::Function) -> void* { return nullptr; };
  constexpr auto unbox = [](const c10::OperatorEntry& entry, void*, const c10::DispatchKeySet*,
                            at::Stack&) { refuse(entry); };
  return {address, unbox};
}

}  // namespace at::left_out
