"""Two tensors that take each other's place wherever they are referred to."""

from __future__ import annotations

import weakref
from typing import Any, cast

from torch_py import _C


def swap_tensors(t1: Any, t2: Any) -> None:
    """Exchanges everything that makes up the tensors: values, shape, dtype, gradient, attributes and class.
    References to either see the other.

    Raises RuntimeError when that cannot be done unseen: weak references, views or a computation's graph refer
    to one of them, or their classes have different slots; TypeError for what is not a tensor.
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if not isinstance(tensor, _C.TensorBase):
            raise TypeError(f"swap_tensors(): argument '{name}' must be Tensor, not {type(tensor).__name__}")
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    if getattr(type(t1), "__slots__", ()) != getattr(type(t2), "__slots__", ()):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    cast(Any, _C)._swap_tensors(t1, t2)
    t1.__class__, t2.__class__ = type(t2), type(t1)
