"""`torch.autograd.graph.allow_mutation_on_saved_tensors`: copies tensors that backward needs before the
program overwrites them."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from typing import Any

from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunction
from torch_py.autograd.grad_mode import no_grad
from torch_py.autograd.graph import saved_tensors_hooks
from torch_py.overrides import TorchFunctionMode


class _Saved:
    """One saved tensor. It shares the program's memory until a write makes it a copy."""

    __slots__ = ("__weakref__", "value")

    def __init__(self, value: Tensor) -> None:
        self.value: Tensor | None = value


class _AllowMutationOnSavedContext:
    """The object that `with allow_mutation_on_saved_tensors() as context` returns."""

    def __init__(self) -> None:
        self._by_memory: dict[int, weakref.WeakSet[_Saved]] = {}
        self._all: weakref.WeakSet[_Saved] = weakref.WeakSet()
        self.ended = False

    def clear(self) -> None:
        """Releases everything that was saved; backward then raises AssertionError."""
        for saved in list(self._all):
            saved.value = None
        self._by_memory.clear()

    def pack(self, tensor: Tensor) -> _Saved:
        """Saves a tensor."""
        saved = _Saved(tensor.detach())
        with DisableTorchFunction():
            self._by_memory.setdefault(_memory(tensor), weakref.WeakSet()).add(saved)
        self._all.add(saved)
        return saved

    def unpack(self, saved: _Saved) -> Tensor:
        """The saved tensor. Raises AssertionError outside of the block."""
        if saved.value is None or self.ended:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the "
                "graph was originally recorded."
            )
        return saved.value

    def before_write(self, tensor: object) -> None:
        """Copies the saved tensors that share memory with `tensor`."""
        if not isinstance(tensor, Tensor) or tensor.is_meta:
            return
        with DisableTorchFunction(), no_grad():
            for saved in self._by_memory.pop(_memory(tensor), ()):
                if saved.value is not None:
                    saved.value = saved.value.clone()


def _memory(tensor: Any) -> int:
    return int(tensor.untyped_storage()._cdata)


class _CopyBeforeWrites(TorchFunctionMode):
    def __init__(self, context: _AllowMutationOnSavedContext) -> None:
        super().__init__()
        self.context = context

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        is_in_place = (name.endswith("_") and not name.startswith("__")) or name == "__setitem__"
        if is_in_place or kwargs.get("inplace") is True:
            self.context.before_write(args[0] if args else kwargs.get("input"))

        out = kwargs.get("out")
        for tensor in out if isinstance(out, (tuple, list)) else (out,):
            self.context.before_write(tensor)

        return func(*args, **kwargs)


_inside = False


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """Allows the program to overwrite tensors that backward needs, inside the block; they are copied first.

    Backward must run inside the block too, otherwise it raises AssertionError. Writes by operators, methods,
    `out=` and `x[...] = y` are noticed; writes through NumPy or other libraries are not. Blocks cannot be
    nested.

    Example:
        >>> x = torch.tensor([2.0], requires_grad=True)
        >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
        ...     y = x.clone()
        ...     z = (y**2).sum()
        ...     _ = y.zero_()
        ...     z.backward()
        >>> x.grad
        tensor([4.])
    """
    global _inside
    if _inside:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")

    context = _AllowMutationOnSavedContext()
    _inside = True

    try:
        with saved_tensors_hooks(context.pack, context.unpack), _CopyBeforeWrites(context):
            yield context
    finally:
        _inside = False
        context.clear()
        context.ended = True
