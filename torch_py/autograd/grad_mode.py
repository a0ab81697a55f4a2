"""Whether operators record what they compute: switches usable in `with` and as decorators."""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from torch_py import _C

F = TypeVar("F", bound=Callable[..., Any])


class _GradModeSwitch:
    """A context manager that also decorates functions and generator functions. Each entry takes a fresh
    instance from `clone`."""

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, *exception: object) -> None:
        raise NotImplementedError

    def clone(self) -> _GradModeSwitch:
        return type(self)()

    def __call__(self, function: F) -> F:
        return _decorate(function, self.clone)


def _decorate(function: Any, make_switch: Callable[[], _GradModeSwitch]) -> Any:
    if inspect.isclass(function):
        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. You should only "
            "decorate functions or methods. To "
            "preserve the current behavior of class decoration, you can directly decorate the `__init__` "
            "method and nothing else.",
            FutureWarning,
            stacklevel=3,
        )
    if inspect.isgeneratorfunction(function):
        return _decorate_generator(function, make_switch)

    @functools.wraps(function)
    def decorated(*arguments: Any, **keywords: Any) -> Any:
        with make_switch():
            return function(*arguments, **keywords)

    return decorated


def _decorate_generator(function: Any, make_switch: Callable[[], _GradModeSwitch]) -> Any:
    """The switch holds while the generator runs, not while its consumer does."""

    @functools.wraps(function)
    def decorated(*arguments: Any, **keywords: Any) -> Generator[Any, Any, Any]:
        generator = function(*arguments, **keywords)
        resume: Callable[[], Any] = functools.partial(next, generator)
        try:
            while True:
                try:
                    with make_switch():
                        value = resume()
                except StopIteration as finished:
                    return finished.value
                try:
                    received = yield value
                    resume = functools.partial(generator.send, received)
                except GeneratorExit:
                    raise
                except BaseException as error:
                    resume = functools.partial(generator.throw, error)
        finally:
            with make_switch():
                generator.close()

    return decorated


class _FixedMode(_GradModeSwitch):
    """`@no_grad` without parentheses decorates as `@no_grad()` does."""

    _mode: bool

    def __new__(cls, function: Any = None) -> Any:
        return super().__new__(cls) if function is None else _decorate(function, cls)

    def __init__(self, function: Any = None) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(_C.is_grad_enabled())
        _C._set_grad_enabled(self._mode)

    def __exit__(self, *exception: object) -> None:
        _C._set_grad_enabled(self._before.pop())


class no_grad(_FixedMode):
    """Results computed inside do not require grad and nothing is recorded. Thread-local."""

    _mode = False


class enable_grad(_FixedMode):
    """Recording is on inside, also within `no_grad`. Thread-local."""

    _mode = True


class set_grad_enabled(_GradModeSwitch):
    """Sets recording to `mode` at once; used in `with`, the mode before comes back at the end; as a decorator
    only calls are affected."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(f"set_grad_enabled(): argument 'mode' must be bool, not {type(mode).__name__}")
        self._before = _C.is_grad_enabled()
        self.mode = mode
        _C._set_grad_enabled(mode)

    def __enter__(self) -> None:
        _C._set_grad_enabled(self.mode)

    def __exit__(self, *exception: object) -> None:
        _C._set_grad_enabled(self._before)

    def clone(self) -> set_grad_enabled:
        return set_grad_enabled(self.mode)

    def __call__(self, function: F) -> F:
        _C._set_grad_enabled(self._before)
        return super().__call__(function)

    def __str__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    __repr__ = __str__


class inference_mode(_GradModeSwitch):
    """Nothing is recorded inside (for `mode` True), also within `enable_grad`, and results are inference
    tensors, which autograd refuses later.

    `mode` False ends an inference mode around it, and recording is on.
    """

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else _decorate(mode, cls)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self._before: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        self._before.append((_C.is_grad_enabled(), _C.is_inference_mode_enabled()))
        _C._set_grad_enabled(not self.mode)
        _C._set_inference_mode(self.mode)

    def __exit__(self, *exception: object) -> None:
        grad_enabled, inference = self._before.pop()
        _C._set_inference_mode(inference)
        _C._set_grad_enabled(grad_enabled)

    def clone(self) -> inference_mode:
        return inference_mode(self.mode)


class set_multithreading_enabled:
    """Whether backward may use a thread for each device; takes effect at once, in `with` for the block.

    Backward on the CPU runs on the thread that calls it, whatever is said here.
    """

    def __init__(self, mode: bool) -> None:
        self.prev = is_multithreading_enabled()
        self.mode = mode
        _threads.multithreading = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _threads.multithreading = self.prev

    def clone(self) -> set_multithreading_enabled:
        return type(self)(self.mode)


_threads = threading.local()


def is_multithreading_enabled() -> bool:
    return bool(getattr(_threads, "multithreading", True))
