"""Builds with some operators: what these call has to be part of the build.

The build of all operators shows it: under the profiler, samples of the operators that a list needs call no
others, and neither does backward.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codegen.model import load
from codegen.targets.torch_py import TARGET
from codegen.targets.torch_py.analysis.implied_operators import expanded
from codegen.targets.torch_py.selection import operators_of_list
from tests.ops.calling import call
from tests.ops.operators import Operator, all_operators
from tests.subject import only_torch_py, torch

pytestmark = [only_torch_py, pytest.mark.slow]

DECLARATIONS = Path(__file__).resolve().parents[2] / "native_functions.yaml"
LISTS = {
    "training": "linear\nconv2d\nbatch_norm\nmax_pool2d\nrelu\ncross_entropy_loss\n_fused_adam_\n",
    "attention": "scaled_dot_product_attention\nlayer_norm\nembedding\ngelu\nsoftmax\ntopk\n",
    "linear algebra": "linalg_solve\nlinalg_svd\nfft_rfft\n",
}


@pytest.mark.parametrize("name", LISTS)
def test_selected_operators_call_no_others(name: str, tmp_path: Path):
    program = load(DECLARATIONS, dialect=TARGET.dialect)
    (tmp_path / "list.txt").write_text(LISTS[name])
    selected = operators_of_list(program, tmp_path / "list.txt")
    # The profiler does not see overloads.
    names = {True: set[str](), False: set[str]()}
    for operator in expanded(program):
        is_selected = operator.unambiguous_name in selected
        names[is_selected].update(schema.base_name for schema in operator.schemas())
    left_out = names[False] - names[True]
    assert "cosh" in left_out

    calls = 0
    for operator in all_operators():
        if operator.unambiguous_name not in selected:
            continue
        for called in _calls(operator):
            calls += bool(called)
            assert not called & left_out, f"{operator} calls {', '.join(called & left_out)}"
    assert calls > 100


def _calls(operator: Operator) -> Iterator[set[str]]:
    """The operators that each sample calls, with backward."""
    from torch_py import profiler

    for requires_grad in {False, operator.is_differentiable and operator.takes("float32")}:
        samples = operator.typical_samples(torch)
        if requires_grad:
            samples = operator.samples(torch, "float32", requires_grad=True)
        for sample in samples:
            with profiler.profile() as profile:
                _run(operator, sample, requires_grad)
            yield {event.name.removeprefix("aten::") for event in profile.events()}


def _run(operator: Operator, sample: Any, requires_grad: bool) -> None:
    try:
        result = call(operator, torch, sample)
    except (RuntimeError, TypeError, ValueError):  # in place, of a leaf
        return
    results = result if isinstance(result, (tuple, list)) else [result]
    for tensor in results:
        if requires_grad and isinstance(tensor, torch.Tensor) and tensor.requires_grad:
            tensor.backward(torch.ones_like(tensor), retain_graph=True)
