"""Loss functions and modules: values computed by hand, reductions, weights, dtypes and refusals."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.subject import torch
from tests.torch_py.outcomes import outcome

nn = torch.nn
F = torch.nn.functional
tensor = torch.tensor


@pytest.mark.parametrize(
    ("loss", "arguments", "expected"),
    [
        (F.margin_ranking_loss, ([1.0, 2.0], [3.0, 1.0], [1.0, 1.0]), [2.0, 0.0]),
        (F.hinge_embedding_loss, ([0.5, 0.25], [1.0, -1.0]), [0.5, 0.75]),
        (
            F.cosine_embedding_loss,
            ([[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [2.0, 0.0]], [1.0, -1.0]),
            [1.0, 1.0],
        ),
        (F.soft_margin_loss, ([0.0, 1.0], [1.0, -1.0]), [math.log(2), math.log(1 + math.e)]),
        (F.triplet_margin_loss, ([[0.0, 0.0]], [[3.0, 4.0]], [[0.0, 2.0]]), [4.0]),
        (F.triplet_margin_with_distance_loss, ([[0.0, 0.0]], [[3.0, 4.0]], [[0.0, 2.0]]), [4.0]),
        (F.poisson_nll_loss, ([0.0, 1.0], [2.0, 3.0]), [1.0, math.e - 3]),
        (F.gaussian_nll_loss, ([1.0, 2.0], [0.0, 0.0], [1.0, 4.0]), [0.5, math.log(2) + 0.5]),
        (F.multilabel_soft_margin_loss, ([[0.0, 0.0]], [[1.0, 0.0]]), [math.log(2)]),
    ],
)
def test_values_and_reductions(loss, arguments, expected):
    tensors = [tensor(values) for values in arguments]
    assert loss(*tensors, reduction="none").tolist() == pytest.approx(expected, abs=1e-5)
    assert loss(*tensors).item() == pytest.approx(sum(expected) / len(expected), abs=1e-5)
    assert loss(*tensors, reduction="sum").item() == pytest.approx(sum(expected), abs=1e-5)
    with pytest.raises(ValueError, match="other"):
        loss(*tensors, reduction="other")


def test_losses_of_classes():
    scores = tensor([[0.1, 0.2, 0.4, 0.8]])
    assert F.multi_margin_loss(scores, tensor([3])).item() == pytest.approx((0.3 + 0.4 + 0.6) / 4)
    assert F.multilabel_margin_loss(scores, tensor([[3, 0, -1, 1]])).item() == pytest.approx(0.85)
    assert F.multi_margin_loss(scores, tensor([3]), p=2, margin=0.5).item() == pytest.approx(
        0.1**2 / 4, rel=1e-4
    )


def test_alignments():
    # Two steps, labels {blank, a}: "a" is read from (a, a), (a, blank), (blank, a).
    log_probs = tensor([[[0.4, 0.6]], [[0.3, 0.7]]]).log()
    expected = -math.log(0.6 * 0.7 + 0.6 * 0.3 + 0.4 * 0.7)
    for lengths in (((2,), (1,)), (tensor([2]), tensor([1]))):
        assert F.ctc_loss(log_probs, tensor([[1]]), *lengths).item() == pytest.approx(expected, rel=1e-5)
    assert nn.CTCLoss()(log_probs[:, 0], tensor([1]), tensor([2]), tensor([1])).item() == pytest.approx(
        expected, rel=1e-5
    )
    # "aa" needs a blank between: three steps.
    assert F.ctc_loss(log_probs, tensor([[1, 1]]), (2,), (2,)).item() == math.inf
    assert F.ctc_loss(log_probs, tensor([[1, 1]]), (2,), (2,), zero_infinity=True).item() == 0.0


def test_gradient_of_alignments_through_log_softmax():
    scores = torch.zeros(4, 1, 3, requires_grad=True)
    F.ctc_loss(scores.log_softmax(-1), tensor([[1, 2]]), (4,), (2,), reduction="sum").backward()
    assert scores.grad.sum(-1).abs().max().item() < 1e-6
    assert scores.grad[0, 0].tolist() == pytest.approx([1 / 3 - 1 / 3, 1 / 3 - 2 / 3, 1 / 3], abs=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.TripletMarginLoss(margin=0), ValueError, "margin"),
        (lambda: nn.MultiMarginLoss(p=3), ValueError, "p == 1"),
        (
            lambda: F.margin_ranking_loss(torch.zeros(2), torch.zeros(2), torch.zeros(2, 1)),
            RuntimeError,
            "dimension",
        ),
        (lambda: F.gaussian_nll_loss(torch.zeros(2), torch.zeros(2), -torch.ones(2)), ValueError, "negative"),
        (
            lambda: F.gaussian_nll_loss(torch.zeros(2, 3), torch.zeros(2, 3), torch.ones(3)),
            ValueError,
            "size",
        ),
        (lambda: F.ctc_loss(torch.zeros(2, 1, 3), tensor([[1]]), (3,), (1,)), RuntimeError, "input_lengths"),
        (
            lambda: F.embedding(tensor([0, 5]), torch.zeros(3, 2)),
            IndexError,
            r"index out of range in self|^embedding.*5.*3 rows",
        ),
        (
            lambda: F.embedding(tensor([[-1]]), torch.zeros(3, 2)),
            IndexError,
            r"index out of range in self|^embedding.*-1.*3 rows",
        ),
        (lambda: F.embedding_bag(tensor([0, 1]), torch.zeros(2, 2)), ValueError, "offsets"),
        (lambda: F.embedding_bag(tensor([[0, 1]]), torch.zeros(2, 2), mode="other"), ValueError, "mode"),
        (lambda: F.instance_norm(torch.zeros(2, 3, 1)), ValueError, "spatial"),
        (lambda: nn.Dropout1d(0.5)(torch.zeros(2, 3, 4, 5)), RuntimeError, "4D"),
        (lambda: F.alpha_dropout(torch.zeros(2), 2.0), ValueError, "2.0"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("shape", [(3,), (1,), (2, 1, 3), (1, 1), (2, 2)])
def test_variances_of_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="incorrect size"):
        F.gaussian_nll_loss(torch.zeros(2, 3), torch.zeros(2, 3), torch.ones(shape))


@pytest.mark.parametrize("shape", [(2,), (2, 1), (1, 3)])
def test_variances_are_broadcast_over_one_dimension(shape):
    target = torch.arange(6.0).reshape(2, 3)
    variance = torch.arange(1.0, 4.0)[: torch.Size(shape).numel()].reshape(shape)
    whole = (variance.unsqueeze(-1) if len(shape) == 1 else variance).expand(2, 3)

    loss = F.gaussian_nll_loss(torch.zeros(2, 3), target, variance)
    assert loss.item() == pytest.approx(F.gaussian_nll_loss(torch.zeros(2, 3), target, whole).item())


def test_mean_of_kl_div_warns():
    input = torch.zeros(2, 4)
    target = torch.full((2, 4), 0.25)
    with pytest.warns(UserWarning, match="batchmean"):
        by_element = F.kl_div(input, target)
    assert F.kl_div(input, target, reduction="batchmean").item() == pytest.approx(4 * by_element.item())


REDUCTION_NAMES_CALLS = {
    "reduction": lambda t: [t.nn.functional._Reduction.get_enum(name) for name in ("none", "mean", "sum")],
    "no reduction": lambda t: t.nn.functional._Reduction.get_enum("max"),
    "older reduction": lambda t: [
        t.nn._reduction.legacy_get_string(a, b, emit_warning=False)
        for a in (None, False)
        for b in (None, False)
    ],
}


@pytest.mark.parametrize("call", REDUCTION_NAMES_CALLS.values(), ids=REDUCTION_NAMES_CALLS)
def test_names_of_reductions_agree_with_pytorch(call):
    peer = pytest.importorskip("torch")
    assert outcome(call, torch) == outcome(call, peer)


@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
@pytest.mark.parametrize("bias", [False, True])
def test_linear_cross_entropy(shape: tuple[int, ...], bias: bool) -> None:
    layer = nn.LinearCrossEntropyLoss(4, 3, out_features=shape, bias=bias, label_smoothing=0.1)
    x = torch.randn(5, 4)
    target = torch.randint(0, 3, (5, *shape))
    scores = layer.linear(x).reshape(5, 3, *shape)
    torch.testing.assert_close(layer(x, target), F.cross_entropy(scores, target, label_smoothing=0.1))
    assert "in_features=4, num_classes=3" in repr(layer)
    layer(x, target).backward()
    assert layer.linear.weight.grad.shape == layer.linear.weight.shape


def test_batch_mean_of_kl_div_of_numbers() -> None:
    input, target = torch.tensor(-1.0), torch.tensor(0.5)
    total = F.kl_div(input, target, reduction="sum")
    assert F.kl_div(input, target, reduction="batchmean").item() == total.item()


def test_linear_cross_entropy_checks_shapes() -> None:
    input, target = torch.ones(2, 3), torch.tensor([0, 1])
    with pytest.raises(RuntimeError, match="dimensionality at least 2, got 1"):
        F.linear_cross_entropy(input, torch.ones(3), target)
    with pytest.raises(RuntimeError, match="in_features., got 3 and 2, respectively"):
        F.linear_cross_entropy(input, torch.ones(4, 2), target)
    with pytest.raises(RuntimeError, match=r"expected linear_bias shape \(4,\), got \(3,\)"):
        F.linear_cross_entropy(input, torch.ones(4, 3), target, linear_bias=torch.ones(3))


def test_linear_cross_entropy_refuses() -> None:
    weight = torch.randn(3, 4)
    with pytest.raises(RuntimeError, match="dimensionality 1 or 2"):
        F.linear_cross_entropy(torch.randn(2, 5, 4), weight, torch.zeros(2, 5, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="ignore_index cannot be specified"):
        F.linear_cross_entropy(torch.randn(5, 4), weight, torch.rand(5, 3), ignore_index=1)
    one = F.linear_cross_entropy(torch.ones(4), weight, torch.tensor(1))
    torch.testing.assert_close(one, F.cross_entropy(weight.sum(1), torch.tensor(1)))


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_weighted_huber_loss(reduction: str) -> None:
    a = torch.randn(3, 2)
    b = torch.randn(3, 2)
    weight = torch.rand(3, 2)
    plain = F.huber_loss(a, b, "none", 0.5) * weight
    expected = plain if reduction == "none" else getattr(plain, reduction)()
    torch.testing.assert_close(F.huber_loss(a, b, reduction, 0.5, weight), expected)


@pytest.mark.parametrize(
    "target, dtype",
    [(torch.float64, torch.float32), (torch.bool, torch.float32), (torch.int64, torch.float32)],
)
def test_huber_loss_has_the_dtype_of_the_input(target: Any, dtype: Any) -> None:
    assert F.huber_loss(torch.tensor([3.0, 1.0]), torch.tensor([1, 0]).to(target)).dtype == dtype


def test_losses_refuse_results_that_the_input_dtype_cannot_hold() -> None:
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type Long"):
        F.huber_loss(torch.tensor([3]), torch.tensor([1.0]))
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type Char"):
        F.soft_margin_loss(torch.tensor([3], dtype=torch.int8), torch.tensor([1.0]))
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        F.soft_margin_loss(torch.tensor(3.0), torch.tensor([1.0, -1.0]))
    assert (
        F.soft_margin_loss(torch.tensor([3.0]), torch.tensor([1.0], dtype=torch.float64)).dtype
        == torch.float32
    )


def test_smooth_l1_loss_of_booleans() -> None:
    assert F.smooth_l1_loss(torch.tensor([3.0, 1.0]), torch.tensor([True, True])).item() == 0.75
    with pytest.raises(NotImplementedError):
        F.smooth_l1_loss(torch.tensor([3]), torch.tensor([1]))


def test_dtype_of_binary_cross_entropy_with_logits() -> None:
    logits, labels = torch.tensor([0.5, -1.0]), torch.tensor([0, 1])
    loss = F.binary_cross_entropy_with_logits
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        loss(logits, labels)
    assert loss(logits, labels.double()).dtype == torch.float64
    assert loss(logits, labels.half()).dtype == torch.float16
    assert loss(logits, labels.float(), weight=torch.ones(2, dtype=torch.float64)).dtype == torch.float32


def test_cross_entropy_wants_one_dtype() -> None:
    with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
        F.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.0], dtype=torch.float64))


def test_cross_entropy_refuses_float_labels() -> None:
    with pytest.raises(
        RuntimeError,
        match="expected target dtype to be Long or Byte, but got Float|expected scalar type Long but found "
        "Float",
    ):
        F.cross_entropy(torch.ones(3, 4), torch.tensor([0.0, 1.0, 2.0]))


def test_mse_loss_of_a_mask() -> None:
    assert F.mse_loss(torch.tensor([0.5, 1.0]), torch.tensor([True, False])).item() == 0.625


def test_losses_weighted_by_element() -> None:
    x = torch.tensor([1.0, 2.0, 5.0])
    target = torch.zeros(3)
    weight = torch.tensor([1.0, 2.0, 3.0])
    assert F.huber_loss(x, target, weight=weight).item() == pytest.approx(17 / 3)  # the mean over elements
    assert F.mse_loss(x, target, weight=weight).item() == pytest.approx(84 / 6)  # over weights


LOGITS = [[1.0, 2.0, 0.5], [0.1, -1.0, 3.0]]


@pytest.mark.parametrize(
    "loss, target, expected",
    [
        (nn.MSELoss(), [[1.0, 0.0, 0.0], [0.0, 0.0, 3.0]], 0.876667),
        (nn.L1Loss(reduction="sum"), [[1.0, 0.0, 0.0], [0.0, 0.0, 3.0]], 3.6),
        (nn.SmoothL1Loss(), [[1.0, 0.0, 0.0], [0.0, 0.0, 3.0]], 0.355),
        (nn.HuberLoss(delta=0.5), [[1.0, 0.0, 0.0], [0.0, 0.0, 3.0]], 0.230000),
        (nn.BCEWithLogitsLoss(), [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], 0.753419),
        (nn.CrossEntropyLoss(), [1, 2], 0.267572),
        (nn.CrossEntropyLoss(label_smoothing=0.1), [1, 2], 0.424238),
        (nn.CrossEntropyLoss(ignore_index=1), [1, 2], 0.070774),
        (nn.CrossEntropyLoss(reduction="sum"), [1, 2], 0.535143),
    ],
)
def test_losses(loss: Any, target: Any, expected: float) -> None:
    x = torch.tensor(LOGITS, requires_grad=True)
    value = loss(x, torch.tensor(target))
    assert value.item() == pytest.approx(expected, abs=2e-5)
    value.backward()
    assert x.grad.shape == x.shape


def test_losses_weighted_by_class() -> None:
    x, target = torch.tensor(LOGITS), torch.tensor([1, 2])
    weight = torch.tensor([1.0, 2.0, 0.5])
    expected = F.nll_loss(F.log_softmax(x, 1), target, weight)
    assert nn.CrossEntropyLoss(weight)(x, target).item() == pytest.approx(expected.item(), abs=1e-6)
    assert nn.NLLLoss(weight, reduction="none")(F.log_softmax(x, 1), target).shape == (2,)
    assert list(nn.NLLLoss(weight).state_dict()) == ["weight"]


def test_cross_entropy_of_probabilities_and_images() -> None:
    x = torch.tensor(LOGITS)
    hard = F.cross_entropy(x, torch.tensor([1, 2]))
    soft = F.cross_entropy(x, torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    assert soft.item() == pytest.approx(hard.item(), abs=1e-6)
    images = torch.randn(2, 3, 4, 5)
    assert F.cross_entropy(images, torch.zeros(2, 4, 5, dtype=torch.int64), reduction="none").shape == (
        2,
        4,
        5,
    )


def test_loss_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match="is not a valid value for reduction"):
        F.mse_loss(torch.ones(1), torch.ones(1), reduction="median")
    with pytest.warns(UserWarning, match="Using a target size"):
        F.mse_loss(torch.ones(2, 1), torch.ones(2))
    with pytest.raises(ValueError, match="must be the same as input size"):
        F.binary_cross_entropy_with_logits(torch.ones(2, 1), torch.ones(2))
