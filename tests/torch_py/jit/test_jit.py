"""torch.jit without a compiler: functions and modules come back as they are."""

import pytest

import torch_py as torch

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def double(x):
    """Twice."""
    return 2 * x


def test_script_returns_what_it_got():
    module = torch.nn.Linear(1, 1)
    assert torch.jit.script(module) is module
    assert torch.jit.script(double) is double
    assert torch.jit.trace(double, torch.ones(1)) is double

    assert torch.jit.ignore(double) is double
    assert torch.jit.ignore(drop=True)(double) is double
    assert torch.jit.unused(double) is double

    assert torch.jit.annotate(int, 3) == 3 and torch.jit.Attribute(3, int).value == 3
    with pytest.raises(TypeError, match="func"):
        torch.jit.trace(3, ())


@pytest.mark.parametrize(
    "value, kind, expected",
    [
        ([1, 2], list[int], True),
        ([1, "a"], list[int], False),
        ({"a": 1}, dict[str, int], True),
        (None, int | None, True),
        ((1, "a"), tuple[int, str], True),
        (3, int, True),
    ],
)
def test_isinstance_of_containers(value, kind, expected):
    assert torch.jit.isinstance(value, kind) is expected
