"""What sees the callers of a function sees those of the program: tracebacks, logging, inspect."""

from __future__ import annotations

import inspect
import logging
import sys
import traceback
from collections.abc import Callable
from typing import Any

import pytest

import torch_py as torch

log = logging.getLogger(__name__)
ONES = torch.ones(3)


class Places(logging.Handler):
    """Where messages come from."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append((record.getMessage(), record.pathname, record.lineno, record.funcName))


def _inner(x: Any) -> Any:
    log.warning("inner %d", len(x))
    return x + 1


def _program(x: Any) -> Any:
    log.warning("before")
    y = _inner(x * 2)
    log.warning("of the caller", stacklevel=2)
    for _ in range(2):
        y = _inner(y)
    logging.getLogger(__name__).log(logging.ERROR, "an error")
    return y


def _of_caller(function: Callable[..., Any]) -> Any:
    return function(ONES)


@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_messages_name_lines_of_the_program(backend: str) -> None:
    compiled = torch.compile(_program, backend=backend)
    handler = Places()
    log.addHandler(handler)
    try:
        runs = []
        for function in (_program, compiled, compiled):
            handler.found.clear()
            _of_caller(function)
            runs.append(handler.found[:])
    finally:
        log.removeHandler(handler)
    inner = [place for place in runs[0] if place[0] != "of the caller"]
    assert [[place for place in run if place[0] != "of the caller"] for run in runs] == [inner] * 3


@torch.compiler.disable
def _refused(x: Any, *, wanted: int = 0) -> Any:
    raise ValueError(f"{len(x)} is not {wanted}")


def _checked(x: Any) -> Any:
    y = x.sin()
    return (
        y,
        _refused(y, wanted=2),
    )


def _handled(x: Any) -> Any:
    try:
        return _checked(x)
    except TypeError:
        return x


def _of_an_iterator(x: Any) -> Any:
    return [x * len(line) for line in open("/no such file")]  # noqa: SIM115


def _of_an_operation(x: Any) -> Any:
    y = x.exp()
    return y if int(y.sum()) < 0 else {}[int(y.sum())]


def _of_a_call(x: Any) -> Any:
    return _handled(x * 2)


def _again(x: Any) -> Any:
    try:
        return _of_a_call(x)
    except ValueError as error:
        shown = [(one.name, one.lineno) for one in traceback.extract_tb(error.__traceback__)]
        raise KeyError(shown) from error


def _cleaned_up(x: Any) -> Any:
    try:
        return _again(x)
    finally:
        print("at last")


def _lines(function: Callable[..., Any]) -> list[Any]:
    try:
        function(ONES)
    except Exception as error:
        found = traceback.extract_tb(error.__traceback__)[1:]
        shown = traceback.format_exception(error.__cause__ or error)[2:]
        return [[(one.name, one.filename, one.lineno) for one in found], shown]
    raise AssertionError("no exception")


@pytest.mark.parametrize(
    "program", [_checked, _of_a_call, _of_an_iterator, _of_an_operation, _again, _cleaned_up]
)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_tracebacks_have_frames_of_the_program(program: Callable[..., Any], backend: str) -> None:
    compiled = torch.compile(program, backend=backend)
    expected = _lines(program)
    assert [_lines(compiled) for _ in range(2)] == [expected] * 2


def test_refusals_show_the_call_alone() -> None:
    def program(x: Any) -> Any:
        print("text")
        return x

    with pytest.raises(torch._dynamo.exc.Unsupported) as caught:
        torch.compile(program, backend="eager", fullgraph=True)(ONES)
    assert [entry.name for entry in caught.traceback] == ["test_refusals_show_the_call_alone"]


def test_stacks_have_frames_of_the_program() -> None:
    found = []

    @torch.compiler.disable
    def look() -> None:
        found.append([(one.function, one.lineno) for one in inspect.stack() if one.filename == __file__][1:])

    def inner(x: Any) -> Any:
        look()
        return x + 1

    def program(x: Any) -> Any:
        return inner(x * 2) * 3

    compiled = torch.compile(program, backend="eager")
    for function in (program, compiled, compiled):
        function(ONES)
    assert found[0][0][0] == "inner" and found == [found[0]] * 3


def test_no_exception_is_being_handled_after_a_handler() -> None:
    def program(x: Any) -> Any:
        found = []
        for _ in range(2):
            try:
                _refused(x)
            except ValueError as error:
                found.append(type(error.__context__))
        torch._dynamo.graph_break()
        return found, sys.exc_info(), x + 1

    assert str(torch.compile(program, backend="eager")(ONES)) == str(program(ONES))


def test_variables_may_be_called_like_builtins() -> None:
    def program(x: Any, list: Any, next: Any) -> Any:
        itself: Any = []
        itself.append(itself)
        for pair in {list: next}.items():
            torch._dynamo.graph_break()
            x = x + len(pair)
        return itself[0] is itself, x

    assert str(torch.compile(program, backend="eager")(ONES, 3, 4)) == str(program(ONES, 3, 4))
