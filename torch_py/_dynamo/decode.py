"""Byte code of the running Python as a `Program` of instructions that are the same for all versions.

Python 3.11 has the rules of instructions that mean the same in other versions; 3.10 and 3.12 change some of
them, and 3.13 changes those of 3.12.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import opcode
import operator
import re
import sys
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any

from torch_py._records import Fields


class Instruction:
    """One step: the name of its handler, its argument, and the bytes of the code that it covers.

    `offset` is where the instruction begins, with its EXTENDED_ARG prefixes; `end` is where the next one
    does. A jump's argument is the offset of its target.
    """

    __slots__ = ("arg", "end", "offset", "op", "opname")

    def __init__(self, op: str, arg: Any, offset: int, end: int, opname: str) -> None:
        self.op = op
        self.arg = arg
        self.offset = offset
        self.end = end
        self.opname = opname


# Kinds of blocks (Python 3.10), by CPython's numbers.
SETUP_FINALLY = 122
EXCEPT_HANDLER = 257
# Flags of code: *args, **kwargs, and what makes generators, coroutines and asynchronous generators.
VARARGS = 4
VARKEYWORDS = 8
GENERATOR = 0x20
ASYNCHRONOUS = 0x80 | 0x200


class Program(Fields):
    """The instructions of a code object. `index_of` finds one by its offset; `handlers` are the rows of the
    exception table, innermost last; `names` names the slots of local variables, cells included."""

    instructions: list[Instruction]
    handlers: list[Any]
    names: tuple[str, ...]
    uses_blocks: bool = False  # whether blocks of the frame take the place of `handlers`

    @cached_property
    def index_of(self) -> dict[int, int]:
        return {instruction.offset: index for index, instruction in enumerate(self.instructions)}

    def begin_of_call(self, offset: int) -> Instruction:
        """The first instruction of the call at `offset`: up to 3.12, others may come before it."""
        at = self.index_of[offset]
        while self.instructions[at - 1].opname in ("KW_NAMES", "PRECALL"):
            at -= 1
        return self.instructions[at]

    def handler_of(self, offset: int) -> Any:
        """Where an exception at `offset` continues; None if it leaves the function."""
        return next((row for row in self.handlers if row.start <= offset < row.end), None)

    def handles(self, offset: int, blocks: Iterable[tuple[int, int, int]]) -> bool:
        """Whether an exception at `offset` stays in the frame, which has these blocks."""
        if self.uses_blocks:
            return any(kind == SETUP_FINALLY for kind, _, _ in blocks)
        return self.handler_of(offset) is not None

    def cleans_up(self, offset: int, blocks: Iterable[tuple[int, int, int]], names: dict[str, Any]) -> bool:
        """Whether code of the program, which has these globals, runs if a generator ends at this `yield`."""
        if self.uses_blocks:
            targets = [target for kind, target, _ in blocks if kind == SETUP_FINALLY]
            return any(self._passed_on(target, names) is None for target in targets)
        row = self.handler_of(offset)
        while row is not None:
            end = self._passed_on(row.target, names)
            if end is None:
                return True
            row = self.handler_of(end)
        return False

    def _passed_on(self, target: int, names: dict[str, Any]) -> int | None:
        """Where a handler raises GeneratorExit again; None if it does something else, as `finally` does.
        `except` clauses for subclasses of Exception do nothing."""
        at, before = self.index_of[target], ""
        while (step := self.instructions[at]).opname != "RERAISE":
            if step.op == "load_global":
                name = step.arg[0]
                kind = names.get(name, vars(builtins).get(name))
                if not (isinstance(kind, type) and issubclass(kind, Exception)):
                    return None
            elif step.opname == "JUMP_IF_NOT_EXC_MATCH" or before == "CHECK_EXC_MATCH":
                at = self.index_of[step.arg] - 1  # the next clause
            elif step.opname not in _BEFORE_CLAUSES:
                return None
            at, before = at + 1, step.opname
        return step.offset


# What handlers begin with, and look for the right clause with.
_BEFORE_CLAUSES = frozenset(
    "PUSH_EXC_INFO DUP_TOP COPY POP_EXCEPT BUILD_TUPLE CHECK_EXC_MATCH CALL_INTRINSIC_1".split()
)

# Gives the canonical name and argument of an instruction, from the code object, CPython's name, the argument
# as a number, and the offset of the next instruction.
Translate = Callable[[CodeType, str, int, int], tuple[str, Any]]

# How many inline caches follow an instruction: CPython lists them by number, and since 3.13 by name.
_caches: Any = getattr(opcode, "_inline_cache_entries", {})
_CACHES = _caches if isinstance(_caches, list) else [_caches.get(name, 0) for name in opcode.opname]


def instructions_of(code: CodeType, translate: Translate) -> list[Instruction]:
    """The instructions of `code`, with prefixes folded in and caches skipped."""
    raw = code.co_code
    found = []
    position, size = 0, len(raw)
    start, high = 0, 0

    while position < size:
        number = raw[position]
        argument = high | raw[position + 1]
        position += 2
        if number == opcode.EXTENDED_ARG:
            high = argument << 8
            continue
        position += 2 * _CACHES[number]
        name = opcode.opname[number]
        found.append(Instruction(*translate(code, name, argument, position), start, position, name))
        start, high = position, 0
    return found


def program_of(code: CodeType, translate: Translate) -> Program:
    """The program of a code object. Exceptions go to blocks in Python 3.10, which has no exception tables."""
    instructions = instructions_of(code, translate)
    if sys.version_info < (3, 11):
        names = code.co_varnames + code.co_cellvars + code.co_freevars
        return Program([*_beginning(code), *instructions], [], names, uses_blocks=True)
    return Program(instructions, dis._parse_exception_table(code), slot_names(code))


def _beginning(code: CodeType) -> list[Instruction]:
    """What CPython 3.10 does before the first instruction: cells are made, and generators returned."""
    steps: list[tuple[str, Any]] = []
    for position, name in enumerate(code.co_cellvars):
        argument = code.co_varnames.index(name) if name in parameter_names(code) else None
        steps.append(("make_cell_of", (code.co_nlocals + position, argument)))
    if code.co_flags & GENERATOR:
        steps.append(("return_generator", None))
    return [Instruction(op, arg, number - len(steps), 0, "") for number, (op, arg) in enumerate(steps)]


def parameter_names(code: CodeType) -> tuple[str, ...]:
    """The parameters in the order in which they are bound: *args is one of them, and **kwargs."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & VARARGS) + bool(code.co_flags & VARKEYWORDS)
    return code.co_varnames[:count]


def names_in_signature(code: CodeType) -> list[str]:
    """The same, as a signature calls them: those of comprehensions have a dot."""
    return [name.replace(".", "implicit") for name in parameter_names(code)]


def signature_of(code: CodeType) -> inspect.Signature:
    """The parameters, without defaults and annotations."""
    cells = tuple(CellType() for _ in code.co_freevars)
    return inspect.signature(FunctionType(code, {}, closure=cells))


def slot_names(code: CodeType) -> tuple[str, ...]:
    """Local variables, then cells that are not arguments, then free variables: CPython's order from 3.11."""
    cells = tuple(name for name in code.co_cellvars if name not in code.co_varnames)
    return code.co_varnames + cells + code.co_freevars


_OPERATIONS = "add and floordiv lshift matmul mul mod or pow rshift sub truediv xor".split()
# The argument of BINARY_OP (3.11 and later); those from 13 on change the left side in place.
BINARY: tuple[Callable[[Any, Any], Any], ...] = tuple(
    getattr(operator, f"__{prefix}{name}__") for prefix in ("", "i") for name in _OPERATIONS
)

# The argument of COMPARE_OP, without its flags.
COMPARE = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge)

UNARY: dict[str, Callable[[Any], Any]] = {
    "UNARY_POSITIVE": operator.pos,
    "UNARY_NEGATIVE": operator.neg,
    "UNARY_NOT": operator.not_,
    "UNARY_INVERT": operator.invert,
}


# The rules of each version: canonical names and arguments


def _names(numbers: Iterable[int]) -> list[str]:
    return [opcode.opname[number] for number in numbers]


# Instructions whose argument is an index into co_names, and those with one into co_consts.
_NAMED = frozenset(_names(opcode.hasname))
_CONSTANT = frozenset(_names(opcode.hasconst))
_ABSOLUTE = frozenset(_names(opcode.hasjabs))  # jumps of Python 3.10
# Jumps by canonical names, which do not say where they lead.
_JUMPS = {
    name: re.sub("^POP_|_FORWARD|_BACKWARD|_NO_INTERRUPT|_ABSOLUTE", "", name).lower()
    for name in (*_ABSOLUTE, *_names(opcode.hasjrel))
}


def translate_311(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    """The canonical name and argument of an instruction, also of other versions where these are the same."""
    if name in _JUMPS:
        origin = 0 if name in _ABSOLUTE else end
        return _JUMPS[name], origin + 2 * (-argument if "BACKWARD" in name else argument)

    if name == "LOAD_GLOBAL":
        return "load_global", (code.co_names[argument >> 1], argument & 1)
    if name == "COMPARE_OP":
        return "binary", COMPARE[argument]
    if name == "BINARY_OP":
        return "binary", BINARY[argument]
    if name in UNARY:
        return "unary", UNARY[name]

    if name in _NAMED:
        return name.lower(), code.co_names[argument]
    return name.lower(), code.co_consts[argument] if name in _CONSTANT else argument


# Python 3.10: jumps count instructions

_CHANGED_310 = {
    "CALL_FUNCTION_EX": "call_function_ex_plain",
    "MAKE_FUNCTION": "make_named_function",
    "MATCH_KEYS": "match_keys_with_flag",
    "MATCH_CLASS": "match_class_with_flag",
    "POP_EXCEPT": "pop_except_block",
    "RERAISE": "reraise_triple",
    "WITH_EXCEPT_START": "with_except_start_triple",
}
_OPERATORS = (
    "ADD AND FLOOR_DIVIDE LSHIFT MATRIX_MULTIPLY MULTIPLY MODULO OR POWER RSHIFT SUBTRACT TRUE_DIVIDE XOR"
).split()
_REPLACED_310 = {
    "ROT_TWO": ("swap", 2),
    "ROT_THREE": ("rotate", 3),
    "ROT_FOUR": ("rotate", 4),
    "DUP_TOP": ("copy", 1),
    **{f"BINARY_{name}": ("binary", BINARY[i]) for i, name in enumerate(_OPERATORS)},
    **{f"INPLACE_{name}": ("binary", BINARY[i + 13]) for i, name in enumerate(_OPERATORS)},
}
# Instructions of cells, which are numbered after the local variables.
_CELLS = frozenset(_names(opcode.hasfree))


def translate_310(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    if name in _REPLACED_310:
        return _REPLACED_310[name]
    if name == "LOAD_GLOBAL":
        argument <<= 1  # a bit for NULL, which later versions have
    if name in _CELLS:
        argument += code.co_nlocals
    op, found = translate_311(code, name, argument, end)
    return _CHANGED_310.get(name, op), found


# Python 3.12

_INTRINSICS: dict[int, tuple[str, Any]] = {
    3: ("nop", None),  # of StopIteration, which InterpretedGenerator replaces
    5: ("unary", operator.pos),
    6: ("list_to_tuple", None),
}


def translate_312(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    if name == "LOAD_ATTR":
        return ("load_method" if argument & 1 else "load_attr"), code.co_names[argument >> 1]
    if name == "LOAD_SUPER_ATTR":
        return "load_super_attr", (code.co_names[argument >> 2], bool(argument & 1))
    if name == "CALL_INTRINSIC_1" and argument in _INTRINSICS:
        return _INTRINSICS[argument]

    if name == "COMPARE_OP":
        argument >>= 4
    if name == "FOR_ITER":
        end += 2  # END_FOR is skipped
    op, found = translate_311(code, name, argument, end)
    return ("send_kept" if op == "send" else op), found


# Python 3.13: NULL, or the object of a method, is above the callable

_CHANGED_313 = {"CALL": "call_null_last", "CALL_FUNCTION_EX": "call_function_ex_null_last"}
_PAIRS = ("LOAD_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST")
_FORMATS = {"FORMAT_SIMPLE": 0, "FORMAT_WITH_SPEC": 4}


def translate_313(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    if name in _CHANGED_313:
        return _CHANGED_313[name], argument
    if name in _PAIRS:
        return name.lower(), (argument >> 4, argument & 15)
    if name in _FORMATS:
        return "format_value", _FORMATS[name]
    if name == "COMPARE_OP":
        return ("compare_as_bool" if argument & 16 else "binary"), COMPARE[argument >> 5]
    if name == "FOR_ITER":
        end += 2  # POP_TOP is skipped, too
    return translate_312(code, name, argument, end)


TRANSLATE: dict[int, Translate] = {10: translate_310, 11: translate_311, 12: translate_312, 13: translate_313}


def is_supported() -> bool:
    """Whether the rules of the running version of Python are known."""
    return sys.version_info[0] == 3 and sys.version_info[1] in TRANSLATE


@lru_cache(maxsize=2048)
def decode(code: CodeType) -> Program:
    """The instructions of a code."""
    return program_of(code, TRANSLATE[sys.version_info[1]])
