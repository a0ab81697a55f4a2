"""Forward mode: tensors that carry a tangent.

Note [Tangents without formulas]
The derivative of an operator in a direction is not written down anywhere: it follows from the gradient that
the operator has. The gradient is linear in its weight w, w -> J^H w; the gradient of that map is v -> J v.
Elementwise operators are simpler still, as their J is diagonal: J v is the gradient weighted by v. Views do
to the tangent what they do to the value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.engine import detached, differentiable_alias, gradients, plain_leaves, requires_grad
from torch_py._functorch.levels import Gradients, WrappedTensor, is_at, shell_of, wrap
from torch_py._functorch.operators import call_of
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.autograd import enable_grad
from torch_py.utils._pytree import tree_flatten, tree_map

# Properties that are views of the tensor, or tensors linear in it.
_LINEAR_PROPERTIES = frozenset(["T", "mT", "H", "mH", "real", "imag"])


class DualTensor(WrappedTensor):
    """`value` + e `tangent`, where e * e = 0; a tangent of None is zero."""

    tangent: Tensor | None

    @staticmethod
    def transform(level: int, func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        return _Application(level, func, args, kwargs).result()

    @staticmethod
    def gradients(
        outputs: Sequence[Tensor],
        inputs: Sequence[Tensor],
        weights: Sequence[Tensor],
        create_graph: bool,
        level: int,
    ) -> Gradients:
        """The tangent of a gradient J^H w: the gradient of the tangent J
        v, and J^H applied to the tangent of w."""
        (primals, tangents), (sources, _), (values, changes) = (
            _parts(t, level) for t in (outputs, inputs, weights)
        )

        found = gradients(primals, sources, values, True)
        terms = [(t, w) for t, w in zip(tangents, values) if t is not None] + [
            (p, c) for p, c in zip(primals, changes) if c is not None
        ]

        moved = (
            gradients([t for t, _ in terms], sources, [w for _, w in terms], create_graph)
            if terms
            else [None] * len(sources)
        )

        return [None if g is None else dual(g, m, level) for g, m in zip(found, moved)]

    def with_value(self, value: Tensor) -> DualTensor:
        return dual(value, self.tangent, self.level)

    def detached(self) -> DualTensor:
        return dual(
            detached(self.value), None if self.tangent is None else detached(self.tangent), self.level
        )

    def parts(self) -> list[Tensor]:
        return [self.value] if self.tangent is None else [self.value, self.tangent]


def _parts(tensors: Sequence[Tensor], level: int) -> tuple[list[Tensor], list[Tensor | None]]:
    """The values and the tangents of `tensors`."""
    duals = [t if isinstance(t, DualTensor) and t.level == level else None for t in tensors]
    return [t if d is None else d.value for t, d in zip(tensors, duals)], [
        None if d is None else d.tangent for d in duals
    ]


def dual(value: Tensor, tangent: Tensor | None, level: int) -> DualTensor:
    if tangent is not None and tuple(tangent.shape) != tuple(value.shape):
        raise RuntimeError(
            f"Expected tangent and primal to have the same shape, got a tangent of {tuple(tangent.shape)} "
            f"and a primal of {tuple(value.shape)}"
        )
    result = wrap(DualTensor, shell_of(value), value, level)
    result.tangent = tangent
    return result


def has_gradient(tensor: object) -> bool:
    return isinstance(tensor, Tensor) and (tensor.is_floating_point() or tensor.is_complex())


class _Application:
    """One operator applied to dual tensors of one level."""

    def __init__(self, level: int, func: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self.level = level
        self.func = func
        self.call = call_of(func)
        self.leaves, self.spec = tree_flatten((args, kwargs))
        self.primals = [leaf.value if is_at(leaf, level) else leaf for leaf in self.leaves]
        self.tangents = [leaf.tangent if is_at(leaf, level) else None for leaf in self.leaves]

    def run(self, leaves: Sequence[Any]) -> Any:
        args, kwargs = self.spec.unflatten(leaves)
        return self.func(*args, **kwargs)

    def result(self) -> Any:
        call = self.call
        if call.name == "__setitem__":
            return self.assigned()
        if call.is_inplace_view:
            return self.reshaped()
        if call.is_inplace:
            return self.updated()

        if all(t is None for t in self.tangents) or (
            call.is_property and call.name not in _LINEAR_PROPERTIES
        ):
            return self.run(self.primals)
        if call.structure == "view" or call.is_property or call.name == "__getitem__":
            return self.viewed()

        values, tangents = push_forward(self.run, self.primals, self.tangents, call.structure == "pointwise")
        return self.paired(values, tangents)

    def paired(self, values: Any, tangents: Sequence[Tensor | None]) -> Any:
        given = iter(tangents)
        return tree_map(
            lambda leaf: dual(leaf, t, self.level) if (t := next(given)) is not None else leaf, values
        )

    def viewed(self) -> Any:
        source = next(i for i, t in enumerate(self.tangents) if t is not None)
        values = self.run(self.primals)
        moved = self.run([self.tangents[source] if i == source else p for i, p in enumerate(self.primals)])
        return self.paired(values, tree_flatten(moved)[0])

    def target(self) -> DualTensor:
        target = self.leaves[0]
        if not is_at(target, self.level):
            raise RuntimeError(
                f"{self.call.name}_: a tensor with a tangent cannot be written into one that the function "
                "under forward-mode "
                "differentiation was not given; write out of place"
            )
        return target

    def assigned(self) -> None:
        target = self.target()
        self.run(self.primals)
        if target.tangent is None:
            target.tangent = _C._torch.zeros_like(target.value)
        *_, index, value = self.spec.unflatten(self.tangents)[0]
        index = self.spec.unflatten(self.primals)[0][1]
        target.tangent[index] = 0 if not isinstance(value, Tensor) else value

    def reshaped(self) -> Any:
        """squeeze_ and the like: the dual tensor, its value and its tangent change their shape."""
        target = self.target()
        self.run(self.primals)
        if target.tangent is not None:
            target.tangent = self.run([_C._ops.alias(target.tangent), *self.primals[1:]])
        with DisableTorchFunctionSubclass():
            self.run(self.leaves)
        return target

    def updated(self) -> Any:
        target = self.target()
        if not self.call.overloads:  # requires_grad_ and the like
            self.run(self.primals)
            return target
        if all(t is None for t in self.tangents):
            self.run(self.primals)
            return target

        # What is recorded must not see the change, nor must arguments that share memory with the target.
        sources = [target.value.clone(), *_apart_from(target.value, self.primals[1:])]
        directions = self.tangents
        if target.tangent is not None:
            directions = [target.tangent.clone(), *_apart_from(target.tangent, self.tangents[1:])]

        def out_of_place(leaves: Sequence[Any]) -> Any:
            return self.run([leaves[0].clone(), *leaves[1:]])

        pointwise = self.call.structure == "pointwise"
        value, (tangent, *_) = push_forward(out_of_place, sources, directions, pointwise)
        target.value.copy_(value)
        if target.tangent is None:
            target.tangent = tangent
        elif tangent is None:
            target.tangent.zero_()
        else:
            target.tangent.copy_(tangent)
        return target


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
