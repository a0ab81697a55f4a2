"""Look-ups of rows of a table by integers, and one-hot vectors, as functions."""

from __future__ import annotations

import warnings

from torch_py import _C
from torch_py._C import _nn, _torch
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad

__all__ = ["embedding", "embedding_bag", "one_hot"]

_embedding = _torch.embedding
_embedding_bag = _torch.embedding_bag
_embedding_renorm_ = _torch.embedding_renorm_
one_hot = _nn.one_hot


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Looks up rows of a table by integers:

        y[i] = weight[input[i]]

    Args:
        input: int32 or int64 of any shape
        weight: (rows, width)
        padding_idx: a row that gets no gradient; default None
        max_norm: rows with a greater norm are scaled down to it in `weight` itself; default None
        norm_type: the power of that norm; default 2.0
        scale_grad_by_freq: whether the gradient of a row is divided by the number of its look-ups; default
            False
        sparse: whether the gradient is a sparse tensor; default False

    Returns:
        (*input.shape, width)

    Raises:
        AssertionError: `padding_idx` is outside of the table

    Example:
        >>> F.embedding(torch.tensor([1, 0]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([[3., 4.],
                [1., 2.]])
    """
    if sparse:
        raise NotImplementedError("embedding: sparse gradients are not part of this build of torch_py")

    row = -1 if padding_idx is None else padding_idx
    if padding_idx is not None:
        if not -weight.shape[0] <= padding_idx < weight.shape[0]:
            raise AssertionError(
                f"Padding_idx must be within num_embeddings: got {padding_idx} and {weight.shape[0]} rows"
            )
        row = padding_idx % weight.shape[0]

    if max_norm is not None:
        _limit_norms(weight, input, max_norm, norm_type)

    return _embedding(weight, input, row, scale_grad_by_freq, sparse)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Computes the sum, mean or maximum of rows of a table for each bag of integers.

    Args:
        input: (bags, n), or one dimension with `offsets`
        weight: (rows, width)
        offsets: where bags begin in an input of one dimension; default None
        max_norm: rows with a greater norm are scaled down to it in `weight` itself; default None
        norm_type: the power of that norm; default 2
        scale_grad_by_freq: whether the gradient of a row is divided by the number of its look-ups; default
            False
        mode: 'mean' (default), 'sum' or 'max'
        sparse: whether the gradient is a sparse tensor; default False
        per_sample_weights: a factor for each row, with mode 'sum'; default None
        include_last_offset: whether the last offset is the end of the last bag; default False
        padding_idx: a row that is left out; default None

    Raises:
        ValueError: the offsets do not fit the input

    Example:
        >>> table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> F.embedding_bag(torch.tensor([[0, 1]]), table, mode="sum")
        tensor([[4., 6.]])
    """
    if weight.dtype == _C.int64 and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, "
            "...)` is deprecated, and should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        weight, input = input, weight

    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({tuple(per_sample_weights.shape)}) is not None, then it "
            f"must have the same shape as the input ({tuple(input.shape)})"
        )
    if not weight.dim() == 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")

    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
                f"length sequences. However, found offsets of type {type(offsets)}"
            )
        # Every row is a bag, so the offsets are multiples of the width.
        width = input.size(1)
        offsets = (
            _torch.arange(0, input.numel(), width, dtype=input.dtype, device=input.device)
            if width
            else input.new_zeros(input.size(0))
        )
        input = input.reshape(-1)
        include_last_offset = False
        per_sample_weights = per_sample_weights.reshape(-1) if per_sample_weights is not None else None
    elif input.dim() != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    elif offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    elif offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")

    if mode not in _BAG_MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and (scale_grad_by_freq or sparse):
        raise ValueError(
            "max mode does not support "
            + ("scaling the gradient by the frequency" if scale_grad_by_freq else "sparse weights")
        )
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
            f"mode='sum' (got mode='{mode}'). Please open a feature request on GitHub."
        )

    if max_norm is not None:
        _limit_norms(weight, input, max_norm, norm_type)

    return _embedding_bag(
        weight,
        input,
        offsets,
        scale_grad_by_freq,
        _BAG_MODES[mode],
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )[0]


def _limit_norms(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Scales down, in place, the rows of `weight` that `input` picks and whose norm exceeds `max_norm`."""
    with no_grad():
        _embedding_renorm_(weight, input, max_norm, norm_type)


_BAG_MODES = {"sum": 0, "mean": 1, "max": 2}
