// Library: shared objects of CUDA's libraries, opened when they are first needed.
#pragma once

namespace c10::cuda {

/// One of NVIDIA's libraries. It is looked for where the process has it already, in the folders of
/// c10::library_folders(), and where the loader looks.
class Library {
 public:
  /// `file` is the name with its version, `package` what pip installs it from; both must outlive
  /// the library.
  constexpr Library(const char* file, const char* package) : file_(file), package_(package) {}

  /// Opens the library; throws c10::Error with the name of the package if it cannot be found.
  void open();
  /// The address of a function; throws c10::Error if this version of the library lacks it.
  void* find(const char* name) const;
  template <class F>
  void find(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(find(name));
  }

 private:
  const char* file_;
  const char* package_;
  void* handle_ = nullptr;
};

}  // namespace c10::cuda
