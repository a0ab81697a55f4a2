// CUDA's header as the emulation provides it: device.h for kernels, host.h for the runtime's calls.
#pragma once

#include "emulation/device.h"
#if __has_include("emulation/host.h")
#include "emulation/host.h"
#endif
