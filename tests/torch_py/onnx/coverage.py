"""Exports every operator alone, on samples of its own, and runs the models with onnxruntime.

`python -m tests.torch_py.onnx.coverage` writes the tables in docs/onnx.md anew.
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch_py as torch
from tests.ops.calling import call, exists_in
from tests.ops.operators import ROOT, Operator, all_operators
from tests.ops.samples import SampleInput
from tests.torch_py.onnx.running import compare, results_of

SAMPLES = 5  # samples per operator; exports and sessions of onnxruntime take milliseconds
DTYPES = ("float32", "int64", "bool", "complex64")
OPSET = 21
SORTED = ("bucketize", "searchsorted")  # operators of which one tensor must be sorted
DOCUMENT = ROOT / "docs" / "onnx.md"
MARK = "<!-- What follows is written by python -m tests.torch_py.onnx.coverage -->\n"
HEADINGS = {"exported": "Exported", "partly": "Exported in part", "refused": "Refused"}


@dataclass
class Outcome:
    """What became of the samples of an operator."""

    exported: int = 0
    refusals: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)  # a wrong result, or another error than a refusal

    @property
    def status(self) -> str:
        """A key of HEADINGS; "" for an operator without samples."""
        if self.refusals:
            return "partly" if self.exported else "refused"
        return "exported" if self.exported else ""


# -- one operator ------------------------------------------------------------


def outcome_of(operator: Operator, dtypes: Sequence[str] = DTYPES, count: int = SAMPLES) -> Outcome:
    """Exports samples of an operator and compares the results with the operator's own."""
    outcome = Outcome()
    for sample in samples_of(operator, dtypes, count):
        model, tensors = as_model(operator, sample)
        if not _accepts(model, tensors):
            continue  # the sample needs tensors that are a part of their memory

        try:
            program = _exported(model, tensors)
        except (torch.onnx.errors.OnnxExporterError, torch.onnx.errors.TracerWarning) as error:
            outcome.refusals.append(_reason(error))
            continue
        except Exception as error:
            outcome.failures.append(f"{sample}: {type(error).__name__}: {error}")
            continue

        try:
            _compare(operator, program, model, tensors)
        except Exception as error:
            lacking = _lacking(error)
            (outcome.refusals if lacking else outcome.failures).append(lacking or f"{sample}: {error}")
        else:
            outcome.exported += 1
    return outcome


def _accepts(model: Any, tensors: list[torch.Tensor]) -> bool:
    try:
        results_of(model, [tensor.clone() for tensor in tensors])
    except (RuntimeError, ValueError, IndexError):
        return False
    return True


def _exported(model: Any, tensors: list[torch.Tensor]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", torch.onnx.errors.TracerWarning)
        return torch.onnx.export(model, tuple(tensors), opset_version=OPSET)


def _reason(error: Exception) -> str:
    """Why a sample was refused: the operator, if it is one that the program does not name, and the reason."""
    text = str(error).removeprefix("torch.onnx.export: ")
    text = re.sub(r' in [^"]*file ".*?", line \d+(, ".*",)?', "", text)
    text = re.sub(r"^\w+\(\) (reads .*);.*", r"\1, which a graph cannot", text)
    return re.sub(r"ONNX lacks the function .*", "ONNX lacks a function that defines it", text)


def _lacking(error: Exception) -> str:
    """What keeps a correct model from being run; "" for a wrong one."""
    text = str(error)
    if type(error).__name__ == "NotImplemented":
        kernel = text.partition("implementation for ")[2].partition("(")[0]
        return f"onnxruntime lacks {kernel} for the dtype"
    if " does not support " in text or " data type is not supported " in text:
        return "onnxruntime lacks the dtype"
    return "NumPy lacks bfloat16" if "No corresponding Numpy type" in text else ""


def samples_of(operator: Operator, dtypes: Sequence[str], count: int) -> Iterator[SampleInput]:
    """Samples of the first of the dtypes that has any, without NaN and empty tensors, which kernels of
    onnxruntime treat differently."""
    for dtype in dtypes:
        if not operator.takes(dtype):
            continue
        fitting = [sample for sample in operator.samples(torch, dtype) if _has_numbers(sample)]
        if dtype != "complex64":
            fitting = [sample for sample in fitting if "complex" not in str(sample)]
        if fitting:
            step = max(1, len(fitting) // count)
            yield from fitting[::step][:count]
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

    return model, [tensor.detach().clone() for tensor in sample.tensors()]


def _compare(operator: Operator, program: Any, model: Any, tensors: list[torch.Tensor]) -> None:
    if not operator.is_random and "empty" not in operator.base_name:
        compare(program, model, tensors)
        others = [
            tensor * 0.5 if tensor.is_floating_point() else tensor.flip(tuple(range(tensor.dim())))
            for tensor in tensors
        ]
        if operator.base_name not in SORTED and _accepts(
            model, others
        ):  # other numbers than those that were recorded
            compare(program, model, others)
        return

    # Of random numbers only the shape and the dtype are known.
    found = program(*tensors)
    wanted = results_of(model, tensors)
    assert [(t.shape, t.dtype) for t in found] == [(t.shape, t.dtype) for t in wanted]


def enrolled() -> list[Operator]:
    """The operators that programs can call."""
    return [
        operator
        for operator in all_operators()
        if operator.makes_tensors and operator.python_module != "private" and exists_in(operator, torch)
    ]


# -- the document ------------------------------------------------------------


def documented() -> dict[str, str]:
    """What the document says about each operator, as `Outcome.status`."""
    text = DOCUMENT.read_text().partition(MARK)[2]
    found = {}
    for status, heading in HEADINGS.items():
        section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
        listed = "".join(line for line in section.splitlines(True) if not line.startswith("|"))
        cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("|")]
        found |= dict.fromkeys(re.findall(r"`([^`]+)`", listed + " ".join(cells)), status)
    return found


def document(outcomes: Mapping[str, Outcome]) -> str:
    """The generated part of the document."""
    by_status: dict[str, list[str]] = defaultdict(list)
    for name, outcome in outcomes.items():
        by_status[outcome.status].append(name)

    counts = {status: len(by_status[status]) for status in HEADINGS}
    intro = (
        f"Of {sum(counts.values())} operators that programs can call, {counts['exported']} are exported "
        "with all\n"
        f"their samples, {counts['partly']} with some, and {counts['refused']} are refused (opset {OPSET}).\n"
    )
    exported = _wrapped(", ".join(f"`{name}`" for name in sorted(by_status["exported"])))
    return "\n".join(
        [
            MARK,
            intro,
            f"## {HEADINGS['exported']}\n",
            exported,
            f"## {HEADINGS['partly']}\n",
            *_table(by_status["partly"], outcomes),
            f"\n## {HEADINGS['refused']}\n",
            *_table(by_status["refused"], outcomes),
            "",
        ]
    )


def _wrapped(text: str) -> str:
    import textwrap

    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False) + "\n"


def _table(names: list[str], outcomes: Mapping[str, Outcome]) -> list[str]:
    """One row for each reason. In brackets is the operator that was refused, if the program
    called another one."""
    rows: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        reason = outcomes[name].refusals[0]
        found = re.match(r"the operator '(\w+)' (.*)", reason)
        refused, reason = found.groups() if found else ("", reason)
        is_named = not refused or name.partition(".")[0].rstrip("_") == refused
        rows[reason].append(f"`{name}`" if is_named else f"`{name}` ({refused})")

    lines = ["| operators | reason |", "|---|---|"]
    return lines + [f"| {', '.join(members)} | {reason} |" for reason, members in sorted(rows.items())]


def main() -> None:
    outcomes = {str(operator): outcome_of(operator) for operator in enrolled()}
    for name, outcome in outcomes.items():
        for failure in outcome.failures:
            print(f"{name}: {failure}")
    hand_written = DOCUMENT.read_text().partition(MARK)[0]
    DOCUMENT.write_text(hand_written + document(outcomes))


if __name__ == "__main__":
    main()
