"""What happens when no compiled code fits a call: capture, compile, and keep the result."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

from torch_py._C._compiler import CompiledFunction, GuardProgram, TensorFacts, thread_state
from torch_py._dynamo import checking, config, logs
from torch_py._dynamo.assemble import Assembly, written_tensors
from torch_py._dynamo.backends.registry import lookup_backend
from torch_py._dynamo.breaks import Break
from torch_py._dynamo.capture import Capture
from torch_py._dynamo.decode import is_supported
from torch_py._dynamo.exc import (
    BackendCompilerFailed,
    FailOnRecompileLimitHit,
    RecompileError,
    RecompileLimitExceeded,
    Unsupported,
)
from torch_py._dynamo.failures import Eagerly, exception_of_capture, has_to_raise, is_suppressed, warn
from torch_py._dynamo.guard_rows import RowWriter
from torch_py._dynamo.handlers import all_handlers
from torch_py._dynamo.messages import explained
from torch_py._dynamo.resume import ResumedStart, continuation_function
from torch_py._dynamo.start import FunctionStart
from torch_py._dynamo.stops import Ending, Stop
from torch_py._dynamo.thread_state import ThreadState
from torch_py._dynamo.utils import counters
from torch_py._dynamo.varying import Varying
from torch_py._dynamo.varying_policy import Policy
from torch_py._logging.artifacts import compilation, timed
from torch_py._shapes.arguments import NotFollowed
from torch_py.autograd.graph import _without_saved_tensors_hooks
from torch_py.compiler._stance import current
from torch_py.fx._collecting import without_garbage_collection
from torch_py.nn.modules.module import Module

_lock = threading.RLock()
# A process that forks waits for the capture of another thread: in the child nobody would end it, give the
# lock back, or undo what the capture has written to objects of the program.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_HANDLERS = all_handlers()
observers: list[Callable[[Break], None]] = []  # called with the reason of each end of a graph


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


def run_capture(
    start: Any,
    values: tuple[Any, ...],
    stop_at: tuple[int, int] | None,
    varying: Varying | None = None,
    policy: Policy | None = None,
) -> Outcome:
    """Interprets the program on fake tensors. Afterwards all objects are as before."""
    capture = Capture(_HANDLERS, stop_at, varying, policy)
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


class Conversion:
    """The way from a call to code for it: one capture, or several that end earlier each time."""

    def __init__(
        self,
        function: FunctionType,
        start: Any,
        settings: Settings,
        continuations: Continuations,
        policy: Policy,
    ) -> None:
        self.function = function
        self.start = start
        self.settings = settings
        self.policy = policy
        self.continuations = continuations
        self.reason: Break | None = None  # why the graph ends, the first one found
        self.stop_at: tuple[int, int] | None = None
        self.whole_frame = False  # whether CPython runs the rest of the function

    def run(self, values: tuple[Any, ...]) -> tuple[Any, Any]:
        """The guard program and the code for a call. The code is None if the call runs eagerly."""
        self.policy.forget_ranges()
        for _ in range(_MOST_CAPTURES):
            varying = None if self.policy.is_off else Varying(self.policy)
            with timed("capture"):
                outcome = run_capture(self.start, values, self.stop_at, varying, self.policy)
            if varying is not None and varying.settle(outcome.raised):
                if outcome.raised is not None or varying.sizes.fixed:
                    logs.dynamic(outcome.raised or "they are needed as numbers")
                continue
            if outcome.raised is not None:
                logs.raised(self.start.name, outcome.raised)
                count_break(exception_of_capture(outcome.raised))
                code = None if config.suppress_errors else has_to_raise(self.function, outcome.raised)
                return self._guards(outcome.capture), code
            assembly = Assembly(outcome.capture, self.start.name, self.start.parameters)
            try:
                if self._written(outcome, assembly):
                    return self._finished(outcome, assembly)
            except NotFollowed as problem:
                logs.dynamic(problem)
                if varying is not None:
                    varying.give_up()
            except Break as reason:
                self._note(reason)
                if not self._stops_before(reason):
                    break

        return self._guards(outcome.capture), None

    def _written(self, outcome: Outcome, assembly: Assembly) -> bool:
        """Writes the code; False if the capture has to end earlier."""
        if outcome.reason is not None:
            self._note(outcome.reason)
            if self._has_to_restart(outcome):
                return False
        assembly.state(outcome.before, outcome.after)
        assembly.changes(outcome.changed)
        if outcome.reason is None:
            assembly.returns(outcome.value)
            return True

        stops = [Stop(frame) for frame in outcome.reason.frames]
        stops += [Stop(frame, is_waiting=True) for frame in reversed(outcome.capture.waiting)]
        is_resumed = isinstance(self.start, ResumedStart)
        Ending(assembly, stops, self.continuations.get, is_resumed).write(self.whole_frame)
        return True

    def _has_to_restart(self, outcome: Outcome) -> bool:
        """Chooses an earlier end, where no instruction is half done."""
        assert outcome.reason is not None
        frames = outcome.reason.frames
        if outcome.capture.handled is not None:
            if self.whole_frame:
                raise cannot_stop()
            self.stop_at = outcome.capture.raised_at
            self.whole_frame = True
            return True
        for inner, outer in zip(reversed(frames[:-1]), reversed(frames[1:])):
            if not inner.is_tail:
                self.stop_at = (outer.serial, outer.steps)
                return True
        return False

    def _stops_before(self, reason: Break) -> bool:
        """Whether the capture can end before what cannot be made again was made."""
        made_at = getattr(reason, "made_at", None)
        if made_at is None or made_at == self.stop_at:
            return False
        self.stop_at = made_at
        return True

    def _note(self, reason: Break) -> None:
        if self.reason is None:
            self.reason = reason
            note_break(reason, self.settings)

    def _finished(self, outcome: Outcome, assembly: Assembly) -> tuple[Any, Any]:
        capture = outcome.capture
        if capture.varying is not None and capture.varying.places:
            # Imported here: most programs do without.
            from torch_py._dynamo.varying_check import check

            state = ThreadState()  # which the calls of the program may change
            try:
                check(capture.varying, capture.recorder)
            finally:
                state.restore()

        assembly.make_graph()
        if config.suppress_errors:
            assembly.eagerly = Eagerly(self.function, outcome.before)
        code = assembly.function(_compiled_graph(assembly, self.settings))
        logs.function(self.function.__code__, code.source)  # type: ignore[attr-defined]
        for made in capture.recorder.inputs.values():
            self.policy.observe(made.real, made.source)
        return self._guards(capture), code

    def _guards(self, capture: Capture) -> Any:
        for kind, source, value in capture.guards.checks:
            if kind == "is" and isinstance(value, Module):
                self.policy.observe_module(value, source)
            elif kind == "equals" and type(value) is int:
                self.policy.observe_number(value, source)
        return _guard_program(capture, self.start)


def cannot_stop() -> Break:
    return Break("the end of a graph in an `except` clause", "the exception cannot be put back", "")


_MOST_CAPTURES = 10
_MOST_FAILURES = 3  # of the compiler, after which a function runs eagerly for good


class Continuations:
    """The continuations of a function, one for each place where a graph of it ends."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._known: dict[Any, Any] = {}

    def get(self, start: ResumedStart) -> Any:
        key = (tuple(layout.key() for layout in start.layouts), start.raises)
        known = self._known.get(key)
        if known is None:
            function = continuation_function(start)
            compiler = Compiler(function, self.settings, start, self)
            known = CompiledFunction(function, compiler.miss, config.recompile_limit)
            self._known[key] = known
        return known

    def clear(self) -> None:
        self._known.clear()


def note_break(reason: Break, settings: Settings) -> None:
    if settings.fullgraph:
        raise Unsupported(explained(reason), case_name=reason.what)
    count_break(reason)


def count_break(reason: Break) -> None:
    counters["graph_break"][reason.reason] += 1
    for observe in observers:
        observe(reason)
    logs.graph_breaks.debug("%s", explained(reason))


def _compiled_graph(assembly: Assembly, settings: Settings) -> Any:
    module = assembly.graph_module
    if module is None:
        return None
    inputs = [made.real for made in assembly.inputs()]
    counters["stats"]["unique_graphs"] += 1
    logs.graph(module, inputs)

    backend = _backend(settings)
    try:
        if config.repro_after:
            compiled = _watched(backend, module, inputs, settings)
        else:
            compiled = backend(module, inputs, **settings.options)
        if not callable(compiled):
            raise TypeError(f"the backend did not return a callable, but {compiled!r:.80}")
    except NotFollowed:
        raise
    except Exception as error:
        raise BackendCompilerFailed(backend, error) from error
    return checking.checked(module, compiled) if checking.is_on() else compiled


def _watched(backend: Any, module: Any, inputs: list[Any], settings: Settings) -> Any:
    # Imported here: few programs look for failures of compilers.
    from torch_py._dynamo.repro.watching import compiled

    return compiled(backend, module, inputs, settings.options)


def _backend(settings: Settings) -> Any:
    forced = current.backend
    return settings.backend if forced is None else lookup_backend(forced)


def _guard_program(capture: Capture, start: Any) -> Any:
    capture.finish_guards(written_tensors(capture.recorder.graph))
    varying = capture.varying
    writer = RowWriter(len(start.parameters), TensorFacts if varying is None else varying.facts)
    rows = [("state", thread_state(), "state of the thread"), *writer.rows(capture.guards)]
    if varying is not None:
        varying.rows(writer, rows)
    logs.guards(rows)
    return GuardProgram(rows, writer.registers)


class Compiler:
    """Compiles one function, or the rest of one, for all the calls that come."""

    def __init__(
        self, function: FunctionType, settings: Settings, start: Any = None, continuations: Any = None
    ) -> None:
        self.function = function
        self.settings = settings
        self.start = start or FunctionStart(function)
        self.continuations = continuations or Continuations(settings)
        self.policy = Policy(settings.dynamic)
        self.has_run = False
        self.failures = 0

    def forget(self) -> None:
        """Begins anew: nothing is known of earlier calls."""
        self.policy = Policy(self.settings.dynamic)
        self.failures = 0
        self.continuations.clear()

    def miss(self, compiled: Any, values: tuple[Any, ...], reasons: list[str]) -> Callable[..., Any]:
        """Called for arguments that no entry fits; gives what is called with them."""
        if is_capturing() or not is_supported() or config.disable or self.start.runs_eagerly():
            return self.function
        if self.failures >= _MOST_FAILURES or self._stance_forbids(compiled, reasons):
            return self.function

        with _lock:
            if len(compiled.entries) != len(reasons):
                # Other threads have compiled while this one waited.
                found = next((e.code for e in compiled.entries if e.guards.check(values) is None), None)
                if found is not None:
                    return found  # type: ignore[no-any-return]

            if len(compiled.entries) >= config.recompile_limit:
                self._reach_limit(reasons)
                return self.function
            if reasons:
                logs.recompile(self.function, reasons)
            compiled.limit = config.recompile_limit
            program, code = self._converted(values)
            if program is not None and (problem := program.check(values)) is not None:
                # Arguments that overlap, one of which is written to: the code is for these alone.
                logs.not_captured(self.function.__qualname__, problem)
                self.failures += 1
                return self.function
            if program is None:
                self.failures += 1
            else:
                compiled.add(program, code or self.function)
        return code or self.function

    def _reach_limit(self, reasons: list[str]) -> None:
        limit = (
            f"{self.function.__qualname__} has as many pieces of code as "
            f"torch._dynamo.config.recompile_limit allows ({config.recompile_limit})"
        )
        last = f"; the last reason: {reasons[0] if reasons else 'new arguments'}"
        if self.settings.fullgraph:
            raise RecompileLimitExceeded(f"{limit}, and is compiled with fullgraph=True{last}")
        if config.fail_on_recompile_limit_hit:
            raise FailOnRecompileLimitHit(f"{limit}{last}")
        logs.dynamo.warning("torch.compile: %s, and runs eagerly for other arguments%s", limit, last)

    def _stance_forbids(self, compiled: Any, reasons: list[str]) -> bool:
        """Whether the call runs eagerly by `torch.compiler.set_stance`."""
        stance = current.stance
        if stance == "fail_on_recompile" or (reasons and config.error_on_recompile):
            last = f": {reasons[0]}" if reasons else ""
            raise RecompileError(f"{self.function.__qualname__} would be compiled anew{last}")
        if stance == "eager_then_compile":
            self.has_run, ran = True, self.has_run
            return not ran
        return stance in ("force_eager", "eager_on_recompile")

    def _converted(self, values: tuple[Any, ...]) -> tuple[Any, Any]:
        try:
            _capturing.active = True
            conversion = Conversion(self.function, self.start, self.settings, self.continuations, self.policy)

            with (
                compilation(self.function.__qualname__),
                without_garbage_collection(),
                _without_saved_tensors_hooks(),
            ):
                return conversion.run(values)
        except Unsupported:
            raise
        except Exception as error:
            if not is_suppressed(error):
                raise
            warn(self.function, error)
        finally:
            _capturing.active = False
        return None, None


class _Capturing(threading.local):
    active = False


_capturing = _Capturing()


def is_capturing() -> bool:
    return _capturing.active
