"""What the layers of encoders and decoders have in common."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.container import ModuleList
from torch_py.nn.modules.dropout import Dropout
from torch_py.nn.modules.linear import Linear
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.normalization import LayerNorm

Activation = Callable[[Tensor], Tensor]


def _get_activation_fn(activation: str | Activation) -> Activation:
    """Returns the activation function with this name. Raises RuntimeError for an unknown name."""
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


class _Layer(Module):
    """Base of the encoder and decoder layers."""

    norm_first: bool
    linear1: Linear
    linear2: Linear
    dropout: Dropout
    activation: Activation

    def _add_feed_forward(
        self, d_model: int, dim_feedforward: int, dropout: float, bias: bool, factory: dict[str, Any]
    ) -> None:
        """Adds the two linear layers and the dropout between them."""
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **factory)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **factory)

    def _add_norms(
        self, count: int, d_model: int, eps: float, dropout: float, bias: bool, factory: dict[str, Any]
    ) -> None:
        """Adds `norm1`, `norm2`, ... and `dropout1`, `dropout2`, ..."""
        for number in range(1, count + 1):
            setattr(self, f"norm{number}", LayerNorm(d_model, eps=eps, bias=bias, **factory))
        for number in range(1, count + 1):
            setattr(self, f"dropout{number}", Dropout(dropout))

    def _residual(self, x: Tensor, norm: Module, block: Callable[[Tensor], Tensor]) -> Tensor:
        """Returns the sum of the input and of a block, normalized: before the block with `norm_first`,
        otherwise after the sum."""
        return x + block(norm(x)) if self.norm_first else norm(x + block(x))

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu


def copies(module: Module, count: int) -> ModuleList:
    """Returns `count` deep copies of a module."""
    return ModuleList([copy.deepcopy(module) for _ in range(count)])
