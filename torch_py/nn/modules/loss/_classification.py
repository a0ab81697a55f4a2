"""Losses of scores and probabilities against classes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.linear import Linear
from torch_py.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions
from torch_py.nn.modules.loss._base import _Loss, _WeightedLoss
from torch_py.nn.modules.module import Module
from torch_py.types import Device, _dtype

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CrossEntropyLoss",
    "KLDivLoss",
    "LinearCrossEntropyLoss",
    "NLLLoss",
    "NLLLoss2d",
]


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
