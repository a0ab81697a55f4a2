"""Embeddings: tables of vectors that are looked up by number."""

from __future__ import annotations

from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.nn import functional as F
from torch_py.nn import init
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter
from torch_py.types import Device, _dtype


class Embedding(Module):
    """Looks up vectors in a table by integers:

        output[i] = weight[input[i]]

    The table starts with standard normal numbers.

    Args:
        num_embeddings: the number of rows of the table
        embedding_dim: the size of a row
        padding_idx: a row that starts as zeros and gets no gradient; default None
        max_norm: rows with a greater norm are scaled down to it, in place, when they are looked up; default
            None
        norm_type: the p of that norm; default 2.0
        scale_grad_by_freq: whether the gradient of a row is divided by the number of times it was looked up
            in the call; default False
        sparse: whether the gradient of the table is a sparse tensor; default False
        _weight: the table to use instead of a new one
        _freeze: whether the table is not trained
        device, dtype: those of the table

    Shape:
        Input: any shape, int32 or int64 from [0, num_embeddings).
        Output: (*input.shape, embedding_dim).
        weight: (num_embeddings, embedding_dim).

    Raises:
        AssertionError: `padding_idx` is outside of the table
        IndexError: an element of the input is outside of the table

    Example:
        >>> words = nn.Embedding(num_embeddings=10, embedding_dim=3, padding_idx=0)
        >>> words(torch.tensor([[1, 2, 0], [4, 0, 0]])).shape
        torch.Size([2, 3, 3])
        >>> words(torch.tensor([0]))
        tensor([[0., 0., 0.]], grad_fn=<EmbeddingBackward0>)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError(
                f"Padding_idx must be within num_embeddings: got {padding_idx} and {num_embeddings} rows"
            )

        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            self.weight = Parameter(
                _torch.empty((num_embeddings, embedding_dim), device=device, dtype=dtype),
                requires_grad=not _freeze,
            )
            self.reset_parameters()
        elif tuple(_weight.shape) != (num_embeddings, embedding_dim):
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        else:
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self) -> None:
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None, **keywords: Any
    ) -> Embedding:
        """Returns an embedding with a given table.

        Args:
            embeddings: the table (num_embeddings, embedding_dim)
            freeze: whether the table is not trained; default True
            padding_idx: a row that gets no gradient; default None
            keywords: other arguments of `Embedding`

        Raises:
            AssertionError: the table does not have 2 dimensions

        Example:
            >>> table = nn.Embedding.from_pretrained(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
            >>> table(torch.tensor([1]))
            tensor([[3., 4.]])
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        return cls(
            embeddings.shape[0],
            embeddings.shape[1],
            padding_idx=padding_idx,
            _weight=embeddings,
            _freeze=freeze,
            **keywords,
        )

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"

        return text + ", sparse=True" if self.sparse else text


class EmbeddingBag(Module):
    """Computes the sum, mean or maximum of rows of a table for each bag of integers, without storing the
    rows.

    The result is that of `Embedding` followed by a reduction over each bag. An empty bag gives zeros.

    Args:
        num_embeddings: the number of rows of the table
        embedding_dim: the size of a row
        max_norm: rows with a greater norm are scaled down to it, in place, when they are looked up; default
            None
        norm_type: the p of that norm; default 2.0
        scale_grad_by_freq: whether the gradient of a row is divided by the number of times it was looked up;
            not with 'max'; default False
        mode: 'mean' (default), 'sum' or 'max'
        sparse: whether the gradient of the table is a sparse tensor; not with 'max'; default False
        _weight: the table to use instead of a new one
        include_last_offset: whether the last of the offsets is the end of the last bag; default False
        padding_idx: a row that starts as zeros, gets no gradient and does not count; default None
        device, dtype: those of the table

    The layer is called with the integers, the `offsets` at which bags begin, and, with mode 'sum', a weight
    for each integer.

    Shape:
        Input: (B, n), B bags of n integers, or (n,) with `offsets` (B,).
        per_sample_weights: the shape of the input.
        Output: (B, embedding_dim).

    Example:
        >>> bag = nn.EmbeddingBag(10, 3, mode="sum")
        >>> bag(torch.tensor([1, 2, 4, 5, 4]), offsets=torch.tensor([0, 2])).shape
        torch.Size([2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError(
                f"padding_idx must be within num_embeddings: got {padding_idx} and {num_embeddings} rows"
            )

        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset
        if _weight is None:
            self.weight = Parameter(_torch.empty((num_embeddings, embedding_dim), device=device, dtype=dtype))
            self.reset_parameters()
        elif tuple(_weight.shape) != (num_embeddings, embedding_dim):
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        else:
            self.weight = Parameter(_weight)

    def reset_parameters(self) -> None:
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **keywords: Any) -> EmbeddingBag:
        """Returns an embedding bag with the rows of `embeddings`; they are trained if not `freeze`."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        result = cls(embeddings.shape[0], embeddings.shape[1], _weight=embeddings, **keywords)
        result.weight.requires_grad = not freeze
        return result

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type!r}"
        if self.scale_grad_by_freq:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        text += f", mode={self.mode!r}"
        return text if self.padding_idx is None else f"{text}, padding_idx={self.padding_idx}"
