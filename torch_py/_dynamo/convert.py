"""What happens when no compiled code fits a call: capture, compile, and keep the result."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any

from torch_py._dynamo import config, logs
from torch_py._C._compiler import GuardProgram, TensorFacts, thread_state
from torch_py._dynamo.assemble import Assembly
from torch_py._dynamo.breaks import Break
from torch_py._dynamo.capture import Capture
from torch_py._dynamo.exc import BackendCompilerFailed, Unsupported
from torch_py._dynamo.guards import RowWriter
from torch_py._dynamo.handlers import all_handlers
from torch_py._dynamo.messages import explained
from torch_py._dynamo.start import FunctionStart
from torch_py._dynamo.thread_state import ThreadState
from torch_py._dynamo.utils import counters

_lock = threading.RLock()
_HANDLERS = all_handlers()


class Settings:
    """What `torch.compile` was called with."""

    def __init__(
        self,
        backend: Callable[..., Any],
        fullgraph: bool = False,
        dynamic: bool | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.backend = backend
        self.fullgraph = fullgraph
        self.dynamic = dynamic
        self.options = options or {}


class Outcome:
    """A capture that has come to its end, by a result, a break, or an exception of the program."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.value: Any = None
        self.reason: Break | None = None
        self.raised: BaseException | None = None
        self.changed: list[Any] = []
        self.before = ThreadState()
        self.after = self.before


def run_capture(start: FunctionStart, values: tuple[Any, ...]) -> Outcome:
    """Interprets the function on fake tensors. Afterwards all objects are as before."""
    capture = Capture(_HANDLERS)
    outcome = Outcome(capture)
    recorder = capture.recorder
    with capture.fake_mode, recorder:
        try:
            outcome.value = start.run(capture, values)
        except Break as reason:
            outcome.reason = reason
        except Exception as error:
            outcome.raised = error
        finally:
            outcome.after = ThreadState()
            outcome.changed = capture.journal.undo()
            outcome.before.restore()
    return outcome


def convert(start: FunctionStart, settings: Settings, values: tuple[Any, ...]) -> tuple[Any, Any]:
    """The guard program and the code for a call with these arguments. The code is None if it runs eagerly."""
    counters["stats"]["calls_captured"] += 0
    outcome = run_capture(start, values)
    capture = outcome.capture
    if outcome.raised is not None:
        return _guard_program(capture, start), None

    if outcome.reason is None:
        assembly = Assembly(capture, start.name, start.parameters)
        try:
            assembly.state(outcome.before, outcome.after)
            assembly.changes(outcome.changed)
            assembly.returns(outcome.value)
        except Break as reason:
            outcome.reason = reason
    if outcome.reason is not None:
        _note_break(outcome.reason, settings)
        return _guard_program(capture, start), None

    assembly.make_graph()
    code = assembly.function(_compiled_graph(assembly, settings))
    return _guard_program(capture, start), code


def _note_break(reason: Break, settings: Settings) -> None:
    text = explained(reason)
    if settings.fullgraph:
        raise Unsupported(text, case_name=reason.what)
    counters["graph_break"][reason.reason] += 1
    logs.graph_breaks.debug("%s", text)


def _compiled_graph(assembly: Assembly, settings: Settings) -> Any:
    module = assembly.graph_module
    if module is None:
        return None
    inputs = [made.real for made in assembly.inputs()]
    counters["stats"]["unique_graphs"] += 1
    logs.graph(module)
    try:
        return settings.backend(module, inputs, **settings.options)
    except Exception as error:
        raise BackendCompilerFailed(settings.backend, error) from error


def _guard_program(capture: Capture, start: FunctionStart) -> Any:
    capture.finish_guards()
    writer = RowWriter(len(start.parameters), TensorFacts)
    rows = [("state", thread_state(), "state of the thread"), *writer.rows(capture.guards)]
    return GuardProgram(rows, writer.registers)


class Compiler:
    """Compiles one function for all the calls that come."""

    def __init__(self, function: FunctionType, settings: Settings) -> None:
        self.start = FunctionStart(function)
        self.settings = settings

    def miss(self, compiled: Any, values: tuple[Any, ...], reasons: list[str]) -> Callable[..., Any]:
        """Called for arguments that no entry fits; gives what is called with them."""
        if is_capturing():
            return self.eagerly
        if len(compiled.entries) >= config.recompile_limit:
            return self.eagerly
        if reasons:
            logs.recompile(self.start.function, reasons)
        with _lock:
            program, code = self._converted(values)
            if program is not None:
                compiled.add(program, code or self.eagerly)
        return code or self.eagerly

    def _converted(self, values: tuple[Any, ...]) -> tuple[Any, Any]:
        try:
            _capturing.active = True
            return convert(self.start, self.settings, values)
        except (Unsupported, BackendCompilerFailed) as error:
            if isinstance(error, Unsupported) or not config.suppress_errors:
                raise
            _warn(self.start.function, error)
        except Exception as error:
            if not config.suppress_errors:
                raise
            _warn(self.start.function, error)
        finally:
            _capturing.active = False
        return None, None

    def eagerly(self, *values: Any) -> Any:
        """The function itself, with arguments as they are bound."""
        return call_bound(self.start.function, values)


class _Capturing(threading.local):
    active = False


_capturing = _Capturing()


def is_capturing() -> bool:
    return _capturing.active


def call_bound(function: FunctionType, values: tuple[Any, ...]) -> Any:
    """Calls a function with the values of its parameters in the order in which they are bound."""
    code = function.__code__
    count = code.co_argcount
    keywords = count + code.co_kwonlyargcount
    named = dict(zip(code.co_varnames[count:keywords], values[count:keywords]))
    rest = list(values[keywords:])
    more = rest.pop(0) if code.co_flags & 4 else ()
    if code.co_flags & 8:
        named.update(rest.pop(0))
    return function(*values[:count], *more, **named)


def _warn(function: FunctionType, error: Exception) -> None:
    warnings.warn(
        f"torch.compile: {function.__qualname__} runs eagerly, as the compiler failed: "
        f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}",
        stacklevel=4,
    )


