#pragma once
#include <string>

#include "c10/util/Exception.h"
#include "c10/util/Export.h"

namespace at {

/// Receives warnings of kernels; the bindings install one that raises Python's UserWarning. Without
/// it: stderr.
using WarningHandler = void (*)(const std::string& message);
TORCH_PY_API void set_warning_handler(WarningHandler handler);
TORCH_PY_API void emit_warning(const std::string& message);

template <typename... Parts>
void warn(const Parts&... parts) {
  emit_warning(c10::str(parts...));
}

}  // namespace at
