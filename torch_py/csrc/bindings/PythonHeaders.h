// Includes Python.h, which must come before any standard header and with PY_SSIZE_T_CLEAN defined.
#pragma once
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>
#if PY_VERSION_HEX < 0x030C0000
#include <structmember.h>
#define Py_T_OBJECT_EX T_OBJECT_EX
#endif
#if PY_VERSION_HEX < 0x030A0000
#error "torch_py needs Python 3.10 or newer"
#endif
