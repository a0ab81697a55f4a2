"""Byte code of the running Python as a `Program` of instructions that are the same for all versions."""

from __future__ import annotations

import importlib
import sys
from functools import lru_cache
from types import CodeType

from torch_py._dynamo.decode.instructions import Instruction, Program, program_of

__all__ = ["Instruction", "Program", "decode", "is_supported"]


def is_supported() -> bool:
    """Whether there is a table for the running version of Python."""
    return (3, 10) <= sys.version_info[:2] <= (3, 13)


@lru_cache(maxsize=2048)
def decode(code: CodeType) -> Program:
    """The instructions of a code."""
    module = importlib.import_module(f"torch_py._dynamo.decode.py3{sys.version_info[1]}")
    make = getattr(module, "program_of", program_of)  # those without an exception table have their own
    return make(code, module.translate)  # type: ignore[no-any-return]
