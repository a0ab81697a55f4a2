"""What compiled code does where a graph ends: the instruction that could not be captured, and what
follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch_py._dynamo import native_steps
from torch_py._dynamo.breaks import Break
from torch_py._dynamo.frame import NULL, UNBOUND, Frame
from torch_py._dynamo.liveness import slots_read_from
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

        def is_needed(slot: int, value: Any) -> bool:
            return slot in read or not frame.capture.recorder.is_result(value)

        return [value if is_needed(i, value) else UNBOUND for i, value in enumerate(frame.locals)]

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
        start = self.frame.call_start
        if start is not None:
            return start
        program = self.frame.program
        at = program.index_of[self.instruction.offset]
        before = program.instructions[at - 1]
        return before.offset if before.opname == "PRECALL" else self.instruction.offset


class Ending:
    """Writes the end of a compiled function that stops at a break."""

    def __init__(
        self,
        assembly: Assembly,
        stops: list[Stop],
        continuation: Callable[[ResumedStart], Any],
    ) -> None:
        self.assembly = assembly
        self.rebuild = assembly.rebuild
        self.stops = stops
        self.continuation = continuation
        self.proceed = (
            self.rebuild.constant(Next, "Next")
            if assembly.is_resumed
            else self.rebuild.constant(driver(assembly.before, assembly.after), "drive")
        )

    def write(self, whole_frame: bool) -> None:
        """`whole_frame`: CPython runs the frames from the instruction on."""
        innermost = self.stops[0]
        step = None if whole_frame else native_steps.of(innermost)
        outer = self._outer_values()
        if step is None:
            self._write_rest(innermost, outer)
        elif step.kind == "jump":
            self._write_jump(innermost, step, outer)
        elif step.kind == "iterate":
            self._write_iteration(innermost, step, outer)
        else:
            self._write_operation(innermost, step, outer)

    # Parts

    def _values(self, stop: Stop, stack: list[Any]) -> list[str]:
        """Expressions for the slots and the stack of a frame."""
        slots = [self.rebuild.value(value) for value in stop.slots if value is not UNBOUND]
        return slots + [self.rebuild.value(value) for value in stack if value is not NULL]

    def _outer_values(self) -> list[str]:
        return [text for stop in self.stops[1:] for text in self._values(stop, stop.stack[: stop.base])]

    def _outer_layouts(self) -> list[Layout]:
        """The layouts of the callers, which continue after their call with its result."""
        outer = self.stops[1:]
        return [stop.layout(stop.resume_at, stop.stack[: stop.base], stop.raise_at) for stop in outer]

    def _next(self, layout: Layout, values: list[str], raises: bool = False) -> str:
        start = ResumedStart([layout, *self._outer_layouts()], raises)
        target = self.rebuild.constant(self.continuation(start), start.name)
        return f"return {self.proceed}({', '.join([target, *values])})"

    def _write_rest(self, stop: Stop, outer: list[str]) -> None:
        offset = stop.call_start() if stop.instruction.op.startswith("call") else stop.instruction.offset
        layout = stop.layout(offset, stop.stack, None)
        start = ResumedStart([layout, *self._outer_layouts()], raises=False)
        target = self.rebuild.constant(continuation_function(start), start.name)
        values = self._values(stop, stop.stack)
        self.assembly.ends_with([f"return {target}({', '.join([*values, *outer])})"])

    def _write_jump(self, stop: Stop, step: Any, outer: list[str]) -> None:
        condition = self.rebuild.value(stop.stack[-1])
        lines = []
        for test, offset, keeps in step.branches(stop):
            stack = stop.stack if keeps else stop.stack[:-1]
            values = self._values(stop, stack)
            text = self._next(stop.layout(offset, stack, None), [*values, *outer])
            lines += [f"if {test.format(condition)}:", f"    {text}"] if test else [text]
        self.assembly.ends_with(lines)

    def _write_iteration(self, stop: Stop, step: Any, outer: list[str]) -> None:
        iterator = self.rebuild.value(stop.stack[-1])
        end = self.rebuild.constant(step.end, "END")
        element = self.rebuild.name("element")
        rest = stop.stack[:-1]
        after = self._next(stop.layout(stop.instruction.arg, rest, None), [*self._values(stop, rest), *outer])
        inside_stack = [*stop.stack, None]
        inside = [*self._values(stop, stop.stack), element]
        lines = self._guarded(stop, f"{element} = next({iterator}, {end})", outer)
        lines += [f"if {element} is {end}:", f"    {after}"]
        lines.append(self._next(stop.layout(stop.instruction.end, inside_stack, None), [*inside, *outer]))
        self.assembly.ends_with(lines)

    def _write_operation(self, stop: Stop, step: Any, outer: list[str]) -> None:
        names = [self.rebuild.name("result") for _ in range(step.results)]
        text = step.text(self.rebuild)
        if names:
            text = f"{', '.join(names)}{',' if len(names) > 1 else ''} = {text}"
        kept = stop.stack[: len(stop.stack) - step.pops]
        values = [*self._values(stop, kept), *names]
        lines = self._guarded(stop, text, outer)
        layout = stop.layout(stop.instruction.end, [*kept, *[None] * step.results], None)
        lines.append(self._next(layout, [*values, *outer]))
        self.assembly.ends_with(lines)

    def _guarded(self, stop: Stop, text: str, outer: list[str]) -> list[str]:
        """A statement whose exceptions go to the handlers of the frames, where there are some."""
        in_callers = any(layout.handles_exceptions() for layout in self._outer_layouts())
        if not in_callers and not stop.frame.program.handles(stop.instruction.offset, stop.frame.blocks):
            return [text]

        start, base = self._place_to_raise(stop)
        kept = stop.stack[:base]
        layout = stop.layout(stop.instruction.offset, kept, (start, base))
        error = self.rebuild.name("error")
        values = [*self._values(stop, kept), *outer, error]
        kind = self.rebuild.constant(BaseException, "BaseException")
        return [
            "try:",
            f"    {text}",
            f"except {kind} as {error}:",
            f"    {self._next(layout, values, raises=True)}",
        ]

    def _place_to_raise(self, stop: Stop) -> tuple[int, int]:
        if stop.instruction.op.startswith("for_iter"):
            return stop.instruction.offset, len(stop.stack) - 1
        if not stop.instruction.op.startswith("call"):
            raise Break(
                f"{stop.instruction.opname} inside of `try`",
                "an exception of it could not be handled",
                "",
            )
        return stop.call_start(), stop.base
