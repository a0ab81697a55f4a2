"""gradcheck in forward mode and over batches of gradients; gradgradcheck of forward over reverse."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import torch

gradcheck, gradgradcheck = torch.autograd.gradcheck, torch.autograd.gradgradcheck


def values(*shape: int, dtype: Any = torch.float64) -> Any:
    torch.manual_seed(len(shape))
    return torch.randn(shape, dtype=dtype, requires_grad=True)


def function(backward: float, forward: float) -> Any:
    """x ** 2 with derivatives that are wrong by these factors."""

    class Square(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x**2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return backward * 2 * gradient * ctx.saved_tensors[0]

        @staticmethod
        def jvp(ctx: Any, tangent: Any) -> Any:
            return forward * 2 * tangent * ctx.saved_tensors[0]

    return Square.apply


@pytest.mark.parametrize("fast", [False, True])
def test_right_derivatives(fast: bool) -> None:
    options = {
        "check_forward_ad": True,
        "check_batched_grad": True,
        "check_batched_forward_grad": True,
        "fast_mode": fast,
    }

    assert gradcheck(lambda x, y: (x * y, x.sin().sum()), (values(3), values(3)), **options)
    assert gradcheck(lambda x, factor: x.clamp(min=0) * factor, (values(2, 3), 2), **options)

    assert gradcheck(
        lambda z: z * z.conj() * 1j, values(2, dtype=torch.complex128), check_forward_ad=True, fast_mode=fast
    )
    assert gradcheck(function(1, 1), values(3), check_forward_ad=True, fast_mode=fast)
    assert gradgradcheck(
        lambda x, y: x**3 * y, (values(3), values(3)), check_fwd_over_rev=True, fast_mode=fast
    )


@pytest.mark.parametrize("fast", [False, True])
def test_wrong_derivatives(fast: bool) -> None:
    forward = function(1, 3)
    assert gradcheck(forward, values(3), fast_mode=fast)
    assert not gradcheck(forward, values(3), check_forward_ad=True, fast_mode=fast, raise_exception=False)
    with pytest.raises(RuntimeError, match="mismatch"):
        gradcheck(forward, values(3), check_forward_ad=True, check_backward_ad=False, fast_mode=fast)
    assert gradcheck(
        function(5, 1), values(3), check_forward_ad=True, check_backward_ad=False, fast_mode=fast
    )


def test_checks_that_do_not_go_together() -> None:
    for options in (
        {"check_backward_ad": False},
        {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True},
        {"check_batched_forward_grad": True},
    ):
        with pytest.raises((ValueError, AssertionError), match="to be True"):
            gradcheck(lambda x: x**2, values(3), **options)


def test_forward_over_reverse_needs_forward_mode() -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return 2 * gradient * ctx.saved_tensors[0]

    assert gradgradcheck(Square.apply, values(3))
    with pytest.raises(NotImplementedError, match="jvp"):
        gradgradcheck(Square.apply, values(3), check_fwd_over_rev=True)
