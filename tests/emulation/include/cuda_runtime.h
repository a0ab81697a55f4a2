// CUDA's header as the emulation provides it: device.h for kernels, host.h for the runtime's calls.
#pragma once

#include "emulation/device.h"
#include "emulation/host.h"
