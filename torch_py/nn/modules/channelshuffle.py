"""The exchange of channels between groups."""

from __future__ import annotations

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """Splits the channels into groups and interleaves them: the first channel of every group, then the
    second, and so on.

    Between two grouped convolutions it lets information pass from group to group.

    Source: Zhang et al., ShuffleNet (2017).

    Args:
        groups: the number of groups, which must divide the number of channels

    Shape:
        Input: (N, C, ...).
        Output: the same shape.

    Example:
        >>> nn.ChannelShuffle(2)(torch.arange(4.0).reshape(1, 4, 1, 1)).flatten()
        tensor([0., 2., 1., 3.])
    """

    __constants__ = ["groups"]

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
