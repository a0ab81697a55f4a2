// The defaults of schemas as values.
#pragma once
#include "aten/core/Value.h"
#include "c10/dispatch/Schema.h"

namespace at {

/// The default of an argument that has one; ValueError if its text does not fit its type.
TORCH_PY_API Value default_value(const c10::SchemaValue& argument);

/// Whether a value is the one that the argument has when it is left out. Tensors never are.
TORCH_PY_API bool is_default(const Value& value, const c10::SchemaValue& argument);

}  // namespace at
