"""Elements at positions that are in a tensor: read in loops, and checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

pytestmark = only_torch_py

F = torch.nn.functional
_PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "embedding": lambda x, i: F.embedding(i, x) * 2,
    "of several dimensions": lambda x, i: F.embedding(i.view(2, 1, 2), x, padding_idx=0) + 1,
    "index_select": lambda x, i: torch.relu(x.index_select(0, i)),
    "along the last dimension": lambda x, i: x.t().index_select(-1, i) + 1,
    "gather": lambda x, i: torch.log_softmax(x, 1).gather(1, i[:, None].repeat(2, 1)[:5]),
    "index": lambda x, i: x[i].exp(),
    "index along a dimension": lambda x, i: x.view(5, 2, 8).permute(1, 0, 2)[:, i] + 1,
    "of an expression": lambda x, i: (x * 2)[i + 0] - x[0],
    "of small integers": lambda x, i: x[i.int()] + 1,
}


def arguments() -> tuple[Any, Any]:
    torch.manual_seed(0)
    return torch.randn(5, 16), torch.tensor([3, 0, 4, 4])


def compiled_program(function: Any, *args: Any) -> str:
    from torch_py._inductor.debug import compiled_graphs

    (graph,) = compiled_graphs(function, *args)
    return str(graph.program.debug())


@pytest.mark.parametrize("name", _PROGRAMS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_elements_are_those_of_eager(name: str, dynamic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_PY_VERIFY", "1")
    function = _PROGRAMS[name]
    x, i = arguments()
    with torch._dynamo.config.patch(suppress_errors=False):
        run = torch.compile(function, dynamic=dynamic)
        torch.testing.assert_close(run(x, i), function(x, i))
        torch.testing.assert_close(run(x * 2, i.flip(0)), function(x * 2, i.flip(0)))
    assert "in_range(" in compiled_program(function, x, i)


@pytest.mark.parametrize("name", _PROGRAMS)
@pytest.mark.parametrize("bad", [5, 16, 1 << 40, -6, -17, -(1 << 40)])
def test_positions_out_of_range_raise_as_in_eager(name: str, bad: int) -> None:
    if name == "of small integers" and abs(bad) > 100:
        return  # wraps to something else
    function = _PROGRAMS[name]
    x, i = arguments()
    i[1] = bad
    try:
        expected: Any = function(x, i)
    except Exception as error:
        expected = error
    if not isinstance(expected, Exception):
        return  # in range for this dimension

    with torch._dynamo.config.patch(suppress_errors=False):
        run = torch.compile(function)
        run(*arguments())
        with pytest.raises(type(expected)) as raised:
            run(x, i)
    assert str(raised.value) == str(expected)


def test_negative_positions_count_from_the_end() -> None:
    x, i = arguments()
    torch.testing.assert_close(torch.compile(lambda x, i: x[i] + 1)(x, -i - 1), x[-i - 1] + 1)
    for function in (lambda x, i: F.embedding(i, x) + 1, lambda x, i: x.index_select(0, i) + 1):
        with pytest.raises(IndexError):
            torch.compile(function)(x, -i - 1)


def test_rows_of_an_embedding_are_read_by_the_norm_after_them() -> None:
    from torch_py._inductor.debug import compiled_graphs

    def function(words: Any, places: Any, weight: Any) -> Any:
        return F.layer_norm(F.embedding(words, weight) + places, (16,))

    words = torch.randint(0, 50, (3, 7))
    places = torch.randn(7, 16)
    weight = torch.randn(50, 16)
    (graph,) = compiled_graphs(function, words, places, weight)
    assert len(graph.kernels) == 1 and "allocate" in graph.program.debug()
    torch.testing.assert_close(
        torch.compile(function)(words, places, weight), function(words, places, weight)
    )


def test_what_is_not_worth_it_is_called() -> None:
    x = torch.randn(50)
    i = torch.randint(0, 50, (40,))
    assert "in_range" not in compiled_program(lambda x, i: x[i] + 1, x, i)
    y = torch.randn(6, 6)
    assert "in_range" not in compiled_program(
        lambda x, i: x.gather(0, i), y, torch.zeros(6, 6, dtype=torch.int64)
    )


def test_gradients() -> None:
    def function(words: Any, weight: Any) -> Any:
        return torch.tanh(F.embedding(words, weight)).sum()

    words, weight = torch.tensor([[1, 2], [2, 9]]), torch.randn(10, 8, requires_grad=True)
    results = [
        torch.autograd.grad(run(words, weight), weight)[0] for run in (function, torch.compile(function))
    ]
    torch.testing.assert_close(*results)
