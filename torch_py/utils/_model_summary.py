"""`model_summary`: a table of the layers of a model, their output shapes and numbers of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.utils._pytree import tree_leaves

if TYPE_CHECKING:
    from torch_py.nn.modules.module import Module

_HEADER = ("Layer (type)", "Output shape", "Parameters")


class _Row(NamedTuple):
    depth: int
    module: Any
    name: str
    shapes: list[tuple[int, ...]]


def _arguments(input_size: Any, input_data: Any, dtype: Any, device: Any) -> tuple[Any, ...]:
    """The arguments for the model: the given data, or zeros of the given sizes."""
    if (input_size is None) == (input_data is None):
        raise ValueError("model_summary: expected one of input_size and input_data")

    if input_data is not None:
        return tuple(input_data) if isinstance(input_data, (tuple, list)) else (input_data,)

    is_single = isinstance(input_size, Sequence) and all(isinstance(size, int) for size in input_size)
    sizes = [input_size] if is_single else input_size
    dtype = dtype or _C.get_default_dtype()
    if not all(isinstance(size, Sequence) for size in sizes):
        raise TypeError(
            f"model_summary: input_size must be a tuple of ints or a list of such tuples, got {input_size!r}"
        )
    return tuple(_torch.zeros(tuple(size), dtype=dtype, device=device) for size in sizes)


def _run(model: Any, arguments: tuple[Any, ...]) -> list[_Row]:
    """Runs the model and returns a row for each call of a module, in the order of the calls."""
    rows: list[_Row] = []
    open_rows: list[_Row] = []
    names = {module: name.rpartition(".")[2] for name, module in model.named_modules()}

    def before(module: Any, inputs: Any) -> None:
        row = _Row(len(open_rows), module, names[module], [])
        rows.append(row)
        open_rows.append(row)

    def after(module: Any, inputs: Any, output: Any) -> None:
        row = open_rows.pop()
        row.shapes.extend(tuple(leaf.shape) for leaf in tree_leaves(output) if isinstance(leaf, Tensor))

    handles = [
        handle
        for module in names
        for handle in (module.register_forward_pre_hook(before), module.register_forward_hook(after))
    ]

    was_training = {module: module.training for module in names}
    try:
        model.eval()  # so that statistics of batches do not change
        with no_grad():
            model(*arguments)
    finally:
        for handle in handles:
            handle.remove()
        for module, training in was_training.items():
            module.training = training

    return rows


def _own_parameters(module: Any) -> int:
    return sum(parameter.numel() for parameter in module.parameters(recurse=False))


def _cells(row: _Row, is_repeated: bool) -> tuple[str, str, str]:
    name = f"{row.name} ({type(row.module).__name__})" if row.name else type(row.module).__name__
    shape = ", ".join(str(list(shape)) for shape in row.shapes) or "-"
    count = _own_parameters(row.module)
    number = f"{count:,}" if count else "-"
    if is_repeated and count:
        number = "(shared)"
    return "  " * row.depth + name, shape, number


def model_summary(
    model: Module,
    input_size: Sequence[int] | Sequence[Sequence[int]] | None = None,
    *,
    input_data: Any = None,
    dtype: _C.dtype | None = None,
    device: str | _C.device | None = None,
) -> str:
    """A table, as text, of the layers that `model` runs through: name and type, output shapes, and number of
    the layer's own parameters.

    The model runs once, in evaluation mode and without gradients, on zeros of `input_size` (a tuple of ints
    with the batch dimension, or a list of tuples for several arguments, with `dtype` and `device`) or on
    `input_data` (an argument or a tuple of them). A layer that runs twice has two rows, and its parameters
    count once. Raises ValueError unless exactly one of both is given, and TypeError for sizes of another
    form.
    """
    rows = _run(model, _arguments(input_size, input_data, dtype, device))
    seen: set[Any] = set()
    cells = []
    for row in rows:
        cells.append(_cells(row, row.module in seen))
        seen.add(row.module)

    widths = [max(len(line[column]) for line in [_HEADER, *cells]) for column in range(3)]
    rule = "-" * (sum(widths) + 4)
    lines = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}" for a, b, c in [_HEADER, *cells]]

    parameters = list(model.parameters())
    total = sum(p.numel() for p in parameters)
    trained = sum(p.numel() for p in parameters if p.requires_grad)
    size = sum(p.numel() * p.element_size() for p in parameters)

    totals = [
        f"Parameters: {total:,}",
        f"Trainable: {trained:,}",
        f"Not trainable: {total - trained:,}",
        f"Size of parameters: {size / 2**20:.2f} MiB",
    ]
    return "\n".join([lines[0], rule, *lines[1:], rule, *totals])
