"""Graphs that change their inputs themselves, and operators in place again."""

from __future__ import annotations

from typing import Any

import pytest

import torch_py as torch
from tests.torch_py.aot.comparison import compare, kept_graphs, plain
from tests.torch_py.aot.test_changes import (
    CHANGES,
    FUNCTIONS,
    VIEWS,
    S,
    _changed_and_transposed,
    _expanded,
    _on_view,
    _permuted,
    _squeezed_in_place,
    _transposed_in_place,
    _with_gaps,
)
from torch_py._functorch.aot import aot_function
from torch_py._functorch.aot.in_place import write_in_place


def _in_place(graph: Any, inputs: Any) -> Any:
    write_in_place(graph)
    return graph


def _compare(function: Any, make: Any) -> None:
    compare(function, make, compiler=_in_place, keep_inference_input_mutations=True)


def _graph(function: Any, *arguments: Any) -> str:
    """The graph of a call in which operators work in place."""
    with kept_graphs() as (keep, graphs):
        run = aot_function(
            function, lambda *made: keep(_in_place(*made), None), keep_inference_input_mutations=True
        )
        run(*arguments)
    return str(graphs[0].code)


library = torch.library.Library("in_place_tests", "FRAGMENT")
library.define("add_(Tensor(a!)[] xs, Tensor y) -> ()")
library.define("add_and_sum_(Tensor x, Tensor(a!)[] xs, *, Tensor(b!)? last=None) -> (Tensor, Tensor)")
ours: Any = torch.ops.in_place_tests


def _add_to_all(xs: Any, y: Any) -> None:
    for x in xs:
        x.add_(y)


def _add_and_sum(x: Any, xs: Any, *, last: Any = None) -> Any:
    _add_to_all(xs, x)
    if last is not None:
        last.mul_(2)
    return xs[0].sum(), x + 1


for key in ("CPU", "Meta"):
    library.impl("add_", _add_to_all, key)
    library.impl("add_and_sum_", _add_and_sum, key)


def _listed(x: Any, y: Any) -> None:
    ours.add_([x, y], torch.ones(4))
    ours.add_([y, x], torch.ones(3, 1))


def _listed_and_read(x: Any, y: Any) -> Any:
    ours.add_([x, y], torch.ones(4))
    return x + 1, y.sum()


def _old_value_returned(x: Any, y: Any) -> Any:
    old = x.clone()
    before = x * 1
    ours.add_([x, y], old)
    return old, before


def _old_value_read_later(x: Any, y: Any) -> Any:
    old = x * 1
    row = x[0].clone()
    ours.add_([x, y], torch.ones(4))
    x.copy_(old)
    return row + y


def _exchanged(x: Any, y: Any) -> None:
    first, second = x.clone(), y.clone()
    ours.add_([x, second], first)
    y.copy_(x)
    x.copy_(second)


def _in_its_own_arguments(x: Any, y: Any) -> None:
    ours.add_([x], x)
    ours.add_([y, x], y.clone())


def _rows(x: Any, y: Any) -> Any:
    ours.add_([x[0], x[1], y[2]], torch.ones(4))
    return x.sum()


def _fresh(x: Any, y: Any) -> Any:
    made = [torch.zeros(3, 4), x + y]
    ours.add_(made, y)
    return made


def _fresh_and_returned(x: Any, y: Any) -> Any:
    made = x + y
    view = made[1]
    ours.add_([made, x], torch.ones(4))
    return made, view, x[0]


def _both_before_and_after(x: Any, y: Any) -> Any:
    made = x + y
    kept = made.clone()
    doubled = made * 2
    ours.add_([made], kept)
    return made * doubled, kept


def _more_results(x: Any, y: Any) -> Any:
    total, more = ours.add_and_sum_(torch.ones(4), [x, y], last=y[0].clone())
    other, _ = ours.add_and_sum_(torch.ones(4), [x])
    last = x + y
    ours.add_and_sum_(x, [y], last=last)
    return total, more, other, last


def _random(x: Any, y: Any) -> Any:
    x.normal_()
    y.uniform_(1, 2)
    return (x + y).bernoulli_(0.5)


def _with_results(x: Any, y: Any) -> Any:
    mean, deviation = x[0], x[1].abs()
    return torch.nn.functional.batch_norm(y, mean, deviation, training=True), x


IN_PLACE = [
    _listed, _listed_and_read, _old_value_returned, _old_value_read_later, _exchanged,
    _in_its_own_arguments, _rows, _fresh, _fresh_and_returned, _both_before_and_after, _more_results,
    _random, _with_results,
]  # fmt: skip


@pytest.mark.parametrize("make", [plain(S, S), _permuted, _with_gaps], ids=["plain", "permuted", "gaps"])
@pytest.mark.parametrize("function", IN_PLACE, ids=lambda function: function.__name__)
def test_operators_on_lists(function: Any, make: Any):
    _compare(function, make)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("view", VIEWS)
def test_changes_through_views(view: str, change: str):
    _compare(_on_view(VIEWS[view], CHANGES[change]), plain(S, (2,)))


@pytest.mark.parametrize(
    "function",
    [*FUNCTIONS, _transposed_in_place, _changed_and_transposed, _squeezed_in_place],
    ids=lambda function: function.__name__,
)
def test_functions_that_change_arguments(function: Any):
    _compare(function, plain(S, S))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_expanded_arguments(function: Any):
    _compare(function, _expanded)


def test_nothing_is_copied():
    code = _graph(_listed, *torch.ones(2, 3, 4))
    assert "add_.default([primals_1, primals_2]" in code
    assert "add_.default([primals_2, primals_1]" in code
    assert "copy_" not in code and "copies" not in code and "clone" not in code


def test_random_numbers_are_drawn_in_place():
    code = _graph(_random, *torch.ones(2, 3, 4))
    assert "normal_.default(primals_1)" in code
    assert "copy_" not in code and "copies" not in code


def test_old_values_that_are_needed_are_kept():
    def function(x: Any, y: Any) -> Any:
        old = x * 1
        view = x.view(-1)
        ours.add_([x, y], old)
        x.copy_(old)
        y.copy_(view.view(3, 4) + 1)

    assert _graph(function, *torch.ones(2, 3, 4)).count("aten.copy_.default") == 2
    assert "clone" in _graph(_in_its_own_arguments, *torch.ones(2, 3, 4))


def test_versions_count_changes():
    x, y = torch.ones(3, 4), torch.ones(3, 4)
    run = aot_function(_listed, _in_place, keep_inference_input_mutations=True)
    run(x, y)
    before = x._version
    run(x, y)
    assert x._version > before
