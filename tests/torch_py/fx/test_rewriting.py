"""Pattern matching and replacement."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

fx = torch.fx
rewriter = importlib.import_module(f"{torch.__name__}.fx.subgraph_rewriter")
matcher_utils = importlib.import_module(f"{torch.__name__}.fx.passes.utils.matcher_utils")
common = importlib.import_module(f"{torch.__name__}.fx.passes.utils.common")


def body(traced: Any) -> list[str]:
    lines = traced.code.strip().split("\n")[1:]
    return [line.split(";")[0].strip() for line in lines if line.strip()]


def replaced(program: Any, pattern: Any, replacement: Any, **options: Any) -> tuple[int, list[str]]:
    """How many places were replaced, and the statements after it."""
    traced = fx.symbolic_trace(program)
    found = rewriter.replace_pattern_with_filters(traced, pattern, replacement, **options)
    traced.graph.lint()
    return len(found), body(traced)


def test_every_match_is_replaced() -> None:
    def program(x: Any, v: Any, w: Any) -> Any:
        return x + torch.max(torch.cat([v, w]).sum()) + torch.max(torch.cat([v, w]).sum())

    count, lines = replaced(program, lambda a, b: torch.cat([a, b]).sum(), lambda a, b: torch.stack([a, b]))
    assert count == 2
    assert lines[0] == "stack = torch.stack([v, w])" and "stack_1 = torch.stack([v, w])" in lines


def test_chains() -> None:
    chain = lambda x: torch.relu(torch.relu(torch.relu(x)))  # noqa: E731
    assert replaced(chain, lambda x: torch.relu(x), lambda x: torch.sigmoid(x)) == (
        3,
        [
            "sigmoid = torch.sigmoid(x)",
            "sigmoid_1 = torch.sigmoid(sigmoid)",
            "sigmoid_2 = torch.sigmoid(sigmoid_1)",
            "return sigmoid_2",
        ],
    )
    # Matches that share nodes: the first wins.
    count, lines = replaced(chain, lambda x: torch.relu(torch.relu(x)), lambda x: torch.sigmoid(x))
    assert count == 1 and lines == [
        "sigmoid = torch.sigmoid(x)",
        "relu_2 = torch.relu(sigmoid)",
        "return relu_2",
    ]


@pytest.mark.parametrize(
    "program, pattern, count",
    [
        (lambda x, y: torch.add(x, y), lambda x, y: torch.add(x, y), 1),
        (lambda x: torch.add(x, 3), lambda x, y: torch.add(x, y), 1),
        (lambda x: torch.add(x, 3), lambda x: torch.add(x, 3), 1),
        (lambda x: torch.add(x, 3), lambda x: torch.add(x, 2), 0),
        (lambda x: torch.add(x, 3), lambda x: torch.add(x, 3.0), 0),
        (lambda x: torch.add(x, 3, alpha=2), lambda x: torch.add(x, 3), 0),
        (lambda x: torch.sum(x, dim=1), lambda x: torch.sum(x, dim=1), 1),
        (lambda x, y: x + y, lambda x: x + x, 0),
        (lambda x: x + x, lambda x: x + x, 1),
        (lambda x: x.view(-1, 2), lambda x: x.view(-1, 2), 1),
        (lambda x: x.view(-1, 2), lambda x: x.view(-1, 3), 0),
        (lambda x: x.view(-1, 2), lambda x: x.reshape(-1, 2), 0),
        (lambda x, y: torch.cat([x, y]), lambda x, y: torch.cat([x, y]), 1),
        (lambda x: torch.cat([x, x]), lambda x, y: torch.cat([x, y]), 0),
        (lambda x: torch.cat([x, x, x]), lambda x, y: torch.cat([x, y]), 0),
        (lambda x: x[1:2], lambda x: x[1:2], 1),
        (lambda x: x[1:2], lambda x: x[1:3], 0),
    ],
)
def test_what_matches(program: Any, pattern: Any, count: int) -> None:
    matches = matcher_utils.SubgraphMatcher(fx.symbolic_trace(pattern).graph).match(
        fx.symbolic_trace(program).graph
    )
    assert len(matches) == count


def test_nothing_inside_a_match_is_used_outside() -> None:
    def program(x: Any) -> Any:
        r = torch.relu(x)
        return r + 1, r

    assert replaced(program, lambda x: torch.relu(x) + 1, lambda x: torch.tanh(x))[0] == 0


def test_several_results() -> None:
    def program(x: Any) -> Any:
        r = torch.relu(x)
        return r + 1, r * 2

    def pattern(x: Any) -> Any:
        r = torch.relu(x)
        return r + 1, r * 2

    count, lines = replaced(program, pattern, lambda x: (torch.tanh(x), x))
    assert count == 1 and lines == ["tanh = torch.tanh(x)", "return (tanh, x)"]


def test_literals_can_be_ignored() -> None:
    program = lambda x: torch.add(x, 3)  # noqa: E731
    pattern = lambda x: torch.add(x, 2)  # noqa: E731
    assert replaced(program, pattern, lambda x: x.neg(), ignore_literals=True)[0] == 1


def test_inputs_may_become_results() -> None:
    assert replaced(lambda x: torch.add(x, 2) * 2, lambda x: torch.add(x, 2), lambda x: x) == (
        1,
        ["mul = x * 2", "return mul"],
    )


def test_values_of_inputs_are_passed_on() -> None:
    count, lines = replaced(
        lambda x: torch.dropout(x, 0.5, True),
        lambda x, p: torch.dropout(x, p, True),
        lambda x, p: torch.mul(x, p),
    )
    assert count == 1 and lines[0] == "mul = torch.mul(x, 0.5)"


def test_filters_and_callbacks() -> None:
    program = lambda x: torch.relu(x) + torch.relu(x + 1)  # noqa: E731
    seen = []

    def only_inputs(match: Any, graph: Any, pattern: Any) -> bool:
        seen.append(match)
        return match.placeholder_nodes[0].op == "placeholder"

    count, lines = replaced(
        program, lambda x: torch.relu(x), lambda x: torch.tanh(x), match_filters=[only_inputs]
    )
    assert count == 1 and len(seen) == 2 and "tanh = torch.tanh(x)" in lines
    assert [len(match.returning_nodes) for match in seen] == [1, 1]

    def build(match: Any, graph: Any, pattern: Any) -> Any:
        return fx.symbolic_trace(
            lambda x: x.sin() if match.placeholder_nodes[0].op == "placeholder" else x.cos()
        ).graph

    count, lines = replaced(program, lambda x: torch.relu(x), None, replacement_callback=build)
    assert count == 2 and "sin = x.sin()" in lines and "cos = add.cos()" in lines
    with pytest.raises(AssertionError, match="replacement"):
        replaced(program, lambda x: torch.relu(x), None)


class Inner(torch.nn.Module):
    def __init__(self, activation: Any) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.activation = activation

    def forward(self, x: Any) -> Any:
        return self.activation(self.linear(x))


def test_modules() -> None:
    traced = fx.symbolic_trace(Inner(torch.nn.ReLU()))

    class Replacement(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)
            self.other = torch.nn.GELU()
            self.scale = torch.nn.Parameter(torch.ones(2))

        def forward(self, x: Any) -> Any:
            return self.other(self.linear(x)) * self.scale

    linear = traced.linear
    found = fx.replace_pattern(traced, Inner(torch.nn.ReLU()), Replacement())
    assert len(found) == 1 and found[0].anchor.name == "activation"
    assert traced.linear is linear and isinstance(traced.other, torch.nn.GELU)
    assert not hasattr(traced, "activation") and traced.scale.shape == (2,)
    assert traced(torch.rand(3, 2)).shape == (3, 2)


def test_parameters_match_parameters() -> None:
    class Scaled(torch.nn.Module):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name
            self.register_parameter(name, torch.nn.Parameter(torch.ones(2)))

        def forward(self, x: Any) -> Any:
            return x * getattr(self, self.name)

    matcher = matcher_utils.SubgraphMatcher(fx.symbolic_trace(Scaled("a")).graph)
    assert len(matcher.match(fx.symbolic_trace(Scaled("b")).graph)) == 1


@only_torch_py  # PyTorch leaves a graph in the wrong order
def test_replacements_that_need_another_order() -> None:
    """The first result is used before the second input exists."""

    def program(x: Any, y: Any) -> Any:
        a = torch.relu(x)
        b = torch.tanh(a)
        return torch.sin(y + 1), b

    def pattern(x: Any, z: Any) -> Any:
        return torch.relu(x), torch.sin(z)

    traced = fx.symbolic_trace(program)
    before = traced(torch.ones(2), torch.ones(2))
    found = fx.replace_pattern(traced, pattern, lambda x, z: (torch.relu(x), torch.sin(z)))
    traced.graph.lint()
    after = traced(torch.ones(2), torch.ones(2))
    assert len(found) == 1 and all(torch.equal(a, b) for a, b in zip(before, after))


def test_wrong_patterns() -> None:
    traced = fx.symbolic_trace(lambda x, y: x + y)
    with pytest.raises(AssertionError):
        fx.replace_pattern(traced, lambda x, y: x + y, lambda y: y * 2)
    with pytest.raises(AssertionError):
        fx.replace_pattern(traced, lambda x: x, lambda x: x)
    with pytest.raises(ValueError):
        matcher_utils.SubgraphMatcher(fx.Graph())


def test_compare_graphs() -> None:
    one = fx.symbolic_trace(lambda x, y: (x + y) * 2).graph
    same = fx.symbolic_trace(lambda a, b: (a + b) * 2).graph
    other = fx.symbolic_trace(lambda a, b: (b + a) * 3).graph
    assert common.compare_graphs(one, same) and not common.compare_graphs(one, other)


@only_torch_py
def test_deep_patterns() -> None:
    def repeated(x: Any) -> Any:
        for _ in range(1100):
            x = torch.neg(x)
        return x

    count, lines = replaced(repeated, repeated, lambda x: x.abs())
    assert count == 1 and lines == ["abs_1 = x.abs()", "return abs_1"]
