"""Margin losses, which push scores or distances apart."""

from __future__ import annotations

from collections.abc import Callable

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.distance import PairwiseDistance
from torch_py.nn.modules.loss._base import _Loss, _WeightedLoss

__all__ = [
    "CosineEmbeddingLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class _MarginLoss(_Loss):
    """A loss with a margin."""

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class HingeEmbeddingLoss(_MarginLoss):
    """Computes a loss of distances between pairs that belong together (target 1) or apart (target -1):

        loss = input                     if target is 1
               max(0, margin - input)    if target is -1

    Args:
        margin: the distance beyond which pairs that belong apart cost nothing; default 1.0
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element

    Shape:
        Input, target: any shape, the same.
        Output: a scalar, or the shape of the input with 'none'.

    Example:
        >>> nn.HingeEmbeddingLoss()(torch.tensor([0.2, 0.3]), torch.tensor([1.0, -1.0]))
        tensor(0.4500)
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)


class MarginRankingLoss(_MarginLoss):
    """Computes a loss that orders two inputs:

        loss = max(0, -target · (input1 - input2) + margin)

    The layer is called with input1, input2 and the target: 1 if input1 should be greater, -1 if input2 should
    be.

    Args:
        margin: the difference that is wanted; default 0.0
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element

    Shape:
        input1, input2, target: any shape, the same.
        Output: a scalar, or the shape of the inputs with 'none'.

    Example:
        >>> loss = nn.MarginRankingLoss(margin=0.5)
        >>> loss(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 3.0]), torch.tensor([1.0, 1.0]))
        tensor(0.7500)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_MarginLoss):
    """Computes a loss of the angle between pairs of vectors:

        loss = 1 - cos(input1, input2)              if target is 1
               max(0, cos(input1, input2) - margin)    if target is -1

    Args:
        margin: the cosine below which pairs that belong apart cost nothing; default 0.0
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum', or 'none' for a loss of each pair

    Shape:
        input1, input2: (N, D) or (D,).
        target: (N,) or (), with 1 and -1.
        Output: a scalar, or the shape of the target with 'none'.

    Example:
        >>> x = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
        >>> y = torch.tensor([[0.0, 2.0], [3.0, 3.0]])
        >>> nn.CosineEmbeddingLoss()(x, y, torch.tensor([1.0, 1.0]))
        tensor(0.5000)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, self.margin, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """Computes the logistic loss of scores for targets 1 and -1:

        loss = log(1 + exp(-target · input))

    Args:
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element

    Shape:
        Input, target: any shape, the same.
        Output: a scalar, or the shape of the input with 'none'.

    Example:
        >>> nn.SoftMarginLoss()(torch.tensor([2.0, -1.0]), torch.tensor([1.0, -1.0]))
        tensor(0.2201)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """Computes a hinge loss for samples with several labels:

        loss[n] = Σ_label Σ_other max(0, 1 - input[n, label] + input[n, other]) / C

    `label` goes over the labels of sample n, `other` over all other classes. The labels of a row of targets
    end at the first -1.

    Args:
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum', or 'none' for a loss of each sample

    Shape:
        Input: (N, C) or (C,).
        target: the same shape, int64 labels followed by -1.
        Output: a scalar, or (N,) with 'none'.

    Example:
        >>> scores = torch.tensor([[0.1, 0.2, 0.4, 0.8]])
        >>> nn.MultiLabelMarginLoss()(scores, torch.tensor([[3, 0, -1, 1]]))
        tensor(0.8500)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """Computes the binary cross entropy of scores for samples with several labels, averaged over the classes:

        loss[n] = -Σ_c weight[c] · (t · log σ(x) + (1 - t) · log(1 - σ(x))) / C

    with x = input[n, c] and t = target[n, c]

    Args:
        weight: (C,), a factor for each class; default None
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum', or 'none' for a loss of each sample

    Shape:
        Input: (..., C).
        target: the same shape, with 0 and 1.
        Output: a scalar, or (...) with 'none'.

    Example:
        >>> nn.MultiLabelSoftMarginLoss()(torch.tensor([[2.0, -1.0]]), torch.tensor([[1.0, 0.0]]))
        tensor(0.2201)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """Computes a hinge loss of classification:

        loss[n] = Σ_c max(0, margin - input[n, y] + input[n, c])ᵖ / C    over c ≠ y = target[n]

    Args:
        p: the power, 1 (default) or 2
        margin: by how much the score of the target should exceed the others; default 1.0
        weight: (C,), a factor for the class of each target; default None
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum', or 'none' for a loss of each sample

    Shape:
        Input: scores (N, C) or (C,).
        target: class numbers (N,) or (), int64.
        Output: a scalar, or the shape of the target with 'none'.

    Raises:
        ValueError: `p` is neither 1 nor 2, or `weight` does not have one dimension

    Example:
        >>> nn.MultiMarginLoss()(torch.tensor([[0.1, 0.2, 0.8]]), torch.tensor([2]))
        tensor(0.2333)
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError(
                f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead"
            )
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(input, target, self.p, self.margin, self.weight, reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """Computes a loss that brings an anchor closer to a positive than to a negative sample:

        loss = max(0, margin + d(anchor, positive) - d(anchor, negative))    with d(x, y) = ‖x - y + eps‖ₚ

    Source: Balntas et al., Learning local feature descriptors with triplets and shallow convolutional neural
    networks (2016).

    Args:
        margin: by how much the negative sample should be farther away, greater than 0; default 1.0
        p: the norm of the distance; default 2.0
        eps: what is added to differences, so that the gradient of the norm exists; default 1e-6
        swap: whether to use the distance from positive to negative where it is smaller than that from the
            anchor; default False
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), 'sum', or 'none' for a loss of each triplet

    Shape:
        anchor, positive, negative: (N, D) or (D,).
        Output: a scalar, or (N,) with 'none'.

    Raises:
        ValueError: `margin` is not positive

    Example:
        >>> anchor = torch.tensor([[0.0, 0.0]])
        >>> nn.TripletMarginLoss()(anchor, anchor + 0.5, anchor + 1.0)
        tensor(0.2929)
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor, positive, negative, self.margin, self.p, self.eps, self.swap, reduction=self.reduction
        )


class TripletMarginWithDistanceLoss(_Loss):
    """Computes a loss that brings an anchor closer to a positive than to a negative sample, with any
    distance:

        loss = max(0, margin + d(anchor, positive) - d(anchor, negative))

    Args:
        distance_function: maps two batches to their distances; default `PairwiseDistance()`
        margin: by how much the negative sample should be farther away, greater than 0; default 1.0
        swap: whether to use the distance from positive to negative where it is smaller than that from the
            anchor; default False
        reduction: 'mean' (default), 'sum', or 'none' for a loss of each triplet

    Shape:
        anchor, positive, negative: (N, ...).
        Output: a scalar, or the shape of the distances with 'none'.

    Raises:
        ValueError: `margin` is not positive

    Example:
        >>> def taxicab(x, y):
        ...     return (x - y).abs().sum(dim=1)
        >>> anchor = torch.tensor([[0.0, 0.0]])
        >>> loss = nn.TripletMarginWithDistanceLoss(distance_function=taxicab)
        >>> loss(anchor, anchor + 0.5, anchor + 0.75)
        tensor(0.5000)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.distance_function = distance_function if distance_function is not None else PairwiseDistance()
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
