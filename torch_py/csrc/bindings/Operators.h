// The headers that bindings of operators need, in addition to those of the operators.
#pragma once
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Registry.h"
#include "torch_py/csrc/bindings/calls/Arguments.h"
#include "torch_py/csrc/bindings/calls/TorchFunction.h"
#include "torch_py/csrc/bindings/calls/Unlocked.h"
#include "torch_py/csrc/bindings/calls/Wrap.h"
