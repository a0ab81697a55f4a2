"""Exports every operator alone, on samples of its own, and runs the models with onnxruntime.

`python -m tests.torch_py.onnx.coverage` writes the table in docs/onnx.md anew.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch_py as torch
from tests.ops.calling import call, exists_in
from tests.ops.operators import ROOT, Operator, all_operators
from tests.ops.samples import SampleInput
from tests.torch_py.onnx.running import compare

SAMPLES = 5  # samples per operator; exports and sessions of onnxruntime take milliseconds
OPSET = 21
DOCUMENT = ROOT / "docs" / "onnx.md"
START = "<!-- operators: written by python -m tests.torch_py.onnx.coverage -->"
# Refusals that are about the sample, not about the operator.
_ERRORS = (torch.onnx.errors.OnnxExporterError,)


@dataclass
class Outcome:
    """What became of the samples of an operator."""

    exported: int = 0
    refusals: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)  # a wrong result, or another error than a refusal

    @property
    def reason(self) -> str:
        """Why samples were refused, without the place of the call."""
        return self.refusals[0] if self.refusals else ""


def outcome_of(operator: Operator) -> Outcome:
    """Exports the samples of an operator and compares the results with the operator's own."""
    outcome = Outcome()
    for sample in samples_of(operator):
        model, tensors = as_model(operator, sample)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                program = torch.onnx.export(model, tuple(tensors), opset_version=OPSET)
        except _ERRORS as error:
            outcome.refusals.append(_reason(error))
            continue

        try:
            _compare(operator, program, model, tensors)
        except Exception as error:
            if type(error).__name__ == "NotImplemented":  # a kernel that onnxruntime lacks for a dtype
                outcome.refusals.append(f"onnxruntime lacks {_lacking(error)}")
            else:
                outcome.failures.append(f"{sample}: {type(error).__name__}: {error}")
        else:
            outcome.exported += 1
    return outcome


def _reason(error: Exception) -> str:
    text = str(error).removeprefix("torch.onnx.export: ")
    if isinstance(error, torch.onnx.errors.UnsupportedOperatorError):
        reason = text[text.rindex(',", ') + 4 :] if ',", ' in text else text
        place = text.find('", ')
        reason = text[text.rfind('", ') + 3 :] if place >= 0 else text
        return f"`{error.operator}` {reason.removeprefix(', ')}"
    return text


def _lacking(error: Exception) -> str:
    text = str(error)
    return "a kernel for " + text[text.find("implementation for ") + 19 :].partition(" node")[0].split("(")[0]


def samples_of(operator: Operator) -> Iterator[SampleInput]:
    """Samples of the first dtype that has any, without NaN and empty tensors, which kernels of onnxruntime
    treat differently."""
    for dtype in ("float32", "int64", "bool", "complex64"):
        if not operator.takes(dtype):
            continue
        fitting = [sample for sample in operator.samples(torch, dtype) if _has_numbers(sample)]
        if dtype != "complex64":
            fitting = [sample for sample in fitting if "complex" not in str(sample)]
        if fitting:
            step = max(1, len(fitting) // SAMPLES)
            yield from fitting[::step][:SAMPLES]
            return


def _has_numbers(sample: SampleInput) -> bool:
    return "bfloat16" not in str(sample) and all(
        t.numel() > 0 and not (t.is_floating_point() and bool(torch.isnan(t).any())) for t in sample.tensors()
    )


def as_model(operator: Operator, sample: SampleInput) -> tuple[Any, list[torch.Tensor]]:
    """The call as a function of its tensors, and the tensors."""

    def model(*tensors: torch.Tensor) -> Any:
        remaining = iter(tensors)
        result = call(operator, torch, sample.map(lambda tensor: next(remaining)))
        return tensors if result is None else result

    return model, [tensor.detach() for tensor in sample.tensors()]


def _compare(operator: Operator, program: Any, model: Any, tensors: list[torch.Tensor]) -> None:
    if not operator.is_random and "empty" not in operator.base_name:
        compare(program, model, tensors)
        return

    # Of random numbers only the shape and the dtype are known.
    found = program(*tensors)
    wanted = torch.utils._pytree.tree_leaves(model(*tensors))
    assert [(t.shape, t.dtype) for t in found] == [(t.shape, t.dtype) for t in wanted]


def enrolled() -> list[Operator]:
    """The operators that programs can call."""
    return [
        operator
        for operator in all_operators()
        if operator.makes_tensors and operator.python_module != "private" and exists_in(operator, torch)
    ]
