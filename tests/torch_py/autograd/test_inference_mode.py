"""Inference mode records nothing, and autograd refuses its tensors.

See Note [Inference mode] in c10/core/InferenceMode.h.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import torch


def made_inside() -> Any:
    with torch.inference_mode():
        return torch.ones(3)


def test_results_are_inference_tensors() -> None:
    x = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        y = x * 2
        assert y.is_inference() and y[0].is_inference() and y.view(1, 3).is_inference()
        assert not x.is_inference() and not x[1:].is_inference()
    assert not y.requires_grad and y.grad_fn is None
    assert not torch.ones(2).is_inference()
    assert y.detach().is_inference() and y[0].is_inference()
    assert not y.clone().is_inference() and not (y + 1).is_inference()


def test_changes_inside_are_allowed() -> None:
    with torch.inference_mode():
        y = torch.zeros(3)
        y.add_(1)
        y[0] = 5
        y.copy_(y * 2)
        assert y.tolist() == [10, 2, 2]


@pytest.mark.parametrize(
    "change",
    [lambda y: y.add_(1), lambda y: y.fill_(3), lambda y: y[0].zero_(), lambda y: y.copy_(torch.zeros(3))],
)
def test_changes_outside_are_refused(change: Any) -> None:
    y = made_inside()
    message = "Inplace update to inference tensor outside InferenceMode is not allowed"
    with pytest.raises(RuntimeError, match=message):
        change(y)


def test_they_are_not_saved_for_backward() -> None:
    x = torch.ones(3, requires_grad=True)
    y = made_inside()
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * y
    (x + y).sum().backward()  # needs no values
    assert x.grad is not None and x.grad.tolist() == [1, 1, 1]
    (x * y.clone()).sum().backward()


def test_they_cannot_require_grad_outside() -> None:
    y = made_inside()
    with pytest.raises(
        RuntimeError,
        match="Setting requires_grad=True on inference tensor outside InferenceMode is not allowed",
    ):
        y.requires_grad_()
    with pytest.raises(RuntimeError, match="Setting requires_grad=True"):
        y.requires_grad = True
    y.requires_grad_(False)
    with torch.inference_mode():
        assert torch.ones(2, requires_grad=True).requires_grad


def test_they_have_no_version() -> None:
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        made_inside()._version  # noqa: B018


def test_grad_mode_does_not_record_inside() -> None:
    x = torch.ones(3, requires_grad=True)
    with torch.inference_mode(), torch.enable_grad():
        assert torch.is_grad_enabled() and torch.is_inference_mode_enabled()
        y = x * 2
    assert not y.requires_grad and y.is_inference()


def test_changes_of_normal_tensors_inside_are_counted() -> None:
    x = torch.ones(3, requires_grad=True)
    a = x * 1
    y = a * a
    with torch.inference_mode():
        a.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_views_of_normal_tensors_are_not_changed_where_it_would_be_recorded() -> None:
    base = torch.ones(3)
    with torch.inference_mode():
        view = base[1:]
    assert not view.is_inference()
    with pytest.raises(RuntimeError, match="is being modified inplace"):
        view.mul_(torch.ones(2, requires_grad=True))


def test_mode_false_and_nesting() -> None:
    x = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        with torch.inference_mode(False):
            assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()
            assert (x * 2).requires_grad
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()
    assert (x * 2).requires_grad


def test_as_decorator() -> None:
    @torch.inference_mode()
    def double(tensor: Any) -> Any:
        return tensor * 2

    assert double(torch.ones(1, requires_grad=True)).is_inference()
