"""Masked tensors as text: elements that are masked out are ``--``."""

from __future__ import annotations

from typing import Any

from torch_py._tensor import Tensor

_WIDTH = 8


def text_of(data: Tensor, mask: Tensor) -> str:
    """All elements, in nested lists."""
    if data.dim() == 0:
        valid = bool(mask.item())
        return f"MaskedTensor({_element(data.item()) if valid else '--'}, {valid})"

    elements = [_element(value) for value in data.reshape(-1).tolist()]
    width = max([_WIDTH, *map(len, elements)])
    valid_ones = mask.reshape(-1).tolist()
    shown = [text if valid else "--".rjust(width) for text, valid in zip(elements, valid_ones)]
    return f"MaskedTensor(\n{_nested(shown, data.shape, indent=2)}\n)"


def _element(value: Any) -> str:
    return f"{value:{_WIDTH}.4f}" if isinstance(value, float) else str(value)


def _nested(elements: list[str], shape: Any, indent: int) -> str:
    """The elements as lists of the given shape, one row a line."""
    space = " " * indent
    if len(shape) == 1:
        return f"{space}[{', '.join(elements)}]"
    if shape[0] == 0:
        return f"{space}[]"

    size = len(elements) // shape[0]
    rows = [
        _nested(elements[row * size : (row + 1) * size], shape[1:], indent + 2) for row in range(shape[0])
    ]
    inside = ",\n".join(rows)
    return f"{space}[\n{inside}\n{space}]"
