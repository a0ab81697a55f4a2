#pragma once
// What nearly every file above c10 includes, parsed once: tools/build/precompiled.py. A change
// here, or of a header below, recompiles all of them: no header belongs here that most of them do
// not include.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "aten/core/Tensor.h"
#include "c10/dispatch/LocalState.h"
