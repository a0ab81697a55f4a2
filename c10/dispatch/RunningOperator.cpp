// The operator that a thread runs, and what its schema says about it.
#include "c10/dispatch/RunningOperator.h"

namespace c10 {

constinit thread_local const RunningOperator* RunningOperator::innermost_ = nullptr;

std::string base_name(const OperatorEntry& entry) { return entry.schema().name; }

std::string parameter_name(const OperatorEntry& entry, int position) {
  const std::vector<SchemaValue>& arguments = entry.schema().arguments;
  const bool exists = position >= 0 && static_cast<size_t>(position) < arguments.size();
  return exists ? arguments[static_cast<size_t>(position)].name : std::string();
}

}  // namespace c10
