#pragma once
// All that generated bindings include beside the operators themselves.
#include "torch_py/csrc/bindings/Arguments.h"
#include "torch_py/csrc/bindings/Errors.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/Registry.h"
#include "torch_py/csrc/bindings/TorchFunction.h"
#include "torch_py/csrc/bindings/Unlocked.h"
#include "torch_py/csrc/bindings/Wrap.h"
