"""What losses have in common: a reduction, and weights of classes."""

from __future__ import annotations

from torch_py._tensor import Tensor
from torch_py.nn._reduction import reduction_name
from torch_py.nn.modules.module import Module


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
