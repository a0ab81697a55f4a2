// All functions for pointwise kernels: at::vec::exp(x) and so on.
#pragma once

// For float, double and c10::complex; callers convert other types. See Note [Functions that
// vectorise].

#include "aten/vec/arithmetic.h"
#include "aten/vec/complex_functions.h"
#include "aten/vec/core.h"
#include "aten/vec/error_function.h"
#include "aten/vec/exponential.h"
#include "aten/vec/hyperbolic.h"
#include "aten/vec/integers.h"
#include "aten/vec/pack_functions.h"
#include "aten/vec/trigonometric.h"
