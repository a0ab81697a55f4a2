"""Runs the samples of every operator on the device of a package, and compares with the CPU.

    python -m tests.ops.on_backend walled

The memory of examples/backend_walled is out of the host's reach: code that forgets to ask the device ends the
process. Prints a line for each difference, and at last how many operators ran.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator

from tests.ops.calling import call, tensors_of
from tests.ops.comparison import assert_same, outcome
from tests.ops.known_differences import SHARED_MEMORY
from tests.ops.operators import Operator, all_operators
from tests.ops.samples import SampleInput
from tests.subject import torch

SAMPLES = 3
# Why results differ where the tensors are on a device.
EXPECTED = {
    "to.device": "moves to the CPU",
    "to.dtype_layout": "moves to the CPU",
    **SHARED_MEMORY,
    "tensor_split.tensor_indices_or_sections": "reads a tensor of the CPU, as PyTorch does",
    "_pack_padded_sequence": "reads a tensor of the CPU, as PyTorch does",
    "_pad_packed_sequence": "reads a tensor of the CPU, as PyTorch does",
}


def main(device: str) -> int:
    importlib.import_module(device)
    tested = 0
    found = []
    for operator in all_operators():
        if operator.is_random or operator.row["is_factory"] or str(operator) in EXPECTED:
            continue
        print(operator, file=sys.stderr, flush=True)  # the last one, if the process ends here
        found += list(differences(operator, device))
        tested += 1

    print("\n".join(found))
    print(f"{tested} operators, {len(found)} differences")
    return 1 if found else 0


def differences(operator: Operator, device: str) -> Iterator[str]:
    for dtype in ("float32", "complex64", "int64"):
        for sample in operator.samples(torch, dtype)[:SAMPLES] if operator.takes(dtype) else ():
            problem = difference(operator, sample, device)
            if problem:
                yield f"{operator}{sample}: {problem}"


def difference(operator: Operator, sample: SampleInput, device: str) -> str:
    """What differs; empty if nothing does."""
    moved = sample.map(lambda tensor: tensor.to(device))
    kept = sample.map(lambda tensor: tensor.clone())  # a tensor that is there twice is two, as on the device
    found = outcome(call, operator, torch, moved)
    expected = outcome(call, operator, torch, kept)
    if (found.error is None) != (expected.error is None):
        return f"{found.error!r}, on the CPU {expected.error!r}"
    if found.error is not None:
        return ""

    try:
        for got, wanted in zip(tensors_of(found.result), tensors_of(expected.result), strict=True):
            assert got.device.type == device, f"a result is on {got.device}"
            assert_same(got.cpu(), wanted, str(operator))
        for got, wanted in zip(moved.tensors(), kept.tensors(), strict=True):
            assert_same(got.cpu(), wanted, f"the arguments of {operator}")
    except AssertionError as problem:
        return str(problem)
    return ""


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(sys.argv[1]))
