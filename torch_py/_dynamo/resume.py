"""Where captures begin: at the start of a function, or in the middle of functions, after a graph has ended.
CPython can run the rest instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import chain, count
from types import CodeType, FunctionType
from typing import Any

from torch_py._C import _compiler
from torch_py._dynamo.capture import Capture
from torch_py._dynamo.decode import decode, parameter_names
from torch_py._dynamo.frame import NULL, TAKEN, UNBOUND, Frame, Pending, fill_closure, operands
from torch_py._dynamo.program_frames import called_from, traceback_of_program
from torch_py._records import Fields
from torch_py._thread_state import ThreadState, blocks_of_autocast
from torch_py.fx._source import function_from


class Layout(Fields):
    """Where a frame goes on, and what it has then: which slots have values, and which places of the stack.

    `raise_at` is the offset of the call (or another operation) that this frame waits for, with the number of
    values below its operands: this is where an exception is raised. Equal continuations have equal layouts.
    """

    code: CodeType
    globals: dict[str, Any]
    offset: int
    slots: tuple[bool, ...]
    stack: tuple[bool, ...]
    raise_at: tuple[int, int] | None
    blocks: tuple[tuple[int, int, int], ...] = ()  # of Python 3.10

    def key(self) -> Any:
        return (self.code, id(self.globals), self.offset, self.slots, self.stack, self.raise_at, self.blocks)

    def names(self) -> list[str]:
        """Names for the values: those of variables, and numbered ones for the stack."""
        names = decode(self.code).names
        found = [name for name, is_there in zip(names, self.slots) if is_there]
        return found + [f"stack_{i}" for i, is_there in enumerate(self.stack) if is_there]

    def take(self, given: Iterator[Any]) -> tuple[list[Any], list[Any]]:
        """The slots and the stack, of the next values; markers stand for missing ones."""
        slots = [next(given) if is_there else UNBOUND for is_there in self.slots]
        return slots, [next(given) if is_there else NULL for is_there in self.stack]

    def handles_exceptions(self) -> bool:
        """Whether an exception of the call that the frame waits for stays in the frame."""
        return self.raise_at is not None and decode(self.code).handles(self.raise_at[0], self.blocks)


class ResumedStart:
    """A capture that begins in the middle of functions that call each other, the innermost first.

    With `raises`, the last value is an exception, which is raised where the innermost frame waits.
    """

    def __init__(self, layouts: list[Layout], raises: bool) -> None:
        self.layouts = layouts
        self.raises = raises
        names = [name for layout in layouts for name in layout.names()] + ["error"] * raises
        self.parameters = _distinct(names)
        self.name = f"resume_in_{_identifier(layouts[-1].code.co_name)}"

    # Captured

    def run(self, capture: Capture, values: tuple[Any, ...]) -> Any:
        """Interprets the frames, each of which gets the result of the one before."""
        pending = _pending(capture, self.parameters, values)
        contents = [layout.take(pending) for layout in self.layouts]
        frames: list[Frame] = []
        for layout, content in zip(reversed(self.layouts), reversed(contents)):
            frame = self._frame(capture, layout, content)
            frame.parent = frames[-1] if frames else None
            frames.append(frame)
        capture.is_continuation = True

        results: list[Any] = []  # of the frame before
        error = None
        if self.raises:
            error = capture.admit(values[-1], capture.sources.argument(len(values) - 1, "error"))
        while frames:
            frame = frames.pop()
            capture.waiting = list(frames)
            results, error = _continued(frame, results, error)
        if error is not None:
            raise error
        return results[0]

    def _frame(self, capture: Capture, layout: Layout, content: tuple[list[Any], list[Any]]) -> Frame:
        frame = Frame(capture, layout.code, layout.globals)
        frame.locals, frame.stack = content
        frame.has_pending = True
        frame.blocks = list(layout.blocks)
        frame.jump(layout.offset)
        start = layout.offset if layout.raise_at is None else layout.raise_at[0]
        frame.instruction = frame.program.instructions[frame.program.index_of[start]]
        frame.raise_at = layout.raise_at
        frame.is_tail = True
        return frame

    # Run by CPython

    def natively(self, *values: Any) -> Any:
        """Lets CPython run the rest of all frames."""
        results: list[Any] = []  # of the frame before
        error: BaseException | None = values[-1] if self.raises else None
        given = iter(values)
        for number, (layout, run) in enumerate(zip(self.layouts, self._runs)):
            content = layout.take(given)
            if error is not None:
                if not layout.handles_exceptions():
                    continue
                # These frames run themselves now.
                codes = [one.code for one in reversed(self.layouts[number:])]
                error = error.with_traceback(traceback_of_program(error.__traceback__, codes))
            try:
                results = [run(layout, *content, results, error)]
                error = None
            except BaseException as raised:
                if not any(caller.handles_exceptions() for caller in self.layouts[number + 1 :]):
                    raise
                error = raised
        if error is not None:
            raise error
        return results[0]

    @cached_property
    def _runs(self) -> list[Callable[..., Any]]:
        """What runs each of the frames, seemingly called by those that wait for it."""
        places = [(one.code, one.globals, (one.raise_at or (one.offset,))[0]) for one in self.layouts]
        callers = [called_from(places[number:]) for number in range(1, len(places))]
        return [*(partial(call, _run_natively) for call in callers), _run_natively]


def _continued(frame: Frame, results: list[Any], error: Any) -> tuple[list[Any], Any]:
    """Runs a frame that waits for a result, or meets an exception; the innermost one gets no result."""
    try:
        if error is not None:
            frame.unwind(error)
        else:
            frame.stack += results
        return [frame.run()], None
    except Exception as raised:
        return [], raised


def _run_natively(layout: Layout, slots: list[Any], stack: list[Any], results: list[Any], error: Any) -> Any:
    offset = layout.offset
    if error is None:
        stack += results
    else:
        offset, stack = _with_raiser(layout, stack, error)

    code = layout.code
    own = len(slots) - len(code.co_freevars)
    cells = tuple(slots[own:])
    values = _for_native(slots[:own]), _for_native(stack)
    return _compiler.resume(code, offset, layout.globals, None, cells, *values, layout.blocks)


def _for_native(values: list[Any]) -> tuple[Any, ...]:
    return tuple(_compiler.UNBOUND if value is UNBOUND or value is NULL else value for value in values)


def _with_raiser(layout: Layout, stack: list[Any], error: BaseException) -> tuple[int, list[Any]]:
    """Offset and stack of the instruction that the frame waits for, with operands that raise the error."""
    assert layout.raise_at is not None
    start, base = layout.raise_at
    program = decode(layout.code)
    at = program.index_of[start]
    while not (op := program.instructions[at].op).startswith(("call", "for_iter")) and op not in TAKEN:
        at += 1
    fail = _compiler.raiser(error)
    return start, [*stack[:base], *operands(op, program.instructions[at].arg, fail)]


def _distinct(names: list[str]) -> list[str]:
    """The names as parameters of one function."""
    found: list[str] = []
    for name in map(_identifier, names):
        numbered = (f"{name}_{number}" for number in count(1))
        found.append(next(text for text in chain([name], numbered) if text not in found))
    return found


def _identifier(name: str) -> str:
    return re.sub(r"\W|^(?=\d)", "_", name)


def _pending(capture: Capture, parameters: list[str], values: tuple[Any, ...]) -> Iterator[Pending]:
    """The arguments of a captured function, which are guarded when they are used."""
    for position, (name, value) in enumerate(zip(parameters, values)):
        yield Pending(value, capture.sources.argument(position, name))


# What compiled code does at its end


class Next:
    """A continuation to be called with these values.

    Compiled code returns it instead of calling it, so that a loop does not make the stack deeper.
    """

    __slots__ = ("continuation", "values")

    def __init__(self, continuation: Callable[..., Any], *values: Any) -> None:
        self.continuation = continuation
        self.values = values


class Failed(Fields):
    """The exception of a graph in a continuation, which leaves all frames."""

    error: BaseException


def driver(before: ThreadState, after: ThreadState) -> Callable[..., Any]:
    """What calls a continuation, and those that follow, up to the result.

    `before` and `after` are the states in which the function begins and the first continuation does: where a
    graph fails, nobody else leaves the blocks that the frames are in.
    """
    entered = after.nesting - before.nesting

    def drive(continuation: Callable[..., Any], *values: Any) -> Any:
        depth = blocks_of_autocast()
        while True:
            result = continuation(*values)
            if type(result) is Failed:
                before.restore(depth - entered)
                error = result.error
                try:
                    raise error
                finally:
                    del error, result  # which its traceback refers to
            if type(result) is not Next:
                return result
            continuation, values = result.continuation, result.values

    return drive


def continuation_function(start: ResumedStart) -> FunctionType:
    """A function with the parameters of a continuation, that lets CPython run it."""
    parameters = ", ".join(start.parameters)
    text = f"def {start.name}({parameters}):\n    return natively({parameters})\n"
    namespace = {"natively": start.natively, "__name__": "torch_py._dynamo.resume"}
    return function_from(start.name, text, namespace, f"<{start.name}>")  # type: ignore[no-any-return]


class FunctionStart:
    """The call of a function."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.parameters = list(parameter_names(function.__code__))
        self.name = function.__name__ if function.__name__.isidentifier() else "function"

    def frame(self, capture: Capture, values: tuple[Any, ...]) -> Frame:
        """A frame with the arguments, which are guarded when they are used."""
        function = self.function
        frame = Frame(capture, function.__code__, function.__globals__)
        frame.locals[: len(values)] = _pending(capture, self.parameters, values)
        fill_closure(capture, frame, function)
        return frame

    def run(self, capture: Capture, values: tuple[Any, ...]) -> Any:
        return self.frame(capture, values).run()
