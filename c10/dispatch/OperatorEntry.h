// One operator's kernels by dispatch key (OperatorEntry), and all operators by name (Dispatcher).
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "c10/dispatch/DispatchKeySet.h"
#include "c10/dispatch/LocalState.h"
#include "c10/dispatch/Schema.h"
#include "c10/util/Export.h"

namespace at {
class Stack;  // aten/core/Stack.h
}

namespace c10 {

class OperatorEntry;

/// A kernel and its origin, for the printed dispatch table.
struct KernelInfo {
  DispatchKey key;
  const char* name;    // "add_kernel"
  const char* origin;  // "aten/native/nn/Loss.cpp" or "build/generated/..."
};

/// Note [Boxed calls]
/// A kernel in C++ takes the arguments of its operator. Whatever handles the calls of many
/// operators (kernels in Python, dispatch modes, recorders) takes them boxed: as values on a stack,
/// which it replaces by the results. The two meet in functions that are made from an operator's C++
/// signature (aten/dispatch/Boxing.h): one that boxes is in the table where a boxed kernel serves a
/// key, and one that unboxes calls a function with the values of a stack. Plain calls meet neither.
class TORCH_PY_API BoxedKernel {
 public:
  virtual ~BoxedKernel();
  /// Handles a call: takes the arguments off the stack and leaves the results.
  virtual void call(const OperatorEntry& entry, DispatchKeySet keys, at::Stack& stack) const = 0;
};

/// What the generator knows about an operator, besides its schema.
struct OperatorFacts {
  const char* structure = "";  // "pointwise"; empty if the program has declared the operator
  const char* tags = "";       // "core nondeterministic_seeded"
  const char* dtypes = "";     // of its loops: "Float Double"; empty without loops
};

/// Functions that are made from an operator's C++ signature.
struct Boxing {
  /// Which of the operator's functions: that which C++ code calls, or the kernel that boxes its
  /// arguments.
  enum class Function : uint8_t { Call, Box };

  /// The address of a function. (No constant expression can cast it.)
  void* (*address)(Function which) = nullptr;
  /// Calls `function` of an operator with the arguments on the stack. It takes keys first, unless
  /// `keys` is null.
  void (*unbox)(const OperatorEntry& entry, void* function, const DispatchKeySet* keys,
                at::Stack& stack) = nullptr;
};

/// One operator overload: its schema and its kernels by dispatch key. Generated code allocates it
/// statically; a call loads table[highest key] and jumps. Kernels have type
/// Ret(*)(DispatchKeySet, args...). Entries are constant-initialised (constinit), so initialisers
/// of any file can set kernels in any order.
class TORCH_PY_API OperatorEntry {
 public:
  /// Calls pass over `optional` keys that the operator has no kernel for.
  constexpr OperatorEntry(const char* name, const char* schema, OperatorFacts facts, Boxing boxing,
                          DispatchKeySet optional = kAutocastKeys)
      : name_(name), schema_(schema), facts_(facts), boxing_(boxing), optional_keys_(optional) {}
  OperatorEntry(const OperatorEntry&) = delete;
  OperatorEntry& operator=(const OperatorEntry&) = delete;

  /// "add.Tensor"; with its namespace, "mine::scale", if the operator is not one of torch_py's own.
  const char* name() const { return name_; }
  /// The same, always with the namespace: "aten::add.Tensor".
  std::string qualified_name() const;
  const char* schema_text() const { return schema_; }  // the func: line
  std::string qualified_schema() const;
  /// The schema, parsed when it is first asked for.
  const OperatorSchema& schema() const;
  const OperatorFacts& facts() const { return facts_; }
  /// Whether the program has declared it; the generator knows nothing about such operators.
  bool is_declared_at_run_time() const { return *facts_.structure == '\0'; }

  void set_kernel(DispatchKey key, void* kernel, const char* kernel_name, const char* origin);
  void set_kernel(DispatchKeySet keys, void* kernel, const char* kernel_name, const char* origin);
  void remove_kernel(DispatchKey key);
  bool has_kernel(DispatchKey key) const { return info_[static_cast<int>(key)].name != nullptr; }

  /// The kernel for the highest of `keys`, optional ones without a kernel aside; throws
  /// NotImplementedError if it is missing.
  template <typename Kernel>
  Kernel lookup(DispatchKeySet keys) const {
    void* kernel = table_[static_cast<int>(keys.highest())];
    if (__builtin_expect(kernel == nullptr, false))
      kernel = table_[static_cast<int>(serving_key(keys))];
    return reinterpret_cast<Kernel>(kernel);
  }
  /// The key of that kernel.
  DispatchKey serving_key(DispatchKeySet keys) const;

  // --- Boxed calls: see the note ---

  /// Puts a kernel in the place of the one for `key`, if any. Null gives that one back.
  void set_boxed_kernel(DispatchKey key, std::shared_ptr<const BoxedKernel> kernel);
  /// The boxed kernel for a key: the operator's own, else the fallback of the key; null without
  /// either.
  const BoxedKernel* boxed_kernel(DispatchKey key) const;
  /// Whether set_boxed_kernel has set one for `key`.
  bool has_boxed_kernel(DispatchKey key) const;
  /// Calls the operator.
  void call_boxed(at::Stack& stack) const {
    boxing_.unbox(*this, boxing_.address(Boxing::Function::Call), nullptr, stack);
  }
  /// Calls the kernel that `lookup` finds.
  void redispatch_boxed(DispatchKeySet keys, at::Stack& stack) const;

  /// One line per key that has a kernel: "All  mse_loss  aten/native/nn/Loss.cpp".
  std::string dispatch_table() const;
  std::vector<KernelInfo> kernels() const;

 private:
  friend class Dispatcher;
  struct BoxedKernels;

  const BoxedKernel* own_boxed_kernel(DispatchKey key) const;
  void* box() const { return boxing_.address(Boxing::Function::Box); }
  /// Makes `key` go to the fallback of the key, unless the operator has a kernel.
  void use_fallback(DispatchKey key);
  [[noreturn]] void throw_missing(DispatchKey key) const;

  void* table_[64] = {};                    // by key; null without a kernel
  KernelInfo info_[kNumDispatchKeys] = {};  // by key; name is null without a kernel
  const char* name_;
  const char* schema_;
  OperatorFacts facts_;
  Boxing boxing_;
  DispatchKeySet optional_keys_;
  // Both are made once and never freed: entries live as long as the process.
  mutable std::atomic<const OperatorSchema*> parsed_schema_{nullptr};
  std::atomic<BoxedKernels*> boxed_{nullptr};
};

/// All operators by name ("add.Tensor"), for tools, Python kernels and out-of-tree backends. Calls
/// never look here.
class TORCH_PY_API Dispatcher {
 public:
  static Dispatcher& singleton();
  void add(OperatorEntry* entry);
  /// Forgets the name of an operator. The entry must stay: calls that know it still may use it.
  void remove(const OperatorEntry* entry);
  OperatorEntry* find(std::string_view name) const;
  std::vector<OperatorEntry*> all() const;

  /// Sets the kernel that serves `key` for all operators without a kernel of their own. It must
  /// live as long as the process.
  void set_fallback(DispatchKey key, const BoxedKernel* kernel);
  const BoxedKernel* fallback(DispatchKey key) const { return fallbacks_[static_cast<int>(key)]; }

 private:
  std::vector<OperatorEntry*> entries_;  // added by the initialiser that sets the first kernel
  const BoxedKernel* fallbacks_[kNumDispatchKeys] = {};
};

/// The keys that a call dispatches by: those of its tensors, as the thread's state changes them.
inline DispatchKeySet effective_keys(DispatchKeySet tensor_keys) {
  const LocalState& state = local_state();
  return (tensor_keys | state.included) - state.excluded;
}

}  // namespace c10
