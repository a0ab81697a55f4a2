"""Forward mode of operators in place, and of values that are members of a batch or dual themselves.

Of all others, torch_py/csrc/autograd/ForwardMode.cpp finds the tangents, in the same way: see Note [Tangents
without formulas] there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.engine import detached, differentiable_alias, gradients, plain_leaves, requires_grad
from torch_py._functorch.levels import inside, is_at, level_of
from torch_py._ops import find_overload
from torch_py._tensor import Tensor
from torch_py.autograd import enable_grad
from torch_py.utils._pytree import tree_flatten, tree_leaves, tree_map


def dual(value: Tensor, tangent: Tensor | None, level: int) -> Tensor:
    """`value` + e `tangent`, where e * e = 0; a tangent of None is zero."""
    return _C._wrap_dual(value, tangent, level)  # type: ignore[no-any-return]


def has_gradient(tensor: object) -> bool:
    return isinstance(tensor, Tensor) and (tensor.is_floating_point() or tensor.is_complex())


def apply(operator: Any, args: Any, kwargs: Any) -> Any:
    """An operator applied to tensors of which those of the highest level are dual."""
    return _Application(max(map(level_of, tree_leaves((args, kwargs)))), operator, args, kwargs).result()


class _Application:
    """One operator applied to dual tensors of one level."""

    def __init__(self, level: int, operator: Any, args: Any, kwargs: Any) -> None:
        self.level = level
        self.operator = operator
        self.args = args
        self.kwargs = kwargs
        self.leaves, self.spec = tree_flatten((args, kwargs))
        self.primals = [inside(leaf) if is_at(leaf, level) else leaf for leaf in self.leaves]
        self.tangents = [_C._tangent(leaf) if is_at(leaf, level) else None for leaf in self.leaves]

    def run(self, leaves: Sequence[Any]) -> Any:
        args, kwargs = self.spec.unflatten(leaves)
        return self.operator(*args, **kwargs)

    def result(self) -> Any:
        operator = self.operator
        if "inplace_view" in operator.tags:
            return self.reshaped()
        if operator._schema.is_mutable:
            return self.updated() if isinstance(self.args[0], Tensor) else self.updated_list()

        values, tangents = push_forward(
            self.run, self.primals, self.tangents, operator._structure == "pointwise"
        )
        return self.paired(values, tangents)

    def paired(self, values: Any, tangents: Sequence[Tensor | None]) -> Any:
        """Dual tensors, also where the tangent is zero: `zeros_like(x)` may get one when it is written to."""
        given = iter(tangents)

        def pair(leaf: Any) -> Any:
            tangent = next(given)
            return dual(leaf, tangent, self.level) if has_gradient(leaf) else leaf

        return tree_map(pair, values)

    def target(self) -> Tensor:
        target: Tensor = self.leaves[0]
        if not is_at(target, self.level):
            raise RuntimeError(
                f"{self.operator._opname}: a tensor with a tangent cannot be written into one that the "
                "function under forward-mode differentiation was not given; write out of place"
            )
        return target

    def reshaped(self) -> Any:
        """squeeze_ and the like: the dual tensor, its value and its tangent change their shape."""
        target = self.target()
        aliases = [_C._ops.alias(each) for each in (inside(target), tangent_in_memory(target))]
        value, tangent = (self.run([alias, *self.primals[1:]]) for alias in aliases)
        _C._set_inside(target, value)
        _C._set_tangent(target, tangent)
        return target

    def updated_list(self) -> Any:
        """The results of the form that makes new tensors, copied into the tensors one after another."""
        function = find_overload(self.operator._entry_name.replace("_.", "."))
        for target, result in zip(self.args[0], function(*self.args, **self.kwargs)):
            target.copy_(result)
        return None

    def updated(self) -> Any:
        target = self.target()
        if all(t is None for t in self.tangents):
            self.run(self.primals)
            return target

        # What is recorded must not see the change, nor must arguments that share memory with the target.
        value, tangent = inside(target), _C._tangent(target)
        sources = [value.clone(), *_apart_from(value, self.primals[1:])]
        directions = self.tangents
        if tangent is not None:
            directions = [tangent.clone(), *_apart_from(tangent, self.tangents[1:])]

        def out_of_place(leaves: Sequence[Any]) -> Any:
            return self.run([leaves[0].clone(), *leaves[1:]])

        pointwise = self.operator._structure == "pointwise"
        changed, (moved, *_) = push_forward(out_of_place, sources, directions, pointwise)
        value.copy_(changed)
        if tangent is None:
            _C._set_tangent(target, moved)
        elif moved is None:
            tangent.zero_()
        else:
            tangent.copy_(moved)
        return target


def tangent_in_memory(tensor: Tensor) -> Tensor:
    """The tangent of a dual tensor, laid out as its value, so that both have the same views; it gets one of
    zeros if it has none."""
    value, tangent = inside(tensor), _C._tangent(tensor)
    if tangent is None:
        tangent = _C._torch.zeros_like(value)
    if tangent.stride() != value.stride():
        laid_out = _C._torch.empty_strided(
            value.shape, value.stride(), dtype=tangent.dtype, device=tangent.device
        )
        tangent = laid_out.copy_(tangent) if not level_of(tangent) else tangent
    _C._set_tangent(tensor, tangent)
    return tangent  # type: ignore[no-any-return]


def _apart_from(target: Tensor, leaves: Sequence[Any]) -> list[Any]:
    """The leaves, those that share memory with `target` as copies."""
    taken = {t.untyped_storage()._address() for t in plain_leaves(target)}

    def shares(leaf: Any) -> bool:
        return any(t.untyped_storage()._address() in taken for t in plain_leaves(leaf))

    return [leaf.clone() if isinstance(leaf, Tensor) and shares(leaf) else leaf for leaf in leaves]


def push_forward(
    run: Callable[[Sequence[Any]], Any],
    primals: Sequence[Any],
    tangents: Sequence[Tensor | None],
    pointwise: bool,
) -> tuple[Any, list[Tensor | None]]:
    """`run(primals)` and the tangents of its leaves, None where they are zero.

    See Note [Tangents without formulas].
    """
    moving = [i for i, t in enumerate(tangents) if t is not None and has_gradient(primals[i])]
    connected = _C.is_grad_enabled() and (
        any(has_gradient(p) and requires_grad(p) for p in primals)
        or any(t is not None and requires_grad(t) for t in tangents)
    )

    directions = [tangents[i] for i in moving]
    with enable_grad():
        sources = [differentiable_alias(p) if i in moving else p for i, p in enumerate(primals)]
        result = run(sources)

        outputs, spec = tree_flatten(result)
        kept = [o for o in outputs if has_gradient(o) and requires_grad(o)]
        if kept and pointwise and _is_elementwise(outputs, [sources[i] for i in moving]):
            found = _diagonal_product(kept[0], [sources[i] for i in moving], directions, connected)
        elif kept:
            found = _transposed_twice(kept, [sources[i] for i in moving], directions, connected)
        else:
            found = []

    by_output = {id(o): _in_own_memory(t, directions) for o, t in zip(kept, found)}
    pairs = [(o, by_output.get(id(o))) for o in outputs]
    if not connected:
        pairs = [
            (detached(o) if has_gradient(o) else o, None if t is None else detached(t)) for o, t in pairs
        ]
    return spec.unflatten([o for o, _ in pairs]), [t for _, t in pairs]


def _in_own_memory(tangent: Tensor | None, directions: Sequence[Any]) -> Tensor | None:
    """A copy of the tangent if it is an argument's: the engine passes
    tensors on, and results may be written to."""
    if tangent is None:
        return None
    taken = {t.untyped_storage()._address() for t in plain_leaves(list(directions))}
    shares = any(t.untyped_storage()._address() in taken for t in plain_leaves(tangent))
    return tangent.clone() if shares else tangent


def _is_elementwise(outputs: Sequence[Any], sources: Sequence[Tensor]) -> bool:
    """Whether all have one shape and one real dtype; then the gradient
    weighted by v is the derivative in direction v."""
    return (
        len(outputs) == 1
        and all(tuple(s.shape) == tuple(outputs[0].shape) and s.dtype == outputs[0].dtype for s in sources)
        and (not outputs[0].is_complex())
    )


def _diagonal_product(
    output: Tensor, sources: Sequence[Tensor], directions: Sequence[Any], create_graph: bool
) -> list[Tensor | None]:
    total: Tensor | None = None
    for source, direction in zip(sources, directions):
        (term,) = gradients([output], [source], [direction], create_graph)
        if term is not None:
            total = term if total is None else total + term
    return [total]


def _transposed_twice(
    outputs: Sequence[Tensor], sources: Sequence[Tensor], directions: Sequence[Any], create_graph: bool
) -> list[Tensor | None]:
    weights = [differentiable_alias(_C._torch.zeros_like(o)) for o in outputs]
    found = gradients(outputs, sources, weights, True)
    kept = [(g, d) for g, d in zip(found, directions) if g is not None and requires_grad(g)]
    if not kept:
        return [None] * len(outputs)
    return gradients([g for g, _ in kept], weights, [d for _, d in kept], create_graph)


_C._install_transforms(apply)
