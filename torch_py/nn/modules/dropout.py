"""Dropout layers (Srivastava et al. 2014)."""

from __future__ import annotations

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module


class _DropoutNd(Module):
    """Settings of a dropout layer. Raises ValueError unless `p` is in [0, 1]."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Sets elements to zero at random in training, and scales the others so that the expected value stays:

        y = x / (1 - p)    with probability 1 - p
            0              with probability p

    In evaluation it returns its input.

    Source: Srivastava et al., Dropout: a simple way to prevent neural networks from overfitting (2014).

    Args:
        p: the probability of zero for each element; default 0.5
        inplace: whether to overwrite the input; default False

    Shape:
        Input: any shape.
        Output: the same shape.

    Raises:
        ValueError: `p` is not between 0 and 1

    Example:
        >>> layer = nn.Dropout(0.5)
        >>> layer(torch.ones(1000)).unique()
        tensor([0., 2.])
        >>> layer.eval()(torch.ones(3))
        tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Sets whole channels of images to zero at random in training, and scales the others by 1 / (1 - p).

    Neighboring pixels of a channel are alike, so that dropping single elements would hide little.

    Source: Tompson et al., Efficient object localization using convolutional networks (2014).

    Args:
        p: the probability of zero for each channel; default 0.5
        inplace: whether to overwrite the input; default False

    Shape:
        Input: (N, C, H, W).
        Output: the same shape.

    Raises:
        ValueError: `p` is not between 0 and 1

    Example:
        >>> nn.Dropout2d(0.5)(torch.ones(2, 3, 4, 4)).shape
        torch.Size([2, 3, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Sets whole channels of sequences to zero at random in training, and scales the others by 1 / (1 - p).

    Neighboring elements of a channel are alike, so that dropping single elements would hide little.

    Args:
        p: the probability of zero for each channel; default 0.5
        inplace: whether to overwrite the input; default False

    Shape:
        Input: (N, C, L) or (C, L).
        Output: the same shape.

    Raises:
        ValueError: `p` is not between 0 and 1

    Example:
        >>> nn.Dropout1d(0.5)(torch.ones(2, 3, 4)).shape
        torch.Size([2, 3, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Sets whole channels of volumes to zero at random in training, and scales the others by 1 / (1 - p).

    Args:
        p: the probability of zero for each channel; default 0.5
        inplace: whether to overwrite the input; default False

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: the same shape.

    Raises:
        ValueError: `p` is not between 0 and 1

    Example:
        >>> nn.Dropout3d(0.5)(torch.ones(2, 3, 4, 4, 4)).shape
        torch.Size([2, 3, 4, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Replaces elements at random in training by the limit of `SELU` for large negative inputs, and scales
    and shifts the result so that mean 0 and variance 1 stay as they are.

    Source: Klambauer et al., Self-normalizing neural networks (2017).

    Args:
        p: the probability of being replaced for each element; default 0.5
        inplace: accepted for the sake of the other dropout layers; the input is never overwritten

    Shape:
        Input: any shape, usually the output of `SELU`.
        Output: the same shape.

    Raises:
        ValueError: `p` is not between 0 and 1

    Example:
        >>> x = torch.randn(100_000)
        >>> y = nn.AlphaDropout(0.3)(x)
        >>> abs(y.mean()) < 0.05, abs(y.std() - 1) < 0.05
        (tensor(True), tensor(True))
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """Applies `AlphaDropout` to whole channels.

    Args:
        p: the probability of being replaced for each channel; default 0.5
        inplace: accepted for the sake of the other dropout layers; the input is never overwritten

    Shape:
        Input: (N, C, ...).
        Output: the same shape.

    Raises:
        ValueError: `p` is not between 0 and 1

    Example:
        >>> nn.FeatureAlphaDropout(0.5)(torch.randn(2, 3, 4, 4)).shape
        torch.Size([2, 3, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)
