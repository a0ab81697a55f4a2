"""The operators under test, as their entries declare them, and how to call them."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.schema import Argument, FunctionSchema
from tests.ops.keywords import parametrized
from tests.ops.lists import list_errors, list_samples
from tests.ops.samples import ErrorInput, SampleInput, error_inputs, sample_inputs
from tests.ops.samples.registry import is_tensor
from tests.subject import WITH_PEER

ROOT = Path(__file__).resolve().parents[2]
_METADATA = ("torch_py/_generated/operators.json", "build/generated/torch_py/_generated/operators.json")
# The dtypes under test, one for each path through the code.
DTYPES = ("float32", "float64", "bfloat16", "complex64", "int64", "bool")
# The other dtypes, tested with fewer samples.
OTHER_DTYPES = ("float16", "complex128", "uint8", "int8", "int16", "int32")
_FROM_INTEGERS = ("int64", "bool", "uint8", "int8", "int16", "int32")


@dataclass(frozen=True, eq=False)
class Operator:
    """One row of operators.json."""

    row: dict[str, Any]

    @functools.cached_property
    def schema(self) -> FunctionSchema:
        """Parsed when it is asked for, as one of a thousand operators is what most runs test."""
        return FunctionSchema.parse(self.row["schema"])

    def __getattr__(self, name: str) -> Any:
        try:
            return self.row[name]
        except KeyError:
            raise AttributeError(f"operators.json has no {name!r}") from None

    def __str__(self) -> str:
        return str(self.row["name"])

    @property
    def samples_name(self) -> str:
        return str(self.row["samples"])

    @property
    def called(self) -> Operator | None:
        """The operator that a list operator calls for each tensor."""
        return None if self.row["each"] is None else _by_name()[self.row["each"]["operator"]]

    @property
    def is_mutation(self) -> bool:
        """Whether it writes to an argument by its nature, as ``copy_`` and ``normal_`` do."""
        return self.schema.is_mutable

    @property
    def is_random(self) -> bool:
        return bool(self.row["is_random"])

    @property
    def makes_tensors(self) -> bool:
        return all(result.type.is_tensor_like for result in self.schema.returns)

    @property
    def is_differentiable(self) -> bool:
        return bool(self.row["gradient"] != "none" and self.makes_tensors and not self.is_random)

    def takes(self, dtype: str) -> bool:
        """Whether the entry accepts tensors of ``dtype``.

        Operators without ``dtypes:`` accept what the operators they call do.
        """
        if self.called is not None:
            return self.called.takes(dtype)
        declared = self.row["dtypes"]
        promotes = self.row["promotion"] == "int_to_float" and self.row["structure"] == "pointwise"
        return not declared or dtype in declared or (promotes and dtype in _FROM_INTEGERS)

    def dtypes_under_test(self) -> list[str]:
        return [dtype for dtype in DTYPES if self.takes(dtype)]

    def samples(self, torch: Any, dtype: str, requires_grad: bool = False) -> list[SampleInput]:
        """The samples of its generator that fit the schema."""
        if self.called is not None:
            own = self.row["each"]["arguments"]
            called = self.called
            calls = [
                bound
                for sample in called.samples(torch, dtype, requires_grad)
                if (bound := called.bind(sample)) is not None
            ]
            return list_samples(self.schema, called.schema.arguments.flat_all, own, calls, torch)
        made = sample_inputs(self.samples_name, torch, dtype, requires_grad=requires_grad)
        return [sample for sample in made if self.bind(sample) is not None]

    def errors(self, torch: Any) -> list[ErrorInput]:
        """The wrong calls of its generator, as far as they fit the schema or are meant not to."""
        if self.called is not None:
            sample = self.typical_samples(torch)[0]
            return list(list_errors(self.schema, self.row["each"]["arguments"], sample, torch))
        errors = error_inputs(self.samples_name, torch)
        return [error for error in errors if error.error is TypeError or self.bind(error.sample) is not None]

    def typical_samples(self, torch: Any) -> list[SampleInput]:
        """The samples of the first dtype that has any."""
        return next(
            (found for dtype in self.dtypes_under_test() if (found := self.samples(torch, dtype))), []
        )

    def bind(self, sample: SampleInput) -> dict[str, Any] | None:
        """The arguments by name, or None if the call does not fit the schema."""
        arguments = self.schema.arguments
        if len(sample.positional) > len(arguments.positional):
            return None

        values = {argument.name: value for argument, value in zip(arguments.positional, sample.positional)}
        for name, value in sample.kwargs.items():
            if arguments.find(name) is None or name in values:
                return None
            values[name] = value

        for argument in arguments.flat_non_out:
            if argument.name not in values:
                if not argument.has_default:
                    return None
            elif not accepts(argument, values[argument.name], self.row["scalars"]):
                return None

        return values


def accepts(argument: Argument, value: Any, scalars: Sequence[str] = ()) -> bool:
    """Whether a value has the type that the schema asks for."""
    if value is None:
        is_default = argument.has_default and argument.default_value == ()
        return (
            argument.type.is_optional
            or is_default
            or (argument.type.is_list and argument.type.is_tensor_like)
        )

    base = argument.type.base.name
    if argument.type.is_list:
        if not isinstance(value, (list, tuple)):
            return (
                argument.type.list_type is not None
                and argument.type.list_type.size is not None
                and _is(base, value)
            )
        return all(_is(base, item) or (item is None and base == "Tensor") for item in value)

    return _is(base, value) or (argument.name in scalars and _is("Scalar", value))


def _is(base: str, value: Any) -> bool:
    if base == "Tensor":
        return is_tensor(value)

    kinds: dict[str, tuple[type, ...]] = {
        "int": (int,),
        "SymInt": (int,),
        "float": (int, float),
        "bool": (bool,),
        "Scalar": (bool, int, float, complex),
        "str": (str,),
    }

    if base not in kinds:
        return not isinstance(value, (bool, int, float, complex, list, tuple)) and not is_tensor(value)
    return isinstance(value, kinds[base]) and (base in ("bool", "Scalar") or not isinstance(value, bool))


# The list of them


@functools.cache
def all_operators() -> tuple[Operator, ...]:
    """The operators with samples, in the order of native_functions.yaml, without private helpers and
    gradients of ``expr:``."""
    rows = _metadata()["operators"]
    found = map(Operator, rows)
    return tuple(operator for operator in found if operator.row["samples"] not in (None, "skip_private"))


@functools.cache
def _by_name() -> dict[str, Operator]:
    return {str(operator): operator for operator in all_operators()}


def _metadata() -> dict[str, Any]:
    for path in _METADATA:
        if (ROOT / path).is_file():
            return json.loads((ROOT / path).read_text())  # type: ignore[no-any-return]
    if not WITH_PEER:
        names = ", ".join(_METADATA)
        raise FileNotFoundError(f"found none of {names} in {ROOT}: build first, with make")
    # The samples can be tried with PyTorch before anything is built.
    from codegen.diagnostics import Diagnostics
    from codegen.model import read_program
    from codegen.targets.torch_py.analysis.implied_operators import expand
    from codegen.targets.torch_py.emit import autograd, metadata

    program = read_program(ROOT / "native_functions.yaml", Diagnostics())
    assert program is not None
    expanded = expand(program)
    rows = metadata.rows(expanded, expanded, autograd.node_names(expanded))
    return json.loads(metadata.render(expanded, rows))  # type: ignore[no-any-return]


def enrolled(select: Callable[[Operator], bool] = lambda operator: True) -> Callable[[Any], Any]:
    """Parametrizes a test over ``operator``."""
    return parametrized("operator", all_operators, str, lambda operator: operator.aliases, select)


def enrolled_with_dtypes(
    dtypes: Callable[[Operator], Sequence[str]] = Operator.dtypes_under_test,
    select: Callable[[Operator], bool] = lambda operator: True,
) -> Callable[[Any], Any]:
    """Parametrizes a test over ``operator`` and ``dtype``."""
    return parametrized(
        "operator, dtype",
        lambda: [(operator, dtype) for operator in all_operators() for dtype in dtypes(operator)],
        lambda pair: f"{pair[0]}-{pair[1]}",
        lambda pair: pair[0].aliases,
        lambda pair: select(pair[0]),
    )
