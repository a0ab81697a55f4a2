"""Compares results of two forms of a call, of two libraries, or with a NumPy formula."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

# Relative and absolute tolerance by the dtype of the result: a few roundings of the result, or of terms near
# 1 whose sum it may be.
TOLERANCES: dict[str, tuple[float, float]] = {
    "float16": (2e-3, 1e-3),
    "complex32": (2e-3, 1e-3),
    "bfloat16": (1.6e-2, 4e-3),
    "float32": (2e-6, 1e-5),
    "float64": (1e-10, 1e-10),
    "complex64": (2e-6, 1e-5),
    "complex128": (1e-10, 1e-10),
}


def dtype_name(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.").removeprefix("torch_py.")


def to_numpy(tensor: Any) -> Any:
    """The elements as an array. NumPy lacks bfloat16, float8 and complex32, which become float32 and
    complex64."""
    tensor = tensor.detach()
    if tensor.is_complex() and hasattr(tensor, "resolve_conj"):
        tensor = tensor.resolve_conj()  # PyTorch conjugates lazily
    name = dtype_name(tensor)
    if name == "bfloat16" or name.startswith("float8"):
        tensor = tensor.float()
    return (tensor.cfloat() if name == "complex32" else tensor).numpy()


@dataclass
class Outcome:
    """The result of a call, or its exception."""

    result: Any = None
    error: Exception | None = None


def outcome(function: Callable[..., Any], *arguments: Any) -> Outcome:
    """The outcome of ``function(*arguments)``, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Outcome(result=function(*arguments))
        except Exception as error:
            return Outcome(error=error)


def assert_same(ours: Any, theirs: Any, context: str, values: bool = True, strides: bool = False) -> None:
    """Compares structure, shape and dtype; with ``values`` also values up to rounding, with ``strides`` also
    strides that matter."""
    if hasattr(theirs, "stride"):
        assert hasattr(ours, "stride"), f"{context}: expected a tensor, got {type(ours).__name__}"
        assert_same_tensors(ours, theirs, context, values, strides)
    elif isinstance(theirs, (list, tuple)):
        assert isinstance(ours, (list, tuple)) and len(ours) == len(theirs), (
            f"{context}: got {ours!r}, expected {len(theirs)} results"
        )
        for index, (first, second) in enumerate(zip(ours, theirs)):
            assert_same(first, second, f"{context}[{index}]", values, strides)
    else:
        assert type(ours) is type(theirs), f"{context}: got {ours!r}, expected {theirs!r}"
        if values:
            assert_close(np.asarray(ours), np.asarray(theirs), "float32", context)


def assert_same_tensors(ours: Any, theirs: Any, context: str, values: bool, strides: bool) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape), (
        f"{context}: shape {tuple(ours.shape)}, expected {tuple(theirs.shape)}"
    )
    assert dtype_name(ours) == dtype_name(theirs), (
        f"{context}: dtype {dtype_name(ours)}, expected {dtype_name(theirs)}"
    )

    if strides:
        found, expected = significant_strides(ours), significant_strides(theirs)
        assert found == expected, (
            f"{context}: strides {found} of shape {tuple(ours.shape)}, expected {expected}"
        )

    if values:
        assert_close(to_numpy(ours), to_numpy(theirs), dtype_name(theirs), context)


def significant_strides(tensor: Any) -> tuple[int, ...]:
    """The strides of dimensions with more than one element, in tensors with elements."""
    if tensor.numel() == 0:
        return ()
    return tuple(stride for stride, size in zip(tensor.stride(), tensor.shape) if size > 1)


def assert_close(ours: Any, theirs: Any, dtype: str, context: str) -> None:
    if np.array_equal(ours, theirs):
        return

    rtol, atol = TOLERANCES.get(dtype, (0.0, 0.0))
    if dtype not in TOLERANCES:
        close = ours == theirs
    else:
        with np.errstate(all="ignore"):
            close = np.isclose(ours, theirs, rtol=rtol, atol=atol, equal_nan=True)
            if np.iscomplexobj(theirs):  # the finite part of an infinite number is rounded as well
                close |= np.isclose(ours.real, theirs.real, rtol, atol, True) & np.isclose(
                    ours.imag, theirs.imag, rtol, atol, True
                )

    if not np.all(close):
        where = tuple(int(index) for index in np.argwhere(~np.asarray(close))[0])
        got, expected = np.asarray(ours)[where], np.asarray(theirs)[where]
        count = int(np.sum(~np.asarray(close)))
        raise AssertionError(
            f"{context}: {count} of {np.size(close)} elements differ; at {where} got {got!r}, expected "
            f"{expected!r}"
        )
