"""Jacobians of a function of tensors, by central differences and by the recorded derivatives.

Note [Complex numbers as pairs]: a complex element counts as two real ones, its real and its imaginary part.
For an output weight v, the recorded derivative is that of Re(conj(v) * output), returned as d/dRe + i d/dIm
of the input. The weights 1 and i therefore give the rows of the real and of the imaginary part, and one
comparison of real matrices covers every combination of real and complex.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch_py import _C
from torch_py import func as transforms
from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.autograd import _as_tuple, grad
from torch_py.autograd.grad_mode import no_grad

Outputs = Callable[[], tuple[Any, ...]]


def real_parts(tensor: Tensor) -> Any:
    """The elements as a float64 vector; complex elements become pairs."""
    flat = tensor.detach().reshape(-1)
    if flat.is_complex():
        flat = _torch.stack([flat.real, flat.imag], 1).reshape(-1)
    return flat.to(_C.float64)


def real_size(tensor: Tensor) -> int:
    """The number of elements, with complex ones counted twice."""
    return int(tensor.numel()) * (2 if tensor.is_complex() else 1)


def _directions(tensor: Tensor) -> Iterator[tuple[tuple[int, ...], complex]]:
    """The index of every element with each step that it can take, in the order of `real_parts`."""
    for index in itertools.product(*(range(size) for size in tensor.shape)):
        yield index, 1.0
        if tensor.is_complex():
            yield index, 1.0j


def numerical(outputs: Outputs, source: Tensor, count: int, eps: float) -> list[Any]:
    """The Jacobian of each of the `count` outputs by central differences: a matrix with one row per element
    of `source` and one column per element of the output."""
    rows: list[list[Any]] = [[] for _ in range(count)]
    data: Any = source.data  # the caller's own memory, so that closures over the tensor see the steps
    with no_grad():
        for index, step in _directions(data):
            original = data[index].item()

            def move(
                delta: float, index: Any = index, original: Any = original, step: complex = step
            ) -> None:
                _set(data, index, original + delta * step)

            difference = _difference(outputs, move, eps)
            _set(data, index, original)
            for row, column in zip(rows, difference):
                row.append(column)

    return [_torch.stack(row) if row else None for row in rows]


def _set(data: Any, index: tuple[int, ...], value: complex) -> None:
    data[index] = value if data.is_complex() else value.real


def _difference(outputs: Outputs, move: Callable[[float], None], eps: float) -> list[Any]:
    """(f(x + eps) - f(x - eps)) / (2 eps), a vector of real numbers for each output."""
    move(eps)
    ahead = [real_parts(output).clone() for output in outputs()]
    move(-eps)
    behind = [real_parts(output) for output in outputs()]
    return [(high - low) / (2 * eps) for high, low in zip(ahead, behind)]


def analytical(output: Tensor, sources: Sequence[Tensor]) -> list[tuple[Any, list[Any]]]:
    """For each source the matrix described in `numerical`, by recorded
    derivatives, and the gradients that it consists of."""
    columns: list[list[Any]] = [[] for _ in sources]
    gradients: list[list[Any]] = [[] for _ in sources]
    weight = _torch.zeros_like(output, requires_grad=False)

    for index, step in _directions(output):
        weight.zero_()
        _set(weight, index, step)
        found = grad(output, sources, weight.clone(), retain_graph=True, allow_unused=True)
        for column, kept, source, gradient in zip(columns, gradients, sources, found):
            kept.append(gradient)
            column.append(_column(gradient, source))

    return [(_torch.stack(column, 1) if column else None, kept) for column, kept in zip(columns, gradients)]


def _column(gradient: Any, source: Any) -> Any:
    if gradient is None:
        return _torch.zeros(real_size(source), dtype=_C.float64, device=source.device)
    if gradient.is_complex() and not source.is_complex():
        gradient = gradient.real
    elif source.is_complex() and not gradient.is_complex():
        gradient = gradient.to(source.dtype)
    return real_parts(gradient)


def random_direction(tensor: Tensor) -> Any:
    """A unit vector over the real parts of `tensor`, in its shape and dtype."""
    direction = _torch.randn(tuple(tensor.shape), dtype=tensor.dtype, device=tensor.device)
    length = real_parts(direction).pow(2).sum().sqrt().item()
    return direction / length if length else direction


def numerical_along(outputs: Outputs, source: Tensor, direction: Tensor, eps: float) -> list[Any]:
    """The derivatives of all outputs as `source` moves along `direction`, as vectors of real numbers."""
    data: Any = source.data
    original = data.clone()
    with no_grad():
        difference = _difference(outputs, lambda delta: data.copy_(original + delta * direction), eps)
        data.copy_(original)
    return difference


def tangents(
    func: Callable[..., Any],
    arguments: Sequence[Any],
    position: int,
    directions: Sequence[Tensor],
    batched: bool = False,
) -> list[Any]:
    """For each direction of argument `position`, the tangents of the outputs of `func` in forward mode;
    outputs without a gradient are left out.

    `batched` computes all directions at once with vmap.
    """

    def of_source(value: Any) -> Any:
        found = _as_tuple(func(*arguments[:position], value, *arguments[position + 1 :]))
        return tuple(
            item
            for item in found
            if isinstance(item, _C.TensorBase) and (item.is_floating_point() or item.is_complex())
        )

    def moved(direction: Any) -> Any:
        return transforms.jvp(of_source, (arguments[position],), (direction,))[1]

    if not batched:
        return [moved(direction) for direction in directions]

    columns = transforms.vmap(moved)(_torch.stack(list(directions)))
    return [tuple(column[row] for column in columns) for row in range(len(directions))]


def basis(source: Tensor) -> list[Any]:
    """One direction for each real number in `source`."""
    found = []
    for index, step in _directions(source):
        direction = _torch.zeros_like(source, requires_grad=False)
        _set(direction, index, step)
        found.append(direction)
    return found
