"""Prints a CUDA file with one kernel for each function of aten/vec and each kind of number it takes."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.expressions.functions import FUNCTIONS, Function

REAL = ("float", "double")
COMPLEX = ("c10::complex<float>", "c10::complex<double>")
INTEGERS = ("int", "long")
# What formulas write in another way than as a call of at::vec.
NOT_CALLED = ("where",)


def source() -> str:
    headers = sorted({function.header for function in FUNCTIONS.values()} | {"aten/vec/representation.h"})
    lines = ["// Every function of formulas, called by a kernel."]
    lines += [f'#include "{header}"' for header in headers]
    lines += [f'#include "c10/util/{name}.h"' for name in ("BFloat16", "Float8", "Half")]
    lines += ["#ifndef __CUDACC__", "#define __global__", "#endif", ""]
    lines += [kernel(function, type_) for function in FUNCTIONS.values() for type_ in types_of(function)]
    lines += [conversion(name) for name in ("Half", "BFloat16", "Float8_e4m3fn", "Float8_e5m2")]
    return "\n".join(lines) + "\n"


def types_of(function: Function) -> Iterator[str]:
    if function.name in NOT_CALLED:
        return
    if function.header.endswith(("bits.h", "divisors.h")):
        yield from INTEGERS
    elif function.header.endswith("complex_logaddexp.h"):
        yield from (*REAL, *COMPLEX)
    elif function.name == "arg":
        yield from COMPLEX
    else:
        yield from REAL
        is_ordered = function.boolean or function.name in ("clamp", "maximum", "minimum")
        if (function.holomorphic or function.complex_to_real) and not is_ordered:
            yield from COMPLEX


def kernel(function: Function, type_: str) -> str:
    arguments = ", ".join(f"in[{position}]" for position in range(function.arity))
    name = f"{function.name}_{''.join(c for c in type_ if c.isalnum())}"
    return (
        f"__global__ void {name}(const {type_}* in, {type_}* out) "
        f"{{ *out = {type_}({function.cpp}({arguments})); }}"
    )


def conversion(name: str) -> str:
    return (
        f"__global__ void through_{name}(const float* in, float* out) "
        f"{{ *out = static_cast<float>(c10::{name}(*in)) * 2.0f; }}"
    )
