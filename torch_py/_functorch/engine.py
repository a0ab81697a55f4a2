"""Gradients of tensors that may be wrapped: one level after another, down to the autograd engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py import _C, autograd
from torch_py._functorch.batching import batched, member, members
from torch_py._functorch.levels import Gradients, highest_level, inside, is_at, level_of, parts, with_value
from torch_py._tensor import Tensor
from torch_py.autograd import GradientEdge, _checked_gradients, _materialized
from torch_py.autograd.graph import _nodes_below
from torch_py.utils._pytree import tree_leaves, tree_map


def gradients(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], weights: Sequence[Tensor], create_graph: bool
) -> Gradients:
    """The gradients of `outputs` weighted by `weights`; None for inputs that they do not depend on."""
    # Members of batches pass together through a graph that was recorded outside of these.
    level = highest_level((list(outputs), list(inputs)))
    if not all(_is_in_batches_above(weight, level) for weight in weights):
        level = highest_level((list(outputs), list(inputs), list(weights)))
    if level == 0:
        return _plain_gradients(outputs, inputs, weights, create_graph)
    innermost = next(t for t in (*outputs, *inputs, *weights) if level_of(t) == level)
    of_kind = _gradients_of_batch if _C._is_batch(innermost) else _gradients_of_duals
    return of_kind(outputs, inputs, weights, create_graph, level)


def _is_in_batches_above(tensor: Tensor, level: int) -> bool:
    """Whether only batches of higher levels have wrapped a tensor, if any."""
    while _C._is_batch(tensor) and level_of(tensor) > level:
        tensor = inside(tensor)
    return level_of(tensor) == 0


def _batch_below(value: Tensor, level: int) -> Tensor:
    """The members in the first dimension of `value`, which may be a batch of a higher level."""
    above = level_of(value)
    if above <= level:
        return batched(value, level)  # type: ignore[no-any-return]
    return batched(_batch_below(inside(value).movedim(1, 0), level), above)  # type: ignore[no-any-return]


def _dual_below(value: Tensor, tangent: Tensor | None, level: int) -> Tensor:
    """`value` with a tangent; both may be batches of higher levels."""
    above = max(level_of(value), level_of(tangent))
    if above <= level:
        return _C._wrap_dual(value, tangent, level)  # type: ignore[no-any-return]
    size = inside(value if is_at(value, above) else tangent).shape[0]
    direction = None if tangent is None else members(tangent, above, size)
    return batched(_dual_below(members(value, above, size), direction, level), above)  # type: ignore[no-any-return]


def _plain_gradients(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], weights: Sequence[Tensor], create_graph: bool
) -> Gradients:
    kept = [(o, w) for o, w in zip(outputs, weights) if isinstance(o, GradientEdge) or o.requires_grad]
    if not kept:
        return [None] * len(inputs)
    return list(
        autograd._plain_grad(
            tuple(o for o, _ in kept),
            tuple(inputs),
            tuple(w for _, w in kept),
            True,
            create_graph,
            allow_unused=True,
        )
    )


def _gradients_of_batch(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    weights: Sequence[Tensor],
    create_graph: bool,
    level: int,
) -> Gradients:
    """Members of a batch do not depend on one another, so the gradient of their sum holds that of each."""
    size = next(
        inside(tensor).shape[0] for tensor in (*outputs, *inputs, *weights) if level_of(tensor) == level
    )

    def whole(tensors: Sequence[Tensor]) -> list[Tensor]:
        return [members(tensor, level, size) for tensor in tensors]

    own = [t for t in inputs if is_at(t, level)]
    found = iter(gradients(whole(outputs), whole(own), whole(weights), create_graph) if own else ())

    # The graph of the other inputs was recorded outside, without the batch.
    outer = [t for t in inputs if not is_at(t, level)]
    rows = iter(_one_by_one(outputs, outer, weights, create_graph, level, size) if outer else ())

    by_member = (None if g is None else _batch_below(g, level) for g in found)
    return [next(by_member) if is_at(t, level) else next(rows) for t in inputs]


def _one_by_one(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    weights: Sequence[Tensor],
    create_graph: bool,
    level: int,
    size: int,
) -> Gradients:
    """The gradient of each member of the batch, with respect to inputs that all members share."""
    if size == 0:
        return [batched(t.new_zeros((0, *t.shape)), level) for t in inputs]

    rows = []
    for index in range(size):
        of_member = [[member(t, level, index) for t in tensors] for tensors in (outputs, weights)]
        rows.append(gradients(of_member[0], inputs, of_member[1], create_graph))

    # Members have the same graph, so that an input is unused by all of them or by none.
    return [
        None if column[0] is None else _batch_below(_C._torch.stack(list(column)), level)
        for column in zip(*rows)
    ]


def _gradients_of_duals(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    weights: Sequence[Tensor],
    create_graph: bool,
    level: int,
) -> Gradients:
    """The tangent of a gradient J^H w: the gradient of the tangent J v, and J^H times the tangent of w."""
    (primals, tangents), (sources, _), (values, changes) = (
        _values_and_tangents(tensors, level) for tensors in (outputs, inputs, weights)
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

    return [None if g is None else _dual_below(g, m, level) for g, m in zip(found, moved)]


def _values_and_tangents(tensors: Sequence[Tensor], level: int) -> tuple[list[Tensor], list[Tensor | None]]:
    values = [inside(t) if is_at(t, level) else t for t in tensors]
    return values, [_C._tangent(t) if is_at(t, level) else None for t in tensors]


def autograd_grad(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    grad_outputs: Sequence[Tensor | None] | None,
    create_graph: bool,
    allow_unused: bool | None,
    is_grads_batched: bool,
    materialize_grads: bool,
) -> tuple[Tensor | None, ...]:
    """`torch.autograd.grad` of tensors some of which are wrapped, as in a function under `vmap` whose
    argument weights the outputs of a graph that was recorded outside."""
    unused = materialize_grads if allow_unused is None else allow_unused
    if is_grads_batched:
        return autograd._batched_grad(
            outputs, inputs, grad_outputs or (None,), True, create_graph, unused, materialize_grads
        )
    return gradients_of(outputs, inputs, grad_outputs, create_graph, unused, materialize_grads)


def gradients_of(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    grad_outputs: Sequence[Tensor | None] | None,
    create_graph: bool,
    allow_unused: bool,
    materialize: bool,
) -> tuple[Tensor | None, ...]:
    """`gradients`, with the checks and the defaults of `torch.autograd.grad`."""
    if not any(isinstance(o, GradientEdge) or requires_grad(o) for o in outputs):
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    given = _checked_gradients(tuple(outputs), grad_outputs, "grad")
    weights = [_C._torch.ones_like(o) if w is None else w for o, w in zip(outputs, given)]

    found = gradients(outputs, inputs, weights, create_graph)
    for position, gradient in enumerate(found):
        if gradient is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {position} appears to not have been used in the graph. "
                "Set allow_unused=True if this is the desired behavior."
            )
    return _materialized(found, inputs) if materialize else tuple(found)


def requires_grad(tensor: Tensor) -> bool:
    return any(t.requires_grad for t in plain_leaves(tensor))


def differentiable_alias(tensor: Tensor) -> Tensor:
    """An alias of `tensor` to differentiate with respect to, connected to the graph of `tensor`."""
    if level_of(tensor):
        return with_value(tensor, differentiable_alias(inside(tensor)))
    return tensor.view_as(tensor) if tensor.requires_grad else tensor.detach().requires_grad_()


def detached(tensor: Tensor) -> Tensor:
    """`tensor` without its graph; tangents stay."""
    if not level_of(tensor):
        return tensor.detach()
    if _C._is_batch(tensor):
        return with_value(tensor, detached(inside(tensor)))
    tangent = _C._tangent(tensor)
    moved = None if tangent is None else detached(tangent)
    return _C._wrap_dual(detached(inside(tensor)), moved, level_of(tensor))  # type: ignore[no-any-return]


def plain_leaves(trees: Any) -> list[Tensor]:
    """The plain tensors in `trees` and inside of wrapped tensors in them."""
    found: list[Tensor] = []
    for leaf in tree_leaves(trees):
        if level_of(leaf):
            found += plain_leaves(parts(leaf))
        elif isinstance(leaf, Tensor):
            found.append(leaf)
    return found


def depends_on_others(results: Any, own: Any) -> bool:
    """Whether the graph of `results` reaches leaves that are not among `own`:
    those of a transform around this one, or a user's."""
    known = {id(t) for t in plain_leaves(own)}
    tensors = plain_leaves(results)
    if any(t.requires_grad and t.grad_fn is None and id(t) not in known for t in tensors):
        return True

    nodes = _nodes_below(t.grad_fn for t in tensors if t.grad_fn is not None)
    return any(_leads_outside(node, known) for node in nodes)


def _leads_outside(node: Any, known: set[int]) -> bool:
    leaf = getattr(node, "variable", None)
    if leaf is not None:
        return id(leaf) not in known
    # Of a view that was made before its base required gradients: it requires them, but no edge leads to it.
    return all(before is None for before, _ in node.next_functions)


def released(results: Any, own: Any) -> Any:
    """`results`, without their graphs if these lead to `own` only."""
    if depends_on_others(results, own):
        return results
    return tree_map(lambda leaf: detached(leaf) if isinstance(leaf, Tensor) else leaf, results)


autograd._grad_in_transform = autograd_grad  # type: ignore[assignment]
