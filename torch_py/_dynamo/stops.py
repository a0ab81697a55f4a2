"""What compiled code does where a graph ends: the instruction that could not be captured, and what follows,
for which it keeps the variables that may still be read."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from types import CodeType
from typing import Any

from torch_py._dynamo.assemble import Assembly
from torch_py._dynamo.decode import Program, decode
from torch_py._dynamo.exc import Break
from torch_py._dynamo.frame import NULL, TAKEN, UNBOUND, Frame, call_parts
from torch_py._dynamo.makers import entries
from torch_py._dynamo.operations import END
from torch_py._dynamo.program_frames import called_from, warn
from torch_py._dynamo.resume import Layout, Next, ResumedStart, continuation_function, driver
from torch_py._records import Fields

Continuation = Callable[[ResumedStart], Any]  # what goes on


class Stop:
    """A frame at a break: the innermost one at the instruction that breaks, the others at a call that does
    not return, or (`is_waiting`) after one whose result they wait for."""

    def __init__(self, frame: Frame, is_waiting: bool = False) -> None:
        self.frame = frame
        self.instruction = frame.instruction
        self.stack = list(frame.stack)
        if is_waiting:
            self.base = len(self.stack)
            self.resume_at = frame.program.instructions[frame.at].offset
            self.raise_at = frame.raise_at
        else:
            self.base = frame.result_base
            self.resume_at = self.instruction.end
            self.raise_at = (self.call_start(), self.base)
        self.slots = self._live_slots()

    def _live_slots(self) -> list[Any]:
        """The variables, without tensors of the graph that nothing reads, which need not be its results."""
        frame = self.frame
        places = [self.resume_at, self.instruction.offset, *(self.raise_at or ())[:1]]
        read = slots_read_from(frame.code, min(places))
        is_result = frame.capture.recorder.is_result
        slots = enumerate(frame.locals)
        return [value if slot in read or not is_result(value) else UNBOUND for slot, value in slots]

    def layout(self, offset: int, stack: list[Any], raise_at: tuple[int, int] | None) -> Layout:
        frame = self.frame
        slots = tuple(value is not UNBOUND for value in self.slots)
        places = tuple(value is not NULL for value in stack)
        return Layout(frame.code, frame.globals, offset, slots, places, raise_at, tuple(frame.blocks))

    def call_start(self) -> int:
        """The offset where the call begins that this frame makes."""
        return self.frame.program.begin_of_call(self.instruction.offset).offset

    def place_to_raise(self) -> tuple[int, int]:
        """Where an exception of the instruction is raised: see `Layout`."""
        instruction, op = self.instruction, self.instruction.op
        if op.startswith("call"):
            return self.call_start(), self.base
        if not op.startswith("for_iter") and op not in TAKEN:
            raise Break(f"{instruction.opname} inside of `try`", "an exception of it could not be handled")
        return instruction.offset, len(self.stack) - TAKEN.get(op, 1)


class Ending:
    """Writes the end of a compiled function that stops at a break."""

    def __init__(self, assembly: Assembly, stops: list[Stop], continuation: Continuation) -> None:
        self.rebuild = assembly.rebuild
        self.innermost, *outer = stops
        self.continuation = continuation
        proceed = Next if assembly.is_resumed else driver(assembly.before, assembly.after)
        self.proceed = self.rebuild.constant(proceed, "proceed")

        # The callers, which continue after their call with its result.
        self._outer_layouts: list[Layout] = []
        self._outer_values: list[str] = []
        for stop in outer:
            stack = stop.stack[: stop.base]
            self._outer_layouts.append(stop.layout(stop.resume_at, stack, stop.raise_at))
            self._outer_values += self._values(stop, stack)

    def lines(self, whole_frame: bool) -> list[str]:
        """The statements. `whole_frame`: CPython runs the frames from the instruction on."""
        stop = self.innermost
        op = stop.instruction.op
        if whole_frame:
            return self._rest(stop)
        if op.startswith(("jump_if_true", "jump_if_false")):
            return self._jump(stop)
        if op == "for_iter":
            return self._iteration(stop)

        step = step_of(stop)
        return self._rest(stop) if step is None else self._operation(stop, step)

    # Parts

    def _values(self, stop: Stop, stack: list[Any]) -> list[str]:
        """Expressions for the slots and the stack of a frame."""
        slots = [self.rebuild.value(value) for value in stop.slots if value is not UNBOUND]
        return slots + [self.rebuild.value(value) for value in stack if value is not NULL]

    def _next(
        self,
        offset: int,
        kept: list[Any],
        results: Sequence[str] = (),
        raise_at: tuple[int, int] | None = None,
        error: Sequence[str] = (),
        continuation: Continuation | None = None,
    ) -> str:
        """A statement that continues at `offset`, with `results` above what is kept of the stack; or raises
        `error` at a place. It may have a continuation of its own."""
        layout = self.innermost.layout(offset, [*kept, *[None] * len(results)], raise_at)
        start = ResumedStart([layout, *self._outer_layouts], raises=raise_at is not None)
        target = self.rebuild.constant((continuation or self.continuation)(start), start.name)
        values = [*self._values(self.innermost, kept), *results, *self._outer_values, *error]
        return f"return {self.proceed}({', '.join([target, *values])})"

    def _rest(self, stop: Stop) -> list[str]:
        offset = stop.call_start() if stop.instruction.op.startswith("call") else stop.instruction.offset
        return [self._next(offset, stop.stack, continuation=continuation_function)]

    def _jump(self, stop: Stop) -> list[str]:
        """A branch on the truth of the top, which some jumps keep."""
        op = stop.instruction.op
        truth = self.rebuild.name("truth")
        kept = stop.stack if op.endswith("or_pop") else stop.stack[:-1]
        return [
            *self._guarded(stop, f"{truth} = {self._called(['bool', self.rebuild.value(stop.stack[-1])])}"),
            f"if {truth}:" if "true" in op else f"if not {truth}:",
            f"    {self._next(stop.instruction.arg, kept)}",
            self._next(stop.instruction.end, stop.stack[:-1]),
        ]

    def _iteration(self, stop: Stop) -> list[str]:
        """The next element of an iterator, which is dropped at the end."""
        iterator = self.rebuild.value(stop.stack[-1])
        end = self.rebuild.constant(END, "END")
        element = self.rebuild.name("element")
        return [
            *self._guarded(stop, f"{element} = {self._called(['next', iterator, end])}"),
            f"if {element} is {end}:",
            f"    {self._next(stop.instruction.arg, stop.stack[:-1])}",
            self._next(stop.instruction.end, stop.stack, [element]),
        ]

    def _operation(self, stop: Stop, step: Step) -> list[str]:
        names = [self.rebuild.name("result") for _ in range(step.results)]
        parts = list(map(self.rebuild.value, step.called))
        if step.kwargs:
            parts.append(f"**{entries(self.rebuild, step.kwargs)}")
        text = self._called(parts)
        if names:
            text = f"{', '.join(names)}{',' if len(names) > 1 else ''} = {text}"
        kept = stop.stack[: len(stop.stack) - step.pops]
        return [*self._guarded(stop, text), self._next(stop.instruction.end, kept, names)]

    def _called(self, parts: list[str]) -> str:
        """A call in frames like those of the program."""
        frames = self.innermost.frame.caller_frames()
        call = called_from([(frame.code, frame.globals, frame.instruction.offset) for frame in frames])
        return f"{self.rebuild.constant(call, f'in_{frames[0].code.co_name}')}({', '.join(parts)})"

    def _guarded(self, stop: Stop, text: str) -> list[str]:
        """A statement whose exceptions go to the handlers of the frames, where there are some: after the
        `except` here, so that none is being handled there."""
        in_callers = any(layout.handles_exceptions() for layout in self._outer_layouts)
        if not in_callers and not stop.frame.program.handles(stop.instruction.offset, stop.frame.blocks):
            return [text]

        place = stop.place_to_raise()
        error, failures = self.rebuild.name("error"), self.rebuild.name("failures")
        kind = self.rebuild.constant(BaseException, "BaseException")
        kept = stop.stack[: place[1]]
        handled = self._next(stop.instruction.offset, kept, raise_at=place, error=[f"{failures}.pop()"])
        return [
            f"{failures} = []",
            f"try: {text}",
            f"except {kind} as {error}: {failures}.append({error})",
            f"if {failures}: {handled}",
        ]


class Step(Fields):
    """An operation on the stack: how many values it takes, how many it gives, and a function with its
    arguments."""

    pops: int
    results: int
    called: Sequence[Any]
    kwargs: dict[str, Any] = {}


def step_of(stop: Stop) -> Step | None:
    """How to do the instruction at which a frame stops; None if only CPython can."""
    op = stop.instruction.op
    if op.startswith("call"):
        return _call(stop)
    if op == "format_value":
        return _format_value(stop)
    if op == "build_string":
        count = stop.instruction.arg
        return Step(count, 1, ["".join, tuple(stop.stack[-count:])])
    if op == "unpack_sequence":
        return _unpack(stop)
    if op not in _OPERATIONS:
        return None

    results, make = _OPERATIONS[op]
    return Step(TAKEN[op], results, make(stop.instruction.arg, *stop.stack[-TAKEN[op] :]))


# Calls


def _call(stop: Stop) -> Step | None:
    base, callee, args, kwargs = call_parts(stop.instruction, stop.stack, stop.frame.keyword_names)
    if type(args) not in (list, tuple) or type(kwargs) is not dict:
        return None
    if any(callee is one for one in (locals, eval, exec, *(() if args else (vars, dir)))):
        return None  # they read the variables of the frame
    stop.base = base
    if stop.instruction.op.startswith("call_function_ex"):  # with containers that are the program's own
        capture = stop.frame.capture
        args, kwargs = capture.elements_of(args), capture.items_of(kwargs)
    return Step(len(stop.stack) - base, 1, [warn if callee is warnings.warn else callee, *args], kwargs)


# Other operations


def _not_contains(container: Any, value: Any) -> bool:
    return value not in container


def _text_of(value: Any, conversion: int, specification: str = "") -> str:
    if conversion:
        value = (str, repr, ascii)[conversion - 1](value)
    return format(value, specification)


def _format_value(stop: Stop) -> Step:
    pops = 2 if stop.instruction.arg & 4 else 1
    value, *specification = stop.stack[-pops:]
    return Step(pops, 1, [_text_of, value, stop.instruction.arg & 3, *specification])


def _unpack(stop: Stop) -> Step | None:
    count = stop.instruction.arg
    return Step(1, count, [_unpacking(count), stop.stack[-1]]) if count > 1 else None


@cache
def _unpacking(count: int) -> Callable[[Any], list[Any]]:
    """What gives the elements as an instruction pushes them, with the errors of this Python."""
    names = [f"value_{i}" for i in range(count)]
    text = f"lambda value: [[{', '.join(reversed(names))}] for {', '.join(names)} in [value]][0]"
    return eval(compile(text, __file__, "eval"))  # type: ignore[no-any-return]


def _is_true(compare: Callable[[Any, Any], Any], left: Any, right: Any) -> bool:
    return bool(compare(left, right))


# How many values an instruction gives, and the function that does it with its operands: those of the
# instruction's argument and the values that it takes.
_OPERATIONS: dict[str, tuple[int, Callable[..., tuple[Any, ...]]]] = {
    "binary": (1, lambda *operands: operands),
    "compare_as_bool": (1, lambda *operands: (_is_true, *operands)),  # since Python 3.13
    "unary": (1, lambda *operands: operands),
    "binary_subscr": (1, lambda _, owner, key: (operator.getitem, owner, key)),
    "contains_op": (1, lambda no, value, owner: ((operator.contains, _not_contains)[no], owner, value)),
    "load_attr": (1, lambda name, owner: (getattr, owner, name)),
    "store_attr": (0, lambda name, value, owner: (setattr, owner, name, value)),
    "store_subscr": (0, lambda _, value, owner, key: (operator.setitem, owner, key, value)),
    "delete_subscr": (0, lambda _, owner, key: (operator.delitem, owner, key)),
    "get_iter": (1, lambda _, value: (iter, value)),
    "to_bool": (1, lambda _, value: (bool, value)),
}


_READING = frozenset(
    "load_fast load_fast_check load_fast_and_clear delete_fast load_deref load_closure load_classderef "
    "load_from_dict_or_deref delete_deref store_deref make_cell".split()
)
_READING_PAIRS = frozenset(("load_fast_load_fast", "store_fast_load_fast"))
# Functions that see all variables of their caller.
_SEEING_ALL = frozenset(("locals", "vars", "dir", "eval", "exec"))


@lru_cache(maxsize=2048)
def slots_read_from(code: CodeType, offset: int) -> frozenset[int]:
    """The slots that instructions from an offset on may read, including those that they write first."""
    program = decode(code)
    if not _SEEING_ALL.isdisjoint(code.co_names):
        return frozenset(range(len(program.names)))

    first = _first_reached(program, offset)
    rest = [instruction for instruction in program.instructions if instruction.offset >= first]
    found = frozenset(instruction.arg for instruction in rest if instruction.op in _READING)
    return found.union(*(instruction.arg for instruction in rest if instruction.op in _READING_PAIRS))


def _first_reached(program: Program, offset: int) -> int:
    """The lowest offset that a run from `offset` on may reach: jumps backward are those of loops."""
    later = [instruction for instruction in program.instructions if instruction.offset >= offset]
    targets = [instruction.arg for instruction in later if instruction.op.startswith("jump")]
    targets += [row.target for row in program.handlers if row.end > offset]
    lowest = min(targets, default=offset)
    return _first_reached(program, lowest) if lowest < offset else offset
