// The headers that nearly every file above c10 includes, parsed once: tools/build/precompiled.py.
#pragma once
// A change here, or to a header below, recompiles all of them. Add only headers that most of them
// include.
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
