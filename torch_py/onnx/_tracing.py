"""Records one run of a program: every operator that uses an input, a parameter, or a tensor computed from
them.

Note [How a run is recorded]
The program sees `TracedTensor`s, a subclass whose `__torch_function__` receives every operator call as the
program wrote it (linear, layer_norm, scaled_dot_product_attention), computes it on the data, and records the
operator with its arguments. All other tensors are constants. A factory such as `torch.arange(n)` has no
tensor among its arguments, so factories are replaced during the run. An in-place operator gives the tensor a
new value. If memory was written to and another view of it is used later, the version counter shows this, and
it is an error rather than a wrong graph. A decomposed operator runs as the operators that it consists of.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch_py
from torch_py import _C
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.onnx._arguments import bind
from torch_py.onnx.errors import OnnxExporterError, TracerWarning
from torch_py.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

_STATE = threading.local()
_FACTORIES = (
    "arange",
    "empty",
    "eye",
    "full",
    "linspace",
    "normal",
    "ones",
    "rand",
    "randint",
    "randn",
    "randperm",
    "zeros",
    "tril_indices",
    "triu_indices",
)
_RANDOM = {
    "bernoulli",
    "multinomial",
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
}
_READS = {
    "item",
    "tolist",
    "__bool__",
    "__int__",
    "__float__",
    "__index__",
    "numpy",
    "__array__",
    "__complex__",
    "equal",
    "allclose",
    "is_nonzero",
}
# For operators that ONNX lacks: name -> function of the arguments by name that computes the operator with
# others. See _decompositions.
Decompositions = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class Value:
    """A tensor that is computed during a run, by its number."""

    index: int


@dataclass(frozen=True, eq=False)
class Constant:
    """A tensor that existed before the run."""

    tensor: Tensor


@dataclass
class Facts:
    """The facts that a run recorded about a value."""

    shape: tuple[int, ...]
    dtype: _C.dtype
    data: Tensor | None  # kept if it does not depend on an input
    name: str | None = None  # for inputs and parameters


@dataclass
class Call:
    """A recorded call of an operator."""

    name: str
    arguments: dict[str, Any]
    results: list[Value | None]
    module: str
    is_random: bool = False


class Run:
    """The calls of one run in order, and the facts about every value in it."""

    def __init__(self, decompositions: Decompositions) -> None:
        self.calls: list[Call] = []
        self.facts: list[Facts] = []
        self.modules: list[str] = []
        self._decompositions = decompositions

    def value(self, tensor: Tensor, depends: bool) -> Value:
        """A new value for `tensor`; `depends` says whether it depends on an input."""
        plain = None if depends else tensor.detach().clone().as_subclass(Tensor)
        self.facts.append(Facts(tuple(tensor.shape), tensor.dtype, plain))
        return Value(len(self.facts) - 1)

    def wrap(self, tensor: Tensor, depends: bool, name: str | None = None) -> TracedTensor:
        """A traced copy of an input or a parameter, so that the program may write to it."""
        self.facts.append(
            Facts(tuple(tensor.shape), tensor.dtype, None if depends else tensor.detach(), name)
        )
        return self._traced(tensor.detach().clone(), Value(len(self.facts) - 1))

    def _traced(self, tensor: Tensor, value: Value) -> TracedTensor:
        with DisableTorchFunctionSubclass():
            result: Any = _C.TensorBase._make_subclass(TracedTensor, tensor.detach(), False)
            result.run = self
            result.value = value
            result.version = result.created = result._version
        return result

    def handle(self, func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Computes ``func(*args, **kwargs)`` and records the call."""
        name, in_place, bound = bind(func, args, kwargs)
        name = name.rstrip("_") if in_place and name != "__setitem__" else name
        if name in self._decompositions:
            result = self._decompositions[name](**bound)
            if result is not NotImplemented:
                return args[0].copy_(result) if in_place else result

        if name == "__iter__":
            return iter(torch_py.unbind(args[0], 0))

        before = [leaf for leaf in leaves_of((list(args), dict(kwargs))) if isinstance(leaf, Tensor)]
        with DisableTorchFunctionSubclass():
            arguments, stale = self._arguments(bound)
            stale = stale and not (name == "__setitem__" and _writes_back(*args))
            geometry = (args[0].shape, args[0]._version) if in_place else None
            result = func(*args, **kwargs)
            changed = in_place and geometry != (args[0].shape, args[0]._version)

        if not changed and all(_is_known(leaf, before) for leaf in tree_leaves(result)):
            if name in _READS:
                self._warn_of_reading(name)
            return result

        self._check(name, stale, kwargs)
        if in_place:
            return self._write(name, arguments, args[0], result)
        return self._record(name, arguments, result)

    def _check(self, name: str, stale: bool, kwargs: Mapping[str, Any]) -> None:
        where = f"in module '{self.module}'" if self.module else "in the model"
        if kwargs.get("out") is not None:
            raise OnnxExporterError(
                f"torch.onnx.export: {name}(out=...) {where} cannot be exported; use the result instead"
            )
        if stale:
            raise OnnxExporterError(
                f"torch.onnx.export: {name} {where} uses a tensor whose memory was written to through "
                "another view of it; ONNX has no views: write to the tensor itself"
            )

    def current_value(self, tensor: TracedTensor) -> Value:
        """The value of a result. Raises OnnxExporterError if it was written to through a view."""
        with DisableTorchFunctionSubclass():
            self._check("the result", tensor.version != tensor._version, {})
        return tensor.value

    def _warn_of_reading(self, name: str) -> None:
        warnings.warn(
            f"torch.onnx.export: {name}() in module '{self.module}' reads a number out of a tensor; the "
            "exported model keeps the number of this run, also for other inputs",
            TracerWarning,
            stacklevel=5,
        )

    @property
    def module(self) -> str:
        """The path of the module that is running."""
        return self.modules[-1] if self.modules else ""

    def _arguments(self, bound: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """`bound` with values and constants in place of tensors, and whether one of the tensors has changed
        since its value was recorded."""
        stale = []

        def noted(leaf: Any) -> Any:
            if isinstance(leaf, TracedTensor) and leaf.run is self:
                stale.append(leaf.version != leaf._version)
                return leaf.value
            return Constant(leaf) if isinstance(leaf, Tensor) else leaf

        return {key: mapped(noted, value) for key, value in bound.items()}, any(stale)

    def _recorded(self, name: str, arguments: dict[str, Any], outputs: Sequence[Any]) -> list[Value | None]:
        """Appends the call. Returns its outputs as values."""
        is_random = name in _RANDOM
        used = [leaf for leaf in leaves_of(arguments) if isinstance(leaf, Value)]
        depends = is_random or any(self.facts[leaf.index].data is None for leaf in used)
        with DisableTorchFunctionSubclass():
            values = [
                self.value(tensor, depends) if isinstance(tensor, Tensor) else None for tensor in outputs
            ]
        self.calls.append(Call(name, arguments, values, self.module, is_random))
        return values

    def _record(self, name: str, arguments: dict[str, Any], result: Any) -> Any:
        leaves, spec = tree_flatten(result)
        values = self._recorded(name, arguments, leaves)
        return tree_unflatten(
            [leaf if value is None else self._traced(leaf, value) for leaf, value in zip(leaves, values)],
            spec,
        )

    def _write(self, name: str, arguments: dict[str, Any], target: Any, result: Any) -> Any:
        if not isinstance(target, TracedTensor):
            raise OnnxExporterError(
                f"torch.onnx.export: {name} in module '{self.module}' writes to a tensor that was made "
                "before the export; make the tensor inside of forward"
            )
        target.value = self._recorded(name, arguments, [target])[0]
        with DisableTorchFunctionSubclass():
            target.version = target._version
        return target if result is not None else None


def _is_known(leaf: Any, before: Sequence[Any]) -> bool:
    """Whether `leaf` is not a tensor or is one of the arguments, so that nothing was computed."""
    return not isinstance(leaf, Tensor) or any(leaf is other for other in before)


def _writes_back(target: Any, index: Any, value: Any) -> bool:
    """Whether this call ends `x[index] += 1`: it writes back the very view that
    was changed, and nothing else has changed since."""
    if not (isinstance(target, TracedTensor) and isinstance(value, TracedTensor)):
        return False
    place = _C.TensorBase.__getitem__(target, index)
    is_same = (place.data_ptr(), place.shape, place.stride()) == (
        value.data_ptr(),
        value.shape,
        value.stride(),
    )
    return is_same and value.created == target.version and value.version == value._version


def leaves_of(tree: Any) -> list[Any]:
    """The leaves of `tree`, in order."""
    found: list[Any] = []
    mapped(found.append, tree)
    return found


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """Applies `function` to every leaf of lists, tuples, dicts and slices, the parts of an index."""
    if isinstance(tree, slice):
        return slice(*(mapped(function, part) for part in (tree.start, tree.stop, tree.step)))
    if isinstance(tree, (list, tuple)):
        parts = [mapped(function, part) for part in tree]
        return parts if isinstance(tree, list) else tuple(parts)
    if isinstance(tree, dict):
        return {key: mapped(function, part) for key, part in tree.items()}
    return function(tree)


class TracedTensor(Tensor):
    """A tensor whose operators are recorded."""

    run: Run
    value: Value
    version: int  # version of the memory when the value was recorded
    created: int  # version of the memory when the tensor was created

    @classmethod
    def __torch_function__(cls, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        run = next(leaf.run for leaf in leaves_of((args, kwargs)) if isinstance(leaf, TracedTensor))
        return run.handle(func, args, kwargs)


@contextmanager
def traced_factories(run: Run) -> Iterator[None]:
    """Makes tensors that this thread creates from sizes within the block belong to `run`."""

    def replacement(original: Callable[..., Any]) -> Callable[..., Any]:
        def factory(*args: Any, **kwargs: Any) -> Any:
            current = getattr(_STATE, "run", None)
            if current is not run or not _C._is_torch_function_enabled():
                return original(*args, **kwargs)
            return run.handle(original, args, kwargs)

        factory.__name__ = original.__name__
        return factory

    places = [(owner, name) for owner in (_C._torch, torch_py) for name in _FACTORIES if hasattr(owner, name)]
    before = [getattr(owner, name) for owner, name in places]

    _STATE.run = run
    try:
        for (owner, name), original in zip(places, before):
            setattr(owner, name, replacement(original))
        yield
    finally:
        for (owner, name), original in zip(places, before):
            setattr(owner, name, original)
        _STATE.run = None


def is_tracing() -> bool:
    """Whether this thread is currently exporting a model."""
    return getattr(_STATE, "run", None) is not None
