// CUDA's header for host code, as the emulation provides it.
#pragma once

#include "emulation/host.h"
