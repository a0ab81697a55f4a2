// RunningOperator: which operator a thread runs on a device, for the messages of the backend.
#pragma once
#include <string>

#include "c10/dispatch/OperatorEntry.h"
#include "c10/util/Export.h"

namespace c10 {

/// Lives on the stack while a kernel of CUDA runs. Operators call others: the scopes of a thread
/// form a list. Calls on the CPU have no scope, and pay nothing.
class RunningOperator {
 public:
  explicit RunningOperator(const OperatorEntry& entry)
      : entry_(entry), outer_(innermost_), first_(outer_ != nullptr ? outer_->first_ : entry) {
    innermost_ = this;
  }
  ~RunningOperator() { innermost_ = outer_; }
  RunningOperator(const RunningOperator&) = delete;
  RunningOperator& operator=(const RunningOperator&) = delete;

  /// The operator that calls kernels at this moment; null outside of operators.
  static const OperatorEntry* innermost() {
    return innermost_ != nullptr ? &innermost_->entry_ : nullptr;
  }
  /// The operator that the program called; null outside of operators.
  static const OperatorEntry* outermost() {
    return innermost_ != nullptr ? &innermost_->first_ : nullptr;
  }

 private:
  // See LocalState.h about the model.
  static TORCH_PY_API __attribute__((
      tls_model("initial-exec"))) constinit thread_local const RunningOperator* innermost_;

  const OperatorEntry& entry_;
  const RunningOperator* const outer_;
  const OperatorEntry& first_;
};

/// "index_add_" of "index_add_.out".
TORCH_PY_API std::string base_name(const OperatorEntry& entry);
/// The name of a parameter by its position in the schema; empty if there are not as many.
TORCH_PY_API std::string parameter_name(const OperatorEntry& entry, int position);

}  // namespace c10
