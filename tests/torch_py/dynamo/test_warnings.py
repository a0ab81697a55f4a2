"""Warnings of compiled programs: their places, filters, and how often they are shown."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import torch_py as torch

BACKENDS = ["eager", "inductor"]


def _inner(x: Any) -> Any:
    warnings.warn("of the caller", stacklevel=2)
    warnings.warn("of the caller's caller", stacklevel=3)
    return x + 1


def _program(x: Any) -> Any:
    y = x * 2
    warnings.warn("here", stacklevel=1)
    z = _inner(y)
    warnings.warn(DeprecationWarning("an object"), stacklevel=2)
    warnings.warn("of a kind", FutureWarning, stacklevel=1)
    return z + 1


def _shown(function: Callable[..., Any], calls: int, action: Any) -> list[Any]:
    globals().pop("__warningregistry__", None)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter(action)
        for _ in range(calls):
            function(torch.ones(2))
    return [(str(one.message), one.category, one.filename, one.lineno) for one in found]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("action", ["always", "default", "once"])
def test_places_of_warnings(action: Any, backend: str) -> None:
    compiled = torch.compile(_program, backend=backend)
    expected = _shown(_program, 3, action)
    _shown(compiled, 1, "ignore")  # a compilation changes filters for a while, and so forgets what was shown
    assert _shown(compiled, 3, action) == expected


@pytest.mark.parametrize("backend", BACKENDS)
def test_filters_of_modules(backend: str) -> None:
    compiled = torch.compile(_program, backend=backend)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", module=__name__)
        with pytest.raises(UserWarning, match="here"):
            compiled(torch.ones(2))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=__name__)
        compiled(torch.ones(2))
