"""`swap_tensors`, which exchanges two tensors wherever they are referenced."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, cast

from torch_py import _C

if TYPE_CHECKING:
    from torch_py._tensor import Tensor


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchanges everything that makes up two tensors: values, shape, dtype, gradient, attributes and class.

    Existing references to one then see the other.

    Raises RuntimeError if this cannot be done consistently: if weak references, views or a graph refer to one
    of them, or if their classes have different slots. Raises TypeError for anything that is not a tensor.
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if not isinstance(tensor, _C.TensorBase):
            raise TypeError(f"swap_tensors(): argument '{name}' must be Tensor, not {type(tensor).__name__}")
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")

    if getattr(type(t1), "__slots__", ()) != getattr(type(t2), "__slots__", ()):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")

    cast(Any, _C)._swap_tensors(t1, t2)
    kind = type(t1)
    t1.__class__ = type(t2)
    t2.__class__ = kind
