"""What a graph before a break returns: not the variables that nothing reads afterwards."""

from __future__ import annotations

from typing import Any

import pytest

import torch_py as torch
from torch_py._dynamo.stops import slots_read_from


def _results(function: Any, *arguments: Any) -> list[int]:
    """How many results each graph has."""
    found: list[int] = []

    def backend(graph: Any, inputs: Any) -> Any:
        found.append(len(graph.graph.output_node().args[0]))
        return graph.forward

    expected = function(*arguments)
    torch.testing.assert_close(torch.compile(function, backend=backend)(*arguments), expected)
    return found


def test_what_is_not_read_again_is_no_result():
    def function(x: Any) -> Any:
        _unused = x.exp()
        used = x + 1
        torch._dynamo.graph_break()
        return used * 2

    assert _results(function, torch.ones(3)) == [1, 1]


def test_loops_read_what_is_written_before():
    def function(x: Any) -> Any:
        total, last = x * 0, x + 1
        for i in range(2):
            total = total + last
            torch._dynamo.graph_break()
            last = x * i
        return total

    assert _results(function, torch.ones(3))[0] == 2


def test_handlers_read_variables():
    def function(x: Any) -> Any:
        saved = x + 1
        try:
            torch._dynamo.graph_break()
            raise ValueError
        except ValueError:
            return saved

    assert _results(function, torch.ones(3)) == [1]


def test_a_program_that_asks_for_all_variables_has_them():
    def function(x: Any) -> Any:
        unread = x + 1
        torch._dynamo.graph_break()
        return sorted(locals()), x * 2

    names, _ = torch.compile(function, backend="eager")(torch.ones(3))
    assert "unread" in names


def test_a_deleted_variable_has_to_be_there():
    def function(x: Any) -> Any:
        gone = x + 1
        torch._dynamo.graph_break()
        del gone
        return x * 2

    _results(function, torch.ones(3))


@pytest.mark.parametrize("has_loop", [False, True])
def test_slots_that_are_read(has_loop: bool):
    def straight(a: Any, b: Any) -> Any:
        c = a
        return c

    def loop(a: Any, b: Any) -> Any:
        for c in a:
            print(b, c)
        return c

    code = (loop if has_loop else straight).__code__
    assert slots_read_from(code, 0) == ({0, 1, 2} if has_loop else {0, 2})
