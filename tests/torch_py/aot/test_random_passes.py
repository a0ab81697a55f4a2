"""Backward passes through parts of random graphs: from some results, to some inputs, one after another."""

from __future__ import annotations

import random
from typing import Any

import pytest

import torch_py as torch
from torch_py._functorch.aot import aot_function
from torch_py._functorch.compilers import nop

Pass = tuple[list[int], list[int], bool]  # results, inputs, whether the graph is retained

UNARY = [torch.sin, torch.exp, torch.tanh, torch.neg, torch.relu]
BINARY = [torch.mul, torch.add, lambda x, y: x / (y * y + 1)]


def _random_program(random_: random.Random) -> tuple[Any, int]:
    """A function of two tensors, and how many results it has."""
    steps: list[tuple[Any, ...]] = []
    for count in range(2, 2 + random_.randint(2, 6)):
        functions, inputs = (UNARY, 1) if random_.random() < 0.5 else (BINARY, 2)
        steps.append((random_.choice(functions), *random_.choices(range(count), k=inputs)))
    results = random_.sample(range(2, len(steps) + 2), min(len(steps), random_.randint(1, 3)))

    def program(x: Any, y: Any) -> Any:
        values = [x, y]
        for function, *inputs in steps:
            values.append(function(*(values[i] for i in inputs)))
        return tuple(values[i] for i in results)

    return program, len(results)


def _random_passes(random_: random.Random, results: int) -> list[Pass]:
    return [
        (
            random_.sample(range(results), random_.randint(1, results)),
            random_.choice([[0], [1], [0, 1]]),
            random_.random() < 0.2,
        )
        for _ in range(random_.randint(2, 4))
    ]


def _gradients(program: Any, passes: list[Pass]) -> list[Any]:
    """Of each pass; at the end None if one was an error."""
    inputs = [
        torch.tensor([0.5, 1.5, 2.0], requires_grad=True),
        torch.tensor([1.0, -2.0, 0.3]).requires_grad_(),
    ]
    outcome = program(*inputs)

    found: list[Any] = []
    for results, wanted, retain in passes:
        try:
            found.append(
                torch.autograd.grad(
                    [outcome[i].sum() for i in results],
                    [inputs[i] for i in wanted],
                    retain_graph=retain,
                    allow_unused=True,
                )
            )
        except RuntimeError as error:
            assert "backward through the graph a second time" in str(error)
            return [*found, None]
    return found


@pytest.mark.parametrize("seed", range(40))
def test_passes(seed: int):
    """Gradients are those of eager mode. Which second passes are errors may differ: eager mode releases what
    a step needs for all gradients together, and lets passes repeat that need nothing, such as sums."""
    random_ = random.Random(seed)
    program, results = _random_program(random_)
    passes = _random_passes(random_, results)

    expected = _gradients(program, passes)
    found = _gradients(aot_function(program, nop), passes)
    for number, (one, other) in enumerate(zip(expected, found)):
        if other is None:
            earlier = {i for results, _, _ in passes[:number] for i in results}
            assert one is None or earlier.issuperset(passes[number][0])
        if one is None or other is None:
            break
        for gradient, own in zip(one, other):
            assert (gradient is None) == (own is None)
            assert gradient is None or torch.allclose(gradient, own)
