#pragma once
// What nearly every kernel file includes, parsed once for each instruction set:
// tools/build/precompiled.py.
#include "aten/core/Precompiled.h"
#include "aten/dispatch/Dtypes.h"
#include "aten/iteration/Loops.h"
#include "aten/vec/math.h"
