"""Every stage of small programs: well formed, printed as expected, and right."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.ops.comparison import assert_same
from tests.subject import only_torch_py
from tests.torch_py._inductor.programs import PROGRAMS, compiled, graph_of

pytestmark = only_torch_py

_GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """All stages are checked against spec.py."""
    monkeypatch.setenv("TORCH_PY_VERIFY", "1")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_computes_what_eager_does(name: str) -> None:
    function, arguments = PROGRAMS[name]
    args = arguments()
    expected = function(*args)
    expected = list(expected) if isinstance(expected, tuple) else [expected]
    assert_same(list(compiled(function, *args)(*args)), expected, name, strides=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_of_kernels(name: str) -> None:
    """UPDATE_GOLDEN=1 writes the files anew."""
    function, arguments = PROGRAMS[name]
    found = compiled(function, *arguments())
    text = f"{found.loops}\n\n{found.source}"
    path = _GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


def test_equal_layers_share_a_kernel() -> None:
    import torch_py as torch

    def layers(x: Any) -> Any:
        for _ in range(4):
            x = torch.tanh(x @ x) + 1
        return x

    found = compiled(layers, torch.ones(8, 8))
    assert len(found.kernels) == 1


def test_a_norm_is_one_nest() -> None:
    function, arguments = PROGRAMS["layer_norm_of_sum"]
    assert len(compiled(function, *arguments()).kernels) == 1


def test_malformed_graphs_are_refused() -> None:
    import torch_py as torch
    from torch_py._inductor.ir import Const, Map
    from torch_py._inductor.spec import MalformedError, check_value

    one, two = Const(1.0, torch.float32), Const(2, torch.int64)
    with pytest.raises(MalformedError, match="operands have one dtype"):
        check_value(Map("+", [one, two], torch.float32), [])


def test_results_that_are_not_tensors_keep_their_places() -> None:
    import torch_py as torch
    from torch_py._inductor.compile_fx import compile_fx_inner

    graph = graph_of(lambda x: [None, x + 1, None, 7], torch.ones(2))
    first, second, third, fourth = compile_fx_inner(graph)(torch.ones(2))
    assert first is None and third is None and fourth == 7
    assert second.tolist() == [2.0, 2.0]


def test_random_numbers_are_those_of_eager() -> None:
    import torch_py as torch

    def function(x: Any) -> Any:
        torch.rand(3)  # moves the generator on
        return x * torch.rand(4) + torch.randn(4)

    x = torch.ones(4)
    found = compiled(function, x)
    torch.manual_seed(3)
    expected = function(x)
    torch.manual_seed(3)
    assert torch.equal(found(x)[0], expected)


@pytest.mark.parametrize("name", ["double", "NULL", "größe", "i", "data", "_1", "part", "errno", "INFINITY"])
def test_any_name_of_python_is_a_name_in_kernels(name: str) -> None:
    import torch_py as torch

    namespace: dict[str, Any] = {}
    exec(f"def function({name}): return {name}.exp() + {name}", namespace)
    x = torch.ones(3)
    assert torch.allclose(compiled(namespace["function"], x)(x)[0], x.exp() + x)


def test_lines_that_go_on_do_not_hide_kernels() -> None:
    """Comments of kernels show lines of the program; one that ends with a backslash would take the next."""

    import torch_py as torch

    def program(x: Any) -> Any:
        return torch.sin(x) + \
            torch.cos(x)  # fmt: skip

    x = torch.randn(5)
    torch.testing.assert_close(torch.compile(program)(x), program(x))


@pytest.mark.parametrize("exponent", [float("inf"), float("-inf"), float("nan"), 65, 7, -2, 0.5])
def test_powers(exponent: float) -> None:
    import torch_py as torch

    x = torch.tensor([0.5, 2.0, -1.0])
    found = compiled(lambda x: x**exponent, x)
    torch.testing.assert_close(found(x)[0], x**exponent, equal_nan=True)
