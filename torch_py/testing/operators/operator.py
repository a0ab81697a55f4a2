"""An operator under test: what its entry declares, the samples that fit its schema, and its forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch_py
from torch_py._libraries import OperatorLibrary
from torch_py._ops import OpOverload
from torch_py._tensor import Tensor
from torch_py.testing.operators.registry import ErrorInput, SampleInput, error_inputs, sample_inputs

# One for each path through the code.
DTYPES = ("float32", "float64", "bfloat16", "float16", "complex64", "int64", "bool")
_FROM_INTEGERS = ("int64", "bool")


@dataclass(frozen=True, eq=False)
class TestedOperator:
    """One row of the `operators.json` of a package."""

    __test__ = False  # pytest looks for tests in classes of such a name

    library: OperatorLibrary
    row: dict[str, Any]

    def __str__(self) -> str:
        return str(self.row["name"])

    @property
    def is_list_operator(self) -> bool:
        """Whether it calls another operator for each tensor of a list."""
        return self.row["each"] is not None

    @property
    def called(self) -> TestedOperator:
        """The operator that it calls."""
        name = self.row["each"]["operator"]
        row = next(row for row in self.library.rows if row["name"] == name)
        return TestedOperator(self.library, row)

    @property
    def overload(self) -> OpOverload:
        """As the dispatcher knows it."""
        base, _, overload = str(self).partition(".")
        packet = getattr(getattr(torch_py.ops, self.library.name), base)
        found: OpOverload = getattr(packet, overload or "default")
        return found

    @property
    def is_differentiable(self) -> bool:
        return self.row["gradient"] != "none" and not self.row["is_random"]

    def takes(self, dtype: str) -> bool:
        """Whether the entry accepts tensors of `dtype`."""
        declared = self.row["dtypes"]
        promotes = self.row["promotion"] == "int_to_float" and self.row["structure"] == "pointwise"
        return not declared or dtype in declared or (promotes and dtype in _FROM_INTEGERS)

    def dtypes_under_test(self) -> list[str]:
        return [dtype for dtype in DTYPES if self.takes(dtype)]

    # Samples

    def samples(self, dtype: str = "float32", requires_grad: bool = False) -> list[SampleInput]:
        """The samples of its generator that fit the schema."""
        made = sample_inputs(self.row["samples"], torch_py, dtype, requires_grad=requires_grad)
        return [sample for sample in made if self.fits(sample)]

    def errors(self) -> list[ErrorInput]:
        """Calls that must fail."""
        return error_inputs(self.row["samples"], torch_py)

    def fits(self, sample: SampleInput) -> bool:
        """Whether the call has the arguments that the schema asks for."""
        arguments = self.overload._schema.arguments
        positional = [a for a in arguments if not a.kwarg_only]
        if len(sample.positional) > len(positional):
            return False

        given = {a.name: value for a, value in zip(positional, sample.positional)}
        given.update(sample.kwargs)
        known = {a.name: a for a in arguments}
        if not set(given) <= set(known):
            return False
        if any(a.default_text is None and a.name not in given for a in arguments):
            return False
        return all(
            isinstance(value, Tensor) or str(known[name].type) != "Tensor" for name, value in given.items()
        )

    # Forms

    def __call__(self, sample: SampleInput) -> Any:
        """The function, or the method of an operator without one."""
        if "function" in self.row["variants"]:
            function = getattr(self.library.module, self.row["base_name"])
            return function(*sample.positional, **sample.kwargs)
        return self.method(sample)

    def method(self, sample: SampleInput, suffix: str = "") -> Any:
        own, *others = sample.positional
        return getattr(own, self.row["base_name"] + suffix)(*others, **sample.kwargs)

    def out(self, sample: SampleInput, out: Any) -> Any:
        function = getattr(self.library.module, self.row["base_name"])
        return function(*sample.positional, **sample.kwargs, out=out)

    def as_function(self, sample: SampleInput) -> tuple[Callable[..., Any], list[Tensor]]:
        """The call as a function of its tensors, and these."""
        tensors = sample.tensors()

        def function(*given: Any) -> Any:
            rest = iter(given)
            return self(sample.map(lambda _: next(rest)))

        return function, tensors


def tensors_of(result: Any) -> list[Tensor]:
    """The tensors of a result."""
    return [t for t in (result if isinstance(result, (list, tuple)) else [result]) if isinstance(t, Tensor)]
