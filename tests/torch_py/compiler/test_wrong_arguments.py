"""Wrong arguments of `torch.compile` and of the functions around it raise, with PyTorch's exceptions."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.subject import only_torch_py, torch


def double(x: Any) -> Any:
    return 2 * x


@pytest.mark.parametrize("dynamic", ["yes", 1])
@pytest.mark.parametrize("form", ["function", "module", "in place", "optimize"])
def test_dynamic_is_a_bool_or_none(form: str, dynamic: Any) -> None:
    with pytest.raises(AssertionError, match=r"str|yes|int|1"):
        if form == "function":
            torch.compile(double, dynamic=dynamic)
        elif form == "module":
            torch.compile(torch.nn.Linear(1, 1), dynamic=dynamic)
        elif form == "in place":
            torch.nn.Linear(1, 1).compile(dynamic=dynamic)
        else:
            torch._dynamo.optimize("eager", dynamic=dynamic)(double)


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.compile(3),
        lambda: torch._dynamo.optimize("eager")(3),
        lambda: torch._dynamo.run(3),
        lambda: torch.compiler.allow_in_graph(3),
        lambda: torch.compiler.disable(3),
        lambda: torch._dynamo.disallow_in_graph(3),
        lambda: torch._dynamo.forbid_in_graph(3),
    ],
)
def test_what_is_not_callable(call: Any) -> None:
    with pytest.raises(AssertionError, match="callable|function"):
        call()


@only_torch_py
@pytest.mark.parametrize("options", ["max_autotune", ["max_autotune"], {1: True}])
def test_options_are_a_dict_of_names(options: Any) -> None:
    with pytest.raises(RuntimeError, match="option"):
        torch.compile(double, options=options)


@only_torch_py
def test_unknown_modes() -> None:
    with pytest.raises(RuntimeError, match=r"Unrecognized mode=\[\]"):
        torch.compile(double, mode=[])


def test_unknown_arguments_of_optimize() -> None:
    with pytest.raises(TypeError, match="unknown"):
        torch._dynamo.optimize("eager", unknown=3)(double)


@only_torch_py
def test_backends_without_options_say_so() -> None:
    with pytest.warns(UserWarning, match="'eager' takes no mode"):
        torch.compile(double, backend="eager", mode="max-autotune")


@only_torch_py
def test_backends_get_options_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = importlib.import_module("torch_py._dynamo.backends.registry")
    seen = []

    def backend(module: Any, inputs: Any, **options: Any) -> Any:
        seen.append(options)
        return module.forward

    monkeypatch.setitem(registry._registered, "noting", backend)
    torch.compile(double, backend="noting", options={"level": 3})(torch.ones(2))
    assert seen == [{"options": {"level": 3}}]


@only_torch_py
@pytest.mark.parametrize("limits", [{"min": 9, "max": 3}, {"min": 5}, {"max": 3}])
def test_sizes_are_in_their_limits(limits: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="mark_dynamic: a size of 4 is not from min="):
        torch._dynamo.mark_dynamic(torch.ones(4, 3), 0, **limits)
    torch._dynamo.mark_dynamic(torch.ones(4, 3), (0, -1), min=3, max=4)


def test_unknown_arguments_of_mark_dynamic() -> None:
    with pytest.raises(TypeError, match="unknown"):
        torch._dynamo.mark_dynamic(torch.ones(4, 3), 0, unknown=3)


@pytest.mark.parametrize("name", ["mark_dynamic", "maybe_mark_dynamic", "mark_static"])
@pytest.mark.parametrize("index", [1.0, "0", (0, "a")])
def test_dimensions_are_integers(name: str, index: Any) -> None:
    with pytest.raises(AssertionError, match="int, list"):
        getattr(torch._dynamo, name)(torch.ones(4, 3), index)


@only_torch_py
@pytest.mark.parametrize("name", ["mark_dynamic", "maybe_mark_dynamic", "mark_static"])
def test_dimensions_that_a_tensor_does_not_have(name: str) -> None:
    with pytest.raises(IndexError, match=f"{name}: expected a dimension of a tensor with 2, got 5"):
        getattr(torch._dynamo, name)(torch.ones(4, 3), [0, 5])


@pytest.mark.parametrize("name", ["_dynamo.config", "_inductor.config", "_inductor.config.cpp"])
def test_unknown_settings(name: str) -> None:
    importlib.import_module(f"{torch.__name__}.{name.removesuffix('.cpp')}")
    owner = torch
    for part in name.split("."):
        owner = getattr(owner, part)
    with pytest.raises(AttributeError, match=f"{name}.unknown does not exist"):
        owner.unknown = 3


def test_unknown_topics() -> None:
    with pytest.raises(TypeError, match="'recompile'"):
        torch._logging.set_logs(recompile=True)
    with pytest.raises(ValueError, match="graph_breaks"):
        torch._logging.set_logs(graph_breaks=17)


@only_torch_py
def test_unknown_topics_of_the_environment() -> None:
    program = "import torch_py as torch; torch.compile(lambda x: x, backend='eager')(torch.ones(1))"
    environment = {**os.environ, "TORCH_LOGS": "recompile,+perf_hints,torch._dynamo.guards"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.count("there is no topic") == 1, done.stderr
    assert "TORCH_LOGS: there is no topic 'recompile'" in done.stderr
