// Finds LAPACK at run time. See Note [A LAPACK that is loaded].
#include "aten/blas/LapackLoader.h"

#if !defined(TORCH_PY_BLAS_MKL) && !defined(TORCH_PY_BLAS_OPENBLAS)

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace at::lapack::library {

namespace {

// The wheel's library, which the run path of this one leads to, and what systems call theirs.
constexpr const char* kNames[] = {"libscipy_openblas.so", "libopenblas.so.0", "liblapack.so.3"};
// What precedes the names of functions.
constexpr const char* kPrefixes[] = {"scipy_", ""};

struct Library {
  void* handle = nullptr;
  std::string prefix;
  void (*set_threads)(int) = nullptr;

  void* symbol(const std::string& name) const { return dlsym(handle, (prefix + name).c_str()); }

  /// Whether the library of this name has LAPACK.
  bool load(const char* name) {
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return false;

    for (const char* candidate : kPrefixes) {
      prefix = candidate;
      if (!symbol("dgesdd_")) continue;
      set_threads = reinterpret_cast<void (*)(int)>(symbol("openblas_set_num_threads"));
      return true;
    }

    dlclose(handle);
    handle = nullptr;
    return false;
  }
};

Library load() {
  Library library;
  const char* const wanted = std::getenv("TORCH_PY_LAPACK");
  if (wanted && *wanted) {
    if (!library.load(wanted))
      std::fprintf(stderr, "torch_py: TORCH_PY_LAPACK=%s: no library with LAPACK\n", wanted);
    return library;
  }

  for (const char* name : kNames) {
    if (library.load(name)) break;
  }
  return library;
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

}  // namespace

bool is_available() { return library().handle != nullptr; }

void* find(const char* name) {
  void* const found = is_available() ? library().symbol(name) : nullptr;
  if (!found) throw std::runtime_error(std::string("LAPACK lacks ") + name);
  return found;
}

void set_threads(int count) {
  static std::atomic<int> current{-1};
  if (library().set_threads && current.exchange(count) != count) library().set_threads(count);
}

}  // namespace at::lapack::library

#endif
