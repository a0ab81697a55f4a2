"""The rules of whole families of operators: pointwise ones, those over rows, and views.

Formulas are those of native_functions.yaml. Over rows they are in stages: each is a reduction over the row, a
`value` of the row, or `kept` for elements that several passes over the row need.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from torch_py import _C
from torch_py._generated.lowerings import POINTWISE, ROWS
from torch_py._inductor.indices import Linear, contiguous, flattened, linear, unflattened
from torch_py._inductor.ir import SHORT_FLOATS, TRUTH, Expr, Map, Reduce, arithmetic_dtype, cast, rounded
from torch_py._inductor.lower.context import Elements, Formula, Given, Lowering, NotLoweredError, Rule, Value
from torch_py._libraries import library_of
from torch_py._ops import OpOverload
from torch_py._records import Fields
from torch_py._tensor import Tensor
from torch_py.fx.node import map_arg


def pointwise_entry(name: str) -> Any:
    """The promotion rule and the formula of one element of a result; None without a formula."""
    library = library_of(name)
    return (POINTWISE if library is None else library.pointwise).get(name)


def row_entry(name: str) -> Any:
    """The promotion rule, the stages and the formula of an operator over rows."""
    library = library_of(name)
    return (ROWS if library is None else library.over_rows).get(name)


def rule_of_family(operator: OpOverload, result: Any) -> Rule | None:
    """The rule of the family that an operator belongs to, with such a result."""
    if pointwise_entry(operator._entry_name) is not None:
        return lower_pointwise
    if row_entry(operator._entry_name) is not None:
        return lower_rows
    is_view = operator._structure == "view" and isinstance(result, (Tensor, list, tuple))
    return lower_view if is_view else None


# Pointwise operators
# ------------------------------------------------------------


def lower_pointwise(lowering: Lowering, node: Any, given: Given) -> Elements:
    """The rule of all operators with a formula for one element."""
    promotion, tree = pointwise_entry(node.target._entry_name)
    dtype = node.meta["val"].dtype
    common = _compared_dtype(node) if promotion == "comparison" else dtype
    if common in SHORT_FLOATS:
        given = _rounded_operands(node.target, given, common, tree[0] in ("*", "/"))
    return _elements(tree, given, arithmetic_dtype(common), dtype)


def _rounded_operands(operator: OpOverload, given: Given, dtype: Any, is_product: bool) -> Given:
    """Numbers in the place of tensors, and tensors of other dtypes, in the dtype of 16 bits in which eager
    mode computes. A single number that products and quotients have as their second operand is not rounded."""
    names = {argument.name for argument in operator._schema.arguments if str(argument.type) == "Tensor"}
    names |= {"alpha"} if "other" in names else set()  # of a sum
    found = dict(given)
    for name in names & given.keys():
        value = given[name]
        if is_product and name == "other" and not (isinstance(value, Value) and value.sizes):
            continue
        if type(value) in (int, float):
            found[name] = rounded(value, dtype)
        elif isinstance(value, Value) and value.dtype != dtype:
            at = partial(_rounded_at, value, dtype)
            found[name] = Value(value.sizes, dtype, value.device, at, value.root)
    return found


def _rounded_at(value: Value, dtype: Any, index: Sequence[Linear]) -> Expr:
    return Map("rounded", [cast(value.at(index), dtype)], dtype)


def _elements(tree: Any, given: Mapping[str, Any], computed: Any, dtype: Any) -> Elements:
    """The elements of a formula, computed in one dtype and given in another. Tensors broadcast."""

    def at(index: Sequence[Linear]) -> Expr:
        values = {n: v.broadcast(index) if isinstance(v, Value) else v for n, v in given.items()}
        return cast(Formula(values, computed).value(tree), dtype)

    return at


def _compared_dtype(node: Any) -> Any:
    """The common dtype of what a comparison is given. Other operators compute in the dtype of the result."""
    args, kwargs = map_arg((node.args, node.kwargs), lambda argument: argument.meta["val"])
    given = node.target._schema.bind(args, kwargs).values()
    operands = [value for value in given if isinstance(value, (Tensor, bool, int, float))]
    if len(operands) > 2:
        raise NotLoweredError("more than two operands to compare")
    return _C.result_type(*operands) if len(operands) == 2 else operands[0].dtype


# Operators over rows
# ------------------------------------------------------------

# The word of a stage -> the kind of a Reduce.
KINDS = {"amax": "maximum", "amin": "minimum", **{word: word for word in "sum product any all xor".split()}}

_SHORT_ROW = 48
Stages = Sequence[tuple[str, str, Any]]  # a name, a word and a formula


def lower_rows(lowering: Lowering, node: Any, given: Given) -> Value:
    """The rule of all operators with a formula over rows."""
    operator = node.target
    promotion, stages, finish = row_entry(operator._entry_name)
    result = node.meta["val"]

    sizes = given["self"].sizes if operator._structure == "reduction" else tuple(result.shape)
    like = _whole(given, sizes)
    dims = reduced_dimensions(len(sizes), given.get("dim"))
    if operator._structure != "reduction" and dims == [len(sizes) - 1] and sizes[-1] < _SHORT_ROW:
        raise NotLoweredError("short rows, several of which the operator itself computes at once")
    computed = arithmetic_dtype(like.dtype if promotion == "bool" else result.dtype)
    return Rows(lowering, node, like, dims, computed).computed(stages, finish, given)


def _whole(given: Given, sizes: Sequence[int]) -> Value:
    """A tensor of the shape in which the formula is computed; all must have one dtype."""
    tensors = [value for value in given.values() if isinstance(value, Value)]
    whole = [tensor for tensor in tensors if tensor.sizes == sizes]
    if not whole or len({tensor.dtype for tensor in tensors}) != 1:
        raise NotLoweredError("tensors of several shapes or dtypes")
    return whole[0]


def reduced_dimensions(rank: int, dim: Any) -> list[int]:
    """The dimensions an operator is given, in order; None and an empty list mean all of them."""
    if dim is None or dim == [] or rank == 0:
        return list(range(rank))
    return sorted(d % rank for d in ([dim] if isinstance(dim, int) else dim))


class Example(Fields):
    """The shape, dtype and strides of a tensor that no node has."""

    shape: Sequence[int]
    dtype: Any
    device: Any

    def stride(self) -> tuple[int, ...]:
        return contiguous(self.shape)

    def storage_offset(self) -> int:
        return 0


class Rows(Fields):
    """Tensors of one shape, and values of their rows along some dimensions, computed in one dtype."""

    lowering: Lowering
    node: Any
    like: Value  # one of the tensors
    dims: Sequence[int]
    dtype: Any

    def computed(self, stages: Stages, finish: Any, values: Mapping[str, Any]) -> Value:
        """The result of the node, by a formula in stages. A reduction that is all of it needs no other."""
        example = self.node.meta["val"]
        *first, (name, word, tree) = stages
        if finish == name and word in KINDS and self._dtype_of(word) == example.dtype:
            return self._tensor(self.node.name, word, tree, self.staged(first, values), example)
        return self.result(example, finish, self.staged(stages, values))

    def staged(self, stages: Stages, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of stages by their names, and those that they are computed from."""
        sizes = self.like.sizes
        row = [1 if d in self.dims else size for d, size in enumerate(sizes)]
        found = {**values, "count": math.prod([sizes[d] for d in self.dims])}
        for name, word, tree in stages:
            example = Example(sizes if word == "kept" else row, self._dtype_of(word), self.like.device)
            found[name] = self._tensor(f"{self.node.name}_{name}", word, tree, found, example)
        return found

    def result(self, example: Any, tree: Any, values: Mapping[str, Any], name: str = "") -> Value:
        """A tensor with the elements of a formula."""
        return self._tensor(name or self.node.name, "value", tree, values, example)

    def _dtype_of(self, word: str) -> Any:
        return TRUTH if word in ("any", "all") else self.dtype

    def _tensor(self, name: str, word: str, tree: Any, values: Mapping[str, Any], example: Any) -> Value:
        """The elements of a formula, or one value for each row: their combination."""
        dtype = self._dtype_of(word)
        element = _elements(tree, values, self.dtype, dtype)
        axes, inner = self.lowering.space([self.like.sizes[d] for d in self.dims], "rstuvw")

        def at(outer: Sequence[Linear]) -> Expr:
            index = self._whole_index(outer)
            if word not in KINDS:
                return cast(element(index), example.dtype)
            for d, position in zip(self.dims, inner):
                index[d] = position
            return Reduce(KINDS[word], axes, element(index), dtype)

        return self.lowering.define(name, example, at)

    def _whole_index(self, index: Sequence[Linear]) -> list[Linear]:
        """An index of a result, which may lack the reduced dimensions, as one of the whole tensor."""
        if len(index) == len(self.like.sizes):
            return list(index)
        kept = iter(index)
        return [linear(0) if d in self.dims else next(kept) for d in range(len(self.like.sizes))]


# Views
# ------------------------------------------------------------


def lower_view(lowering: Lowering, node: Any, given: Given) -> Value | tuple[Value, ...]:
    """The rule of all operators that give views: an index of the view becomes one of the tensor.

    A view of a tensor whose elements are one after another has strides that say where in the row an element
    is, and the row position gives the index.
    """
    name, source = next(iter(given.items()))
    is_single = isinstance(node.meta["val"], Tensor)
    results = [node.meta["val"]] if is_single else node.meta["val"]
    if "stride" in given or any(result.dtype != source.dtype for result in results):
        raise NotLoweredError("a view by strides, or of the bytes as another dtype")

    row = _C._torch.empty_strided(source.sizes, contiguous(source.sizes), dtype=source.dtype, device="meta")
    views = node.target(**{**given, name: row})
    found = [_view(source, *pair) for pair in zip([views] if is_single else views, results)]
    return found[0] if is_single else tuple(found)


def _view(source: Value, view: Any, example: Any) -> Value:
    def at(index: Sequence[Linear]) -> Expr:
        row = flattened(index, view.stride(), view.storage_offset())
        return source.at(unflattened(row, source.sizes))

    return Value(tuple(example.shape), example.dtype, example.device, at, source.root, example=example)
