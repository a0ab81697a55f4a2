// Compiled kernels, loaded from shared objects.
#include "torch_py/csrc/compiler/program/Library.h"

#include <dlfcn.h>

#include "c10/util/Exception.h"

namespace torch::programs {

namespace {

/// Why the loader's last call failed.
std::string loader_message() {
  const char* message = dlerror();
  return message != nullptr ? message : "no reason given";
}

}  // namespace

Library::Library(const std::string& path)
    : path_(path), handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  TORCH_CHECK(handle_ != nullptr,
              "cannot load the kernels of a compiled graph: ", loader_message());
}

Library::~Library() { dlclose(handle_); }

Kernel Library::kernel(const std::string& name) const {
  void* const address = dlsym(handle_, name.c_str());
  TORCH_CHECK(address != nullptr, "the library ", path_, " has no kernel '", name, "'");
  return reinterpret_cast<Kernel>(address);
}

}  // namespace torch::programs
