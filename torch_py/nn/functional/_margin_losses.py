"""Margin losses, which push scores or distances apart, as functions.

`reduction` is 'mean', 'sum' or 'none'.
"""

from __future__ import annotations

from collections.abc import Callable

from torch_py._C import _nn, _torch
from torch_py._tensor import Tensor
from torch_py.nn._reduction import reduced, reduction_number

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]

_margin_ranking_loss = _torch.margin_ranking_loss
_hinge_embedding_loss = _torch.hinge_embedding_loss
_cosine_embedding_loss = _torch.cosine_embedding_loss
_triplet_margin_loss = _torch.triplet_margin_loss
_soft_margin_loss = _nn.soft_margin_loss
_multi_margin_loss = _nn.multi_margin_loss
_multilabel_margin_loss = _nn.multilabel_margin_loss
_log_sigmoid = _nn.log_sigmoid
_pairwise_distance = _torch.pairwise_distance


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """A loss that orders two inputs:

        loss = max(0, -target · (input1 - input2) + margin)

    Args:
        input1, input2: any shape, the same
        target: 1 where input1 should be greater, -1 otherwise
        margin: the difference that is wanted; default 0
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.margin_ranking_loss(torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor([1.0]))
        tensor(1.)
    """
    number = reduction_number(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return _margin_ranking_loss(input1, input2, target, margin, number)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """A loss of distances between pairs:

        loss = input                     if target is 1
               max(0, margin - input)    if target is -1

    Args:
        input: distances of any shape
        target: 1 and -1, the same shape
        margin: the distance beyond which pairs that belong apart cost nothing; default 1.0
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.hinge_embedding_loss(torch.tensor([0.2, 0.3]), torch.tensor([1.0, -1.0]))
        tensor(0.4500)
    """
    return _hinge_embedding_loss(input, target, margin, reduction_number(reduction, size_average, reduce))


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """A loss of the angle between pairs of vectors:

        loss = 1 - cos(input1, input2)                 if target is 1
               max(0, cos(input1, input2) - margin)    if target is -1

    Args:
        input1, input2: (N, D) or (D,)
        target: (N,) or (), 1 and -1
        margin: the cosine below which pairs that belong apart cost nothing; default 0
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> x, y = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]])
        >>> F.cosine_embedding_loss(x, y, torch.tensor([1.0]))
        tensor(0.2929)
    """
    return _cosine_embedding_loss(
        input1, input2, target, margin, reduction_number(reduction, size_average, reduce)
    )


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The logistic loss of scores for targets 1 and -1:

        loss = log(1 + exp(-target · input))

    Args:
        input: any shape
        target: the same shape
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.soft_margin_loss(torch.tensor([2.0, -1.0]), torch.tensor([1.0, -1.0]))
        tensor(0.2201)
    """
    return _soft_margin_loss(input, target, reduction_number(reduction, size_average, reduce))


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """A hinge loss of classification:

        loss[n] = Σ_c max(0, margin - input[n, y] + input[n, c])ᵖ / C    over c ≠ y = target[n]

    Args:
        input: scores (N, C) or (C,)
        target: class numbers (N,) or ()
        p: the power, 1 (default) or 2
        margin: by how much the score of the target should exceed the others; default 1.0
        weight: (C,), a factor for the class of each target; default None
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum' or 'none'

    Raises:
        ValueError: `p` is neither 1 nor 2

    Example:
        >>> F.multi_margin_loss(torch.tensor([[0.1, 0.2, 0.8]]), torch.tensor([2]))
        tensor(0.2333)
    """
    number = reduction_number(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return _multi_margin_loss(input, target, p, margin, weight, number)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """A hinge loss for samples with several labels:

        loss[n] = Σ_label Σ_other max(0, 1 - input[n, label] + input[n, other]) / C

    Args:
        input: scores (N, C) or (C,)
        target: the same shape, labels that end at the first -1
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.multilabel_margin_loss(torch.tensor([[0.1, 0.2, 0.4, 0.8]]), torch.tensor([[3, 0, -1, 1]]))
        tensor(0.8500)
    """
    return _multilabel_margin_loss(input, target, reduction_number(reduction, size_average, reduce))


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The binary cross entropy of scores, averaged over the classes, which are the last dimension:

        loss[n] = -Σ_c weight[c] · (t · log σ(x) + (1 - t) · log(1 - σ(x))) / C

    with x = input[n, c] and t = target[n, c].

    Args:
        input: (..., C)
        target: the same shape, 0 and 1
        weight: (C,), a factor for each class; default None
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.multilabel_soft_margin_loss(torch.tensor([[2.0, -1.0]]), torch.tensor([[1.0, 0.0]]))
        tensor(0.2201)
    """
    number = reduction_number(reduction, size_average, reduce)
    loss = -(target * _log_sigmoid(input) + (1 - target) * _log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return reduced(loss.sum(dim=input.dim() - 1) / input.size(input.dim() - 1), number)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """A loss that brings an anchor closer to a positive than to a negative sample:

        loss = max(0, margin + d(anchor, positive) - d(anchor, negative))    with d(x, y) = ‖x - y + eps‖ₚ

    Args:
        anchor, positive, negative: (N, D) or (D,)
        margin: by how much the negative sample should be farther away; default 1.0
        p: the power of the norm; default 2
        eps: what is added to differences; default 1e-6
        swap: whether the distance of the negative to the nearer of the two counts; default False
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.triplet_margin_loss(torch.zeros(1, 2), torch.full((1, 2), 0.5), torch.ones(1, 2))
        tensor(0.2929)
    """
    number = reduction_number(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return _triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, number)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """A loss that brings an anchor closer to a positive than to a negative sample, with any distance:

        loss = max(0, margin + d(anchor, positive) - d(anchor, negative))

    Args:
        anchor, positive, negative: (N, ...)
        distance_function: d; default `pairwise_distance`
        margin: by how much the negative sample should be farther away; default 1.0
        swap: whether the distance of the negative to the nearer of the two counts; default False
        reduction: 'mean' (default), 'sum' or 'none'

    Example:
        >>> F.triplet_margin_with_distance_loss(torch.zeros(1, 2), torch.full((1, 2), 0.5), torch.ones(1, 2))
        tensor(0.2929)
    """
    number = reduction_number(reduction, None, None)
    distance = distance_function if distance_function is not None else _pairwise_distance
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
            f"but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D "
            "inputs"
        )

    near = distance(anchor, positive)
    far = distance(anchor, negative)
    if swap:
        far = _torch.minimum(far, distance(positive, negative))

    return reduced((margin + near - far).clamp_min(0), number)
