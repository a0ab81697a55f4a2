// Operators that are declared while the program runs.
#pragma once
#include <string>
#include <string_view>

#include "c10/dispatch/OperatorEntry.h"

namespace at {

/// Declares the operator of a schema, "namespace::name.overload(Tensor x) -> Tensor", with tags
/// separated by spaces. All of its calls are boxed, and so are its kernels, which
/// OperatorEntry::set_boxed_kernel sets. Without a kernel for autograd, this records what the
/// kernel of the device calls. The entry stays when the dispatcher forgets its name. Throws
/// RuntimeError if there is an operator of this name, and the errors of parse_schema.
TORCH_PY_API OperatorEntry& declare_operator(std::string_view schema, std::string_view tags);

}  // namespace at
