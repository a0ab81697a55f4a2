"""Every operator with an ONNX mapping, exported alone and run by onnxruntime over its samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.ops.calling import function_of
from tests.ops.operators import Operator, all_operators
from tests.ops.samples import SampleInput
from tests.subject import WITH_PEER

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
if WITH_PEER:
    pytest.skip("looks into torch_py's mappings", allow_module_level=True)

import torch_py as torch  # noqa: E402
from tests.torch_py.onnx.running import compare  # noqa: E402
from torch_py.onnx._decompositions import DECOMPOSITIONS  # noqa: E402
from torch_py.onnx._registry import MAPPINGS  # noqa: E402

SAMPLES = 5  # samples per operator; exports and sessions of onnxruntime take milliseconds
# Random results, or dtypes that NumPy lacks.
NOT_COMPARABLE = {"empty", "empty_like", "new_empty", "bfloat16"}
# Overloads without an ONNX equivalent, which raise UnsupportedOperatorError for every sample.
UNSUPPORTED = {
    "where",
    "view.dtype",
    "atleast_1d.Sequence",
    "atleast_2d.Sequence",
    "atleast_3d.Sequence",
    "repeat_interleave.Tensor",
    "repeat_interleave.self_Tensor",
    "view_copy.dtype",
}
OPSETS = {"grid_sampler_3d": 20, "grid_sampler": 20}


def _function(operator: Operator) -> Any:
    return function_of(operator, torch) or getattr(torch.Tensor, operator.base_name, None)


def _is_mapped(operator: Operator) -> bool:
    name = operator.base_name
    is_known = name in MAPPINGS or name in DECOMPOSITIONS
    is_plain = not (
        operator.is_random or operator.is_mutation or name.startswith("_") or name in NOT_COMPARABLE
    )
    return is_known and is_plain and _function(operator) is not None


ENROLLED = [operator for operator in all_operators() if _is_mapped(operator)]


def _has_numbers(sample: SampleInput) -> bool:
    """Whether tensors are non-empty and without NaN, which kernels of onnxruntime treat differently."""
    return all(
        t.numel() > 0 and not (t.is_floating_point() and bool(torch.isnan(t).any())) for t in sample.tensors()
    )


def _samples(operator: Operator) -> Iterator[SampleInput]:
    for dtype in ("float32", "int64", "bool"):
        if not operator.takes(dtype):
            continue

        fitting = [
            s
            for s in operator.samples(torch, dtype)
            if _has_numbers(s) and "bfloat16" not in str(s) and "complex" not in str(s)
        ]

        if fitting:
            step = max(1, len(fitting) // SAMPLES)
            yield from fitting[::step][:SAMPLES]
            return


def _call(operator: Operator, sample: SampleInput) -> tuple[Any, list[torch.Tensor]]:
    """The call as a module of its tensors, and the tensors."""
    function = _function(operator)

    def model(*tensors: torch.Tensor) -> Any:
        remaining = iter(tensors)
        made = sample.map(lambda tensor: next(remaining))
        return function(*made.positional, **made.kwargs)

    return model, [tensor.detach() for tensor in sample.tensors()]


@pytest.mark.parametrize("operator", ENROLLED, ids=str)
def test_operator_in_onnxruntime(operator: Operator):
    exported = refused = 0
    for sample in _samples(operator):
        model, tensors = _call(operator, sample)
        try:
            program = torch.onnx.export(model, tuple(tensors), opset_version=OPSETS.get(operator.base_name))
        except torch.onnx.errors.UnsupportedOperatorError:
            refused += 1
            continue
        compare(program, model, tensors)
        exported += 1

    if str(operator) in UNSUPPORTED:
        assert refused and not exported
    else:
        assert exported, f"nothing of {operator} could be exported"


def test_mappings_are_of_operators():
    """Every mapped name belongs to an operator; any other would never be used."""

    names = (
        {operator.base_name for operator in all_operators()}
        | {name for name in dir(torch.Tensor)}
        | set(dir(torch._C._torch))
    )

    written = {"__getitem__", "__setitem__", "copy", "fill", "zero"}
    own = {name for name in (*MAPPINGS, *DECOMPOSITIONS) if not name.startswith("_")} - written
    modules = [torch._C._nn, torch._C._special, torch._C._linalg]

    unknown = sorted(
        name
        for name in own
        if name not in names
        and not any(hasattr(module, name) or hasattr(module, name.partition("_")[2]) for module in modules)
    )

    assert not unknown
