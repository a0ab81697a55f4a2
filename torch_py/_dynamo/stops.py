"""What compiled code does where a graph ends: the instruction that could not be captured, and what
follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from torch_py._dynamo import native_steps
from torch_py._dynamo.breaks import Break
from torch_py._dynamo.frame import NULL, UNBOUND, Frame
from torch_py._dynamo.liveness import slots_read_from
from torch_py._dynamo.program_frames import called_from
from torch_py._dynamo.resume import Layout, Next, ResumedStart, continuation_function, driver

if TYPE_CHECKING:
    from torch_py._dynamo.assemble import Assembly


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
        return [
            value if slot in read or not is_result(value) else UNBOUND
            for slot, value in enumerate(frame.locals)
        ]

    def layout(self, offset: int, stack: list[Any], raise_at: tuple[int, int] | None) -> Layout:
        frame = self.frame
        return Layout(
            frame.code,
            frame.globals,
            offset,
            tuple(value is not UNBOUND for value in self.slots),
            tuple(value is not NULL for value in stack),
            raise_at,
            tuple(frame.blocks),
        )

    def call_start(self) -> int:
        """The offset where the call begins that this frame makes."""
        return self.frame.program.begin_of_call(self.instruction.offset).offset

    def place_to_raise(self) -> tuple[int, int]:
        """Where an exception of the instruction is raised: see `Layout`."""
        if self.instruction.op.startswith("for_iter"):
            return self.instruction.offset, len(self.stack) - 1
        if not self.instruction.op.startswith("call"):
            what = f"{self.instruction.opname} inside of `try`"
            raise Break(what, "an exception of it could not be handled")
        return self.call_start(), self.base


class Ending:
    """Writes the end of a compiled function that stops at a break."""

    def __init__(
        self, assembly: Assembly, stops: list[Stop], continuation: Callable[[ResumedStart], Any]
    ) -> None:
        self.assembly = assembly
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

    def write(self, whole_frame: bool) -> None:
        """`whole_frame`: CPython runs the frames from the instruction on."""
        stop = self.innermost
        step = None if whole_frame else native_steps.of(stop)
        if step is None:
            self.assembly.tail = self._rest(stop)
        else:
            writers = {"jump": self._jump, "iterate": self._iteration, "operation": self._operation}
            self.assembly.tail = writers[step.kind](stop, step)

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
    ) -> str:
        """A statement that continues at `offset`, with `results` above what is kept of the stack; or raises
        `error` at a place."""
        layout = self.innermost.layout(offset, [*kept, *[None] * len(results)], raise_at)
        start = ResumedStart([layout, *self._outer_layouts], raises=raise_at is not None)
        target = self.rebuild.constant(self.continuation(start), start.name)
        values = [*self._values(self.innermost, kept), *results, *self._outer_values, *error]
        return f"return {self.proceed}({', '.join([target, *values])})"

    def _rest(self, stop: Stop) -> list[str]:
        offset = stop.call_start() if stop.instruction.op.startswith("call") else stop.instruction.offset
        start = ResumedStart([stop.layout(offset, stop.stack, None), *self._outer_layouts], raises=False)
        target = self.rebuild.constant(continuation_function(start), start.name)
        values = [*self._values(stop, stop.stack), *self._outer_values]
        return [f"return {target}({', '.join(values)})"]

    def _jump(self, stop: Stop, step: Any) -> list[str]:
        condition = self.rebuild.value(stop.stack[-1])
        lines = []
        for test, offset, keeps in step.branches(stop):
            text = self._next(offset, stop.stack if keeps else stop.stack[:-1])
            lines += [f"if {test.format(condition)}:", f"    {text}"] if test else [text]
        return lines

    def _iteration(self, stop: Stop, step: Any) -> list[str]:
        iterator = self.rebuild.value(stop.stack[-1])
        end = self.rebuild.constant(step.end, "END")
        element = self.rebuild.name("element")
        return [
            *self._guarded(stop, f"{element} = {self._called(['next', iterator, end])}"),
            f"if {element} is {end}:",
            f"    {self._next(stop.instruction.arg, stop.stack[:-1])}",
            self._next(stop.instruction.end, stop.stack, [element]),
        ]

    def _operation(self, stop: Stop, step: Any) -> list[str]:
        names = [self.rebuild.name("result") for _ in range(step.results)]
        text = self._called(step.parts(self.rebuild))
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
