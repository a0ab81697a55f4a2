"""Random programs give the same results after every way to copy, split and rewrite them."""

from __future__ import annotations

import copy
import importlib
import operator
import pickle
import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.subject import torch

fx = torch.fx
BINARY = [operator.add, operator.mul, operator.sub, torch.maximum, torch.add]
METHODS = ["neg", "abs", "tanh"]
PROGRAMS = 40


def module(name: str) -> Any:
    return importlib.import_module(f"{torch.__name__}.fx.{name}")


def random_program(number: int) -> Any:
    """A graph of two inputs that computes something of each kind."""
    generator = random.Random(number)
    graph = fx.Graph()
    values = [graph.placeholder("x"), graph.placeholder("y")]
    for _ in range(generator.randrange(3, 25)):
        one, other = generator.choice(values), generator.choice(values)
        kind = generator.random()
        if kind < 0.5:
            node = graph.call_function(generator.choice(BINARY), (one, other))
        elif kind < 0.7:
            node = graph.call_method(generator.choice(METHODS), (one,))
        elif kind < 0.8:
            both = graph.call_function(torch.stack, ([one, other],))
            node = graph.call_function(operator.getitem, (both, generator.randrange(2)))
        else:
            node = graph.call_function(generator.choice(BINARY[:3]), (one, generator.choice([1, 2.5, -1])))
        values.append(node)

    graph.output((values[-1], [generator.choice(values)]))
    return fx.GraphModule({}, graph)


class Supported:
    def is_node_supported(self, submodules: Any, node: Any) -> bool:
        return node.op == "call_function" and node.target in (operator.add, operator.mul, torch.stack)


def through_common_expressions(program: Any) -> Any:
    module("passes.dialect.common.cse_pass").CSEPass()(program)
    program.graph.eliminate_dead_code()
    program.recompile()
    return program


def through_splits(program: Any) -> Any:
    places = {node: place // 4 for place, node in enumerate(program.graph.nodes)}
    return module("passes.split_module").split_module(program, program, places.__getitem__)


def through_tags(program: Any) -> Any:
    tags = []
    for place, node in enumerate(program.graph.nodes):
        if node.op not in ("placeholder", "output"):
            node.tag = f"part{place // 5}"
            tags.append(node.tag)
    return module("passes.split_utils").split_by_tags(program, list(dict.fromkeys(tags)))


def through_partitions(program: Any) -> Any:
    partitioner = module("passes.infra.partitioner").CapabilityBasedPartitioner
    return partitioner(program, Supported(), allows_single_node_partition=True).partition_and_fuse()


def through_replacement(program: Any) -> Any:
    fx.replace_pattern(program, lambda a, b: a + b, lambda a, b: torch.add(a, b))
    return program


def through_an_interpreter(program: Any) -> Any:
    return fx.Interpreter(program).run


WAYS: list[Callable[[Any], Any]] = [
    copy.deepcopy,
    lambda program: pickle.loads(pickle.dumps(program)),
    fx.symbolic_trace,
    lambda program: fx.Transformer(program).transform(),
    through_an_interpreter,
    through_common_expressions,
    through_splits,
    through_tags,
    through_partitions,
    through_replacement,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_results_stay(way: Callable[[Any], Any]) -> None:
    torch.manual_seed(0)
    for number in range(PROGRAMS):
        program = random_program(number)
        x, y = torch.randn(3), torch.randn(3)
        expected = program(x, y)

        changed = way(copy.deepcopy(program))
        if isinstance(changed, fx.GraphModule):
            changed.graph.lint()
        result = changed(x, y)
        assert torch.equal(result[0], expected[0]) and torch.equal(result[1][0], expected[1][0]), number
