// Which blocks of a launch the race mode looks at.
#pragma once

#include <cstdint>

#include "emulation/launch.h"

namespace emulation {

/// How many of the grid's blocks are watched for races, counted from the first that runs. See Note
/// [Watched blocks].
uint64_t blocks_to_watch(const Grid& grid, uint64_t blocks);

}  // namespace emulation
