// Frames of CPython 3.12: as in 3.11 for what is used here. But whoever evaluates a frame also
// clears it.
#pragma once
#include "torch_py/csrc/compiler/frames/FrameLayout_311.h"
