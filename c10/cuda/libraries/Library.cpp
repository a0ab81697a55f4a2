// Opens NVIDIA's libraries; the emulation has functions of its own under the same names.
#include "c10/cuda/libraries/Library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <string>

#include "c10/core/LibraryFolders.h"
#include "c10/util/Exception.h"

#if defined(TORCH_PY_CUDA_EMULATION)
#include "emulation/libraries.h"
#endif

namespace c10::cuda {

#if defined(TORCH_PY_CUDA_EMULATION)

void Library::open() {}

void* Library::find(const char* name) const { return emulation::library_function(name); }

#else

void Library::open() {
  handle_ = dlopen(file_, RTLD_NOW | RTLD_NOLOAD);
  std::string problems;
  for (const std::string& folder : library_folders()) {
    const std::string path = folder + "/" + file_;
    if (handle_ != nullptr || access(path.c_str(), F_OK) != 0) continue;
    handle_ = dlopen(path.c_str(), RTLD_NOW);
    if (handle_ == nullptr) problems += std::string("; ") + dlerror();
  }
  if (handle_ != nullptr) return;

  handle_ = dlopen(file_, RTLD_NOW);
  if (handle_ == nullptr) problems += std::string("; ") + dlerror();
  TORCH_CHECK(handle_ != nullptr, "CUDA needs ", file_, ", which `pip install ", package_,
              "` installs and which could not be opened", problems);
}

void* Library::find(const char* name) const {
  void* const found = dlsym(handle_, name);
  TORCH_CHECK(found != nullptr, file_, " has no function ", name, ": install a newer ", package_);
  return found;
}

#endif

}  // namespace c10::cuda
