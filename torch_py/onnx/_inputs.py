"""The inputs of a program: their names, their dynamic dimensions, and inputs of other sizes for recording."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch_py
from torch_py._tensor import Tensor
from torch_py.onnx.errors import OnnxExporterError
from torch_py.utils._pytree import TreeSpec, tree_flatten, tree_unflatten


@dataclass
class Inputs:
    """The arguments of a call as a list of leaves."""

    leaves: list[Any]
    spec: TreeSpec
    names: dict[int, str]  # the name of each leaf that is a tensor, by its index
    dynamic: dict[int, dict[int, str]]  # the names of dynamic dimensions, by index of the leaf

    def call(self, leaves: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The positional and keyword arguments that consist of `leaves`."""
        args, kwargs = tree_unflatten(list(leaves), self.spec)
        return tuple(args), kwargs

    def sizes(self) -> dict[str, int]:
        """The size of every dynamic dimension. Raises ValueError if dimensions of one name differ in size."""
        found: dict[str, int] = {}
        for index, axes in self.dynamic.items():
            for axis, name in axes.items():
                size = self.leaves[index].shape[axis]
                if found.setdefault(name, size) != size:
                    raise ValueError(
                        f"torch.onnx.export: the dynamic dimension '{name}' has size {found[name]} in one "
                        f"input and {size} in another"
                    )
        return found

    def resized(self, sizes: Mapping[str, int]) -> list[Any]:
        """The leaves with these sizes in their dynamic dimensions.

        Elements are repeated or left out, so that they stay valid, for example as indices.
        """
        result = list(self.leaves)
        for index, axes in self.dynamic.items():
            for axis, name in axes.items():
                tensor = result[index]
                places = torch_py.arange(sizes[name]) % tensor.shape[axis]
                result[index] = tensor.index_select(axis, places.to(tensor.device))
        return result


def take_apart(
    function: Any, args: Any, kwargs: Mapping[str, Any] | None, input_names: Sequence[str] | None
) -> Inputs:
    """Reads the arguments of an export. Raises ValueError if `input_names` does not fit them."""
    args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    if args and isinstance(args[-1], dict) and kwargs is None:  # the older way to give keywords
        kwargs = args[-1]
        args = args[:-1]

    leaves, spec = tree_flatten((list(args), dict(kwargs or {})))
    automatic = list(_argument_names(function, args, kwargs or {}))
    tensors = [index for index, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]

    given = list(input_names or [])
    if len(given) > len(tensors):
        raise ValueError(
            f"torch.onnx.export: input_names has {len(given)} names {given} for {len(tensors)} inputs that "
            "are tensors"
        )

    names = given + [automatic[index] for index in tensors[len(given) :]]
    if len(set(names)) != len(names):
        raise ValueError(f"torch.onnx.export: input_names must be different, got {names}")

    return Inputs(leaves, spec, dict(zip(tensors, names)), {})


def _argument_names(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[str]:
    """One name for each leaf: the parameter of `forward`, numbered if it has several leaves."""
    forward = getattr(function, "forward", function)
    try:
        parameters = list(inspect.signature(forward).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    own = [plain[i] if i < len(plain) else f"input_{i}" for i in range(len(args))]
    for name, value in (*zip(own, args), *kwargs.items()):
        count = len(tree_flatten(value)[0])
        yield from ([name] if count == 1 else [f"{name}_{i}" for i in range(count)])


def declare_dynamic(
    inputs: Inputs, dynamic_axes: Any, dynamic_shapes: Any, output_names: Sequence[str] | None, function: Any
) -> None:
    """Fills `inputs.dynamic` from `dynamic_axes` or `dynamic_shapes`."""
    if dynamic_axes is not None and dynamic_shapes is not None:
        raise ValueError("torch.onnx.export: dynamic_axes and dynamic_shapes say the same; give one of them")

    if dynamic_axes is not None:
        _from_axes(inputs, dynamic_axes, output_names or ())
    elif dynamic_shapes is not None:
        _from_shapes(inputs, dynamic_shapes, function)

    for index, axes in inputs.dynamic.items():
        rank = inputs.leaves[index].dim()
        for axis in axes:
            if not isinstance(axis, int) or not -rank <= axis < rank:
                raise ValueError(
                    f"torch.onnx.export: '{inputs.names[index]}' has {rank} dimensions, got the dynamic "
                    f"dimension {axis!r}"
                )
        inputs.dynamic[index] = {axis % rank: name for axis, name in axes.items()}


def _from_axes(inputs: Inputs, dynamic_axes: Any, output_names: Sequence[str]) -> None:
    by_name = {name: index for index, name in inputs.names.items()}
    if not isinstance(dynamic_axes, Mapping):
        raise TypeError(
            f"torch.onnx.export: expected dynamic_axes to be a dict, got {type(dynamic_axes).__name__}"
        )

    for name, axes in dynamic_axes.items():
        if name in by_name:
            named = (
                axes
                if isinstance(axes, Mapping)
                else {axis: f"{name}_dynamic_axes_{i + 1}" for i, axis in enumerate(axes)}
            )
            inputs.dynamic[by_name[name]] = {axis: str(label) for axis, label in named.items()}
        elif name not in output_names:
            raise ValueError(
                f"torch.onnx.export: dynamic_axes names {name!r}; inputs are {list(by_name)}, outputs "
                f"{list(output_names)}"
            )


def _from_shapes(inputs: Inputs, dynamic_shapes: Any, function: Any) -> None:
    # The structure of the arguments, with the index of each leaf in its place.
    args, kwargs = inputs.call(range(len(inputs.leaves)))
    if isinstance(dynamic_shapes, Mapping):
        forward = getattr(function, "forward", function)
        bound = inspect.signature(forward).bind_partial(*args, **kwargs).arguments
        trees = [(bound.get(name), spec, name) for name, spec in dynamic_shapes.items()]
    else:
        trees = [
            (tree, spec, str(i))
            for i, (tree, spec) in enumerate(zip((*args, *kwargs.values()), dynamic_shapes))
        ]

    for tree, spec, name in trees:
        _match_shapes(inputs, tree, spec, name)


def _match_shapes(inputs: Inputs, tree: Any, spec: Any, name: str) -> None:
    if spec is None:
        return

    if isinstance(tree, int) and tree in inputs.names:
        axes = spec.items() if isinstance(spec, Mapping) else enumerate(spec)
        labels = {axis: _label(dim, f"{inputs.names[tree]}_{axis}") for axis, dim in axes}
        inputs.dynamic[tree] = {axis: label for axis, label in labels.items() if label is not None}
    elif isinstance(tree, Mapping) and isinstance(spec, Mapping):
        for key, part in spec.items():
            _match_shapes(inputs, tree.get(key), part, f"{name}[{key!r}]")
    elif isinstance(tree, (list, tuple)) and isinstance(spec, (list, tuple)) and len(tree) == len(spec):
        for i, (part, own) in enumerate(zip(tree, spec)):
            _match_shapes(inputs, part, own, f"{name}[{i}]")
    else:
        raise ValueError(
            f"torch.onnx.export: dynamic_shapes for {name!r} does not fit the argument, got {spec!r}"
        )


def _label(dim: Any, automatic: str) -> str | None:
    """The name of a dimension, or None if it is static.

    Hints without a name (AUTO, DYNAMIC) get one from their position.
    """
    if dim is None or isinstance(dim, int):
        return None

    if isinstance(dim, str):
        return dim
    text = str(getattr(dim, "type", dim))
    if "STATIC" in text:
        return None
    return automatic if "AUTO" in text or "DYNAMIC" in text else str(getattr(dim, "__name__", automatic))


# How much to add to each size in each run: different for every dimension, both odd and even.
_STEPS = (
    (0, 3, 7, 12, 2),
    (0, 5, 11, 4, 9),
    (0, 4, 9, 2, 15),
    (0, 1, 8, 5, 14),
    (0, 6, 10, 13, 3),
    (0, 2, 5, 8, 11),
    (0, 7, 3, 16, 10),
    (0, 9, 4, 1, 6),
)
_FACTORS = ((1, 2, 3, 5, 4), (1, 3, 5, 2, 6), (1, 5, 2, 4, 3), (1, 4, 6, 3, 2), (1, 6, 4, 5, 3))


def plans(sizes: Mapping[str, int]) -> Iterator[list[dict[str, int]]]:
    """Yields sets of five assignments of sizes, to be tried in turn.

    Within a set no two dimensions change in the same way.

    Nearby sizes tell most formulas apart, but a program may accept only multiples of the given size, or sizes
    up to the given one.
    """
    if any(size == 0 for size in sizes.values()):
        raise OnnxExporterError(
            f"torch.onnx.export: a dynamic dimension of the example inputs has size 0: {dict(sizes)}"
        )

    numbered = list(enumerate(sizes.items()))
    yield _plan(lambda i, size, run: max(2, size) + _STEPS[i % len(_STEPS)][run], numbered)
    yield _plan(lambda i, size, run: size * _FACTORS[i % len(_FACTORS)][run], numbered)
    for scale in (1, 2):  # smaller sizes, with half the steps if there is not enough room
        smaller = _plan(lambda i, size, run: size - _STEPS[i % len(_STEPS)][run] // scale, numbered)  # noqa: B023
        if all(size >= 2 for plan in smaller for size in plan.values()):
            yield smaller
    if all(size >= 6 for size in sizes.values()):
        yield _plan(lambda i, size, run: size - (run * (i + 1)) % (size - 1), numbered)


def _plan(size_of: Any, numbered: Sequence[tuple[int, tuple[str, int]]]) -> list[dict[str, int]]:
    return [{name: size_of(i, size, run) for i, (name, size) in numbered} for run in range(5)]
