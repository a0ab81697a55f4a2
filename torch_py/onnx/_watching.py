"""Watches the functions of torch that a program calls: their names, and the numbers that they read.

Note [Tensors as numbers]
`torch.full((2,), t)` and `x[t]` read the number in the tensor `t` before they call an operator, so the
recorder sees the number. Here it becomes the tensor again: the argument of the operator with this number, and
with the name of the argument that the program gave the tensor for, is recorded as the tensor. Without such an
argument the exported model keeps the number, and a warning says so.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from torch_py._tensor import Tensor
from torch_py.onnx._recording import Number, Recorder
from torch_py.onnx._whole import overloads
from torch_py.overrides import TorchFunctionMode
from torch_py.utils._pytree import tree_leaves

# Functions of torch that take numbers out of a tensor.
_READING = frozenset(
    (
        "__array__ __bool__ __complex__ __float__ __index__ __int__ allclose equal is_nonzero item numpy "
        "tolist"
    ).split()
)


class Watch(TorchFunctionMode):
    """Tells the recorder which function of torch runs, and which tensors it may take as numbers."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        recorder = self.recorder
        recorder.function = name = getattr(func, "__name__", "")
        if name in _READING and recorder.depends(list(args)):
            recorder.warn_of_reading(name)

        recorder.numbers = list(self._numbers(name, args, kwargs))
        before = len(recorder.calls)
        try:
            result = func(*args, **kwargs)
            made_something = len(recorder.calls) > before or not all(map(recorder.knows, tree_leaves(result)))
            if made_something and not all(number.is_found for number in recorder.numbers):
                recorder.warn_of_reading(name)
        finally:
            recorder.function = ""
            recorder.numbers = []
        return result

    def _numbers(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[Number]:
        """The tensors of one element among the arguments, if the element depends on an input."""
        for key, argument in (*enumerate(args), *kwargs.items()):
            names = _names(name, key)
            for own_names, leaf in _leaves(names, argument) if names is not None else ():
                is_number = isinstance(leaf, Tensor) and leaf.dim() == 0 and not leaf.requires_grad
                if is_number and self.recorder.depends([leaf]):
                    yield Number(leaf, leaf.item(), own_names)


@functools.cache
def _names(function: str, key: int | str) -> frozenset[str] | None:
    """The names that overloads of an operator have for an argument, by its position or a name, if they take
    numbers. None if all of them take tensors."""
    if function in ("__getitem__", "__setitem__"):
        return frozenset(("index",))
    meant = [
        argument
        for operator in overloads(function)
        for position, argument in enumerate(operator._schema.arguments)
        if key in (position, argument.name)
    ]
    names = frozenset(argument.name for argument in meant if not argument.type.startswith("Tensor"))
    return None if meant and not names else names


def _leaves(names: frozenset[str], tree: Any) -> Iterator[tuple[frozenset[str], Any]]:
    """The leaves of an argument, with the names that they may have."""
    if isinstance(tree, slice):
        for name, leaf in (("start", tree.start), ("end", tree.stop), ("step", tree.step)):
            yield frozenset((name,)), leaf
    elif isinstance(tree, (list, tuple)):
        for part in tree:
            yield from _leaves(names, part)
    else:
        yield names, tree
