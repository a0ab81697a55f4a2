"""What the CPU refuses is refused on the meta device: with the same error, and where the call is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import torch_py as torch

CALLS: dict[str, Callable[[Any], Any]] = {
    "a shape that does not broadcast": lambda make: make(3).copy_(make(4)),
    "a result of copy_ that would be larger": lambda make: make(1).copy_(make(4)),
    "a dtype without a loop": lambda make: torch.erf(make(3, dtype=torch.complex64)),
    "a dtype without a kernel": lambda make: torch.log_softmax(make(3, dtype=torch.int64), 0),
    "the mean of integers": lambda make: make(3, dtype=torch.int64).mean(),
    "a number that does not fit": lambda make: make(3, dtype=torch.int8).fill_(300),
    "a number next to an iterator": lambda make: make(3, dtype=torch.uint8).clamp_max(300),
    "a factor of another kind": lambda make: torch.add(make(3, dtype=torch.int64), 1, alpha=0.5),
    "an empty range": lambda make: make(3).random_(5, 2),
    "integers from a continuous distribution": lambda make: make(3, dtype=torch.int64).exponential_(),
    "probabilities that are integers": lambda make: make(3).bernoulli_(make(3, dtype=torch.int64)),
    "values of another dtype": lambda make: make(3).index_put_(
        (make(2, dtype=torch.int64),), make(2, dtype=torch.int64)
    ),
    "too many indices": lambda make: make(3).index_put_(
        (make(2, dtype=torch.int64), make(2, dtype=torch.int64)), make(2)
    ),
    "a dimension that does not exist": lambda make: make(3).scatter_(
        1, make(2, dtype=torch.int64), make(2), reduce="add"
    ),
    "an index larger than self": lambda make: make(2, 2).scatter_reduce(
        0, make(2, 3, dtype=torch.int64), make(2, 3), "sum"
    ),
    "a power of truth values": lambda make: make(3, dtype=torch.bool) ** make(3, dtype=torch.bool),
}


def error_of(call: Callable[[Any], Any], device: str) -> Exception | None:
    def make(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.zeros(sizes, dtype=dtype, device=device)

    try:
        call(make)
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_refusal(call: Callable[[Any], Any]) -> None:
    expected, found = error_of(call, "cpu"), error_of(call, "meta")
    assert expected is not None
    assert type(found) is type(expected), f"{found!r}, on the CPU {expected!r}"


def test_what_is_accepted_has_no_elements() -> None:
    """Kernels run on meta, too: they write nothing, and draw no random numbers."""
    state = torch.get_rng_state()
    drawn = torch.empty(3, device="meta").normal_().add_(torch.rand(3, device="meta"))
    assert drawn.device.type == "meta"
    assert torch.equal(torch.get_rng_state(), state)
