"""Forward and backward of every operator take a time that grows like the number of elements.

A dimension of a sample becomes 4,000 and then 8,000 long. What is quick at 4,000 passes; the rest must not
take much more than twice as long for twice the elements. Times are the shortest of several, and a failure is
measured again, so that other work on the machine does not matter.
"""

from __future__ import annotations

import math
import time
from typing import Any

import pytest

from tests.ops.calling import call, tensors_of
from tests.ops.comparison import outcome
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import SampleInput
from tests.subject import WITH_PEER, torch

pytestmark = pytest.mark.skipif(WITH_PEER, reason="the times of PyTorch are its own")

_SIZE = 4000
_QUICK = 0.05  # seconds, in which a quadratic loop over 4,000 elements of a few operations does not end
_MOST_ELEMENTS = 500_000
_ATTEMPTS = 4
_FACTORISATIONS = frozenset(
    """
    cholesky cholesky_inverse cholesky_solve det geqrf inverse logdet lu_solve lu_unpack matrix_exp
    matrix_power
    nuclear_norm nuclear_norm.dim orgqr ormqr pinverse qr slogdet svd triangular_solve
    """.split()
)
_LAYERS = ("gru", "lstm", "rnn_tanh", "rnn_relu", "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
_BY_DEFINITION = {
    "cdist": "a distance of every pair",
    "_cdist_forward": "a distance of every pair",
    "histogramdd": "a bin of every combination",
}


def enlarged(sample: SampleInput, size: int, to: int) -> SampleInput:
    """The sample with every dimension of one size made longer by repetition."""

    def longer(tensor: Any) -> Any:
        for dim, length in enumerate(tuple(tensor.shape)):
            if length == size:
                places = torch.arange(to) % size
                tensor = torch.index_select(tensor, dim, places)
        if not (tensor.is_floating_point() or tensor.is_complex()):
            return tensor
        # Zeros and equal elements are where formulas take other ways.
        tensor = tensor.detach().clone()
        tensor.reshape(-1)[::7] = 0
        return tensor.requires_grad_()

    return sample.map(longer)


def elements(tensors: list[Any]) -> int:
    return sum(tensor.numel() for tensor in tensors)


def seconds(operator: Operator, sample: SampleInput) -> tuple[float, int] | None:
    """The time of forward and backward, and the number of elements; None for arguments that do not fit."""
    start = time.perf_counter()
    done = outcome(call, operator, torch, sample)
    if done.error is not None:
        return None

    results = tensors_of(done.result)
    kept = [result for result in results if result.requires_grad]
    inputs = [tensor for tensor in sample.tensors() if tensor.requires_grad]
    if kept and inputs:
        weights = [torch.ones_like(result) for result in kept]
        outcome(lambda: torch.autograd.grad(kept, inputs, weights, allow_unused=True))
    return time.perf_counter() - start, elements([*sample.tensors(), *results])


def sizes_of(sample: SampleInput) -> list[int]:
    return sorted({length for tensor in sample.tensors() for length in tensor.shape if length > 1})


def fits(operator: Operator, sample: SampleInput, size: int) -> bool:
    """Whether the call with the longest dimension stays small, judged by two short ones."""
    found = [seconds(operator, enlarged(sample, size, to)) for to in (_SIZE // 40, _SIZE // 20)]
    if found[0] is None or found[1] is None:
        return False
    factor = found[1][1] / max(found[0][1], 1)
    return found[1][1] * factor ** math.log2(40) < _MOST_ELEMENTS


def growth(operator: Operator, sample: SampleInput, size: int) -> str | None:
    """What is wrong with the times of a sample, if it is."""
    short = enlarged(sample, size, _SIZE)
    first = seconds(operator, short)
    if first is None or first[0] < _QUICK:
        return None

    text = ""
    long = enlarged(sample, size, 2 * _SIZE)
    for _ in range(_ATTEMPTS):
        times = [seconds(operator, short) for _ in range(3)]
        longer = [seconds(operator, long) for _ in range(3)]
        if None in times or None in longer:
            return None

        once = min(found[0] for found in times if found is not None)
        twice = min(found[0] for found in longer if found is not None)
        more = longer[0][1] / times[0][1]  # type: ignore[index]
        if once < _QUICK or twice < 1.6 * more * once:
            return None
        text = f"{once:.3f} s, and {twice:.3f} s for {more:.1f} times the elements"
    return text


def is_measured(operator: Operator) -> bool:
    """Layers are left out: a convolution or recurrence over thousands of positions takes seconds."""
    is_layer = operator.python_module == "nn" or "conv" in str(operator) or operator.samples_name in _LAYERS
    return operator.makes_tensors and operator.called is None and not is_layer


@enrolled(is_measured)
def test_time_grows_like_the_number_of_elements(operator: Operator):
    if str(operator) in _BY_DEFINITION:
        pytest.skip(_BY_DEFINITION[str(operator)])
    if operator.python_module == "linalg" or str(operator) in _FACTORISATIONS:
        pytest.skip("factorisations of matrices are cubic")
    if operator.is_mutation or not operator.takes("float32"):
        pytest.skip("its function is another entry, or it takes no floating tensors")

    for sample in operator.samples(torch, "float32")[:2]:
        for size in sizes_of(sample)[-1:]:
            if fits(operator, sample, size):
                found = growth(operator, sample, size)
                assert found is None, f"{operator}{sample} with {size} made {_SIZE}: {found}"
