"""Softmax over many classes, most of which are rare."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.container import ModuleList, Sequential
from torch_py.nn.modules.linear import Linear
from torch_py.nn.modules.module import Module
from torch_py.types import Device, _dtype

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Approximates the softmax over very many classes, most of which are rare, at a fraction of the cost.

    Classes are numbered by frequency, the most frequent first. The head scores the classes below `cutoffs[0]`
    and one entry per cluster. Cluster i holds the classes from `cutoffs[i]` to the next cutoff, and projects
    its input to in_features / div_value^(i + 1) features first. A call returns a pair: `output`, the log
    probability of each target, and `loss`, minus their mean.

    Source: Grave et al., Efficient softmax approximation for GPUs (2017).

    Args:
        in_features: the number of features of the input
        n_classes: the number of classes
        cutoffs: increasing class numbers between 1 and n_classes - 1, where clusters begin
        div_value: how much smaller the projection of each further cluster is; default 4.0
        head_bias: whether the head has a bias; default False
        device, dtype: those of the parameters

    Shape:
        Input: (N, in_features) or (in_features,).
        target: (N,) or (), int64 class numbers.
        output: (N,) or ().
        loss: ().

    Raises:
        ValueError: the cutoffs are not increasing integers between 1 and n_classes - 1
        RuntimeError: shapes of input and target do not fit, or a target is not a class

    Example:
        >>> layer = nn.AdaptiveLogSoftmaxWithLoss(16, n_classes=100, cutoffs=[10, 40])
        >>> output, loss = layer(torch.randn(4, 16), torch.tensor([0, 12, 99, 3]))
        >>> output.shape, layer.log_prob(torch.randn(4, 16)).shape
        (torch.Size([4]), torch.Size([4, 100]))
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(cutoffs)
            or min(cutoffs) <= 0
            or max(cutoffs) > n_classes - 1
            or len(set(cutoffs)) != len(cutoffs)
            or any(int(cutoff) != cutoff for cutoff in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                "where each value is between 1 and n_classes-1"
            )

        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters

        options: dict[str, Any] = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            width = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, width, bias=False, **options),
                    Linear(width, size, bias=False, **options),
                )
            )

    def reset_parameters(self) -> None:
        self.head.reset_parameters()
        for projection, output in self.tail:  # type: ignore[attr-defined]
            projection.reset_parameters()
            output.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """Returns the log probability of the target of each row of (N, in_features), or of one vector, and
        minus their mean as the loss."""
        self._check(input_, target_)

        is_batched = target_.dim() > 0
        inputs = input_ if is_batched else input_.unsqueeze(0)
        targets = target_ if is_batched else target_.unsqueeze(0)
        head = F.log_softmax(self.head(inputs), dim=1)

        # The entry of the head for each row: its class, or the cluster of its class.
        entries = _torch.where(targets < self.shortlist_size, targets, 0)
        output = inputs.new_zeros(targets.shape[0])
        for i in range(self.n_clusters):
            low = self.cutoffs[i]
            high = self.cutoffs[i + 1]
            rows = ((targets >= low) & (targets < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue

            entries = entries.index_fill(0, rows, self.shortlist_size + i)
            classes = F.log_softmax(self.tail[i](inputs.index_select(0, rows)), dim=1)
            within = (targets.index_select(0, rows) - low).unsqueeze(1)
            output = output.index_copy(0, rows, classes.gather(1, within).squeeze(1).to(output.dtype))

        output = output + head.gather(1, entries.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if is_batched else output.squeeze(0), loss)

    def _check(self, inputs: Tensor, targets: Tensor) -> None:
        """Raises RuntimeError for shapes or target values that do not fit."""
        if targets.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if targets.dim() == 1 and inputs.size(0) != targets.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if targets.dim() == 0 and inputs.dim() != 1:
            raise RuntimeError(
                f"0D target tensor expects 1D input tensors, but found inputs with size {inputs.size()}"
            )
        if targets.dim() == 1 and inputs.dim() != 2:
            raise RuntimeError(
                f"1D target tensor expects 2D input tensors, but found inputs with size {inputs.size()}"
            )
        if targets.numel() == 0:
            return

        low = int(targets.min())
        high = int(targets.max())
        if low < 0 or high >= self.n_classes:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{low}, {high}] "
                "were found. "
            )

    def _full(self, input: Tensor, head: Tensor) -> Tensor:
        """Returns all log probabilities, given the output of the head for `input`."""
        head = F.log_softmax(head, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i in range(self.n_clusters):
            of_cluster = head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(F.log_softmax(self.tail[i](input), dim=1) + of_cluster)
        return _torch.cat(parts, 1)

    def log_prob(self, input: Tensor) -> Tensor:
        """Returns the log probabilities of all classes: (N, in_features) to (N, n_classes)."""
        return self._full(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """Returns the most probable class of each row."""
        head = self.head(input)
        output = head.argmax(dim=1)
        # Clusters matter only for rows in which the head prefers one.
        rows = (output >= self.shortlist_size).nonzero().squeeze(1)
        if rows.numel() == 0:
            return output
        full = self._full(input.index_select(0, rows), head.index_select(0, rows))
        return output.index_copy(0, rows, full.argmax(dim=1))
