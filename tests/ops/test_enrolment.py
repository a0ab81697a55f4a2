"""Every entry has samples that fit, every sample fits an entry, and the functions of every entry exist."""

from __future__ import annotations

import pytest

from tests.ops.calling import call, function_of, inplace_name
from tests.ops.comparison import outcome
from tests.ops.operators import Operator, all_operators, enrolled
from tests.ops.samples import error_inputs, error_names, sample_inputs, sample_names
from tests.subject import WITH_PEER, only_torch_py, torch

# Generators for entries outside native_functions.yaml (``codegen new`` writes them), and for private helpers.
_WITHOUT_ENTRY = {"unary", "skip_private", "reduction"}  # for new entries and for packages of operators


def test_there_are_operators():
    assert len(all_operators()) >= 150


def test_every_generator_is_used():
    used = {operator.samples_name for operator in all_operators()}
    assert sample_names() - used == _WITHOUT_ENTRY
    assert error_names() <= used


@enrolled()
def test_samples_fit_the_schema(operator: Operator):
    dtypes = operator.dtypes_under_test()
    assert dtypes, f"{operator} takes no dtype"
    assert any(operator.samples(torch, dtype) for dtype in dtypes), (
        f"no sample of '{operator.samples_name}' fits {operator.schema}"
    )


@pytest.mark.parametrize("name", sorted(sample_names() - _WITHOUT_ENTRY))
def test_every_sample_is_used(name: str):
    users = [operator for operator in all_operators() if operator.samples_name == name]
    for dtype in ("float32", "int64"):
        for sample in sample_inputs(name, torch, dtype):
            assert any(operator.bind(sample) is not None for operator in users), (
                f"{name}{sample} fits none of {', '.join(map(str, users))}"
            )


@pytest.mark.parametrize("name", sorted(error_names()))
def test_every_error_sample_is_used(name: str):
    users = [operator for operator in all_operators() if operator.samples_name == name]
    for error in error_inputs(name, torch):
        if error.error is not TypeError:
            assert any(operator.bind(error.sample) is not None for operator in users), f"{name}{error.sample}"


@enrolled()
def test_samples_can_be_called(operator: Operator):
    """In the first dtype of its entry every sample is a valid call."""
    for sample in operator.typical_samples(torch):
        found = outcome(call, operator, torch, sample)
        if WITH_PEER and isinstance(found.error, NotImplementedError):
            continue
        assert found.error is None, f"{operator}{sample}: {type(found.error).__name__}: {found.error}"


@only_torch_py
@enrolled()
def test_declared_forms_exist(operator: Operator):
    if "function" in operator.variants:
        assert function_of(operator, torch) is not None
        if operator.python_module == "torch":
            assert callable(getattr(torch, operator.base_name, None)), (
                f"torch.{operator.base_name} does not exist"
            )

    if "method" in operator.variants:
        assert hasattr(torch.Tensor, operator.base_name)

    if "inplace" in operator.variants:
        owner = (
            torch._C._nn
            if operator.python_module == "nn"
            else torch.Tensor
            if "method" in operator.variants
            else torch
        )
        assert hasattr(owner, inplace_name(operator))
