"""Graphs that end at an operation inside of `try`: handlers of the program get its exceptions."""

from __future__ import annotations

import array
import traceback
from typing import Any

import numpy as np
import pytest

import torch_py as torch
from tests.torch_py.dynamo.comparing import equal
from torch_py._dynamo.utils import counters
from torch_py._subclasses.fake_tensor import FakeTensorMode

# What is not captured: the graph ends where it is used.
ARRAY = array.array("i", [1, 2, 3])
VECTOR = np.arange(3)
PARAMETER = torch.nn.Parameter(torch.ones(3))
LATER: list[Any] = []


def _set_attribute():
    PARAMETER.data = 3  # type: ignore[assignment]


def _subscript():
    return ARRAY[5]


def _set_element():
    ARRAY[7] = 1


def _delete_element():
    del ARRAY[9]


def _operator():
    return ARRAY + 3  # type: ignore[operator]


def _branch():
    if VECTOR:
        LATER.append(1)


def _branch_on_no():
    return not VECTOR or LATER


def _unpack():
    one, other = VECTOR
    return one, other


OPERATIONS = [
    _set_attribute, _subscript, _set_element, _delete_element, _operator, _branch, _branch_on_no, _unpack,
]  # fmt: skip


def _handled(x, operation):
    y = x.sin()
    try:
        y = y + 1
        operation()
    except Exception as error:
        return y * 2, type(error), str(error)
    return y * 3


def _handled_by_a_caller(x, operation):
    y = x.cos()
    try:
        return _within(y, operation)
    except Exception as error:
        return y * 2, type(error), str(error)


def _within(x, operation):
    try:
        x = x + 1
        operation()
    finally:
        LATER.append("left")
    return x


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("program", [_handled, _handled_by_a_caller])
def test_handlers_get_the_exception(program: Any, operation: Any):
    compiled = torch.compile(program, backend="eager")
    expected = program(torch.ones(3), operation)
    counters.clear()
    for _ in range(2):
        assert equal(compiled(torch.ones(3), operation), expected)
    assert counters["stats"]["unique_graphs"] == 2  # one before the operation, and one in the handler


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_traceback_ends_in_the_program(operation: Any):
    def program(x):
        operation()
        return x + 1

    found = []
    for call in (program, torch.compile(program, backend="eager")):
        with pytest.raises(Exception) as caught:
            call(torch.ones(3))
        frames = traceback.extract_tb(caught.value.__traceback__)
        found.append([(frame.filename, frame.lineno, frame.name) for frame in frames][1:])
    assert found[0] == found[1]


def test_unpacking_a_number_is_the_error_of_python():
    def program(x, number):
        try:
            one, other = number
        except TypeError as error:
            return str(error), x + 1

    assert equal(torch.compile(program, backend="eager")(torch.ones(3), 3), program(torch.ones(3), 3))


def test_what_goes_well_in_with_goes_on_there():
    def program(x, parameter):
        y = x * 2
        with torch.no_grad():
            parameter.data = parameter.data * 0.5
            y = y * parameter
        return y * parameter

    results = []
    counters.clear()
    for call in (program, torch.compile(program, backend="eager")):
        parameter = torch.nn.Parameter(torch.ones(3))
        result = call(torch.ones(3), parameter)
        result.sum().backward()
        results.append((result, parameter, parameter.grad))
    assert equal(*results)
    assert counters["stats"]["unique_graphs"] == 2


def test_handlers_get_no_errors_of_the_stand_ins_of_tensors(monkeypatch):
    def program(x, spectrum):
        try:
            torch.rand(spectrum.shape)
            x.view(7, 7, 7)
        except RuntimeError:
            return x * 2

    part = torch.fft.rfft(torch.ones(6, 6, requires_grad=True) * 1).real
    drawn = []
    for call in (program, torch.compile(program, backend="eager", fullgraph=True)):
        torch.manual_seed(0)
        call(torch.ones(3), part)
        drawn.append(torch.rand(1))
    assert equal(*drawn)

    def refuse(*arguments):
        raise RuntimeError("no stand-in")

    monkeypatch.setattr(FakeTensorMode, "from_tensor", refuse)
    torch.compiler.reset()
    assert torch.compile(lambda: _size_or_none(part), backend="eager")() == (6, 4)


def _size_or_none(tensor):
    try:
        return tuple(tensor.shape)
    except RuntimeError:
        return None
