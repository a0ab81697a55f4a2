// Folders in which backends look for libraries that they open when they need them.
#pragma once
#include <string>
#include <vector>

#include "c10/util/Export.h"

namespace c10 {

/// The folders, in the order in which they are searched; Python sets them before a backend is used.
TORCH_PY_API std::vector<std::string> library_folders();
TORCH_PY_API void set_library_folders(std::vector<std::string> folders);

}  // namespace c10
