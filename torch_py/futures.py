"""`torch.futures`: values that another thread sets later."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")


class Future(Generic[T]):
    """A value, or an exception in its place, that one thread will set once and others wait for.

    `devices` names accelerators whose work belongs to the value; raises RuntimeError, as this build has none.

    Args:
        devices: must be None here; default None

    Example:
        >>> future = torch.futures.Future()
        >>> future.set_result(3)
        >>> future.wait()
        3
    """

    def __init__(self, *, devices: list[Any] | None = None) -> None:
        if devices:
            raise ValueError(
                "torch.futures.Future: expected devices to have indices of accelerators, and there are "
                f"none, got {devices}"
            )
        self._changed = threading.Condition()
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Future[T]], Any]] = []

    def done(self) -> bool:
        """Whether a value or an exception has been set."""
        return self._done

    def wait(self) -> T:
        """Waits for the value and returns it; raises the exception if one was set."""
        with self._changed:
            self._changed.wait_for(self.done)
        return self.value()

    def value(self) -> T:
        """The value, without waiting. Raises RuntimeError if it has not been set."""
        if not self._done:
            raise RuntimeError("torch.futures.Future.value: the future is not completed yet")
        if self._error is not None:
            raise self._error
        return self._value

    def set_result(self, result: T) -> None:
        """Raises RuntimeError when called for the second time."""
        self._complete(result, None)

    def set_exception(self, result: BaseException) -> None:
        assert isinstance(result, Exception), f"{result} is of type {type(result)}, not an Exception."
        self._complete(None, result)

    def _complete(self, value: Any, error: BaseException | None) -> None:
        with self._changed:
            if self._done:
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a Future can only "
                    "be marked completed once."
                )
            self._value = value
            self._error = error
            self._done = True
            self._changed.notify_all()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)

    def add_done_callback(self, callback: Callable[[Future[T]], Any]) -> None:
        """Calls `callback(self)` once the value is set, or now if it already is.

        Exceptions of the callback are reported and not raised.
        """

        def reporting(future: Future[T]) -> None:
            try:
                callback(future)
            except Exception as error:
                import warnings

                warnings.warn(
                    f"torch.futures: a callback raised {type(error).__name__}: {error}", stacklevel=2
                )

        self._when_done(reporting)

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """A future of the result of `callback(self)`; if that raises, waiting for it raises RuntimeError."""
        following: Future[Any] = Future()

        def complete(future: Future[T]) -> None:
            try:
                result = callback(future)
            except Exception as error:
                text = f"Got the following error when running the callback: {type(error).__name__}: {error}"
                following.set_exception(RuntimeError(text))
            else:
                following.set_result(result)

        self._when_done(complete)
        return following

    def _when_done(self, callback: Callable[[Future[T]], Any]) -> None:
        with self._changed:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future of the list `futures`, set when all of them are; the first exception takes its place."""
    result: Future[list[Future[Any]]] = Future()
    missing = len(futures)
    lock = threading.Lock()

    def count(future: Future[Any]) -> None:
        nonlocal missing
        with lock:
            missing -= 1
            last = missing == 0
            failed = future._error is not None and not result.done()
            if failed:
                result._complete(None, future._error)
        if last and not result.done():
            result.set_result(futures)

    for future in futures:
        future._when_done(count)
    if not futures:
        result.set_result(futures)
    return result


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """The values of all `futures`; raises the first exception."""
    return [future.wait() for future in collect_all(futures).wait()]
