"""Turns a call into compiled code: capture, the graph, a guard program, and Python around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType, MappingProxyType
from typing import Any

from torch_py._C._compiler import GuardProgram, TensorFacts, thread_state
from torch_py._dynamo import checking, config, logs
from torch_py._dynamo.assemble import Assembly, Rebuild
from torch_py._dynamo.backends.registry import lookup_backend
from torch_py._dynamo.capture import Capture
from torch_py._dynamo.capture_mode import lasting_effect
from torch_py._dynamo.exc import BackendCompilerFailed, Break, RefusedForStandIns, Unsupported
from torch_py._dynamo.failures import Eagerly, can_run_eagerly, exception_of_capture, has_to_raise
from torch_py._dynamo.handlers import all_handlers
from torch_py._dynamo.resume import ResumedStart
from torch_py._dynamo.sources import RowWriter
from torch_py._dynamo.stops import Ending, Stop
from torch_py._dynamo.utils import counters
from torch_py._dynamo.varying import Varying
from torch_py._dynamo.varying_policy import Policy
from torch_py._logging.artifacts import timed
from torch_py._records import Fields
from torch_py._shapes.arguments import NotFollowed
from torch_py._thread_state import ThreadState
from torch_py.compiler._stance import current
from torch_py.nn.modules.module import Module

_HANDLERS = all_handlers()
_MOST_CAPTURES = 10


class Settings(Fields):
    """What `torch.compile` or `export` asks for."""

    backend: Callable[..., Any]
    fullgraph: bool = False
    dynamic: bool | None = None
    options: Mapping[str, Any] = MappingProxyType({})
    not_assumed: str = ""  # why no `assert` on a tensor may be taken to hold


class Outcome(Fields):
    """A capture that has come to its end, by a result, a break, or an exception of the program."""

    capture: Capture
    value: Any = None
    reason: Break | None = None
    raised: BaseException | None = None
    changed: list[Any] = []
    after: ThreadState | None = None


def run_capture(capture: Capture, start: Any, values: tuple[Any, ...]) -> Outcome:
    """Interprets the program on fake tensors. Afterwards all objects are as before."""
    outcome = Outcome(capture)

    with capture.fake_mode, capture.recorder:
        try:
            outcome.value = start.run(capture, values)
        except Break as reason:
            outcome.reason = reason
        except RefusedForStandIns as refusal:
            outcome.raised = refusal.__cause__
        except Exception as error:
            outcome.raised = error
        finally:
            outcome.after = ThreadState()
            outcome.changed = capture.journal.undo()
            capture.before.restore()
    return outcome


class Conversion(Fields):
    """Finds code for a call: by one capture, or by several, each of which ends earlier than the last."""

    function: FunctionType
    start: Any
    settings: Settings
    continuation_of: Callable[[ResumedStart], Any]
    policy: Policy
    reason: Break | None = None  # why the graph ends, the first one found
    stop_at: tuple[int, int] | None = None
    whole_frame: bool = False  # whether CPython runs the rest of the function

    def run(self, values: tuple[Any, ...]) -> tuple[Any, Any]:
        """The guard program and the code for a call. The code is None if the call runs eagerly."""
        not_assumed = self.settings.not_assumed
        if not config.rewrite_assert_with_torch_assert:
            not_assumed = not_assumed or "torch._dynamo.config.rewrite_assert_with_torch_assert is False"
        self.policy.forget_ranges()
        taken_for_fixed = self.policy.taken_for_fixed
        last: Break | None = None
        for _ in range(_MOST_CAPTURES):
            varying = Varying(self.policy)
            with timed("capture"):
                capture = Capture(_HANDLERS, varying, self.stop_at, not_assumed)
                outcome = run_capture(capture, self.start, values)
            if capture.assumed and (effect := lasting_effect(capture.recorder)):
                not_assumed = f"where it fails, the function has to run again, but the graph {effect}"
                continue
            if varying.settle(outcome.raised):
                if outcome.raised is not None or varying.sizes.fixed:
                    needed = ", ".join(map(str, varying.places_of(varying.sizes.fixed)))
                    logs.dynamic(outcome.raised or f"{self.start.name} needs the value of {needed}")
                continue
            if outcome.raised is not None and capture.held:
                self.policy.holds_values = False  # of which native code may have expected a float or a text
                continue
            if outcome.raised is not None:
                self.policy.taken_for_fixed = taken_for_fixed  # it is not for the stand-ins that it fails
                logs.raised(self.start.name, outcome.raised)
                count_break(exception_of_capture(outcome.raised))
                code = None if can_run_eagerly() else has_to_raise(self.function, outcome.raised)
                return self._guards(capture), code
            try:
                assembly = self._written(outcome)
                if assembly is not None:
                    return self._finished(capture, assembly)
            except NotFollowed as problem:
                logs.dynamic(problem)
                varying.give_up()
            except Break as reason:
                last = reason
                is_whole = reason.made_at in (None, self.stop_at)
                if is_whole and capture.held and not capture.is_continuation:
                    self.policy.holds_values = False
                    self.whole_frame = False
                    self.stop_at = None
                    continue
                self._note(reason)
                if is_whole:
                    break
                self.stop_at = reason.made_at  # before what cannot be made again was made
            except Exception:
                self.policy.taken_for_fixed = taken_for_fixed
                raise
        else:
            self._note(Break("sizes that vary", f"{_MOST_CAPTURES} captures have found no code"))

        whys = dict.fromkeys(one.reason for one in (self.reason, last) if one is not None)
        logs.dynamo.info("%s runs eagerly: %s", self.start.name, "; ".join(whys))
        return self._guards(capture), None

    def _written(self, outcome: Outcome) -> Assembly | None:
        """Writes the code; None if the capture has to end earlier."""
        capture = outcome.capture
        if outcome.reason is not None:
            self._note(outcome.reason)
            if self._has_to_restart(capture, outcome.reason):
                return None
        if any(generator.has_to_clean_up for generator in capture.generators):
            what = "a generator that waits inside of `try`"
            raise Break(what, "it goes on where it is dropped", "close it")

        name, before = self.start.name, capture.before
        rebuild = Rebuild(capture, name, self.start.parameters)
        is_resumed = isinstance(self.start, ResumedStart)
        assembly = Assembly(capture, name, rebuild, before, outcome.after, is_resumed)
        eagerly = Eagerly(self.function, before)
        # Where a graph fails, only the function itself can tell whether an assertion before does not hold.
        if capture.assumed or can_run_eagerly(_backend(self.settings)):
            assembly.eagerly = eagerly
            assembly.take_back_draws()
        assembly.assumptions(capture.assumed, eagerly.again)
        assembly.state()
        for entry, now in outcome.changed:
            rebuild.entry(entry, now)
        if outcome.reason is None:
            assembly.tail = [f"return {rebuild.value(outcome.value)}"]
            return assembly

        stops = [Stop(frame) for frame in outcome.reason.frames]
        stops += [Stop(frame, is_waiting=True) for frame in reversed(capture.waiting)]
        assembly.tail = Ending(assembly, stops, self.continuation_of).lines(self.whole_frame)
        return assembly

    def _has_to_restart(self, capture: Capture, reason: Break) -> bool:
        """Chooses an earlier end, where no instruction is half done."""
        if capture.handled is not None:
            if self.whole_frame:
                raise Break("the end of a graph in an `except` clause", "the exception cannot be put back")
            self.stop_at = capture.raised_at
            self.whole_frame = True
            logs.dynamo.info("%s runs eagerly from an `except` clause on: %s", self.start.name, reason.reason)
            return True

        frames = reason.frames
        for inner, outer in zip(reversed(frames[:-1]), reversed(frames[1:])):
            if not inner.is_tail:
                self.stop_at = (outer.serial, outer.steps)
                return True
        if frames and frames[0].acted_at == frames[0].steps > 0:
            self.stop_at = (frames[0].serial, frames[0].steps)
            return True
        return False

    def _note(self, reason: Break) -> None:
        if self.reason is None:
            self.reason = reason
            if self.settings.fullgraph:
                raise Unsupported(logs.explained(reason), case_name=reason.what)
            count_break(reason)

    def _finished(self, capture: Capture, assembly: Assembly) -> tuple[Any, Any]:
        if capture.varying.places:
            # Imported here: most programs do not need it.
            from torch_py._dynamo.varying_replays import check

            state = ThreadState()  # which the calls of the program may change
            try:
                check(capture.varying)
            finally:
                state.restore()

        assembly.make_graph()
        code = assembly.function(_compiled_graph(assembly, self.settings))
        logs.function(self.function.__code__, code.source)  # type: ignore[attr-defined]
        for made in capture.recorder.inputs.values():
            self.policy.observe(made.real.shape, made.source)
        return self._guards(capture), code

    def _guards(self, capture: Capture) -> Any:
        for kind, source, value in capture.guards.checks.values():
            if kind == "is" and isinstance(value, Module):
                self.policy.observe_module(value, source)
            elif kind == "equals" and type(value) is int:
                self.policy.observe((value,), source)
        capture.finish_guards()

        def facts_of(tensor: Any) -> TensorFacts:
            return capture.varying.facts(tensor, offset=capture.recorder.offset_of(tensor))

        writer = RowWriter(len(self.start.parameters), facts_of)
        rows = [("state", thread_state(), "state of the thread"), *writer.rows(capture.guards)]
        capture.varying.rows(writer, rows)
        logs.guards(rows)
        return GuardProgram(rows, writer.registers)


def count_break(reason: Break) -> None:
    counters["graph_break"][reason.reason] += 1
    for observe in logs.observers:
        observe(reason)
    logs.graph_breaks.debug("%s", logs.explained(reason))


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
            # Imported here: few programs look for failures of compilers.
            from torch_py._dynamo.repro.minifier import compiled as watched

            compiled = watched(backend, module, inputs, settings.options)
        else:
            compiled = backend(module, inputs, **settings.options)
        if not callable(compiled):
            raise TypeError(f"the backend did not return a callable, but {compiled!r:.80}")
    except NotFollowed:
        raise
    except Exception as error:
        raise BackendCompilerFailed(backend, error) from error
    return checking.checked(module, compiled) if checking.is_on() else compiled


def _backend(settings: Settings) -> Any:
    forced = current.backend
    return settings.backend if forced is None else lookup_backend(forced)
