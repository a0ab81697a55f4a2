"""What a program says about the sizes of its inputs: `Dim`, `dims`, `ShapesCollection`."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.export._errors import ExportError

__all__ = ["Dim", "ShapesCollection", "dims"]


class _Hint(enum.Enum):
    """What `Dim.AUTO`, `Dim.STATIC` and `Dim.DYNAMIC` are."""

    AUTO = "AUTO"
    STATIC = "STATIC"
    DYNAMIC = "DYNAMIC"

    def __repr__(self) -> str:
        return f"Dim.{self.name}"


class Dim:
    """A named size that varies, from `min` to `max`. Dimensions with the same Dim have equal sizes.

    Multiples and sums with integers can be used for sizes that depend on another: ``2 * batch``,
    ``length - 1``. `Dim.DYNAMIC` is a size that varies without a name, `Dim.AUTO` one that varies if the
    program allows it, and `Dim.STATIC` that of the example.

        batch = Dim("batch", min=1, max=64)
        export(model, (x,), dynamic_shapes={"x": {0: batch}})

    Raises AssertionError for a name that is not an identifier, and for max < min.
    """

    AUTO = _Hint.AUTO
    STATIC = _Hint.STATIC
    DYNAMIC = _Hint.DYNAMIC

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.min = 0 if min is None else min
        self.max = max
        if max is not None and max < self.min:
            raise AssertionError(f"Cannot create Dim with inconsistent min={min}, max={max}")
        if not isinstance(name, str) or not name.isidentifier():
            raise AssertionError(f"Dim name must be a valid identifier, got {name}")
        self.__name__ = name
        self.root = self
        self.factor = 1
        self.offset = 0

    def _derived(self, factor: int, offset: int) -> Dim:
        for number in (factor, offset):
            if type(number) is not int:
                raise NotImplementedError(
                    f"Attempted to derive a Dim from {self.__name__} with {number!r}, where an integer was "
                    "expected. (Only increasing linear operations with integer coefficients are supported.)"
                )
        if self.factor * factor <= 0:
            raise NotImplementedError(
                f"Attempted to multiply {self.__name__} with {factor}, where a positive integer was "
                f"expected. "
                "(Only increasing linear operations with integer coefficients are supported.)"
            )
        derived = object.__new__(Dim)
        derived.root = self.root
        derived.factor = self.factor * factor
        derived.offset = self.offset * factor + offset
        derived.min = derived.of(self.root.min)
        derived.max = None if self.root.max is None else derived.of(self.root.max)

        text = self.root.__name__ if derived.factor == 1 else f"{derived.factor}*{self.root.__name__}"
        derived.__name__ = f"{text} + {derived.offset}" if derived.offset > 0 else text
        if derived.offset < 0:
            derived.__name__ = f"{text} - {-derived.offset}"
        return derived

    def of(self, root: int) -> int:
        """The size, where the size that it is derived from is `root`."""
        return self.factor * root + self.offset

    def __add__(self, other: int) -> Dim:
        return self._derived(1, other)

    def __sub__(self, other: int) -> Dim:
        return self._derived(1, -other)

    def __mul__(self, other: int) -> Dim:
        return self._derived(other, 0)

    __radd__ = __add__
    __rmul__ = __mul__

    def __repr__(self) -> str:
        limits = "" if self.min == 0 else f", min={self.min}"
        limits += "" if self.max is None else f", max={self.max}"
        return f"Dim('{self.__name__}'{limits})"


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """A `Dim` for each name."""
    return tuple(Dim(name, min=min, max=max) for name in names)


class ShapesCollection:
    """The dynamic dimensions of tensors, for arguments in which they are deeply nested:

    shapes = ShapesCollection()
    shapes[tensor] = {0: Dim("batch")}
    export(model, args, dynamic_shapes=shapes)
    """

    def __init__(self) -> None:
        self._of: dict[int, tuple[Tensor, Any]] = {}

    def __setitem__(self, tensor: Tensor, shape: Any) -> None:
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"Cannot assign shape to non-tensor type {type(tensor)}")
        if id(tensor) in self._of and self._of[id(tensor)][1] != shape:
            raise AssertionError(
                f"Shapes assigned to input are different: {self._of[id(tensor)][1]}, {shape}"
            )
        self._of[id(tensor)] = tensor, shape

    def __getitem__(self, tensor: Tensor) -> Any:
        if id(tensor) not in self._of:
            self._of[id(tensor)] = tensor, {}
        return self._of[id(tensor)][1]

    def __len__(self) -> int:
        return len(self._of)

    def of_leaf(self, leaf: Any) -> Any:
        """What was assigned to a tensor; None for everything else."""
        return self._of[id(leaf)][1] if id(leaf) in self._of else None


# Reading them
# ------------------------------------------------------------


def sizes_of_leaves(
    dynamic_shapes: Any, arguments: Mapping[str, Any], leaves: list[Any]
) -> list[dict[int, Any]]:
    """For each leaf of the arguments: its dynamic dimensions, each with a Dim or a hint.

    `arguments` are those of the call by name, in the order of the leaves.
    Raises ExportError if the structures do not match.
    """
    if dynamic_shapes is None:
        return [{} for _ in leaves]
    if isinstance(dynamic_shapes, ShapesCollection):
        return [_of_tensor(dynamic_shapes.of_leaf(leaf), leaf, "the tensor") for leaf in leaves]

    by_name = _by_name(dynamic_shapes, arguments)
    found: list[dict[int, Any]] = []
    for name, value in arguments.items():
        found += _of_tree(by_name.get(name), value, name)
    return found


def _by_name(dynamic_shapes: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    names = list(arguments)
    if isinstance(dynamic_shapes, dict):
        if set(dynamic_shapes) != set(names):
            raise ExportError(
                "When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names "
                f"{names} of `inputs`, but here they are {list(dynamic_shapes)}. Alternatively, you "
                f"could also "
                "ignore arg names entirely and specify `dynamic_shapes` as a list/tuple matching `inputs`."
            )
        return dynamic_shapes

    if not isinstance(dynamic_shapes, (tuple, list)) or len(dynamic_shapes) != len(names):
        raise ExportError(
            f"Expecting `dynamic_shapes` to be a dict, or a list/tuple of {len(names)} elements, one "
            f"for each "
            f"of the arguments {names}, but got {dynamic_shapes!r}"
        )
    return dict(zip(names, dynamic_shapes))


def _of_tree(shape: Any, value: Any, path: str) -> Iterator[dict[int, Any]]:
    """The dimensions of the leaves of `value`."""
    # Imported here: the module of trees is needed for this alone.
    from torch_py.utils import _pytree

    node = _pytree._node_of(value)
    if node is None:
        yield _of_tensor(shape, value, path)
        return

    children, context = node.flatten(value)
    keys = list(context) if isinstance(value, dict) else list(range(len(children)))
    if shape is not None and (not isinstance(shape, (dict, tuple, list)) or len(shape) != len(children)):
        raise ExportError(
            f"Detected mismatch between the structure of `inputs` and `dynamic_shapes`: `inputs` of "
            f"{path} has "
            f"{len(children)} elements, but `dynamic_shapes` has {shape!r}"
        )
    for position, (key, child) in enumerate(zip(keys, children)):
        part = None if shape is None else _part(shape, key, position, path)
        yield from _of_tree(part, child, f"{path}[{key!r}]")


def _part(shape: Any, key: Any, position: int, path: str) -> Any:
    if not isinstance(shape, dict):
        return shape[position]
    if key not in shape:
        raise ExportError(
            f"Detected mismatch between the structure of `inputs` and `dynamic_shapes`: {path} has the key "
            f"{key!r}, `dynamic_shapes` has {list(shape)}"
        )
    return shape[key]


def _of_tensor(shape: Any, value: Any, path: str) -> dict[int, Any]:
    if shape is None:
        return {}
    if not isinstance(value, Tensor):
        if shape is None or shape is _Hint.STATIC or not shape:
            return {}
        raise ExportError(
            f"Cannot associate shape {shape!r} specified at {path} to non-tensor type {type(value)}"
        )

    if not isinstance(shape, (dict, tuple, list)):
        raise ExportError(
            f"Unexpected dynamic_shape {shape!r} of {path}: expected a dict, list or tuple, or None"
        )
    if not isinstance(shape, dict) and len(shape) != value.dim():
        raise ExportError(
            f"Expected dynamic shape spec {shape!r} specified at {path} to have the same length as "
            f"the actual "
            f"tensor shape {value.shape}"
        )

    rows = shape.items() if isinstance(shape, dict) else enumerate(shape)
    found = {}
    for dim, given in rows:
        checked = _checked(given, dim, value, path)
        if checked is not None:
            found[dim] = checked
    return found


def _checked(given: Any, dim: Any, value: Tensor, path: str) -> Any:
    """The Dim or hint of one dimension; None if it does not vary."""
    if type(dim) is not int or not 0 <= dim < value.dim():
        raise ExportError(f"Unexpected dimension {dim!r} of {path}, which has {value.dim()} dimensions")

    size = value.shape[dim]
    if given is None or given is _Hint.STATIC:
        return None
    if type(given) is int:
        if given != size:
            raise ExportError(
                f"Static shape constraint of {given} does not match input size of {size} for {path}"
            )
        return None
    if isinstance(given, Dim):
        if size < given.min or (given.max is not None and size > given.max):
            upper = "int_oo" if given.max is None else given.max
            raise ExportError(f"{path}.shape[{dim}]: {size} not in range [{given.min}, {upper}]")
        return given
    if isinstance(given, _Hint):
        return given
    raise ExportError(
        f"Unexpected dimension {given!r} of {path}, dimension {dim}: expected a Dim, int or None"
    )


__getattr__ = _lacking(__name__)
