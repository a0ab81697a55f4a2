"""Byte code of the running Python as a `Program` of instructions that are the same for all versions."""

from __future__ import annotations

import importlib
import sys
from types import CodeType

from torch_py._dynamo.decode.instructions import Instruction, Program

__all__ = ["Instruction", "Program", "decode", "is_supported"]

_MODULES = {(3, 10): "py310", (3, 11): "py311", (3, 12): "py312", (3, 13): "py313"}
_programs: dict[CodeType, Program] = {}


def is_supported() -> bool:
    """Whether there is a table for the running version of Python."""
    return sys.version_info[:2] in _MODULES


def decode(code: CodeType) -> Program:
    """The instructions of `code`, which are remembered."""
    program = _programs.get(code)
    if program is None:
        module = importlib.import_module(f"torch_py._dynamo.decode.{_MODULES[sys.version_info[:2]]}")
        program = _programs[code] = module.decode(code)
    return program
