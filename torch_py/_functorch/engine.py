"""Gradients of tensors that may be wrapped: one level after another, down to the autograd engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.levels import Gradients, WrappedTensor, highest_level
from torch_py._tensor import Tensor
from torch_py.autograd import GradientEdge, _batched_grad, _checked_gradients, _materialized, grad
from torch_py.utils._pytree import tree_leaves, tree_map


def gradients(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], weights: Sequence[Tensor], create_graph: bool
) -> Gradients:
    """The gradients of `outputs` weighted by `weights`; None for inputs that they do not depend on."""
    level = highest_level((list(outputs), list(inputs), list(weights)))
    if level == 0:
        return _plain_gradients(outputs, inputs, weights, create_graph)
    innermost = next(
        t for t in (*outputs, *inputs, *weights) if isinstance(t, WrappedTensor) and t.level == level
    )
    return innermost.gradients(outputs, inputs, weights, create_graph, level)


def _plain_gradients(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], weights: Sequence[Tensor], create_graph: bool
) -> Gradients:
    kept = [(o, w) for o, w in zip(outputs, weights) if isinstance(o, GradientEdge) or o.requires_grad]
    if not kept:
        return [None] * len(inputs)
    return list(
        grad([o for o, _ in kept], list(inputs), [w for _, w in kept], True, create_graph, allow_unused=True)
    )


def autograd_grad(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    grad_outputs: Sequence[Tensor | None] | None,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool | None,
    is_grads_batched: bool,
    materialize_grads: bool,
    **_: Any,
) -> tuple[Tensor | None, ...]:
    """`torch.autograd.grad` of tensors some of which are wrapped, as in a function under `vmap` whose
    argument weights the outputs of a graph that was recorded outside."""
    unused = materialize_grads if allow_unused is None else allow_unused
    if is_grads_batched:
        return _batched_grad(
            outputs, inputs, grad_outputs or (None,), True, create_graph, unused, materialize_grads
        )

    if not any(isinstance(o, GradientEdge) or requires_grad(o) for o in outputs):
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    given = _checked_gradients(tuple(outputs), grad_outputs, "grad")
    weights = [_C._torch.ones_like(o) if w is None else w for o, w in zip(outputs, given)]

    found = gradients(outputs, inputs, weights, create_graph)
    for position, gradient in enumerate(found):
        if gradient is None and not unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {position} appears to not have been used in the graph. "
                "Set allow_unused=True if this is the desired behavior."
            )
    return _materialized(found, inputs) if materialize_grads else tuple(found)


def requires_grad(tensor: Tensor) -> bool:
    return any(t.requires_grad for t in plain_leaves(tensor))


def differentiable_alias(tensor: Tensor) -> Tensor:
    """An alias of `tensor` to differentiate with respect to, connected to the graph of `tensor`."""
    if isinstance(tensor, WrappedTensor):
        return tensor.with_value(differentiable_alias(tensor.value))
    return tensor.view_as(tensor) if tensor.requires_grad else tensor.detach().requires_grad_()


def detached(tensor: Tensor) -> Tensor:
    """`tensor` without its graph; tangents stay."""
    return tensor.detached() if isinstance(tensor, WrappedTensor) else tensor.detach()


def plain_leaves(trees: Any) -> list[Tensor]:
    """The plain tensors in `trees` and inside of wrapped tensors in them."""
    found: list[Tensor] = []
    for leaf in tree_leaves(trees):
        if isinstance(leaf, WrappedTensor):
            found += plain_leaves(leaf.parts())
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

    seen: set[Any] = set()
    stack = [t.grad_fn for t in tensors if t.grad_fn is not None]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)

        variable = getattr(node, "variable", None)
        if variable is not None and id(variable) not in known:
            return True
        stack += [following for following, _ in node.next_functions if following is not None]

    return False


def released(results: Any, own: Any) -> Any:
    """`results`, without their graphs if these lead to `own` only."""
    if depends_on_others(results, own):
        return results
    return tree_map(lambda leaf: detached(leaf) if isinstance(leaf, Tensor) else leaf, results)


WrappedTensor._autograd_grad = staticmethod(autograd_grad)  # type: ignore[method-assign]
