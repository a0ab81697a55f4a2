// One operator's kernels by dispatch key (OperatorEntry), and all operators by name (Dispatcher).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "c10/dispatch/DispatchKeySet.h"
#include "c10/dispatch/LocalState.h"
#include "c10/util/Export.h"

namespace c10 {

/// A kernel and its origin, for the printed dispatch table.
struct KernelInfo {
  DispatchKey key;
  const char* name;    // "add_kernel"
  const char* origin;  // "aten/native/nn/Loss.cpp" or "build/generated/..."
};

/// One operator overload: its schema and its kernels by dispatch key. Generated code allocates it
/// statically; a call loads table[highest key] and jumps. Kernels have type
/// Ret(*)(DispatchKeySet, args...). Entries are constant-initialised (constinit), so initialisers
/// of any file can set kernels in any order.
class TORCH_PY_API OperatorEntry {
 public:
  constexpr OperatorEntry(const char* name, const char* schema) : name_(name), schema_(schema) {}
  OperatorEntry(const OperatorEntry&) = delete;
  OperatorEntry& operator=(const OperatorEntry&) = delete;

  const char* name() const { return name_; }      // "add.Tensor"
  const char* schema() const { return schema_; }  // the func: line

  void set_kernel(DispatchKey key, void* kernel, const char* kernel_name, const char* origin);
  void set_kernel(DispatchKeySet keys, void* kernel, const char* kernel_name, const char* origin);
  void remove_kernel(DispatchKey key);
  bool has_kernel(DispatchKey key) const { return info_[static_cast<int>(key)].name != nullptr; }

  /// The kernel for a key; throws NotImplementedError if it is missing.
  template <typename Kernel>
  Kernel lookup(DispatchKey key) const {
    void* kernel = table_[static_cast<int>(key)];
    if (__builtin_expect(kernel == nullptr, false)) throw_missing(key);
    return reinterpret_cast<Kernel>(kernel);
  }

  /// One line per key that has a kernel: "All  mse_loss  aten/native/nn/Loss.cpp".
  std::string dispatch_table() const;
  std::vector<KernelInfo> kernels() const;

 private:
  [[noreturn]] void throw_missing(DispatchKey key) const;

  void* table_[64] = {};                    // by key; null without a kernel
  KernelInfo info_[kNumDispatchKeys] = {};  // by key; name is null without a kernel
  const char* name_;
  const char* schema_;
};

/// All operators by name ("add.Tensor"), for tools, Python kernels and out-of-tree backends. Calls
/// never look here.
class TORCH_PY_API Dispatcher {
 public:
  static Dispatcher& singleton();
  void add(OperatorEntry* entry);
  OperatorEntry* find(std::string_view name) const;
  std::vector<OperatorEntry*> all() const;

 private:
  std::vector<OperatorEntry*> entries_;  // added by the initialiser that sets the first kernel
};

/// The keys that a call dispatches by: those of its tensors, as the thread's state changes them.
inline DispatchKeySet effective_keys(DispatchKeySet tensor_keys) {
  const LocalState& state = local_state();
  return (tensor_keys | state.included) - state.excluded;
}

}  // namespace c10
