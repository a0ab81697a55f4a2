"""The operators that programs have declared: by name, with their kernels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from torch_py import _C
from torch_py._custom_ops.kernels import Kernels
from torch_py._ops import OpOverload, OpOverloadPacket, find_operator, forget_packet
from torch_py._tags import Tag

_QUALIFIED = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*(\.\w+)?")

_kernels: dict[OpOverload, Kernels] = {}


def declare(schema: str, tags: Tag | Iterable[Tag] = ()) -> OpOverload:
    """Declares the operator of a schema, "namespace::name(Tensor x) -> Tensor".

    Raises ValueError for a schema that cannot be read, and RuntimeError for unknown types and if there is an
    operator of the same name.
    """
    name = schema.partition("(")[0].strip()
    if not _QUALIFIED.fullmatch(name):
        raise ValueError(f"expected a schema such as 'namespace::name(Tensor x) -> Tensor', got {schema!r}")
    if name.partition("::")[0] in ("aten", "prim", "prims"):
        raise NotImplementedError(
            f"torch.library: operators of torch_py come from native_functions.yaml; {name!r} cannot be "
            "declared from Python"
        )

    words = (tags,) if isinstance(tags, Tag) else tags
    operator: OpOverload = _C._declare_operator(schema, " ".join(tag.name for tag in words))
    forget_packet(operator.namespace, operator._opname)
    _kernels[operator] = Kernels(operator)
    return operator


def forget(operator: OpOverload) -> None:
    """Removes the declaration, so that the name is free again."""
    if _kernels.pop(operator, None) is not None:
        _C._forget_operator(operator)
        forget_packet(operator.namespace, operator._opname)


def find(name: str) -> OpOverload:
    """The operator `name`, "namespace::name.overload".

    Raises NotImplementedError for torch_py's own operators and RuntimeError for an unknown name.
    """
    found = find_operator(name.removesuffix(".default"))
    if found is not None and found in _kernels:
        return found
    if name.startswith("aten::"):
        raise NotImplementedError(
            f"torch.library: torch_py's own operator {name!r} has its rules; "
            'Library("aten", "IMPL").impl puts a function in the place of one of its kernels'
        )
    raise RuntimeError(f"operator {name} does not exist")


def kernels_of(operator: OpOverload) -> Kernels:
    return _kernels[operator]


def is_declared_in_python(operator: OpOverload) -> bool:
    return operator in _kernels


def operator_of(op: Any, function: str) -> OpOverload:
    """The operator for a name, an overload, or what `custom_op` returned.

    Raises ValueError for other objects, naming the `function` of torch.library that got it.
    """
    op = getattr(op, "_opoverload", op)
    if isinstance(op, OpOverload):
        return find(op.name())
    if isinstance(op, str):
        return find(op)
    raise _not_an_operator(op, function)


def any_operator_of(op: Any, function: str) -> OpOverload:
    """As `operator_of`, also for operators of torch_py itself and of packages."""
    op = getattr(op, "_opoverload", op)
    if isinstance(op, OpOverload):
        return op

    if isinstance(op, OpOverloadPacket):
        names = op.overloads()
        if len(names) == 1:
            found: OpOverload = getattr(op, names[0])
            return found
        raise ValueError(
            f"torch.library.{function}({op}): the operator has several overloads; pass one of "
            + ", ".join(f"{op}.{name}" for name in names)
        )
    if isinstance(op, str):
        known = find_operator(op.removesuffix(".default").removeprefix("aten::"))
        return find(op) if known is None else known
    raise _not_an_operator(op, function)


def _not_an_operator(op: Any, function: str) -> ValueError:
    return ValueError(
        f"torch.library.{function}({op}): got unexpected type for op: {type(op)}; expected the name of an "
        "operator, an OpOverload or a CustomOpDef"
    )


def register(
    operator: OpOverload, keys: Iterable[str], function: Callable[..., Any], takes_keys: bool = False
) -> list[Callable[[], None]]:
    """Registers a function for dispatch keys; returns what takes it back."""
    kernels = kernels_of(operator)
    undo: list[Callable[[], None]] = []
    for key in keys:
        kernels.set(key, function, takes_keys)
        undo.append(lambda key=key: kernels.remove(key, function))  # type: ignore[misc]
    return undo
