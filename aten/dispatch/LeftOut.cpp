// Operators that a build with some operators alone leaves out.
#include "aten/dispatch/LeftOut.h"

#include "c10/util/Exception.h"

namespace at::left_out {

void refuse(const c10::OperatorEntry& entry) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "operator '", entry.name(),
      "' is not part of this build of torch_py, which has a selection of operators: add the line ",
      entry.name(), " to the list that TORCH_PY_OPERATORS names, and build again");
  __builtin_unreachable();
}

}  // namespace at::left_out
