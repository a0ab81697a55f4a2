"""Every module of `nn`, compiled, computes, learns and keeps what it does in eager mode."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import torch_py as torch
from tests.torch_py.compiler.modules import BASES, CASES, Case
from torch_py import nn
from torch_py._dynamo.utils import counters

# Identity computes nothing; the others look at elements: how many are negative, which lengths there are, and
# whether a variance is negative.
WITHOUT_GRAPH = {"Identity", "RReLU", "CTCLoss", "GaussianNLLLoss"}


def test_every_module_has_a_case():
    classes = {
        name
        for name, value in vars(nn).items()
        if isinstance(value, type) and issubclass(value, nn.Module) and not name.startswith("_")
    }
    assert classes - BASES - {"DataParallel"} == {case.name for case in CASES}


def made(case: Case) -> tuple[nn.Module, nn.Module]:
    """The same module twice, with its parameters."""
    torch.manual_seed(0)
    module = case.make()
    with torch.no_grad():
        module(*case.inputs(3))  # lazy modules learn their sizes
    return module, copy.deepcopy(module)


def step(run: Any, module: nn.Module, case: Case, batch: int) -> dict[str, Any]:
    """What a step leaves: results, gradients of inputs and parameters, and buffers."""
    torch.manual_seed(batch)
    inputs = case.inputs(batch)
    differentiable = [x.requires_grad_() for x in inputs if x.is_floating_point()]
    module.zero_grad()

    result = run(*inputs)
    leaves = [x for x in torch.utils._pytree.tree_leaves(result) if isinstance(x, torch.Tensor)]
    trained = [x for x in leaves if x.requires_grad]
    if trained:
        sum((x * x.detach().cos()).sum() for x in trained).backward()
    return {
        "results": [x.detach() for x in leaves],
        "gradients of inputs": [x.grad for x in differentiable],
        "gradients of parameters": [p.grad for p in module.parameters()],
        "buffers": [buffer.clone() for buffer in module.buffers()],
    }


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize(("backend", "dynamic"), [("aot_eager", None), ("inductor", True)])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_compiled_module_does_the_same(case: Case, backend: str, dynamic: bool | None):
    eager, other = made(case)
    compiled = torch.compile(other, backend=backend, dynamic=dynamic)
    before = counters["stats"]["unique_graphs"]

    for batch in (3, 5, 4):  # the second size makes the graph one for all sizes, unless it is so at once
        expected = step(eager, eager, case, batch)
        found = step(compiled, other, case, batch)
        for what, tensors in expected.items():
            torch.testing.assert_close(found[what], tensors, msg=lambda text, what=what: f"{what}: {text}")
    assert (counters["stats"]["unique_graphs"] > before) == (case.name not in WITHOUT_GRAPH)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_module_that_runs_eagerly_says_why(case: Case):
    module, _ = made(case)
    report = torch._dynamo.explain(module)(*case.inputs(3))
    assert report.graph_count or report.graph_break_count or case.name == "Identity"
