"""`torch.autograd.Function` inside of transforms: what a Function says itself of batches (`vmap`) and of
tangents (`jvp`).

A Function is more than the operators in its `forward`: following these would leave its `backward` out. With
`generate_vmap_rule` the rule for batches is made of `forward`, `setup_context`, `backward` and `jvp`, each
run on members of the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torch_py import _C
from torch_py._functorch.batching import _broadcast_dims, batched, members, randomness
from torch_py._functorch.forward_mode import dual, has_gradient
from torch_py._functorch.levels import inside, is_at, level_of, new_level
from torch_py._tensor import Tensor
from torch_py.autograd.function import Function
from torch_py.utils._pytree import tree_flatten, tree_leaves, tree_map


class VmapInfo(NamedTuple):
    """The description of the batch that a `vmap` staticmethod receives."""

    batch_size: int
    randomness: str


def apply(function: type[Function], args: Sequence[Any]) -> Any:
    """`function.apply(*args)`, by the transform of the innermost level among the arguments."""
    innermost = max(tree_leaves(args), key=level_of)
    of_kind = _with_batch if _C._is_batch(innermost) else _with_tangents
    return of_kind(function, args, level_of(innermost))


Function._apply_in_transform = staticmethod(apply)  # type: ignore[assignment]


def _require_setup_context(function: Any) -> None:
    if not function._has_setup_context:
        raise RuntimeError(
            f"{function.__name__}: In order to use an autograd.Function with functorch transforms (vmap, "
            "grad, jvp, jacrev, ...), it must "
            "override the setup_context staticmethod."
        )


# -- batches
# ------------------------------------------------------------


def _with_batch(function: Any, args: Sequence[Any], level: int) -> Any:
    _require_setup_context(function)
    has_rule = function.vmap is not Function.vmap
    name = function.__name__

    if has_rule and function.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {name}, but it has both generate_vmap_rule=True and an overridden vmap "
            "staticmethod. "
            "Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            "ambiguity."
        )
    if not has_rule and not function.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {name}, but it does not have vmap support. Please override and "
            "implement the vmap "
            "staticmethod or set generate_vmap_rule=True."
        )

    if has_rule:
        return call_batch_rule(name, function.vmap, tuple(args), {})

    size, dims, values = _apart(tuple(args), level)
    members = _Members(function, dims, size, randomness())
    return tree_map(
        lambda value, dim: batched(value, level) if dim == 0 else value,
        _generated(members).apply(*values),
        members.out_dims,
    )


def call_batch_rule(name: str, rule: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call whose innermost level is that of a `vmap`, by a rule that gets the description of the batch, the
    position of the batch dimension in each argument, and the arguments with that dimension."""
    level = max(map(level_of, tree_leaves((args, kwargs))))
    size, (dims, _), (values, keywords) = _apart((args, kwargs), level)
    result = rule(VmapInfo(size, randomness()), dims, *values, **keywords)
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError(
            f"{name}: Expected the vmap staticmethod to have two returns, an output and out_dims with "
            "pytree structure compatible with the "
            f"output. Got a {type(result)} instead"
        )

    leaves, spec = tree_flatten(result[0])
    out_dims = _broadcast_dims(result[1], spec, "out_dims")
    return spec.unflatten(
        batched(leaf.movedim(dim, 0), level) if dim is not None else leaf
        for leaf, dim in zip(leaves, out_dims)
    )


def _apart(arguments: Any, level: int) -> tuple[int, Any, Any]:
    """The size of the batch of a level, and for each argument the position of its dimension and what is
    inside of it."""
    size = next(len(inside(leaf)) for leaf in tree_leaves(arguments) if is_at(leaf, level))
    dims = tree_map(lambda leaf: 0 if is_at(leaf, level) else None, arguments)
    return size, dims, tree_map(lambda leaf: _inside(leaf, level), arguments)


def _inside(leaf: Any, level: int) -> Any:
    return inside(leaf) if is_at(leaf, level) else leaf


class _Members:
    """One call of a Function on members of a batch, as the methods of
    the Function for the whole batch see it."""

    def __init__(self, function: Any, in_dims: Any, size: int, random: str) -> None:
        self.function = function
        self.in_dims = in_dims
        self.size = size
        self.random = random
        self.out_dims: Any = None
        self.saved_dims: dict[str, list[int | None]] = {}

    def wrapped(self, values: Any, dims: Any, level: int) -> Any:
        return tree_map(
            lambda value, dim: batched(value, level) if dim == 0 and isinstance(value, Tensor) else value,
            values,
            dims,
        )

    def forward(self, *values: Any) -> Any:
        with new_level(self.size, self.random) as level:
            outputs = self.function.forward(*self.wrapped(values, self.in_dims, level))
        self.out_dims = tree_map(lambda leaf: 0 if is_at(leaf, level) else None, outputs)
        return tree_map(lambda leaf: _inside(leaf, level), outputs)

    def setup_context(self, ctx: Any, inputs: Any, outputs: Any) -> Any:
        with new_level(self.size) as level:
            wrapped = self.wrapped(inputs, self.in_dims, level), self.wrapped(outputs, self.out_dims, level)
            self.function.setup_context(_BatchContext(ctx, self, level), *wrapped)

    def backward(self, ctx: Any, *gradients: Any) -> Any:
        dims = self.out_dims if isinstance(self.out_dims, tuple) else (self.out_dims,)
        with new_level(self.size, self.random) as level:
            given = self.wrapped(gradients, dims, level)
            found = self.function._own_backward()(_BatchContext(ctx, self, level), *given)
            items = found if isinstance(found, tuple) else (found,)
            return (
                tuple(self.of_input(item, dim, level) for item, dim in zip(items, self.in_dims))
                + items[len(self.in_dims) :]
            )

    def of_input(self, gradient: Any, dim: Any, level: int) -> Any:
        """Sums the gradients of an input that all members share."""
        if not isinstance(gradient, Tensor):
            return gradient
        if dim == 0:
            return members(gradient, level, self.size)
        return inside(gradient).sum(0) if is_at(gradient, level) else gradient

    def jvp(self, ctx: Any, *tangents: Any) -> Any:
        with new_level(self.size, self.random) as level:
            given = self.wrapped(tangents, self.in_dims, level)
            moved = self.function.jvp(_BatchContext(ctx, self, level), *given)
            return tree_map(
                lambda item, dim: members(item, level, self.size) if dim == 0 and item is not None else item,
                moved,
                self.out_dims,
            )


def _generated(members: _Members) -> Any:
    """A Function of whole batches."""
    methods = {
        name: staticmethod(getattr(members, name)) for name in ("forward", "setup_context", "backward")
    }
    if members.function.jvp is not Function.jvp:
        methods["jvp"] = staticmethod(members.jvp)
    return type(
        members.function.__name__,
        (Function,),
        {**methods, "generate_vmap_rule": True, "__module__": members.function.__module__},
    )


class _BatchContext:
    """The `ctx` of the Function for the batch, for code that works on members:
    what it saves is taken apart and put together again."""

    def __init__(self, ctx: Any, members: _Members, level: int) -> None:
        self.__dict__.update(_ctx=ctx, _members=members, _level=level)

    def _save(self, kind: str, tensors: Sequence[Any]) -> None:
        self._members.saved_dims[kind] = [0 if is_at(tensor, self._level) else None for tensor in tensors]
        getattr(self._ctx, kind)(*(_inside(tensor, self._level) for tensor in tensors))

    def save_for_backward(self, *tensors: Any) -> None:
        self._save("save_for_backward", tensors)

    def save_for_forward(self, *tensors: Any) -> None:
        self._save("save_for_forward", tensors)

    def mark_dirty(self, *tensors: Any) -> None:
        self._ctx.mark_dirty(*(_inside(tensor, self._level) for tensor in tensors))

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self._ctx.mark_non_differentiable(*(_inside(tensor, self._level) for tensor in tensors))

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        kind = "save_for_forward" if isinstance(self._ctx, _TangentContext) else "save_for_backward"
        tensors = tuple(self._ctx.saved_tensors)
        return tuple(
            self._members.wrapped(tensors, tuple(self._members.saved_dims.get(kind, ())), self._level)
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._ctx, name, value)


# -- tangents
# ------------------------------------------------------------


class _TangentContext:
    """The `ctx` of `jvp`: `saved_tensors` are those of `save_for_forward`."""

    def __init__(self, args: Sequence[Any]) -> None:
        self.needs_input_grad = tuple(has_gradient(value) for value in args)
        self.saved_tensors: tuple[Any, ...] = ()
        self.materialize_grads = True

    def save_for_forward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def set_materialize_grads(self, value: bool) -> None:
        self.materialize_grads = value

    def save_for_backward(self, *tensors: Any) -> None:
        """Does nothing: the context of `backward` has them."""

    mark_dirty = mark_non_differentiable = save_for_backward


class _Captured:
    """A `ctx` that `forward` was given, for `jvp`."""

    def __init__(self, ctx: Any) -> None:
        self.__dict__["_ctx"] = ctx

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        return tuple(getattr(self._ctx, "saved_for_forward", ()))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._ctx, name, value)


def _run(function: Any, primals: Sequence[Any]) -> tuple[Any, Any]:
    """The outputs, connected by `backward`, and a context for `jvp`."""
    if function._has_setup_context:
        outputs = function.apply(*primals)
        context = _TangentContext(primals)
        function.setup_context(context, tuple(primals), outputs)
        return outputs, context
    if any(map(level_of, primals)):
        _require_setup_context(function)
    found = []

    def forward(ctx: Any, *args: Any) -> Any:
        found.append(ctx)
        return function.forward(ctx, *args)

    capturing = type(
        function.__name__, (function,), {"forward": staticmethod(forward), "__module__": function.__module__}
    )
    outputs = capturing.apply(*primals)  # type: ignore[attr-defined]
    return outputs, _Captured(found[0])


def _with_tangents(function: Any, args: Sequence[Any], level: int) -> Any:
    if function.jvp is Function.jvp:
        raise NotImplementedError(
            f"{function.__name__}: You must implement the jvp function for custom autograd.Function to use "
            "it with "
            "forward mode AD."
        )

    primals = [_inside(value, level) for value in args]
    outputs, context = _run(function, primals)
    tangents = [_C._tangent(value) if is_at(value, level) else None for value in args]

    if getattr(context, "materialize_grads", True):
        tangents = [
            Tensor.new_zeros(p, p.shape) if t is None and has_gradient(p) else t
            for t, p in zip(tangents, primals)
        ]

    moved = function.jvp(context, *tangents)
    given = outputs if isinstance(outputs, tuple) else (outputs,)
    directions = moved if isinstance(moved, tuple) else (moved,)
    if len(directions) != len(given):
        raise RuntimeError(
            f"{function.__name__}: expected jvp to return {len(given)} tangents, one for each output, "
            f"got {len(directions)}"
        )

    results = tuple(_paired(value, tangent, args, level) for value, tangent in zip(given, directions))
    return results if isinstance(outputs, tuple) else results[0]


def _paired(value: Any, tangent: Any, args: Sequence[Any], level: int) -> Any:
    changed = next((arg for arg in args if is_at(arg, level) and inside(arg) is value), None)
    if changed is not None:  # in place
        _C._set_tangent(changed, tangent)
        return changed
    return value if tangent is None or not has_gradient(value) else dual(value, tangent, level)
