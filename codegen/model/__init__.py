"""Checked operators: ``load(path)`` reads a YAML file into a ``Program``, or raises with all its problems."""

from codegen.model.kernels import Kernel
from codegen.model.loading import load, read_program
from codegen.model.operator import (
    Derivative,
    DispatchEntry,
    Each,
    EachArgument,
    Formula,
    Operator,
    Requirement,
)
from codegen.model.program import DtypeSet, Program, Topic

__all__ = [
    "Derivative",
    "DispatchEntry",
    "DtypeSet",
    "Each",
    "EachArgument",
    "Formula",
    "Kernel",
    "Operator",
    "Program",
    "Requirement",
    "Topic",
    "load",
    "read_program",
]
