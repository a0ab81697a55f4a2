"""How tensors print. The expected text is PyTorch's; TEST_WITH=torch runs the same cases there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.subject import only_torch_py, torch
from tests.torch_py.repr_cases import CASES, WITH_OPTIONS


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    torch.set_printoptions(profile="default")
    yield
    torch.set_printoptions(profile="default")


@pytest.mark.parametrize("expression, expected", CASES, ids=[case[0] for case in CASES])
def test_repr(expression: str, expected: str) -> None:
    assert repr(eval(expression, {"T": torch})) == expected


@pytest.mark.parametrize("options, expression, expected", WITH_OPTIONS)
def test_print_options(options: dict, expression: str, expected: str) -> None:
    torch.set_printoptions(**options)
    assert repr(eval(expression, {"T": torch})) == expected


def test_summary_starts_above_the_threshold() -> None:
    assert "..." not in repr(torch.arange(1000))
    assert "..." in repr(torch.arange(1001))
    torch.set_printoptions(profile="full")
    assert "..." not in repr(torch.arange(1001))


def test_str_is_repr() -> None:
    assert str(torch.tensor([1.5])) == repr(torch.tensor([1.5]))


def test_format_of_a_scalar_is_that_of_the_number() -> None:
    assert f"{torch.tensor(1.23456):.2f}" == "1.23"
    assert f"{torch.tensor(7):04d}" == "0007"


def test_format_of_other_tensors_takes_no_specification() -> None:
    assert f"{torch.tensor([1])}" == "tensor([1])"
    with pytest.raises(TypeError):
        format(torch.tensor([1.0]), ".2f")


def test_subclass_prints_its_name() -> None:
    class Angle(torch.Tensor):
        pass

    assert repr(torch.ones(2).as_subclass(Angle)) == "Angle([1., 1.])"


def test_default_dtype_decides_what_is_said() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert repr(torch.tensor([1.0])) == "tensor([1.])"
        assert repr(torch.tensor([1.0], dtype=torch.float32)) == "tensor([1.], dtype=torch.float32)"
        assert repr(torch.tensor([1j])) == "tensor([0.+1.j])"
    finally:
        torch.set_default_dtype(torch.float32)


def test_printing_does_not_record_or_change() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    before = y._version
    repr(y)
    assert y._version == before and y.grad_fn is not None


@only_torch_py
def test_unknown_profile_is_an_error() -> None:
    with pytest.raises(ValueError, match="default, short, full"):
        torch.set_printoptions(profile="long")
