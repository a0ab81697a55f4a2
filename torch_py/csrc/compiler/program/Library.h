// Compiled kernels, loaded from shared objects.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace torch::programs {

/// A kernel of a compiled graph: works on the range [begin, end) of its outermost loop. `data` has
/// the first element of each tensor, `sizes` the integers that the step lists.
using Kernel = void (*)(void* const* data, const int64_t* sizes, int64_t begin, int64_t end);

/// A shared object, which stays loaded while somebody holds it.
class Library {
 public:
  /// Throws an Error with the loader's message.
  explicit Library(const std::string& path);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Throws an Error if the library has no such function.
  Kernel kernel(const std::string& name) const;

 private:
  std::string path_;
  void* handle_;
};

}  // namespace torch::programs
