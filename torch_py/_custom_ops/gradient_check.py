"""Whether the gradient of an operator is that of finite differences: a part of `torch.library.opcheck`."""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._ops import OpOverload
from torch_py._tags import Tag
from torch_py._tensor import Tensor
from torch_py.utils._pytree import tree_leaves, tree_map

_WIDE = {
    _C.float16: _C.float64,
    _C.bfloat16: _C.float64,
    _C.float32: _C.float64,
    _C.complex64: _C.complex128,
}
# Larger Jacobians are checked along one random direction.
_LARGEST_JACOBIAN = 400


def check_gradient(operator: OpOverload, args: Any, kwargs: Any) -> None:
    """Raises AssertionError if the gradient is wrong. That of operators that write to arguments or draw
    random numbers cannot be measured."""
    if operator._schema.is_mutable or Tag.nondeterministic_seeded in operator.tags:
        return

    # Finite differences do not survive the rounding of narrower dtypes. Gradients follow the values.
    args, kwargs = tree_map(_widened, (args, kwargs))
    inputs = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor) and leaf.requires_grad]
    places = {id(tensor): place for place, tensor in enumerate(inputs)}

    def function(*given: Any) -> Any:
        own_args, own_kwargs = tree_map(
            lambda leaf: given[places[id(leaf)]] if id(leaf) in places else leaf, (args, kwargs)
        )
        results = [leaf for leaf in tree_leaves(operator(*own_args, **own_kwargs))]
        found = tuple(r for r in results if isinstance(r, Tensor) and r.dtype in (_C.float64, _C.complex128))
        return found[0] if len(found) == 1 else found

    results = tree_leaves(function(*inputs))
    if not any(result.requires_grad for result in results):
        return

    # Imported on first use: gradcheck is above operators.
    from torch_py.autograd import GradcheckError, gradcheck

    elements = sum(t.numel() for t in inputs) * sum(t.numel() for t in results)
    try:
        gradcheck(function, inputs, fast_mode=elements > _LARGEST_JACOBIAN, check_undefined_grad=False)
    except GradcheckError as problem:
        raise AssertionError(f"the gradient of {operator} is wrong: {problem}") from problem


def _widened(leaf: Any) -> Any:
    if not isinstance(leaf, Tensor) or leaf.dtype not in _WIDE:
        return leaf
    return leaf.detach().to(_WIDE[leaf.dtype]).requires_grad_(leaf.requires_grad)
