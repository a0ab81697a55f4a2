"""Writes through every kind of view give the base the gradient of the same change made out of place."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import torch

SHAPE = (2, 3, 4)

VIEWS = {
    "transpose": lambda b: b.transpose(0, 2),
    "swapaxes": lambda b: b.swapaxes(0, 1),
    "swapdims": lambda b: b.swapdims(1, 2),
    "permute": lambda b: b.permute(2, 0, 1),
    "movedim": lambda b: b.movedim(0, -1),
    "moveaxis": lambda b: torch.moveaxis(b, (0, 1), (1, 0)),
    "mT": lambda b: b.mT,
    "t": lambda b: b[0].t(),
    "adjoint": lambda b: b.adjoint(),
    "select": lambda b: b.select(1, -1),
    "slice": lambda b: b[:, 1:, ::2],
    "int": lambda b: b[1, 2],
    "scalar": lambda b: b[1, 2, 3],
    "none": lambda b: b[:, None, 0],
    "ellipsis": lambda b: b[..., 1],
    "narrow": lambda b: b.narrow(2, 1, 2),
    "narrow by a tensor": lambda b: b.narrow(2, torch.tensor(1), 2),
    "diagonal": lambda b: b.diagonal(1, 1, 2),
    "unfold": lambda b: b.unfold(2, 2, 2),
    "squeeze": lambda b: b[:1].squeeze(),
    "squeeze one": lambda b: b[:, :1].squeeze(1),
    "squeeze some": lambda b: b[:1, :, :1].squeeze((0, 2)),
    "unsqueeze": lambda b: b.unsqueeze(1),
    "view": lambda b: b.view(6, 4),
    "view_as": lambda b: b.view_as(torch.zeros(4, 6)),
    "reshape": lambda b: b.reshape(-1, 2),
    "flatten": lambda b: b.flatten(1),
    "unflatten": lambda b: b.unflatten(2, (2, 2)),
    "ravel": lambda b: b.ravel(),
    "as_strided": lambda b: b.as_strided((3, 2), (4, 12), 1),
    "expand without need": lambda b: b.expand(2, 3, 4),
    "broadcast_to": lambda b: torch.broadcast_to(b, (2, 3, 4)),
    "tensor_split": lambda b: b.tensor_split(2, dim=2)[1],
    "hsplit": lambda b: b.hsplit((1,))[1],
    "vsplit": lambda b: b.vsplit(2)[0],
    "dsplit": lambda b: b.dsplit(2)[1],
    "atleast_3d": lambda b: torch.atleast_3d(b[0]),
    "detour": lambda b: b.transpose(0, 1)[1:, :, ::3].unsqueeze(0).diagonal(0, 1, 2),
    "alias": lambda b: b[:],
}


def weights_for(tensor: Any, start: float) -> Any:
    return torch.arange(start, start + tensor.numel(), dtype=tensor.dtype).reshape(tensor.shape) / 4


@pytest.mark.parametrize("name", VIEWS)
def test_writing_through(name: str) -> None:
    x = torch.arange(24.0, dtype=torch.float64).reshape(SHAPE).requires_grad_()
    view_of = VIEWS[name]
    factor = torch.ones(SHAPE, dtype=torch.float64)
    scale = weights_for(view_of(factor), 2)
    with torch.no_grad():
        view_of(factor).mul_(scale)
    base = x * 1
    view = view_of(base)
    view.mul_(scale)
    assert torch.equal(base, x * factor)
    weights = weights_for(base, 1)
    (found,) = torch.autograd.grad((base * weights).sum(), x, retain_graph=True)
    assert torch.equal(found, weights * factor)
    # The view is then a function of the changed base.
    own = weights_for(view, 3)
    (through,) = torch.autograd.grad((view * own).sum(), x)
    expected = torch.zeros(SHAPE, dtype=torch.float64)
    view_of(expected).copy_(own * scale)
    assert torch.equal(through, expected)


@pytest.mark.parametrize("name", ["transpose", "diagonal", "detour", "slice", "unfold"])
def test_source_of_a_copy(name: str) -> None:
    x = torch.ones(SHAPE, dtype=torch.float64, requires_grad=True)
    base = x * 2
    source = weights_for(VIEWS[name](base), 1).requires_grad_()
    VIEWS[name](base).copy_(source * 3)
    weights = weights_for(base, 1)
    to_x, to_source = torch.autograd.grad((base * weights).sum(), (x, source))
    kept = torch.ones(SHAPE, dtype=torch.float64)
    VIEWS[name](kept).zero_()
    assert torch.equal(to_x, 2 * kept * weights)
    assert torch.equal(to_source, 3 * VIEWS[name](weights))


@pytest.mark.parametrize("part", ["real", "imag", "view_as_real"])
def test_parts_of_complex_numbers(part: str) -> None:
    x = torch.ones(3, dtype=torch.complex128, requires_grad=True)
    base = x * (1 + 2j)
    view = torch.view_as_real(base) if part == "view_as_real" else getattr(base, part)
    view.mul_(3)
    base.abs().sum().backward()
    assert x.grad is not None and x.grad.shape == (3,)
    with torch.no_grad():
        again = x.detach() * (1 + 2j)
        (torch.view_as_real(again) if part == "view_as_real" else getattr(again, part)).mul_(3)
    assert torch.equal(base, again)


def test_second_derivatives() -> None:
    def function(x: Any) -> Any:
        base = x * x
        base.diagonal().mul_(x[0])
        base[1:].transpose(0, 1).exp_()
        return base

    x = torch.linspace(0.1, 0.9, 9, dtype=torch.float64).reshape(3, 3).requires_grad_()
    assert torch.autograd.gradcheck(function, [x])
    assert torch.autograd.gradgradcheck(function, [x])
