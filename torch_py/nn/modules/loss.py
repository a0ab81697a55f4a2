"""Losses as modules. The formulas are repeated in `nn.functional`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn._reduction import reduction_name
from torch_py.nn.modules.distance import PairwiseDistance
from torch_py.nn.modules.linear import Linear
from torch_py.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions
from torch_py.nn.modules.module import Module
from torch_py.types import Device, _dtype

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LinearCrossEntropyLoss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class _Loss(Module):
    """A loss with a reduction: 'mean', 'sum' or 'none'."""

    reduction: str

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        given = size_average is not None or reduce is not None
        self.reduction = reduction_name(reduction, size_average, reduce) if given else reduction


class _WeightedLoss(_Loss):
    """A loss with a weight for each class."""

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(_Loss):
    """Computes the absolute error:

        loss = |input - target|

    Args:
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element

    Shape:
        Input, target: any shape, the same.
        Output: a scalar, or the shape of the input with 'none'.

    Example:
        >>> nn.L1Loss()(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 4.0]))
        tensor(1.2500)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """Computes the squared error:

        loss = (input - target)²

    Args:
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element

    Shape:
        Input, target: any shape, the same.
        Output: a scalar, or the shape of the input with 'none'.

    Example:
        >>> nn.MSELoss()(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 4.0]))
        tensor(2.1250)
        >>> nn.MSELoss(reduction="none")(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 4.0]))
        tensor([0.2500, 4.0000])
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Computes an error that is quadratic near zero and linear beyond, so that outliers count less than in
    `MSELoss`:

        loss = d² / (2 · beta)    if d < beta, with d = |input - target|
               d - beta / 2       otherwise

    Args:
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element
        beta: where the quadratic part ends, at least 0; 0 is `L1Loss`; default 1.0

    Shape:
        Input, target: any shape, the same.
        Output: a scalar, or the shape of the input with 'none'.

    Example:
        >>> nn.SmoothL1Loss()(torch.tensor([0.0, 0.0]), torch.tensor([0.5, 3.0]))
        tensor(1.3125)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Computes an error that is quadratic near zero and linear with slope `delta` beyond:

        loss = d² / 2                     if d < delta, with d = |input - target|
               delta · (d - delta / 2)    otherwise

    It is `delta` times the `SmoothL1Loss` with beta = delta.

    Args:
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element
        delta: where the quadratic part ends, greater than 0; default 1.0

    Shape:
        Input, target: any shape, the same.
        Output: a scalar, or the shape of the input with 'none'.

    Example:
        >>> nn.HuberLoss(delta=2.0)(torch.tensor([0.0, 0.0]), torch.tensor([0.5, 3.0]))
        tensor(2.0625)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, self.reduction, self.delta)


class KLDivLoss(_Loss):
    """Computes the Kullback-Leibler divergence of the target from the input, which holds log probabilities:

        loss = target · (log(target) - input)

    Args:
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default), the mean of all elements; 'batchmean', the sum divided by the size of the
            batch, which is the divergence; 'sum'; or 'none'
        log_target: whether the target holds log probabilities too; default False

    Shape:
        Input, target: any shape, the same.
        Output: a scalar, or the shape of the input with 'none'.

    Example:
        >>> scores = torch.tensor([[0.0, 1.0, 2.0]])
        >>> target = torch.tensor([[0.2, 0.3, 0.5]])
        >>> nn.KLDivLoss(reduction="batchmean")(scores.log_softmax(dim=1), target)
        tensor(0.0780)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCELoss(_WeightedLoss):
    """Computes the binary cross entropy of probabilities:

        loss = -weight · (target · log(input) + (1 - target) · log(1 - input))

    Logarithms are limited to -100 from below, so that a wrong certainty gives a finite loss.
    `BCEWithLogitsLoss` takes scores instead of probabilities and is more accurate.

    Args:
        weight: a factor for each element, broadcast with the input; default None
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element

    Shape:
        Input: any shape, with values in [0, 1].
        target: the same shape, with values in [0, 1].
        Output: a scalar, or the shape of the input with 'none'.

    Raises:
        RuntimeError: an element of the input is outside of [0, 1]

    Example:
        >>> nn.BCELoss()(torch.tensor([0.9, 0.2]), torch.tensor([1.0, 0.0]))
        tensor(0.1643)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Computes the binary cross entropy of scores, whose sigmoid gives the probabilities:

        loss = -weight · (pos_weight · target · log σ(input) + (1 - target) · log(1 - σ(input)))

    The two steps in one are more accurate than a sigmoid followed by `BCELoss`.

    Args:
        weight: a factor for each element, broadcast with the input; default None
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element
        pos_weight: a factor for the positive part, broadcast with the input: above 1 for more recall, below
            for more precision; default None

    Shape:
        Input: any shape, any real numbers.
        target: the same shape, with values in [0, 1].
        Output: a scalar, or the shape of the input with 'none'.

    Example:
        >>> nn.BCEWithLogitsLoss()(torch.tensor([2.0, -1.0]), torch.tensor([1.0, 0.0]))
        tensor(0.2201)
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class NLLLoss(_WeightedLoss):
    """Computes the negative log likelihood of classes, given log probabilities:

        loss[n] = -weight[target[n]] · input[n, target[n]]

    The mean is weighted: the sum of the losses divided by the sum of the weights of the targets. `LogSoftmax`
    makes log probabilities of scores; `CrossEntropyLoss` does both.

    Args:
        weight: (C,), a factor for each class; default None
        size_average, reduce: former ways to choose the reduction, with a warning
        ignore_index: a class number that contributes neither loss nor gradient; default -100
        reduction: 'mean' (default), 'sum', or 'none' for a loss of each target

    Shape:
        Input: (N, C), (N, C, d1, d2, ...) or (C,).
        target: (N,), (N, d1, d2, ...) or (), int64 class numbers from [0, C).
        Output: a scalar, or the shape of the target with 'none'.

    Example:
        >>> log_probabilities = torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]]).log()
        >>> nn.NLLLoss()(log_probabilities, torch.tensor([0, 2]))
        tensor(0.4581)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(
            input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class NLLLoss2d(NLLLoss):
    """The former name of `NLLLoss` for images. It warns with a FutureWarning.

    Args:
        args, kwargs: those of `NLLLoss`

    Example:
        >>> isinstance(nn.NLLLoss2d(), nn.NLLLoss)
        True
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(*args, **kwargs)


class CrossEntropyLoss(_WeightedLoss):
    """Computes the cross entropy between the softmax of scores and classes, the usual loss of classification:

        loss[n] = -weight[y] · log(exp(input[n, y]) / Σ_c exp(input[n, c]))    with y = target[n]

    If targets are probabilities p of all classes instead of class numbers:

        loss[n] = -Σ_c weight[c] · p[n, c] · log softmax(input[n])[c]

    For class numbers, the mean is weighted: the sum of the losses divided by the sum of the weights of the
    targets.

    Args:
        weight: (C,), a factor for each class; default None
        size_average, reduce: former ways to choose the reduction, with a warning
        ignore_index: a class number that contributes neither loss nor gradient; default -100
        reduction: 'mean' (default), 'sum', or 'none' for a loss of each target
        label_smoothing: how much of the target is spread over all classes evenly, from 0.0 (default) to 1.0

    Shape:
        Input: scores (N, C), (N, C, d1, d2, ...) or (C,).
        target: class numbers (N,), (N, d1, d2, ...) or (), int64 from [0, C); or probabilities in the shape
            of the input.
        Output: a scalar, or the shape of the class numbers with 'none'.

    Example:
        >>> scores = torch.tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
        >>> nn.CrossEntropyLoss()(scores, torch.tensor([0, 2]))
        tensor(0.1672)
        >>> nn.CrossEntropyLoss(label_smoothing=0.1)(scores, torch.tensor([0, 2]))
        tensor(0.3339)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class LinearCrossEntropyLoss(Module):
    """The cross entropy of a linear classifier: a linear layer and `CrossEntropyLoss` in one.

        loss = cross_entropy(input · weightᵀ + bias, target)

    Args:
        in_features: the number of features of the input
        num_classes: the number of classes
        out_features: sizes of further dimensions of the scores, each position of which is classified; default
            ()
        bias: whether the linear layer has a bias; default False
        device, dtype: those of the parameters
        reduction, weight, ignore_index, label_smoothing: those of `CrossEntropyLoss`
        options: how scores are computed in chunks, to save memory; default None

    Shape:
        Input: (N, in_features) or (in_features,).
        target: (N, *out_features) class numbers, or (N, num_classes, *out_features) probabilities.
        Output: a scalar, or the shape of the class numbers with 'none'.

    Example:
        >>> loss = nn.LinearCrossEntropyLoss(in_features=8, num_classes=3)
        >>> loss(torch.randn(4, 8), torch.tensor([0, 1, 2, 0])).shape
        torch.Size([])
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Device = None,
        dtype: _dtype | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.num_classes = num_classes
        self.out_features = tuple(out_features)
        self.reduction = reduction
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.options = options

        self.linear = Linear(
            in_features, num_classes * math.prod(self.out_features), bias=bias, device=device, dtype=dtype
        )
        self.register_buffer("weight", weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias

        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        names = ("in_features", "num_classes", "out_features")
        rest = ("reduction", "ignore_index", "label_smoothing", "options")

        parts = [f"{name}={getattr(self, name)}" for name in names]
        parts.append(f"bias={self.linear.bias is not None}")
        parts += [f"{name}={getattr(self, name)}" for name in rest]
        return ", ".join(parts)


class CTCLoss(_Loss):
    """Computes the connectionist temporal classification loss of sequences of unknown alignment:

        loss[n] = -log Σ_alignments Π_t exp(log_probs[t, n, alignment[t]])

    The sum is over all ways to stretch the target to the length of the input by repeating labels and
    inserting blanks. With 'mean', each loss is divided by the length of its target (at least 1) before the
    mean over the batch.

    Source: Graves et al., Connectionist temporal classification (2006).

    Args:
        blank: the number of the label that stands for nothing; default 0
        reduction: 'mean' (default), 'sum', or 'none' for a loss of each sequence
        zero_infinity: whether losses of targets longer than their input, which are infinite, become zero;
            default False

    Shape:
        log_probs: (T, N, C) or (T, C), log probabilities of C labels at T steps.
        targets: (N, S), or all targets in one dimension.
        input_lengths, target_lengths: (N,) or (), the lengths of both.
        Output: a scalar, or (N,) with 'none'.

    Example:
        >>> log_probs = torch.randn(20, 2, 5).log_softmax(dim=2)
        >>> targets = torch.tensor([[1, 2, 3], [4, 4, 0]])
        >>> nn.CTCLoss(reduction="none")(log_probs, targets, [20, 20], [3, 2]).shape
        torch.Size([2])
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


class PoissonNLLLoss(_Loss):
    """Computes the negative log likelihood of counts under a Poisson distribution:

        loss = exp(input) - target · input            if log_input
               input - target · log(input + eps)      otherwise

    The term log(target!), which does not depend on the input, is left out unless `full`.

    Args:
        log_input: whether the input is the logarithm of the rate; default True
        full: whether to add Stirling's approximation of log(target!) for targets above 1; default False
        size_average: a former way to choose the reduction, with a warning
        eps: what keeps the logarithm finite where `log_input` is False; default 1e-8
        reduce: a former way to choose the reduction, with a warning
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element

    Shape:
        Input, target: any shape, the same.
        Output: a scalar, or the shape of the input with 'none'.

    Example:
        >>> nn.PoissonNLLLoss()(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 3.0]))
        tensor(0.3591)
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    """Computes the negative log likelihood under normal distributions with predicted mean and variance:

        loss = (log(max(var, eps)) + (input - target)² / max(var, eps)) / 2

    The layer is called with the input (the means), the target and the variance.

    Args:
        full: whether to add the constant log(2π) / 2; default False
        eps: the least variance; default 1e-6
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element

    Shape:
        Input, target: (N, ...) or (...), the same or broadcastable.
        var: the shape of the input, without the last dimension or with size 1 there, or a number.
        Output: a scalar, or the shape of the input with 'none'.

    Raises:
        ValueError: a variance is negative, or its shape does not fit

    Example:
        >>> loss = nn.GaussianNLLLoss()
        >>> loss(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 2.0]), torch.tensor([1.0, 0.5]))
        tensor(-0.1108)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


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
