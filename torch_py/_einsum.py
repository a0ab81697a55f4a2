"""Einstein summation, two operands at a time, each pair by one batched matrix product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Dimensions under an ellipsis are named by characters that no equation contains.
_ELLIPSIS_NAMES = [chr(0x100 + index) for index in range(64)]


def contract(equation: str, operands: Sequence[Any]) -> Any:
    """Evaluates `equation` from left to right."""
    if not operands:
        raise RuntimeError("einsum: expected at least one operand, got none")
    inputs, output = _parse(equation, operands)
    sizes = _sizes(equation, inputs, operands)
    pending = [_diagonalised(tensor, names) for tensor, names in zip(operands, inputs)]
    tensor, names = pending.pop(0)
    while pending:
        other, other_names = pending.pop(0)
        kept = set(output).union(*(later_names for _, later_names in pending))
        tensor, names = _pair(tensor, names, other, other_names, kept, sizes)
    return _arranged(tensor, names, output, sizes)


def _parse(equation: str, operands: Sequence[Any]) -> tuple[list[str], str]:
    """The dimension names of each operand and of the output, ellipses replaced by names."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise RuntimeError(f"einsum: equation {equation!r} has {len(terms)} operands, got {len(operands)}")
    widths = []
    for term, tensor in zip(terms, operands):
        letters = len(term.replace("...", ""))
        hidden = tensor.dim() - letters
        if hidden < 0 or (hidden > 0 and "..." not in term):
            raise RuntimeError(f"einsum: subscripts {term!r} name {letters} dimensions, got an operand of shape {tuple(tensor.shape)}")
        widths.append(hidden)
    longest = max(widths)
    inputs = [term.replace("...", "".join(_ELLIPSIS_NAMES[longest - width : longest])) for term, width in zip(terms, widths)]
    everything = "".join(terms).replace("...", "")
    if not everything.isalpha() and everything:
        raise RuntimeError(f"einsum: expected subscripts to be letters in {equation!r}")
    hidden_names = "".join(_ELLIPSIS_NAMES[:longest])
    if not arrow:
        return inputs, hidden_names + "".join(sorted(letter for letter in set(everything) if everything.count(letter) == 1))
    output = right.replace("...", hidden_names)
    for letter in output:
        if output.count(letter) > 1 or not any(letter in names for names in inputs):
            raise RuntimeError(f"einsum: output subscript {letter!r} of {equation!r} must occur in an operand and only once in the output")
    return inputs, output


def _sizes(equation: str, inputs: list[str], operands: Sequence[Any]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for names, tensor in zip(inputs, operands):
        for name, size in zip(names, tensor.shape):
            if sizes.setdefault(name, size) in (size, 1):
                sizes[name] = size
            elif size != 1:
                raise RuntimeError(f"einsum: subscript {name!r} of {equation!r} has sizes {sizes[name]} and {size}")
    return sizes


def _diagonalised(tensor: Any, names: str) -> tuple[Any, str]:
    """Repeated names in one operand mean its diagonal."""
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            first, second = names.index(name), names.index(name, names.index(name) + 1)
            tensor = tensor.diagonal(0, first, second)  # the diagonal becomes the last dimension
            names = "".join(letter for position, letter in enumerate(names) if position not in (first, second)) + name
    return tensor, names


def _summed(tensor: Any, names: str, kept: set[str]) -> tuple[Any, str]:
    dropped = [position for position, name in enumerate(names) if name not in kept]
    return (tensor.sum(dropped) if dropped else tensor), "".join(name for name in names if name in kept)


def _grouped(tensor: Any, names: str, groups: Sequence[str], sizes: dict[str, int]) -> Any:
    """`tensor` with one dimension for each group of names."""
    ordered = tensor.permute([names.index(name) for group in groups for name in group])
    ordered = ordered.expand([sizes[name] for group in groups for name in group])
    return ordered.reshape([_product(sizes[name] for name in group) for group in groups])


def _product(sizes: Any) -> int:
    result = 1
    for size in sizes:
        result *= size
    return result


def _pair(a: Any, a_names: str, b: Any, b_names: str, kept: set[str], sizes: dict[str, int]) -> tuple[Any, str]:
    a, a_names = _summed(a, a_names, kept | set(b_names))
    b, b_names = _summed(b, b_names, kept | set(a_names))
    shared = [name for name in a_names if name in b_names]
    batch = "".join(name for name in shared if name in kept)
    inner = "".join(name for name in shared if name not in kept)
    rows = "".join(name for name in a_names if name not in shared)
    columns = "".join(name for name in b_names if name not in shared)
    product = _grouped(a, a_names, (batch, rows, inner), sizes).bmm(_grouped(b, b_names, (batch, inner, columns), sizes))
    names = batch + rows + columns
    return product.reshape([sizes[name] for name in names]), names


def _arranged(tensor: Any, names: str, output: str, sizes: dict[str, int]) -> Any:
    tensor, names = _summed(tensor, names, set(output))
    return tensor.permute([names.index(name) for name in output])
