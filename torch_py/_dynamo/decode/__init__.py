"""Byte code of the running Python as a `Program` of instructions that are the same for all versions."""

from __future__ import annotations

import sys
from functools import lru_cache
from types import CodeType

from torch_py._dynamo.decode.instructions import Instruction, Program, program_of
from torch_py._dynamo.decode.versions import TRANSLATE

__all__ = ["Instruction", "Program", "decode", "is_supported"]


def is_supported() -> bool:
    """Whether the rules of the running version of Python are known."""
    return sys.version_info[0] == 3 and sys.version_info[1] in TRANSLATE


@lru_cache(maxsize=2048)
def decode(code: CodeType) -> Program:
    """The instructions of a code."""
    return program_of(code, TRANSLATE[sys.version_info[1]])
