#pragma once
// Headers that nearly every kernel file includes. tools/build/precompiled.py compiles them once for
// each instruction set.
#include "aten/core/Precompiled.h"
#include "aten/dispatch/Dtypes.h"
#include "aten/iteration/Loops.h"
#include "aten/vec/math.h"
