"""`TorchDispatchMode`, and helpers for tensor subclasses with `__torch_dispatch__`.

Both receive the calls of operators below autograd, whoever makes them: the program, another operator, or
backward. Note [Boxed calls] in c10/dispatch/OperatorEntry.h tells how calls get there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from torch_py import _C
from torch_py._tensor import Tensor


class TorchDispatchMode:
    """Inside ``with mode:``, ``mode.__torch_dispatch__(func, types, args, kwargs)`` computes the results of
    every operator call of this thread.

    `func` is an OpOverload such as ``torch.ops.aten.add.Tensor``. `types` are the classes of arguments that
    define `__torch_dispatch__`. Operators that are made of others, such as ``torch.nn.functional.mse_loss``,
    are seen as what they call. While the mode handles a call, its own calls go to the mode around it.
    """

    supports_higher_order_operators = False
    ignore_compile_internals = False

    def __init__(self, _dispatch_key: Any = None) -> None:
        self._dispatch_key = _dispatch_key

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        _C._push_on_torch_dispatch_stack(self)
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        _C._pop_torch_dispatch_stack()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """Deprecated: enter an instance instead."""
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Whether the mode belongs to the machinery of compilers; not of those that programs write."""
        return False


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that calls every operator unchanged."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


# The stack of modes


def _get_current_dispatch_mode_stack() -> list[Any]:
    """The modes of this thread, the one entered first in front."""
    return [_C._get_dispatch_stack_at(i) for i in range(_C._len_torch_dispatch_stack())]


def _get_current_dispatch_mode() -> Any:
    """The mode entered last; None outside of all."""
    count = _C._len_torch_dispatch_stack()
    return _C._get_dispatch_stack_at(count - 1) if count else None


def _len_torch_dispatch_stack() -> int:
    count: int = _C._len_torch_dispatch_stack()
    return count


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Whether this thread is in a mode; those of compilers count unless `include_infra_modes` is False."""
    return any(include_infra_modes or not mode.is_infra_mode() for mode in _get_current_dispatch_mode_stack())


def is_in_any_mode_without_ignore_compile_internals() -> bool:
    return any(not mode.ignore_compile_internals for mode in _get_current_dispatch_mode_stack())


def _pop_mode() -> Any:
    return _C._pop_torch_dispatch_stack()


def _push_mode(mode: Any) -> None:
    _C._push_on_torch_dispatch_stack(mode)


def any_torch_dispatch_mode_on_stack() -> bool:
    """Whether this thread is in a mode."""
    return bool(_C._len_torch_dispatch_stack() > 0)


@contextlib.contextmanager
def _pop_mode_temporarily() -> Iterator[Any]:
    """Leaves the mode entered last for a while. Raises AssertionError outside of all."""
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


@contextlib.contextmanager
def _disable_current_modes() -> Iterator[list[Any]]:
    """Leaves all modes of this thread for a while."""
    modes = _get_current_dispatch_mode_stack()
    for _ in modes:
        _pop_mode()
    try:
        yield modes
    finally:
        for mode in modes:
            _push_mode(mode)


# Types that consist of other tensors


class TensorWithFlatten(Protocol):
    """What a tensor needs to be taken apart and put together."""

    def __tensor_flatten__(self) -> tuple[Sequence[str], Any]:
        """The names of the attributes that are tensors, and all else that the tensor consists of."""

    @staticmethod
    def __tensor_unflatten__(inner: Any, context: Any, outer_size: Any, outer_stride: Any) -> Any:
        """The tensor with the given attributes."""


TraceableWrapperSubclass = TensorWithFlatten


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether `t` is a tensor that `__tensor_flatten__` takes apart
    and `__tensor_unflatten__` puts together."""
    return isinstance(t, Tensor) and type(t) is not Tensor and is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Whether `t` is such a class of tensors."""
    return (
        issubclass(t, Tensor)
        and t is not Tensor
        and hasattr(t, "__tensor_flatten__")
        and hasattr(t, "__tensor_unflatten__")
    )


def transform_subclass(t: Any, callback: Any, outer_size: Any = None, outer_stride: Any = None) -> Any:
    """`t` with its inner tensors replaced by `callback(name, tensor)`."""
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    size = t.size() if outer_size is None else outer_size
    return type(t).__tensor_unflatten__(
        inner, context, size, t.stride() if outer_stride is None else outer_stride
    )


class AliasInfo(NamedTuple):
    """What the schema says about the memory of an argument, or of a result, whose name is None."""

    alias_set: set[str]
    is_write: bool
    name: str | None


class SchemaInfo(NamedTuple):
    """What the schema of an operator says about memory.

    `outs_write_aliases` are the letters of results that are written arguments, None if not all are.
    `read_only_alias_match_indexes` are pairs of an argument and a result that shares its memory.
    """

    args: list[AliasInfo]
    outs: list[AliasInfo]
    is_inplace_view_op: bool
    outs_write_aliases: list[str] | None
    read_only_alias_match_indexes: list[tuple[int, int]]


def get_alias_info(func: Any) -> SchemaInfo:
    """Which arguments an operator writes to, and which results share their memory."""

    def described(value: Any, name: str | None) -> AliasInfo:
        found = value.alias_info
        letters = set() if found is None else set(found.before_set)
        return AliasInfo(letters, found is not None and found.is_write, name)

    args = [described(argument, argument.name) for argument in func._schema.arguments]
    outs = [described(result, None) for result in func._schema.returns]
    written = [next(iter(out.alias_set)) for out in outs if out.is_write and out.alias_set]
    matches = [
        (i, j)
        for i, argument in enumerate(args)
        for j, out in enumerate(outs)
        if not out.is_write and argument.alias_set & out.alias_set
    ]
    all_written = bool(outs) and len(written) == len(outs)
    return SchemaInfo(args, outs, "inplace_view" in func.tags, written if all_written else None, matches)


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """`out`, or the very argument that the schema of `func` says is returned: what an operator in place, or
    with ``out=``, returns is the tensor that it writes to.
    """
    schema = func._schema
    given = dict(zip((argument.name for argument in schema.arguments), args)) | (kwargs or {})
    written = {
        name: given[argument.name]
        for argument in schema.arguments
        if argument.is_write and argument.name in given
        for name in argument.alias_info.before_set
    }

    def corrected(result: Any, value: Any) -> Any:
        if result.alias_info is None:
            return value
        return next((written[name] for name in result.alias_info.before_set if name in written), value)

    if len(schema.returns) == 1:
        return corrected(schema.returns[0], out)
    if not schema.returns:
        return out
    return type(out)(corrected(result, value) for result, value in zip(schema.returns, out))
