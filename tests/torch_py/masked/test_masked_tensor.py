"""MaskedTensor: operators, reductions, gradients and text are PyTorch's; copies and pickles."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import pytest

import torch_py as torch
from torch_py.masked import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor

peer = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore")
VALUES = [[-3.0, -2.0, -1.0], [0.0, 1.0, 2.0]]
MASK = [[True, False, True], [False, False, True]]

EXPRESSIONS = {
    "unary": "-a; a.exp(); torch.sqrt(a); a.sin(); a.clamp(0, 1); a ** 2; torch.isnan(a); a.sigmoid()",
    "binary": "a + b; a - 1; 2 * a; a / b; a == b; a < b; a > 0; a + x; torch.maximum(a, b); a.atan2(b)",
    "in place": "a.add_(1); a.exp_(); a.mul_(b)",
    "reductions": "a.sum(); a.sum(1); a.sum(0, True); a.mean(); a.mean(1); a.prod(1); a.amax(); a.amax(1); "
    "a.amin(1); a.argmax(1); a.argmin(1); (a > 0).all(); a.all(1); a.std(); a.var(1); "
    "torch.sum(a, (0, 1))",
    "softmax": "torch.nn.functional.softmax(a, 1)",
    "shapes": "a[0]; a[:, 1]; a[0, 0]; a[m]; a.view(6); a.reshape(3, 2); a.t(); a.expand(2, 2, 3); a.mT; "
    "a.unsqueeze(0); torch.cat([a, b]); torch.stack([a, b]); a.split(1)[1]; a.unfold(0, 1, 1); a.flatten()",
    "copies": "a.clone(); a.detach(); a.to(torch.float64); a.long(); a.contiguous(); torch.ones_like(a)",
    "choice": "torch.where(m, a, b)",
    "text": "masked_tensor(torch.tensor([1000.5, 2]), torch.tensor([True, False])); "
    "masked_tensor(torch.tensor([1, 20]), torch.tensor([True, False])); "
    "masked_tensor(torch.tensor([True, True]), torch.tensor([True, False])); "
    "masked_tensor(torch.tensor(3.0), torch.tensor(False)); "
    "masked_tensor(torch.tensor(3), torch.tensor(True)); "
    "masked_tensor(torch.arange(8.0).view(2, 2, 2), torch.arange(8).view(2, 2, 2) % 3 > 0)",
}


def evaluate(library: Any, expression: str) -> str:
    made = library.masked.masked_tensor
    x, m = library.tensor(VALUES), library.tensor(MASK)
    names = {"torch": library, "masked_tensor": made, "x": x, "m": m, "a": made(x, m), "b": made(x + 5, m)}
    return repr(eval(expression, names))


@pytest.mark.parametrize("kind", EXPRESSIONS)
def test_results_are_pytorchs(kind: str):
    for expression in EXPRESSIONS[kind].split("; "):
        assert evaluate(torch, expression) == evaluate(peer, expression), expression


def gradient(library: Any, expression: str, leaf: bool) -> str:
    x, m = library.tensor(VALUES), library.tensor(MASK)
    if leaf:
        x = a = library.masked.masked_tensor(x, m, requires_grad=True)
    else:
        a = library.masked.as_masked_tensor(x.requires_grad_(), m)
    eval(expression, {"torch": library, "a": a, "base": library.tensor(VALUES), "m": m}).sum().backward()
    return repr(x.grad).replace("-0.0000", " 0.0000")


@pytest.mark.parametrize("leaf", [True, False])
@pytest.mark.parametrize(
    "expression",
    "a.sum(); a.mean(); a.prod(); a.amax(); a.amin(1); a.sum(1); a.exp(); a * 2; a * a; a[0]; a.t(); "
    "a.var(); a.reshape(6); torch.cat([a, a]); a * base; a.to(torch.float64); a.get_data(); "
    "a.to_tensor(0.0); torch.nn.functional.softmax(a, 1)".split("; "),
)
def test_gradients_are_pytorchs(expression: str, leaf: bool):
    assert gradient(torch, expression, leaf) == gradient(peer, expression, leaf)


def made() -> MaskedTensor:
    return masked_tensor(torch.tensor(VALUES), torch.tensor(MASK))


@pytest.mark.parametrize("name", ["zeros_like", "empty_like", "rand_like", "randn_like"])
def test_tensors_made_like_a_masked_one_have_its_mask(name: str):
    found = getattr(torch, name)(made())
    assert found.get_mask().tolist() == MASK
    assert torch.full_like(made(), 3, dtype=torch.int64).get_mask().tolist() == MASK


def test_parts():
    a = made()
    assert type(a.get_data()) is torch.Tensor and torch.equal(a.get_data(), torch.tensor(VALUES))
    assert torch.equal(a.get_mask(), torch.tensor(MASK))
    assert a.to_tensor(9.0).tolist() == [[-3.0, 9.0, -1.0], [9.0, 9.0, 2.0]]
    assert is_masked_tensor(a) and not is_masked_tensor(a.get_data())
    assert a.shape == (2, 3) and a.dtype == torch.float32 and not a.is_sparse_coo() and not a.is_sparse_csr()


def test_parts_are_copies():
    data, mask = torch.tensor(VALUES), torch.tensor(MASK)
    a = masked_tensor(data, mask)
    data.zero_()
    mask.fill_(True)
    assert repr(a) == repr(made())


def test_in_place_changes_the_tensor_itself():
    a = made()
    assert a.add_(1) is a and a.get_data()[0, 0].item() == -2
    a[0] = 5.0
    assert repr(a[0]) == repr(masked_tensor(torch.full((3,), 5.0), torch.tensor(MASK[0])))


def test_reductions_with_other_arguments():
    a = made()
    assert a.var(1, False).to_tensor(0).tolist() == [1.0, 0.0] == a.var(1, correction=0).to_tensor(0).tolist()
    assert a.norm(p=1, dim=1).to_tensor(0).tolist() == [4.0, 2.0]
    assert a.sum(1, dtype=torch.float64).dtype == torch.float64
    with pytest.raises(TypeError, match="masked tensors take 2 arguments"):
        torch.masked.maskedtensor._reductions._reduce("sum", a, 1, True, 3)


def test_masks_move_with_elements():
    a, mask = made(), torch.tensor(MASK)
    assert torch.equal(a.flip(1).get_mask(), mask.flip(1))
    assert torch.equal(torch.take(a, torch.tensor([5, 0])).get_mask(), torch.tensor([True, True]))
    assert torch.equal(torch.view_copy(a, (3, 2)).get_mask(), mask.view(3, 2))
    a.index_put_((torch.tensor([0]),), masked_tensor(torch.zeros(3), torch.tensor([False, True, False])))
    assert a.get_mask().tolist() == [[False, True, False], MASK[1]]


def test_masks_broadcast_and_must_be_equal():
    row = masked_tensor(torch.ones(3), torch.tensor([True, False, True]))
    rows = masked_tensor(torch.ones(2, 3), torch.tensor([[True, False, True]] * 2))
    assert torch.equal((row + rows).get_mask(), rows.get_mask())
    with pytest.raises(ValueError, match="Input masks must match"):
        row + masked_tensor(torch.ones(3), torch.tensor([True, True, True]))


@pytest.mark.parametrize(
    ("data", "mask", "error", "text"),
    [
        (1, torch.tensor(True), TypeError, "data must be a Tensor"),
        (torch.ones(1), [True], TypeError, "mask must be a Tensor"),
        (torch.ones(1), torch.ones(1), TypeError, "mask must have dtype bool"),
        (torch.ones(1, dtype=torch.complex64), torch.tensor([True]), TypeError, "complex64 is not supported"),
        (torch.ones(2, 2), torch.tensor([True, True]), ValueError, r"data.dim\(\) must equal mask.dim\(\)"),
        (torch.ones(2), torch.tensor([True]), ValueError, r"data.size\(\) must equal mask.size\(\)"),
    ],
)
def test_bad_parts(data: Any, mask: Any, error: type[Exception], text: str):
    for function in (masked_tensor, as_masked_tensor, MaskedTensor):
        with pytest.raises(error, match=text):
            function(data, mask)


def test_operators_without_a_rule_are_refused():
    a = made()
    refused = [lambda: torch.mm(a, a.t()), lambda: a.nonzero(), lambda: torch.cumsum(a), a.numpy]
    for call in [
        *refused,
        a.tolist,
        lambda: torch.ones(2, 3).add_(a),
        lambda: torch.exp(a, out=torch.ones(2, 3)),
    ]:
        with pytest.raises((TypeError, RuntimeError)):
            call()


def test_empty_tensors_have_a_text():
    assert repr(masked_tensor(torch.ones(0), torch.ones(0).bool())) == "MaskedTensor(\n  []\n)"


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
def test_copies_and_pickles(how: Any):
    a = made().requires_grad_()
    again = how(a)
    assert type(again) is MaskedTensor and repr(again) == repr(a) and again.requires_grad and again.is_leaf


def test_functions_take_masked_tensors():
    a = made()
    assert torch.masked.sum(a, 1).tolist() == [-4.0, 2.0]
    assert torch.masked.mean(a).item() == pytest.approx(-2 / 3)  # PyTorch divides by 6 here
    assert torch.masked.sum(a, 1, mask=torch.tensor([True, True, False])).tolist() == [-3.0, 0.0]


def test_data_that_requires_grad_is_warned_about():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        masked_tensor(torch.ones(1, requires_grad=True), torch.tensor([True]))
    assert any("as_masked_tensor" in str(warning.message) for warning in caught)
