"""Calls operators of torch_py and of PyTorch with the same unusual arguments.

The command line is `python -m tools.fuzz.peer LOG SEED START SECONDS [COUNT [OPERATOR]]`.

Run by `python -m tools.fuzz --peer`, in a process of its own, because a call may end it. The calls are
samples of the tests, changed in dtypes, values, layouts, numbers and sizes; what must agree are dtype, shape,
strides and values of the results, or the type of the exception.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import torch_py
from tests.ops.calling import call, exists_in, inplace, method_parts, tensors_of
from tests.ops.comparison import Outcome, assert_same, dtype_name, outcome, to_numpy
from tests.ops.known_differences import NOT_COMPARED, STRIDES, WITHOUT_VALUES
from tests.ops.operators import DTYPES, OTHER_DTYPES, Operator, all_operators
from tests.ops.samples import SampleInput

from .circumstances import Circumstances, has_empty, has_scalar_tensor
from .comparing import compare_calls, is_accident
from .known_differences import MAY_DIFFER, NOT_CALLED

_ALL_DTYPES = (*DTYPES, *OTHER_DTYPES)
_FLOATS = (
    np.nan,
    np.inf,
    -np.inf,
    0.0,
    -0.0,
    1e-40,
    -1e-40,
    6e-8,
    65504.0,
    3e38,
    -3e38,
    0.5,
    1.0,
    -1.0,
    2.5,
    -3.5,
    100.0,
)
_NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    -3,
    0.0,
    0.1,
    -0.5,
    1.5,
    1 - 1e-4,
    1e-8,
    100,
    300,
    -200,
    70000,
    -(2**31),
    float("nan"),
    float("inf"),
    True,
    1j,
)
_BOUNDS = (
    0,
    1,
    -1,
    2,
    -3,
    0.0,
    0.1,
    -0.5,
    1.5,
    100,
    -200,
    float("nan"),
    float("inf"),
    True,
    1j,
)  # where they say how many elements there are
_INTEGERS = (0, 1, -1, 2, 3, -3)  # sizes, dimensions: large ones are for `python -m tools.fuzz`
_LAYOUTS = ("contiguous", "transposed", "strided", "expanded", "offset", "channels_last")


@dataclass(frozen=True)
class Spec:
    """A tensor of either library."""

    values: Any  # NumPy array; bfloat16 as float32
    dtype: str
    layout: str

    def build(self, module: Any) -> Any:
        array = np.ascontiguousarray(self.values).reshape(self.values.shape)
        tensor = module.empty(array.shape) if array.size == 0 else module.from_numpy(array.copy())
        return _laid_out(module, tensor.to(getattr(module, self.dtype)), self.layout)

    def __str__(self) -> str:
        layout = "" if self.layout == "contiguous" else f" {self.layout}"
        values = np.array2string(self.values, threshold=8, edgeitems=4, separator=",").replace("\n", "")
        return f"<{self.dtype} {self.values.shape}{layout} {values}>"


def _laid_out(module: Any, tensor: Any, layout: str) -> Any:
    if tensor.dim() == 0 or layout == "contiguous":
        return tensor
    if layout == "transposed":
        return tensor.transpose(0, -1).contiguous().transpose(0, -1)
    if layout == "strided":
        return module.stack([tensor, tensor], -1)[..., 0]
    if layout == "expanded":
        return tensor[:1].expand(tensor.shape)
    if layout == "offset":
        return module.cat([tensor, tensor])[tensor.shape[0] :]
    return tensor.contiguous(memory_format=module.channels_last) if tensor.dim() == 4 else tensor


def spec_of(tensor: Any) -> Spec:
    return Spec(np.array(to_numpy(tensor)), dtype_name(tensor), "contiguous")


# Changes of a call


def _with_values(dice: random.Random, spec: Spec) -> Spec:
    values = np.array(spec.values)
    if values.size == 0 or values.dtype == bool:
        return spec
    info = np.iinfo(values.dtype) if values.dtype.kind in "iu" else None
    for _ in range(dice.choice((1, 3, 8))):
        index = tuple(dice.randrange(size) for size in values.shape)
        with np.errstate(all="ignore"):
            values[index] = (
                dice.choice((info.min, info.max, 0, 1, info.max // 2)) if info else dice.choice(_FLOATS)
            )
    return Spec(values, spec.dtype, spec.layout)


def _with_dtype(dice: random.Random, spec: Spec) -> Spec:
    dtype = dice.choice(_ALL_DTYPES)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        finite = np.where(np.isfinite(spec.values), spec.values, 1)
        values = finite.real if dtype not in ("complex64", "complex128") else finite
        return Spec(values.astype("float32" if dtype == "bfloat16" else dtype), dtype, spec.layout)


def _with_layout(dice: random.Random, spec: Spec) -> Spec:
    return Spec(spec.values, spec.dtype, dice.choice(_LAYOUTS))


def _zero_dimensional(dice: random.Random, spec: Spec) -> Spec:
    return (
        spec
        if spec.values.size == 0
        else Spec(spec.values.reshape(-1)[0].reshape(()), spec.dtype, "contiguous")
    )


_CHANGES: tuple[Callable[[random.Random, Spec], Spec], ...] = (
    _with_values,
    _with_values,
    _with_dtype,
    _with_layout,
    _with_layout,
    _zero_dimensional,
)


def _change_one(dice: random.Random, values: list[Any], kinds: list[str]) -> list[Any]:
    chosen = dice.randrange(len(values))
    value = values[chosen]
    if isinstance(value, Spec):
        value = dice.choice(_CHANGES)(dice, value)
    elif isinstance(value, (int, float, complex)) and not isinstance(value, bool):
        usual = _NUMBERS if any(isinstance(other, (Spec, list, tuple)) for other in values) else _BOUNDS
        value = dice.choice(usual if kinds[chosen] in ("Scalar", "float", "Tensor") else _INTEGERS)
    return [*values[:chosen], value, *values[chosen + 1 :]]


def _emptied(dice: random.Random, values: list[Any]) -> list[Any]:
    """Every dimension of one size becomes empty."""
    sizes = {size for value in values if isinstance(value, Spec) for size in value.values.shape if size > 1}
    if not sizes:
        return values
    chosen = dice.choice(sorted(sizes))

    def without(spec: Spec) -> Spec:
        shape = tuple(0 if size == chosen else size for size in spec.values.shape)
        return (
            spec
            if shape == spec.values.shape
            else Spec(np.zeros(shape, spec.values.dtype), spec.dtype, "contiguous")
        )

    return [without(value) if isinstance(value, Spec) else value for value in values]


@dataclass(frozen=True)
class Call:
    operator: Operator
    positional: tuple[Any, ...]
    keywords: dict[str, Any]
    in_place: bool
    changes: int = 1  # how many were made to a sample that works

    def sample(self, module: Any) -> SampleInput:
        return SampleInput(
            *(_built(value, module) for value in self.positional),
            **{key: _built(value, module) for key, value in self.keywords.items()},
        )

    def run(self, module: Any, sample: SampleInput) -> Any:
        return (
            inplace(self.operator, module, sample) if self.in_place else call(self.operator, module, sample)
        )

    def __str__(self) -> str:
        words = [
            *map(_text, self.positional),
            *(f"{key}={_text(value)}" for key, value in self.keywords.items()),
        ]
        return f"{self.operator}{'_' if self.in_place else ''}({', '.join(words)})"


def _built(value: Any, module: Any) -> Any:
    if isinstance(value, Spec):
        return value.build(module)

    if isinstance(value, (list, tuple)):
        return type(value)(_built(item, module) for item in value)

    kind = type(value).__name__
    if kind == "Generator":
        return module.Generator().manual_seed(value.initial_seed())
    if kind in ("dtype", "device", "memory_format", "layout"):
        return (
            module.device(str(value)) if kind == "device" else getattr(module, str(value).rsplit(".", 1)[-1])
        )
    return value


def _text(value: Any) -> str:
    return f"[{', '.join(map(_text, value))}]" if isinstance(value, (list, tuple)) else str(value)


def make_call(dice: random.Random, operators: Sequence[Operator]) -> Call | None:
    operator = dice.choice(operators)
    try:
        samples = operator.samples(torch_py, dice.choice(DTYPES if dice.random() < 0.7 else OTHER_DTYPES))
    except (OverflowError, TypeError, ValueError, RuntimeError):
        return None  # a generator whose numbers the dtype does not have

    if not samples:
        return None
    sample = dice.choice(samples).map(spec_of)  # type: ignore[arg-type]
    values = [*sample.positional, *sample.kwargs.values()]
    arguments = operator.schema.arguments

    given = [
        *zip(sample.positional, arguments.positional),
        *((sample.kwargs[name], arguments.find(name)) for name in sample.kwargs),
    ]
    kinds = [argument.type.base.name for _, argument in given]
    changes = dice.choice((0, 1, 1, 2, 3))

    for _ in range(changes):
        values = _change_one(dice, values, kinds)
    if dice.random() < 0.1:
        values = _emptied(dice, values)
        changes += 1

    count = len(sample.positional)
    in_place = "inplace" in operator.variants and dice.random() < 0.3
    made = Call(operator, tuple(values[:count]), dict(zip(sample.kwargs, values[count:])), in_place, changes)
    return None if any(row.covers(str(operator), "", circumstances(made)) for row in NOT_CALLED) else made


# Comparison


def difference(made: Call) -> str | None:
    """What differs between the libraries, as "kind: details"."""
    operator = made.operator
    ours, theirs = made.sample(torch_py), made.sample(torch)

    if made.in_place and (method_parts(operator, ours) is None):
        return None
    found, expected = outcome(made.run, torch_py, ours), outcome(made.run, torch, theirs)

    if found.error is not None or expected.error is not None:
        return _different_errors(made, found, expected)
    if any(
        np.prod(result.shape) > 0 and not result.is_complex() and result.is_sparse
        for result in tensors_of(expected.result)
    ):
        return None

    try:
        assert_same(found.result, expected.result, "result", values=False)
    except AssertionError as error:
        return f"form: {error}"

    if str(operator) not in STRIDES:
        try:
            assert_same(found.result, expected.result, "result", values=False, strides=True)
        except AssertionError as error:
            return f"strides: {error}"

    if operator.is_random or str(operator) in WITHOUT_VALUES:
        return None

    try:
        assert_same(found.result, expected.result, "result")
        assert_same(ours.tensors(), theirs.tensors(), "arguments afterwards")
    except AssertionError as error:
        return f"values: {error}"
    return None


def _different_errors(made: Call, found: Outcome, expected: Outcome) -> str | None:
    theirs, facts = str(expected.error), circumstances(made)
    if is_accident(found.error, expected.error):
        return f"accident: {type(found.error).__name__} {found.error}; PyTorch: {theirs}"
    if isinstance(expected.error, NotImplementedError) or "not implemented for" in theirs:
        return None  # a dtype that PyTorch leaves out
    if any(words in theirs for words in _FAILURES_OF_PYTORCH):
        return None
    if (
        expected.error is not None
        and found.error is not None
        and _is_caught_alike(made, found.error, expected.error)
    ):
        return None
    if (
        expected.error is not None
        and found.error is None
        and any(result.numel() == 0 for result in tensors_of(found.result))
    ):
        return None  # without elements no kernel has to refuse anything
    nothing = has_empty(facts) or any(result.numel() == 0 for result in tensors_of(expected.result))
    if expected.error is None and nothing and any(words in str(found.error) for words in _ABOUT_DTYPES):
        return None  # refused here as with elements

    def text(done: Outcome) -> str:
        return (
            "returned"
            if done.error is None
            else f"{type(done.error).__name__} "
            f"{str(done.error).splitlines()[0][:160] if str(done.error) else ''}"
        )

    kind = "refuses" if expected.error is None else "accepts" if found.error is None else "error"
    return f"{kind}: {text(found)}; PyTorch: {text(expected)}"


# PyTorch does not say what is wrong: assertions of its own, and sizes of dimensions that nobody has asked
# for.
_FAILURES_OF_PYTORCH = (
    "INTERNAL ASSERT",
    "Could this error message be improved",
    "got an unexpected error",
    "ArrayRef: invalid",
    "view size is not compatible",
    "setStorage",
)
_ABOUT_DTYPES = (
    "not implemented for",
    "dtype",
    "scalar type",
    "floating",
    "Low precision",
    "complex",
    "bool",
    "can't be cast",
)


def _is_caught_alike(made: Call, found: Exception, expected: Exception) -> bool:
    if type(expected).__name__.removeprefix("_") in (kind.__name__ for kind in type(found).__mro__):
        return True
    if (
        isinstance(expected, IndexError)
        and isinstance(found, RuntimeError)
        and has_scalar_tensor(circumstances(made))
    ):
        return True  # PyTorch looks at a size before it looks at the number of dimensions, which ours names
    if isinstance(found, IndexError) and has_scalar_tensor(circumstances(made)):
        return True  # a tensor of 0 dimensions is wrong as an input and for its index
    # Which of several mistakes is met first is open; a dtype of the sample may be one already.
    return made.changes > 1 or any(
        words in str(error) for error in (found, expected) for words in _ABOUT_DTYPES
    )


def circumstances(made: Call) -> Circumstances:
    flat: list[Any] = []

    pending = [*made.positional, *made.keywords.values()]
    while pending:
        value = pending.pop()
        pending += value if isinstance(value, (list, tuple)) else ()
        flat.append(value)

    specs = [value for value in flat if isinstance(value, Spec)]
    numbers = [
        value for value in flat if isinstance(value, (int, float, complex)) and not isinstance(value, bool)
    ]

    return Circumstances(
        tuple(spec.dtype for spec in specs),
        tuple(spec.values for spec in specs),
        tuple(spec.layout for spec in specs),
        tuple(numbers),
        made.in_place,
    )


def is_known(made: Call, found: str) -> bool:
    name = str(made.operator)
    kind = found.split(":")[0]
    facts = circumstances(made)
    if kind == "values" and any((name, dtype) in NOT_COMPARED for dtype in (*facts.dtypes, "*")):
        return True
    return any(row.covers(name, found, facts) for row in MAY_DIFFER)


if __name__ == "__main__":
    known = [operator for operator in all_operators() if exists_in(operator, torch)]
    compare_calls(
        known,
        lambda operator: operator.base_name,
        make_call,
        difference,
        is_known,
        lambda made: made.operator,
    )
