"""What happens when no compiled code fits a call: it is converted, and the result is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

from torch_py import _compiling
from torch_py._C._compiler import CompiledFunction
from torch_py._dynamo import config, logs
from torch_py._dynamo.conversion import Conversion, Settings
from torch_py._dynamo.decode import is_supported
from torch_py._dynamo.decode.instructions import ASYNCHRONOUS, GENERATOR
from torch_py._dynamo.exc import FailOnRecompileLimitHit, RecompileError, RecompileLimitExceeded, Unsupported
from torch_py._dynamo.failures import is_suppressed, warn
from torch_py._dynamo.resume import FunctionStart, ResumedStart, continuation_function
from torch_py._dynamo.varying_policy import Policy
from torch_py._functorch.levels import level_of
from torch_py._logging.artifacts import compilation
from torch_py._tensor import Tensor
from torch_py.autograd.graph import _without_saved_tensors_hooks
from torch_py.compiler._stance import current
from torch_py.fx._collecting import without_garbage_collection

_capturing = threading.local()  # `active` in a thread that captures
_MOST_FAILURES = 3  # of the compiler, after which a function runs eagerly for good


class Compiler:
    """Compiles one function, or the rest of one, for all the calls that come."""

    def __init__(
        self, function: FunctionType, settings: Settings, start: Any = None, continuations: Any = None
    ) -> None:
        self.function = function
        self.settings = settings
        self.start = start or FunctionStart(function)
        self.continuations: dict[Any, Any] = {} if continuations is None else continuations
        self.policy = Policy(settings.dynamic)
        self.has_run = False
        self.failures = 0

    def forget(self) -> None:
        """Starts afresh, as if there had been no calls."""
        self.policy = Policy(self.settings.dynamic)
        self.failures = 0
        self.continuations.clear()

    def continuation(self, start: ResumedStart) -> Any:
        """What goes on at a place where a graph ends; the continuations share it."""
        key = (tuple(layout.key() for layout in start.layouts), start.raises)
        if key not in self.continuations:
            function = continuation_function(start)
            compiler = Compiler(function, self.settings, start, self.continuations)
            self.continuations[key] = CompiledFunction(function, compiler.miss, config.recompile_limit)
        return self.continuations[key]

    def miss(self, compiled: Any, values: tuple[Any, ...], reasons: list[str]) -> Callable[..., Any]:
        """Called for arguments that no entry fits; gives what is called with them."""
        if getattr(_capturing, "active", False) or config.disable or not is_supported():
            return self.function
        if self.function.__code__.co_flags & (GENERATOR | ASYNCHRONOUS):  # which others run step by step
            why = "generators and asynchronous functions are not compiled"
            logs.not_captured(self.function.__qualname__, why)
            return self.function
        if self.failures >= _MOST_FAILURES or self._stance_forbids(reasons):
            return self.function
        if any(isinstance(value, Tensor) and level_of(value) > 0 for value in values):
            return self.function  # a transform around compiled code needs the operators

        with _compiling.lock:
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
            if program is None:
                self.failures += 1
            elif (problem := program.check(values)) is not None:
                # Such as arguments that overlap with different histories: no code is for them.
                logs.not_captured(self.function.__qualname__, problem)
                self.failures += 1
                return self.function
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

    def _stance_forbids(self, reasons: list[str]) -> bool:
        """Whether the call runs eagerly by `torch.compiler.set_stance`."""
        stance = current.stance
        if stance == "fail_on_recompile" or (reasons and config.error_on_recompile):
            last = f": {reasons[0]}" if reasons else ""
            code = self.function.__code__
            place = f"{code.co_filename}:{code.co_firstlineno}"
            raise RecompileError(f"{self.function.__qualname__} ({place}) would be compiled anew{last}")
        if stance == "eager_then_compile":
            self.has_run, ran = True, self.has_run
            return not ran
        return stance in ("force_eager", "eager_on_recompile")

    def _converted(self, values: tuple[Any, ...]) -> tuple[Any, Any]:
        try:
            _capturing.active = True
            conversion = Conversion(self.function, self.start, self.settings, self.continuation, self.policy)

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
