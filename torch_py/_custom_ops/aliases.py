"""Results of an operator share memory with its arguments, or with one another, only where its schema says so.

Autograd, functionalization and the compiler trust the schema: a result that is secretly an argument would be
changed by whoever changes the argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch_py import _C
from torch_py._ops import OpOverload
from torch_py._tensor import Tensor
from torch_py.utils._pytree import tree_leaves


def check_aliases(operator: OpOverload, results: Any, args: Any, kwargs: Any) -> None:
    """Raises RuntimeError for a result that shares memory although its schema has no annotation, ``(a)``."""
    declared = operator._schema.returns
    several = results if isinstance(results, (list, tuple)) and len(declared) > 1 else (results,)
    seen = set(_memory_of((args, kwargs)))

    for place, (result, declaration) in enumerate(zip(several, declared)):
        if declaration.alias_info is not None:
            continue
        for memory in _memory_of(result):
            if memory in seen:
                raise RuntimeError(
                    f"{operator.name()}: The output of this custom operator (1) must not also be an input to "
                    "this custom operator and (2) may not alias any inputs to this custom operator or other "
                    f"returns, but result {place} does. The most common way to trigger this error is if we "
                    "have y = custom_op(x) and y and x are the same Tensor. Please instead return a clone of "
                    "the offending output tensor(s) (e.g. return x.clone()) or refactor the custom operator "
                    "to not return y."
                )
            seen.add(memory)


def _memory_of(tree: Any) -> Iterator[int]:
    """What tells the memory of each tensor from that of others."""
    for leaf in tree_leaves(tree):
        if isinstance(leaf, Tensor) and leaf.layout is _C.strided and leaf.numel() > 0:
            yield leaf.untyped_storage()._cdata
