// The headers that nearly every file of the bindings includes, parsed once:
// tools/build/precompiled.py.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include "aten/core/Precompiled.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/calls/Conversions.h"
#include "torch_py/csrc/bindings/tensor/TensorType.h"
