// The frames of this version of CPython. Nothing else includes the interpreter's internals.
#pragma once
#ifdef Py_PYTHON_H
#error "FrameLayout.h must come first: Python.h reads Py_BUILD_CORE"
#endif
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#define Py_BUILD_CORE 1
#include <Python.h>
#include <opcode.h>

#if PY_VERSION_HEX < 0x030B0000
#include "torch_py/csrc/compiler/frames/FrameLayout_310.h"
#elif PY_VERSION_HEX < 0x030C0000
#include "torch_py/csrc/compiler/frames/FrameLayout_311.h"
#elif PY_VERSION_HEX < 0x030D0000
#include "torch_py/csrc/compiler/frames/FrameLayout_312.h"
#elif PY_VERSION_HEX < 0x030E0000
#include "torch_py/csrc/compiler/frames/FrameLayout_313.h"
#else
#error "the layout of this Python's frames is not known"
#endif
