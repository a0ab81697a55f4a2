"""Views that say where they begin in memory, in front of a tensor and behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import torch_py as torch

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "read": lambda x: x.as_strided((2, 2), (1, 2), 0) + 1,
    "returned": lambda x: x.as_strided((3, 2), (6, 1), 10),
    "written": lambda x: x.as_strided((2, 2), (1, 2), 0).add_(1) * x.sum(),
    "written where a view of it begins": lambda x: x.view(-1).as_strided((3,), (2,)).add_(1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_views_around_an_argument(name: str) -> None:
    function = FUNCTIONS[name]
    compiled = torch.compile(function)
    with torch._dynamo.config.patch(suppress_errors=False):
        for row in (0, 1, 1):
            memory, expected = torch.arange(24.0).view(4, 6), torch.arange(24.0).view(4, 6)
            found = compiled(memory[row : row + 3])
            assert torch.equal(found, function(expected[row : row + 3]))
            assert torch.equal(memory, expected)


def test_views_beyond_the_memory_of_an_argument_are_refused() -> None:
    def behind(x: Any) -> Any:
        return x.as_strided((2,), (1,), 6) + 1

    compiled = torch.compile(behind)
    assert compiled(torch.arange(8.0)[:4]).tolist() == [7.0, 8.0]
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 28"):
        compiled(torch.arange(7.0)[:4])
