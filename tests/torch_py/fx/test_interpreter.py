"""Interpreters and transformers, and the metadata that they hand on."""

from __future__ import annotations

import importlib
import operator
from typing import Any

import pytest

from tests.subject import torch

fx = torch.fx
fx_traceback = importlib.import_module(f"{torch.__name__}.fx.traceback")


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x: Any, y: Any = 2) -> Any:
        return torch.relu(self.linear(x)).mul(y) + self.weight


def test_interpreters_run_graphs() -> None:
    model = Model()
    interpreter = fx.Interpreter(fx.symbolic_trace(model))
    x = torch.rand(3, 2)
    assert torch.equal(interpreter.run(x), model(x)) and torch.equal(interpreter.run(x, 3), model(x, 3))
    assert torch.equal(interpreter.boxed_run([x, 2]), model(x))
    with pytest.raises(RuntimeError, match="Expected positional argument for parameter x"):
        interpreter.run()


def test_variable_arguments() -> None:
    traced = fx.symbolic_trace(lambda x, *rest: x + rest[1])
    assert fx.Interpreter(traced).run(1, 2, 3) == 4


def test_operations_can_be_overridden() -> None:
    calls = []

    class Noted(fx.Interpreter):
        def run_node(self, n: Any) -> Any:
            result = super().run_node(n)
            calls.append(n.name)
            return result

        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            if target is torch.relu:
                return args[0] * 0
            return super().call_function(target, args, kwargs)

    model = Model()
    result = Noted(fx.symbolic_trace(model)).run(torch.rand(3, 2))
    assert torch.equal(result, torch.ones(3, 2))
    assert calls == ["x", "y", "linear", "relu", "mul", "weight", "add", "output"]


def test_values_are_dropped_after_their_last_use() -> None:
    traced = fx.symbolic_trace(lambda x: (x + 1) * 2 - 3)
    interpreter = fx.Interpreter(traced)
    interpreter.run(1)
    assert [node.op for node in interpreter.env] == ["output"]
    keeps = fx.Interpreter(traced, garbage_collect_values=False)
    keeps.run(1)
    assert [keeps.env[node] for node in traced.graph.nodes] == [1, 2, 4, 1, 1]


def test_known_values() -> None:
    traced = fx.symbolic_trace(lambda x: (x + 1) * 2)
    add = traced.graph.find_nodes(op="call_function", target=operator.add)[0]
    assert fx.Interpreter(traced).run(1, initial_env={add: 10}) == 20


def test_errors_name_the_node() -> None:
    traced = fx.symbolic_trace(lambda x: x.foo())
    with pytest.raises(AttributeError) as raised:
        fx.Interpreter(traced).run(1)
    text = str(raised.value) + "".join(getattr(raised.value, "__notes__", ()))
    assert "While executing %foo" in text

    traced = fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
    interpreter = fx.Interpreter(traced)
    del traced._modules["0"]
    with pytest.raises(RuntimeError, match="nonexistent target 0"):
        interpreter.run(torch.ones(1))


def test_transformers() -> None:
    class Swap(fx.Transformer):
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            if target is torch.relu:
                return torch.tanh(*args)
            return super().call_function(target, args, kwargs)

        def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
            return args[0] if target == "mul" else super().call_method(target, args, kwargs)

    model = Model()
    traced = fx.symbolic_trace(model)
    changed = Swap(traced).transform()
    x = torch.rand(3, 2)
    assert torch.equal(changed(x), torch.tanh(model.linear(x)) + model.weight)
    assert changed.weight is model.weight and torch.equal(changed(x, 5), changed(x))
    same = fx.Transformer(traced).transform()
    assert same.code.split("\n")[4:] == traced.code.split("\n")[4:]  # annotations are not handed on


def test_shape_propagation_is_an_interpreter() -> None:
    shape_prop = importlib.import_module(f"{torch.__name__}.fx.passes.shape_prop")
    traced = fx.symbolic_trace(lambda x, y: torch.split(x, 1)[0] + y)
    result = shape_prop.ShapeProp(traced).propagate(torch.ones(2, 3), torch.ones(4, 1, dtype=torch.float64))
    metas = {node.name: node.meta.get("tensor_meta") for node in traced.graph.nodes}
    assert result.shape == (4, 3) and metas["add"].shape == (4, 3) and metas["add"].dtype == torch.float64
    assert metas["add"].stride == (3, 1) and metas["add"].memory_format == torch.contiguous_format
    assert [each.shape for each in metas["split"]] == [(1, 3), (1, 3)]
    assert 'add: "f64[4, 3]"' in traced.print_readable(False)
    with pytest.raises(RuntimeError, match="ShapeProp error"):
        shape_prop.ShapeProp(traced).propagate(torch.ones(2, 3), torch.ones(7))


def test_metadata_is_handed_on() -> None:
    traced = fx.symbolic_trace(lambda x: x + 1)
    for node in traced.graph.nodes:
        node.meta["custom"] = {"name": node.name}
        node.meta["stack_trace"] = "File"

    class Recorder(fx.Interpreter):
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            seen.append(dict(fx_traceback.get_current_meta()))
            return super().call_function(target, args, kwargs)

    seen: list[Any] = []
    Recorder(traced).run(1)
    with fx_traceback.preserve_node_meta():
        assert fx_traceback.has_preserved_node_meta()
        Recorder(traced).run(1)
    assert not seen[0] and seen[1]["custom"] == {"name": "add"}
    assert not fx_traceback.has_preserved_node_meta()

    again = fx.Transformer(traced).transform()
    added = again.graph.find_nodes(op="call_function", target=operator.add)[0]
    assert added.stack_trace == "File"


def test_annotated_metadata() -> None:
    with fx_traceback.preserve_node_meta(), fx_traceback.annotate({"a": 1}):
        with fx_traceback.annotate({"b": 2}):
            traced = fx.symbolic_trace(lambda x: x + 1)
        assert fx_traceback.get_current_meta()["custom"] == {"a": 1}
    add = traced.graph.find_nodes(op="call_function", target=operator.add)[0]
    assert add.meta["custom"] == {"a": 1, "b": 2}
