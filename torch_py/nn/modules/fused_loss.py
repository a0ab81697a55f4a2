"""A linear layer and cross entropy as one module."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.linear import Linear
from torch_py.nn.modules.module import Module
from torch_py.types import Device, _dtype

__all__ = ["LinearCrossEntropyLoss", "LinearCrossEntropyOptions"]

_POLICIES = ("accurate", "balanced", "compact", "auto")


@dataclasses.dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """How PyTorch splits `linear_cross_entropy` into chunks to save memory.

    The options do not change the loss, which is computed whole here.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: _dtype | None = None

    def __post_init__(self) -> None:
        if self.acc_policy not in _POLICIES:
            raise ValueError(
                f"LinearCrossEntropyOptions: expected acc_policy to be one of {_POLICIES}, "
                f"got {self.acc_policy!r}"
            )


class LinearCrossEntropyLoss(Module):
    """The cross entropy of a linear classifier: `cross_entropy(linear(input), target)`, with `num_classes`
    scores for each of `out_features` positions.

    The input is (N, in_features) or (in_features,). The target is that of `nn.CrossEntropyLoss`, with the
    dimensions `out_features` at the end.
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
