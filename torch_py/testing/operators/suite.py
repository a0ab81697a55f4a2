"""`OperatorTests`: the tests of every operator of a package, which follow from its entry."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

import torch_py as torch
from torch_py._libraries import OperatorLibrary, library_named
from torch_py.autograd import gradcheck, gradgradcheck
from torch_py.testing import assert_close
from torch_py.testing.operators.operator import DTYPES, TestedOperator, tensors_of
from torch_py.testing.operators.plugin import EnrolledTests
from torch_py.testing.operators.registry import SampleInput
from torch_py.utils._python_dispatch import TorchDispatchMode

# Roundings of the result, or of terms near 1 whose sum it may be.
_TOLERANCES = {
    "float16": (2e-3, 1e-3),
    "bfloat16": (1.6e-2, 4e-3),
    "float32": (1e-5, 1e-5),
    "float64": (1e-10, 1e-10),
    "complex64": (1e-5, 1e-5),
}
# Larger Jacobians are checked along one random direction.
_LARGEST_JACOBIAN = 400
_SECOND_DERIVATIVES = 4  # samples


def needs(condition: Callable[[TestedOperator], bool]) -> Callable[[Any], Any]:
    """Selects the operators that a test is about."""

    def mark(test: Any) -> Any:
        test.condition = condition
        return test

    return mark


def _is_plain(operator: TestedOperator) -> bool:
    return not operator.is_list_operator


def _has(variant: str) -> Callable[[TestedOperator], bool]:
    return lambda operator: _is_plain(operator) and variant in operator.row["variants"]


class OperatorTests(EnrolledTests):
    """Tests of all operators of `package`. Those that are gradients of formulas are tested through the
    formulas."""

    package: ClassVar[ModuleType]
    # What operators with kernels compute, by name: functions of NumPy arrays and numbers.
    references: ClassVar[dict[str, Callable[..., Any]]] = {}

    @classmethod
    def library(cls) -> OperatorLibrary:
        """What torch_py knows of the package."""
        found = library_named(cls.package.__name__)
        assert found is not None, f"{cls.package.__name__} is not a package of operators"
        return found

    @classmethod
    def operators(cls) -> list[TestedOperator]:
        """The operators with samples, and the list operators."""
        found = [TestedOperator(cls.library(), row) for row in cls.library().rows]
        return [o for o in found if o.row["samples"] is not None or o.is_list_operator]

    @classmethod
    def selects(cls, test: Any, operator: TestedOperator) -> bool:
        condition: Callable[[TestedOperator], bool] = getattr(test, "condition", _is_plain)
        return condition(operator)

    # The package

    def test_every_public_operator_has_samples(self) -> None:
        missing = [
            row["name"]
            for row in self.library().rows
            if row["samples"] is None and row["each"] is None and row["python_module"] != "private"
        ]
        assert not missing, f"write samples: in the entries of {', '.join(missing)}"

    @needs(_has("function"))
    def test_stub_and_page(self, operator: TestedOperator) -> None:
        """The declarations for type checkers and the documentation know the operator."""
        folder, name = operator.library.folder, operator.row["base_name"]
        assert f"def {name}(" in (folder / "__init__.pyi").read_text()
        assert f"## `{operator}`" in (folder / "operators.md").read_text()
        assert callable(getattr(self.package, name))

    # Values

    def test_samples_fit(self, operator: TestedOperator) -> None:
        assert any(operator.samples(dtype) for dtype in operator.dtypes_under_test())

    @needs(lambda operator: _is_plain(operator) and not operator.row["is_random"])
    def test_values(self, operator: TestedOperator, dtype: str) -> None:
        """Results are those of the formula, or of the package's reference, in NumPy."""
        reference = self.reference(operator)
        computes_float = operator.row["promotion"] == "int_to_float"
        for sample in operator.samples(dtype):
            given = sample.map(lambda t: t.float() if computes_float and not _is_inexact(t) else t)
            expected = reference(*map(_array, given.positional), **_arrays(given.kwargs))
            found = operator(sample)
            results = [expected] if not isinstance(expected, tuple) else list(expected)
            for got, wanted in zip(tensors_of(found), results, strict=True):
                _compare(got, wanted, f"{operator}{sample}")

    def reference(self, operator: TestedOperator) -> Callable[..., Any]:
        """A function of arrays that computes what the operator does."""
        known = self.references.get(str(operator))
        if known is not None:
            return known

        text = operator.row["numpy"] or operator.row["reference"]
        assert text is not None, (
            f"{operator} has a kernel: write reference: and what it computes in NumPy into its entry, or "
            f"references = {{'{operator}': a function of NumPy arrays}} in {type(self).__name__}"
        )
        if text.startswith("tests/"):
            pytest.skip(f"{text} tests the values")
        if operator.row["numpy"] is not None and "special." in text:
            pytest.skip("NumPy lacks a function of the formula")
        modules = {"np": np}
        if "scipy." in text:
            modules["scipy"] = pytest.importorskip("scipy")
        arguments = operator.overload._schema.arguments
        defaults = {row[0]: row[2] for row in operator.row["arguments"]}

        def formula(*positional: Any, **named: Any) -> Any:
            values = {a.name: value for a, value in zip(arguments, positional)} | named
            values.update({n: _default(t) for n, t in defaults.items() if n not in values and t is not None})
            return eval(text, {**modules, **values})  # noqa: S307  # the package's own entry

        return formula

    # Forms

    @needs(_is_plain)
    def test_as_operator(self, operator: TestedOperator) -> None:
        """`torch.ops` calls the same operator."""
        for sample in operator.samples()[:4]:
            found = operator.overload(*sample.positional, **sample.kwargs)
            _same(found, operator(sample), f"{operator}{sample}")

    @needs(_has("method"))
    def test_method(self, operator: TestedOperator) -> None:
        for sample in operator.samples():
            _same(operator.method(sample), operator(sample), f"{operator}{sample}")

    @needs(_has("inplace"))
    def test_in_place(self, operator: TestedOperator) -> None:
        tested = 0
        for sample in operator.samples():
            expected = operator(sample)
            if expected.shape != sample.input.shape or expected.dtype != sample.input.dtype:
                continue
            sample.clone_input()
            found = operator.method(sample, "_")
            assert found is sample.input
            _same(found, expected, f"{operator}_{sample}")
            tested += 1
        assert tested, "no sample has a result of the shape and dtype of its input"

    @needs(_has("out"))
    def test_out(self, operator: TestedOperator) -> None:
        for sample in operator.samples():
            expected = operator(sample)
            if len(tensors_of(expected)) != 1:
                continue
            out = torch.empty(0, dtype=expected.dtype)
            assert operator.out(sample, out) is out
            _same(out, expected, f"{operator}{sample} with out=")

    @needs(lambda operator: operator.is_list_operator)
    def test_lists(self, operator: TestedOperator) -> None:
        """A list operator does to each tensor what its operator does."""
        kinds = {argument[0] for argument in operator.row["each"]["arguments"]}
        if not kinds <= {"each", "same", "default"}:
            pytest.skip("the arguments of the calls are made in another way")

        called = operator.called
        for sample in called.samples()[:4]:
            expected = called(sample)
            lists = sample.map(lambda tensor: [tensor.clone(), tensor.clone()])
            found = operator.overload(*lists.positional, **lists.kwargs)
            if operator.overload._schema.is_mutable:
                found = lists.input
            assert len(found) == 2
            for got in found:
                _same(got, expected, f"{operator}{sample}")

    def test_layouts(self, operator: TestedOperator) -> None:
        """Results do not depend on the strides of arguments."""
        for sample in operator.samples():
            contiguous = sample.map(lambda tensor: tensor.contiguous())
            _same(operator(sample), operator(contiguous), f"{operator}{sample}")

    # Shapes and dtypes

    def test_meta(self, operator: TestedOperator, dtype: str) -> None:
        """Tensors without elements get results of the same shape, dtype and strides."""
        for sample in operator.samples(dtype):
            real = tensors_of(operator(sample))
            for got, expected in zip(
                tensors_of(operator(sample.map(lambda t: t.to("meta")))), real, strict=True
            ):
                assert got.device.type == "meta"
                assert (got.shape, got.dtype) == (expected.shape, expected.dtype), f"{operator}{sample}"
                assert expected.numel() == 0 or got.stride() == expected.stride(), f"{operator}{sample}"

    def test_other_dtypes_are_refused(self, operator: TestedOperator) -> None:
        for dtype in DTYPES:
            if operator.takes(dtype) or not operator.row["dtypes"]:
                continue
            for sample in operator.samples(dtype)[:2]:
                with pytest.raises((RuntimeError, NotImplementedError, TypeError)):
                    operator(sample)

    def test_errors(self, operator: TestedOperator) -> None:
        for wrong in operator.errors():
            with pytest.raises(wrong.error, match=wrong.message or None):
                operator(wrong.sample)

    def test_opcheck(self, operator: TestedOperator) -> None:
        for sample in operator.samples(requires_grad=True)[:4]:
            torch.library.opcheck(operator.overload, sample.positional, sample.kwargs)

    # Gradients

    @needs(lambda operator: _is_plain(operator) and operator.is_differentiable)
    def test_gradients(self, operator: TestedOperator) -> None:
        """First and second derivatives are those of finite differences."""
        tested = 0
        for function, inputs in self.differentiable(operator):
            results = [t for t in tensors_of(function(*inputs)) if t.requires_grad]
            if not results:
                continue
            elements = sum(t.numel() for t in inputs) * sum(t.numel() for t in results)
            gradcheck(function, inputs, fast_mode=elements > _LARGEST_JACOBIAN, check_undefined_grad=False)
            if tested < _SECOND_DERIVATIVES and elements <= _LARGEST_JACOBIAN:
                gradgradcheck(function, inputs, fast_mode=True, check_undefined_grad=False)
            tested += 1
        assert tested, f"{operator} has a derivative, and none of its samples requires grad"

    def differentiable(self, operator: TestedOperator) -> Iterator[tuple[Callable[..., Any], list[Any]]]:
        """Calls in float64 as functions of the tensors that require grad."""
        for sample in operator.samples("float64", requires_grad=True):
            inputs = list({id(t): t for t in sample.tensors() if t.requires_grad}.values())
            if inputs:
                yield _of_inputs(operator, sample, inputs), inputs

    # Transforms, automatic dtypes, the compiler, the profiler

    def test_vmap(self, operator: TestedOperator) -> None:
        """A batch gives what its members give."""
        for sample in operator.samples()[:8]:
            function, first = operator.as_function(sample)
            second = [_reversed(t) for t in first]
            batches = [torch.stack(pair) for pair in zip(first, second)]

            found = tensors_of(torch.vmap(function)(*batches))
            members = [tensors_of(function(*first)), tensors_of(function(*second))]
            for got, *expected in zip(found, *members, strict=True):
                assert_close(got, torch.stack(expected), equal_nan=True)

    @needs(lambda operator: _is_plain(operator) and operator.row["structure"] in ("pointwise", "reduction"))
    def test_vmap_is_one_call(self, operator: TestedOperator) -> None:
        function, tensors = operator.as_function(operator.samples()[0])
        batches = [torch.stack([t] * 5) for t in tensors]
        with _Counting(operator) as calls:
            torch.vmap(function)(*batches)
        assert calls.count == 1, f"{operator} was called {calls.count} times for one batch"

    def test_autocast(self, operator: TestedOperator) -> None:
        """Inside of autocast, results agree up to the rounding of bfloat16."""
        for sample in operator.samples()[:4]:
            expected = tensors_of(operator(sample))
            with torch.autocast("cpu", dtype=torch.bfloat16):
                found = tensors_of(operator(sample))
            for got, wanted in zip(found, expected, strict=True):
                assert_close(got.to(wanted.dtype), wanted, rtol=3e-2, atol=3e-2, equal_nan=True)

    def test_compile(self, operator: TestedOperator) -> None:
        """torch.compile captures the operator, and its code gives the same results and gradients."""
        for sample in operator.samples(requires_grad=operator.is_differentiable)[:2]:
            function, tensors = operator.as_function(sample)
            compiled = torch.compile(function, fullgraph=True)
            expected = tensors_of(function(*tensors))
            found = tensors_of(compiled(*tensors))
            for got, wanted in zip(found, expected, strict=True):
                assert_close(got, wanted, equal_nan=True)
                assert got.requires_grad == wanted.requires_grad

            inputs = [t for t in tensors if t.requires_grad]
            pairs = [(g, w) for g, w in zip(found, expected) if w.requires_grad]
            if inputs and pairs:
                ours = torch.autograd.grad([g.sum() for g, _ in pairs], inputs, allow_unused=True)
                theirs = torch.autograd.grad([w.sum() for _, w in pairs], inputs, allow_unused=True)
                assert_close(ours, theirs, equal_nan=True)

    @needs(lambda operator: _is_plain(operator) and operator.row["expr"] is not None)
    def test_formula_is_lowered(self, operator: TestedOperator) -> None:
        """The compiler fuses the formula instead of calling the operator."""
        library = operator.library
        tables = (library.pointwise, library.over_rows)
        assert any(operator.overload._entry_name in table for table in tables)

    def test_profiler(self, operator: TestedOperator) -> None:
        """A profile, and the file that Perfetto shows, has the name with its namespace."""
        sample = operator.samples()[0]
        with torch.profiler.profile() as profile:
            operator(sample)
        names = {event.key for event in profile.key_averages()}
        assert f"{operator.library.name}::{operator.row['base_name']}" in names


class _Counting(TorchDispatchMode):
    """Counts the calls of one operator."""

    def __init__(self, operator: TestedOperator) -> None:
        super().__init__()
        self.operator = operator.overload
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += func is self.operator
        return func(*args, **(kwargs or {}))


def _array(value: Any) -> Any:
    """A tensor as an array, in a dtype in which its values are exact."""
    if isinstance(value, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in value):
        return [_array(item) for item in value]
    if not isinstance(value, torch.Tensor):
        return value
    value = value.detach()
    if value.is_complex():
        return value.to(torch.complex128).numpy()
    return (value.double() if value.is_floating_point() else value).numpy()


def _of_inputs(operator: TestedOperator, sample: SampleInput, inputs: list[Any]) -> Callable[..., Any]:
    """A call as a function of some of its tensors."""
    places = {id(tensor): place for place, tensor in enumerate(inputs)}

    def function(*given: Any) -> Any:
        return operator(sample.map(lambda t: given[places[id(t)]] if id(t) in places else t))

    return function


def _reversed(tensor: Any) -> Any:
    return tensor.flip(-1) if tensor.dim() else tensor


def _is_inexact(tensor: Any) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


def _arrays(named: dict[str, Any]) -> dict[str, Any]:
    return {name: _array(value) for name, value in named.items()}


def _default(text: str) -> Any:
    """The default of an argument, as schemas write it."""
    words = {"True": True, "False": False, "None": None}
    return words[text] if text in words else float(text) if "." in text or "e" in text else int(text)


def _compare(got: Any, expected: Any, context: str) -> None:
    dtype = str(got.dtype).rpartition(".")[2]
    found, wanted = _array(got), np.asarray(expected)
    assert found.shape == wanted.shape, f"{context}: shape {found.shape}, expected {wanted.shape}"
    rtol, atol = _TOLERANCES.get(dtype, (0.0, 0.0))
    with np.errstate(all="ignore"):
        limit = float(torch.finfo(got.dtype).max) if got.dtype.is_floating_point else math.inf
        wanted = np.where(np.abs(wanted) > limit, np.sign(wanted) * np.inf, wanted)
        close = np.isclose(found, wanted, rtol=rtol, atol=atol, equal_nan=True)
    assert close.all(), f"{context}: {found[~close][:4]}, expected {wanted[~close][:4]}"


def _same(found: Any, expected: Any, context: str) -> None:
    for got, wanted in zip(tensors_of(found), tensors_of(expected), strict=True):
        assert_close(got, wanted, equal_nan=True, msg=lambda text: f"{context}: {text}")
