"""Deprecated orders of arguments give the results of the calls that replace them, and warn once."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from tests.ops.calling import call, function_of, inplace_name
from tests.ops.comparison import assert_same
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import SampleInput
from tests.ops.test_variants import copied, fits_in_place
from tests.subject import only_torch_py, torch

_LIMIT = 4  # samples per operator


def deprecated_calls(operator: Operator) -> list[tuple[SampleInput, list[Any], int]]:
    """Samples with the values of each deprecated order, and the position of self among them."""
    found = []
    for sample in operator.typical_samples(torch)[:_LIMIT]:
        values = operator.bind(sample) or {}
        for order in operator.deprecated_orders:
            if all(name in values for name in order if name not in ("alpha", "beta", "value")):
                numbers = {name: 2 for name in order if name not in values}
                given = {**values, **numbers}
                rest = {name: value for name, value in given.items() if name in order}
                keywords = {
                    a.name: rest[a.name] for a in operator.schema.arguments.kwarg_only if a.name in rest
                }
                modern = SampleInput(*sample.positional, **keywords)
                found.append((modern, [given[name] for name in order], order.index("self")))
    return found


@enrolled(lambda operator: bool(operator.deprecated_orders))
def test_deprecated_order_equals_modern_one(operator: Operator):
    calls = deprecated_calls(operator)
    assert len(calls) >= len(operator.deprecated_orders)

    for sample, values, own in calls:
        what = f"{operator}{sample} as {values}"
        expected = call(operator, torch, sample)
        function = function_of(operator, torch)
        assert function is not None
        assert_same(function(*values), expected, what)

        out = torch.empty_like(expected)
        assert function(*values, out=out) is out
        assert_same(out, expected, f"out: {what}")

        if isinstance(values[own], torch.Tensor):
            rest = values[:own] + values[own + 1 :]
            assert_same(getattr(values[own], operator.base_name)(*rest), expected, f"method: {what}")


@enrolled(lambda operator: bool(operator.deprecated_orders) and "inplace" in operator.variants)
def test_deprecated_order_in_place(operator: Operator):
    tried = 0
    for sample, values, own in deprecated_calls(operator):
        expected = call(operator, torch, sample)
        if not fits_in_place(sample, expected):
            continue

        changed = copied(sample).input
        rest = values[:own] + values[own + 1 :]
        assert getattr(changed, inplace_name(operator))(*rest) is changed
        assert_same(changed, expected.to(changed.dtype), f"{operator}{sample}")
        tried += 1

    assert tried


_WARNS = """
import warnings
import torch_py as torch
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    torch.ones(2).add_(2, torch.ones(2))
    torch.addmm(2, torch.ones(2, 2), torch.ones(2, 2), torch.ones(2, 2))
    torch.add(torch.ones(2), torch.ones(2), alpha=2)
print(*(f"{warning.category.__name__}: {warning.message}" for warning in caught), sep="|")
"""


@only_torch_py
def test_deprecated_order_warns_once():
    done = subprocess.run([sys.executable, "-c", _WARNS], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == (
        "UserWarning: This overload of add_ is deprecated:\n"
        "\tadd_(Number alpha, Tensor or Number other)\n"
        "Consider using one of the following signatures instead:\n"
        "\tadd_(Tensor or Number other, *, Number alpha = 1)"
    ), done.stderr


def test_messages_leave_out_deprecated_orders():
    try:
        torch.ones(2, 2).addmm(torch.ones(2, 2), 1, 2)
    except TypeError as error:
        assert "Number beta, " not in str(error)
    else:
        raise AssertionError("addmm accepted numbers for matrices")
