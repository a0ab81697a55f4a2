"""`torch.library.opcheck` on operators of any origin, aliased results, and schemas that cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

import torch_py as torch

ALL = {"test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"}


@pytest.mark.parametrize(
    "operator, args",
    [
        (torch.ops.aten.mul.Tensor, (torch.ones(3, requires_grad=True), torch.full((3,), 2.0))),
        ("aten::relu", (torch.tensor([1.0, float("nan"), -0.0]),)),
        ("aten::bernoulli", (torch.rand(9),)),
        (torch.ops.aten.transpose.int, (torch.rand(2, 3), 0, 1)),
        (torch.ops.aten.neg, None),
    ],
)
def test_opcheck_of_torch_py_itself(operator: Any, args: Any):
    if args is None:
        with pytest.raises(ValueError, match="several overloads; pass one of aten.neg.default, aten.neg.out"):
            torch.library.opcheck(operator, (torch.ones(2),))
        return
    assert torch.library.opcheck(operator, args) == dict.fromkeys(ALL, "SUCCESS")


def test_wrong_gradient_is_found():
    @torch.library.custom_op("tests_checks::square", mutates_args=())
    def square(x: torch.Tensor) -> torch.Tensor:
        return x * x

    square.register_fake(lambda x: torch.empty_like(x))
    square.register_autograd(lambda ctx, grad: grad * 3)

    given = torch.ones(2, requires_grad=True)
    with pytest.raises(AssertionError, match="the gradient of tests_checks.square.default is wrong"):
        torch.library.opcheck(square, (given,))

    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    square.register_autograd(lambda ctx, grad: 2 * grad * ctx.saved_tensors[0], setup_context=keep)
    assert torch.library.opcheck(square, (given,))["test_autograd_registration"] == "SUCCESS"


@pytest.mark.parametrize("key", ["CPU", "CompositeExplicitAutograd"])
def test_kernels_may_not_return_arguments(key: str):
    library = torch.library.Library("tests_aliases", "FRAGMENT")
    library.define("same(Tensor x) -> Tensor")
    library.define("part(Tensor(a) x) -> Tensor(a)")
    library.impl("same", lambda x: x.view(-1), key)
    library.impl("part", lambda x: x.view(-1), key)
    try:
        with pytest.raises(RuntimeError, match="tests_aliases::same: .* may not alias any inputs"):
            torch.ops.tests_aliases.same(torch.ones(2))
        assert torch.ops.tests_aliases.part(torch.ones(2)).tolist() == [1, 1]
    finally:
        library._destroy()


@pytest.mark.parametrize("schema", ["1x(Tensor x)", "f(Tensor 1x)", "f.2(Tensor x)"])
def test_names_do_not_begin_with_a_digit(schema: str):
    library = torch.library.Library("tests_digits", "FRAGMENT")
    with pytest.raises((ValueError, RuntimeError)):
        library.define(f"{schema} -> Tensor")
