"""Gradients of tensors that may be wrapped: one level after another, down to the autograd engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._functorch.levels import Gradients, WrappedTensor, highest_level
from torch_py._tensor import Tensor
from torch_py.autograd import grad
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
    kept = [(o, w) for o, w in zip(outputs, weights) if o.requires_grad]
    if not kept:
        return [None] * len(inputs)
    return list(
        grad([o for o, _ in kept], list(inputs), [w for _, w in kept], True, create_graph, allow_unused=True)
    )


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
