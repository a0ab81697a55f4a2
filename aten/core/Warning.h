// Warnings of kernels.
#pragma once
#include <string>

#include "c10/util/Exception.h"
#include "c10/util/Export.h"

namespace at {

/// Receives the warnings of kernels. The bindings install one that issues Python's UserWarning;
/// without one, warnings go to stderr.
using WarningHandler = void (*)(const std::string& message);
TORCH_PY_API void set_warning_handler(WarningHandler handler);
TORCH_PY_API void emit_warning(const std::string& message);

/// Warns with the parts as text, printed as in error messages.
template <typename... Parts>
void warn(const Parts&... parts) {
  emit_warning(c10::str(parts...));
}

}  // namespace at
