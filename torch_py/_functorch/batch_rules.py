"""Operators on batches: by the structure that their entries declare, else by a loop over the batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.batching import (
    DATA_DEPENDENT,
    BatchedTensor,
    as_batched,
    batched,
    member,
    randomness,
)
from torch_py._functorch.levels import is_at, shell_of
from torch_py._functorch.operators import Call, call_of
from torch_py._functorch.random_batches import check_allowed, draws
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunction, DisableTorchFunctionSubclass
from torch_py.utils._pytree import tree_flatten, tree_map

torch: Any = _C._torch

# They need the elements, of which there are many.
_DATA_DEPENDENT = frozenset(["item", "tolist", "numpy", "__array__", "nonzero"])
# Methods written in Python that treat a batch as they treat one member.
_ELEMENTWISE_METHODS = frozenset(
    ["requires_grad", "retain_grad", "clone", "detach", "contiguous", "to", "type", "cpu"]
)
# Of one tensor, whose last two dimensions are matrices and the others a batch already.
_OF_MATRICES = frozenset(
    [
        "cholesky",
        "cholesky_ex",
        "cholesky_inverse",
        "det",
        "eig",
        "eigh",
        "eigvals",
        "eigvalsh",
        "inv",
        "inv_ex",
        "inverse",
        "logdet",
        "lu_factor",
        "lu_factor_ex",
        "matrix_exp",
        "matrix_power",
        "pinv",
        "pinverse",
        "qr",
        "slogdet",
        "svd",
        "svdvals",
    ]
)
# Elementwise by what they compute, though some of their overloads are made of other operators.
_POINTWISE = frozenset(
    ["clamp", "clamp_max", "clamp_min", "copy", "div", "gelu", "pow", "round", "where", "zero"]
)
# Of the last dimensions of their first argument.
_OF_LAST_DIMS = {"layer_norm": 1, "rms_norm": 1, "tril": 2, "triu": 2}
# Composed of views only.
_COMPOSED_VIEWS = frozenset(
    """
    atleast_1d atleast_2d atleast_3d broadcast_to chunk diagonal dsplit hsplit movedim moveaxis narrow split
    swapaxes swapdims tensor_split unflatten vsplit
    """.split()
)
_CONVERSIONS = frozenset(
    ["float", "double", "half", "bfloat16", "int", "long", "short", "char", "byte", "bool", "type_as"]
)


def apply(level: int, func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    return _Batch(level, func, args, kwargs).result()


class _Batch:
    """One call with members of a batch among its arguments."""

    def __init__(self, level: int, func: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self.level = level
        self.func = func
        self.args = args
        self.kwargs = kwargs
        self.call: Call = call_of(func)
        self.leaves, self.spec = tree_flatten((args, kwargs))
        self.size = next(leaf.batch_size for leaf in self.leaves if is_at(leaf, level))

    # What the rules are made of

    def is_batched(self, leaf: object) -> bool:
        return is_at(leaf, self.level)

    def run(self, leaves: Sequence[Any]) -> Any:
        args, kwargs = self.spec.unflatten(leaves)
        return self.func(*args, **kwargs)

    def wrapped(self, result: Any) -> Any:
        return tree_map(lambda leaf: batched(leaf, self.level) if isinstance(leaf, Tensor) else leaf, result)

    def value(self, tensor: Tensor) -> Tensor:
        """`tensor` with the batch as its first dimension, expanded if it is not a batch."""
        return as_batched(tensor, self.level, self.size).value

    @property
    def tensors(self) -> list[Tensor]:
        return [leaf for leaf in self.leaves if isinstance(leaf, Tensor)]

    # The choice

    def result(self) -> Any:
        call, name = self.call, self.call.name

        if call.is_property:
            return self.property()
        if name in _DATA_DEPENDENT or (name == "where" and len(self.leaves) == 1):
            raise RuntimeError(
                f"vmap: It looks like you're calling .{name}() on a Tensor inside of vmap, which "
                f"{DATA_DEPENDENT}"
            )

        if draws(call, self.args, self.kwargs):
            return self.random()
        if call.is_inplace:
            self.check_target()

        rule = _RULES.get(name)
        if rule is not None:
            return rule(self)
        return self.by_structure()

    def by_structure(self) -> Any:
        call = self.call
        if call.name in _ELEMENTWISE_METHODS or call.name in _CONVERSIONS:
            return self.elementwise()

        if call.name.endswith("_like"):
            return self.elementwise()
        if call.name.startswith("new_"):  # of a size of its own, the same for every member
            return self.run([shell_of(leaf) if self.is_batched(leaf) else leaf for leaf in self.leaves])
        if call.name in _OF_MATRICES and len(self.tensors) == 1:
            return self.elementwise()

        if (
            call.structure == "pointwise"
            or call.name in _POINTWISE
            or (call.name == "fill" and len(self.tensors) == 1)
        ):
            return self.pointwise()

        if self.is_of_last_dims():
            return self.elementwise()
        if call.structure == "view" or (call.name in _COMPOSED_VIEWS and len(self.tensors) == 1):
            return self.view()

        if len(self.tensors) == 1 and any(o.is_along_dim for o in call.overloads):
            return self.along_dim()
        if not call.overloads:
            return self.no_operator()

        return self.loop()

    def is_of_last_dims(self) -> bool:
        if self.call.name not in _OF_LAST_DIMS or not any(leaf is self.leaves[0] for leaf in self.tensors):
            return False
        source = self.leaves[0]
        others = [leaf for leaf in self.leaves[1:] if self.is_batched(leaf)]
        return (
            self.is_batched(source)
            and not others
            and source.dim() >= _OF_LAST_DIMS[self.call.name]
            and not self.call.is_inplace
        )

    # The rules

    def property(self) -> Any:
        with DisableTorchFunctionSubclass():
            seen = self.func(shell_of(self.args[0]))
        return self.view() if isinstance(seen, Tensor) else seen

    def elementwise(self) -> Any:
        result = self.run([leaf.value if self.is_batched(leaf) else leaf for leaf in self.leaves])
        if self.call.is_inplace:
            return self.args[0]
        return self.wrapped(result)

    def pointwise(self) -> Any:
        rank = max(leaf.dim() for leaf in self.tensors)
        with_mask = self.call.name in ("where", "masked_fill")
        chosen = self.leaves if with_mask else _same_promotion(self.leaves)
        leaves = [self.aligned(leaf, rank) if isinstance(leaf, Tensor) else leaf for leaf in chosen]
        result = self.run(leaves)
        return self.args[0] if self.call.is_inplace else self.wrapped(result)

    def aligned(self, tensor: Tensor, rank: int) -> Tensor:
        """Dimensions of size one between the batch and the others, so that
        they broadcast as they would in one member."""
        if not self.is_batched(tensor):
            return tensor
        value = tensor.value  # type: ignore[attr-defined]
        missing = rank - tensor.dim()
        return value if missing == 0 else value.reshape(self.size, *(1,) * missing, *tensor.shape)

    def view(self) -> Any:
        """A view of all members with the geometry of one member's view.

        Batches inside of batches are one tensor with several batch dimensions, so that a view costs the same
        at every depth.
        """
        source = next(leaf for leaf in self.leaves if self.is_batched(leaf))
        whole, levels = _all_batches(source)
        if _is_wrapped(whole) or whole.is_complex() or 0 in whole.shape[: len(levels)]:
            return self.loop()

        count = len(levels)
        with DisableTorchFunction():
            member_strides = whole.stride()[count:]
            first = whole.detach().as_strided(source.shape, member_strides, whole.storage_offset())
            seen = self.run([first if leaf is source else _plain(leaf) for leaf in self.leaves])
            results = tree_flatten(seen)[0]
            address = whole.untyped_storage()._address()
            moved = any(t.untyped_storage()._address() != address or t.dtype != whole.dtype for t in results)

        if moved:
            return self.loop()

        batch_sizes = whole.shape[:count]
        batch_strides = whole.stride()[:count]

        def spread(one: Tensor) -> Tensor:
            result: Tensor = whole.as_strided(
                (*batch_sizes, *one.shape), (*batch_strides, *one.stride()), one.storage_offset()
            )
            for level in levels:
                result = batched(result, level)
            return result

        return tree_map(spread, seen)

    def along_dim(self) -> Any:
        """Operators that act along `dim` and take the other dimensions as a batch."""
        source = next(leaf for leaf in self.leaves if self.is_batched(leaf))
        with_dim = [o for o in self.call.overloads if o.position("dim") is not None]
        if self.args[0] is not source or not with_dim:
            return self.loop()

        place = min(overload.position("dim") for overload in with_dim)  # type: ignore[type-var]
        is_positional = len(self.args) > place
        dim = self.args[place] if is_positional else self.kwargs.get("dim", with_dim[0].default("dim"))
        if is_positional and isinstance(dim, bool):
            return self.loop()

        value, is_scalar = source.value, source.dim() == 0
        if is_scalar:
            value = value.unsqueeze(-1)

        if dim is None or dim == () or dim == []:
            if self.kwargs.get("keepdim"):
                return self.loop()
            return self.over_all(value.reshape(self.size, shell_of(source).numel()), is_positional, place)

        shifted = (
            [d + 1 if d >= 0 else d for d in dim]
            if isinstance(dim, (tuple, list))
            else dim + 1
            if dim >= 0
            else dim
        )

        args = (value, *self.args[1:])
        kwargs = dict(self.kwargs)
        if is_positional:
            args = (*args[:place], shifted, *args[place + 1 :])
        else:
            kwargs["dim"] = shifted

        result = self.func(*args, **kwargs)
        if is_scalar:
            result = tree_map(lambda t: t.squeeze(-1) if t.dim() > 1 else t, result)
        return self.wrapped(result)

    def over_all(self, rows: Tensor, is_positional: bool, place: int) -> Any:
        args = (rows, *self.args[1:])
        try:
            if is_positional:
                result = self.func(*args[:place], 1, *args[place + 1 :], **self.kwargs)
            else:
                result = self.func(*args, **{**self.kwargs, "dim": 1})
        except TypeError:  # the overload over all dimensions takes arguments that the one with `dim` does not
            return self.loop()
        one = self.expected_results() == 1
        return self.wrapped(result[0] if one and isinstance(result, tuple) else result)

    def expected_results(self) -> int:
        """The number of results for one member, found with numbers that mean nothing."""
        with DisableTorchFunctionSubclass():
            first = self.run([_plain(leaf) for leaf in self.leaves])
        return len(first) if isinstance(first, tuple) else 1

    def member(self, leaf: Any, index: int) -> Any:
        if self.size == 0 and self.is_batched(leaf):  # for the shapes of results
            return leaf.value.new_zeros(leaf.value.shape[1:])
        return member(leaf, self.level, index)

    def no_operator(self) -> Any:
        """Queries about the tensor, and Python functions."""
        with DisableTorchFunctionSubclass():
            seen = self.run([shell_of(leaf) if isinstance(leaf, Tensor) else leaf for leaf in self.leaves])
        return self.loop() if any(isinstance(leaf, Tensor) for leaf in tree_flatten(seen)[0]) else seen

    def random(self) -> Any:
        check_allowed(self.call)
        if randomness() == "same":
            state = _C.default_generator.get_state()

            def again() -> None:
                _C.default_generator.set_state(state)

            return self.loop(again)
        fills = self.call.is_inplace or self.call.name.endswith("_like")
        return (
            self.elementwise()
            if fills and len(self.tensors) == 1 and self.is_batched(self.leaves[0])
            else self.loop()
        )

    def check_target(self) -> None:
        target = self.leaves[0]
        if isinstance(target, Tensor) and not self.is_batched(target):
            raise RuntimeError(
                "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor "
                "`other` in extra_args that has "
                "more elements than `self`. This happened due to `other` being vmapped over but `self` not "
                "being vmapped over in "
                f"{self.call.name}_. Please try to use out-of-place operators instead."
            )

    def loop(self, before: Callable[[], None] | None = None) -> Any:
        """Calls the operator for each member and stacks the results."""
        results = []
        for index in range(0 if self.call.is_inplace else 1) if self.size == 0 else range(self.size):
            if before is not None:
                before()
            results.append(self.run([self.member(leaf, index) for leaf in self.leaves]))
        if self.call.is_inplace:
            return self.args[0]
        spec = tree_flatten(results[0])[1]
        columns = zip(*(tree_flatten(r)[0] for r in results))
        stacked = [self.stacked(column) if isinstance(column[0], Tensor) else column[0] for column in columns]
        return spec.unflatten(stacked)

    def stacked(self, members: Sequence[Tensor]) -> Tensor:
        return batched(torch.stack(list(members))[: self.size], self.level)


def _is_wrapped(tensor: object) -> bool:
    return isinstance(tensor, Tensor) and hasattr(tensor, "level")


def _plain(leaf: Any) -> Any:
    """A plain tensor with the geometry of `leaf`, if that is wrapped."""
    return shell_of(leaf) if _is_wrapped(leaf) else leaf


def _all_batches(tensor: Tensor) -> tuple[Tensor, list[int]]:
    """What is inside of all batches around `tensor`, which are its first dimensions, and their levels,
    outermost first."""
    levels = []
    while isinstance(tensor, BatchedTensor):
        levels.append(tensor.level)
        tensor = tensor.value
    return tensor, levels[::-1]


def _same_promotion(leaves: Sequence[Any]) -> list[Any]:
    """Converts tensors without dimensions, which weigh less in type
    promotion: in a batch they have a dimension."""
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    with_dims = [t.dtype for t in tensors if t.dim() > 0]
    if not with_dims or len({t.dtype for t in tensors}) == 1:
        return list(leaves)
    common = with_dims[0]
    for dtype in with_dims[1:]:
        common = _C.promote_types(common, dtype)
    return [
        t.to(common) if isinstance(t, Tensor) and t.dim() == 0 and _kind(t.dtype) <= _kind(common) else t
        for t in leaves
    ]


def _kind(dtype: Any) -> int:
    return 3 if dtype.is_complex else 2 if dtype.is_floating_point else 0 if dtype == _C.bool else 1


# -- operators that no structure describes
# ------------------------------------------------------------


def _matmul(batch: _Batch) -> Any:
    left, right = batch.args[:2]
    is_vector = (left.dim() == 1, right.dim() == 1)
    a = batch.value(left) if batch.is_batched(left) else left
    b = batch.value(right) if batch.is_batched(right) else right
    a = a.unsqueeze(-2) if is_vector[0] else a
    b = b.unsqueeze(-1) if is_vector[1] else b
    rank = max(t.dim() - batch.is_batched(o) for t, o in ((a, left), (b, right)))

    def aligned(value: Tensor, original: Tensor) -> Tensor:
        if not batch.is_batched(original):
            return value
        return value.reshape(batch.size, *(1,) * (rank + 1 - value.dim()), *value.shape[1:])

    result = torch.matmul(aligned(a, left), aligned(b, right))
    result = result.squeeze(-1) if is_vector[1] else result
    result = result.squeeze(-2 + is_vector[1]) if is_vector[0] else result
    return batch.wrapped(result)


def _linear(batch: _Batch) -> Any:
    input_, weight, *rest = batch.args
    bias = rest[0] if rest else batch.kwargs.get("bias")
    product = input_ @ weight.t()
    return product if bias is None else product + bias


def _cat(batch: _Batch) -> Any:
    tensors = [batch.value(t) for t in batch.args[0]]
    dim = batch.args[1] if len(batch.args) > 1 else batch.kwargs.get("dim", 0)
    return batch.wrapped(batch.func(tensors, dim + 1 if dim >= 0 else dim))


def _norm(batch: _Batch) -> Any:
    """torch.norm. Its namesake torch.linalg.norm, a norm of matrices for two dimensions, takes a loop."""
    return batch.loop() if batch.func is _C._linalg.norm else batch.along_dim()


def _masked_fill(batch: _Batch) -> Any:
    """A batch of values has a dimension, which the operator does not accept for a value."""
    value = batch.leaves[-1]
    if not batch.is_batched(value):
        return batch.pointwise()
    source, mask = batch.leaves[:2]
    return batch.loop() if batch.call.is_inplace else torch.where(mask, value, source).to(source.dtype)


def _index(batch: _Batch) -> Any:
    source, index = batch.args
    items = index if isinstance(index, tuple) else (index,)
    basic = all(item is None or item is Ellipsis or isinstance(item, (int, slice)) for item in items)
    if basic and batch.is_batched(source):
        return batch.wrapped(source.value[(slice(None), *items)])
    return batch.loop()


def _assign(batch: _Batch) -> Any:
    target, index, value = batch.args
    if not batch.is_batched(target):
        batch.check_target()
    for position in range(batch.size):
        target.value[position][_member(batch, index, position)] = _member(batch, value, position)
    return None


def _member(batch: _Batch, tree: Any, position: int) -> Any:
    return tree_map(lambda leaf: member(leaf, batch.level, position), tree)


def _reshape(batch: _Batch) -> Any:
    source, *sizes = batch.args
    shape = (
        sizes[0]
        if len(sizes) == 1 and isinstance(sizes[0], (tuple, list))
        else batch.kwargs.get("shape", sizes)
    )
    return batch.wrapped(source.value.reshape(batch.size, *shape)) if batch.size else batch.loop()


_RULES: dict[str, Callable[[_Batch], Any]] = {
    **dict.fromkeys(("matmul", "mm", "bmm", "mv", "dot"), _matmul),
    "linear": _linear,
    "masked_fill": _masked_fill,
    "norm": _norm,
    "cat": _cat,
    "stack": _cat,
    "reshape": _reshape,
    "__getitem__": _index,
    "__setitem__": _assign,
}

BatchedTensor.transform = staticmethod(apply)  # type: ignore[method-assign]
