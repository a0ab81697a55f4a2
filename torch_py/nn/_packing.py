"""Sequences of different lengths as one tensor: padded, or packed without the padding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpad_sequence",
    "unpack_sequence",
]


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """A batch of sequences of different lengths without padding: first the first element of every sequence,
    then the second of those that have one, and so on.

    `batch_sizes` counts the sequences that have each step. Sequences are sorted by descending length;
    `sorted_indices` brought them into this order, `unsorted_indices` restore the caller's.
    `pack_padded_sequence` and `pack_sequence` make these objects.

    Args:
        data: the elements of all sequences
        batch_sizes: the number of sequences with each step
        sorted_indices: the order by length; default None, sequences were sorted
        unsorted_indices: the order back; default None, computed

    Example:
        >>> nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])]).data
        tensor([1, 4, 2, 3])
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)

        if batch_sizes is not None:
            if batch_sizes.device.type != "cpu":
                raise ValueError(
                    "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
                    f"created manually. Got a tensor on {batch_sizes.device}"
                )
        else:
            # `data` is a pair of data and batch sizes.
            if len(data) != 2:
                raise AssertionError(f"expected data and batch_sizes, got {len(data)} values")
            data, batch_sizes = data

        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *arguments: Any, **keywords: Any) -> PackedSequence:
        """Converts the data as `Tensor.to` does. Returns this object if nothing changes."""
        data = self.data.to(*arguments, **keywords)
        if data is self.data:
            return self

        indices = (self.sorted_indices, self.unsorted_indices)
        moved = (each if each is None else each.to(device=data.device) for each in indices)
        return type(self)(data, self.batch_sizes, *moved)

    def pin_memory(self) -> PackedSequence:
        """Returns a copy with data in page-locked memory."""
        return type(self)(
            self.data.pin_memory(), self.batch_sizes, self.sorted_indices, self.unsorted_indices
        )

    def cpu(self, *arguments: Any, **keywords: Any) -> PackedSequence:
        """Returns this batch on the CPU."""
        return self.to("cpu")

    def cuda(self, *arguments: Any, **keywords: Any) -> PackedSequence:
        """Returns this batch on a CUDA device, by default the current one; arguments as those of `to`."""
        names_device = "device" in keywords or (arguments and isinstance(arguments[0], (int, str, _C.device)))
        return self.to(*arguments, **keywords) if names_device else self.to("cuda", *arguments, **keywords)

    def double(self) -> PackedSequence:
        """Returns this batch with data of dtype float64."""
        return self.to(dtype=_C.float64)

    def float(self) -> PackedSequence:
        """Returns this batch with data of dtype float32."""
        return self.to(dtype=_C.float32)

    def half(self) -> PackedSequence:
        """Returns this batch with data of dtype float16."""
        return self.to(dtype=_C.float16)

    def long(self) -> PackedSequence:
        """Returns this batch with data of dtype int64."""
        return self.to(dtype=_C.int64)

    def int(self) -> PackedSequence:
        """Returns this batch with data of dtype int32."""
        return self.to(dtype=_C.int32)

    def short(self) -> PackedSequence:
        """Returns this batch with data of dtype int16."""
        return self.to(dtype=_C.int16)

    def char(self) -> PackedSequence:
        """Returns this batch with data of dtype int8."""
        return self.to(dtype=_C.int8)

    def byte(self) -> PackedSequence:
        """Returns this batch with data of dtype uint8."""
        return self.to(dtype=_C.uint8)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a CUDA device."""
        return bool(self.data.is_cuda)

    def is_pinned(self) -> bool:
        """Returns whether the data is in page-locked memory."""
        return bool(self.data.is_pinned())


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Returns the permutation that undoes `permutation`; None stays None.

    Args:
        permutation: a permutation of 0, 1, ..., or None

    Example:
        >>> nn.utils.rnn.invert_permutation(torch.tensor([2, 0, 1]))
        tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    result = _torch.empty_like(permutation)
    return result.scatter_(0, permutation, _torch.arange(0, permutation.numel(), device=permutation.device))


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packs padded sequences (T, N, ...), or (N, T, ...) with `batch_first`, of the given lengths.

    They must be sorted by descending length unless `enforce_sorted` is False.

    Args:
        input: the padded sequences
        lengths: their lengths
        batch_first: whether the batch is the first dimension; default False
        enforce_sorted: whether lengths must descend; default True

    Example:
        >>> padded = torch.tensor([[1, 4], [2, 0], [3, 0]])
        >>> nn.utils.rnn.pack_padded_sequence(padded, [3, 1]).batch_sizes
        tensor([2, 1, 1])
    """
    if not isinstance(lengths, Tensor):
        lengths = _tensor(lengths)
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = lengths.sort(descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    data, batch_sizes = _torch._pack_padded_sequence(input, lengths.to(_C.int64), batch_first)
    return PackedSequence(data, batch_sizes, sorted_indices, None)


def _tensor(values: Sequence[int]) -> Tensor:
    return _C.tensor(values, dtype=_C.int64, device="cpu")


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Returns padded sequences and their lengths: the inverse of `pack_padded_sequence`.

    `total_length` sets the number of steps.

    Args:
        sequence: the packed sequences
        batch_first: whether the batch is the first dimension; default False
        padding_value: the number that fills up; default 0.0
        total_length: the number of steps; default None, the longest

    Example:
        >>> packed = nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])])
        >>> nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
        (tensor([[1, 2, 3],
                [4, 0, 0]]), tensor([3, 1]))
    """
    longest = sequence.batch_sizes.size(0)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {longest}"
            )
        longest = total_length

    padded, lengths = _torch._pad_packed_sequence(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, longest
    )

    unsorted = sequence.unsorted_indices
    if unsorted is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, unsorted), lengths[unsorted.cpu()]


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Stacks tensors (length, ...) as (longest, N, ...), or (N, longest, ...) with `batch_first`, padded on
    the 'right' or 'left'.

    Args:
        sequences: the tensors
        batch_first: whether the batch is the first dimension; default False
        padding_value: the number that fills up; default 0.0
        padding_side: 'right' (default) or 'left'

    Example:
        >>> nn.utils.rnn.pad_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])], batch_first=True)
        tensor([[1, 2, 3],
                [4, 0, 0]])
    """
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    sequences = tuple(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")

    longest = max(x.size(0) for x in sequences)
    rest = tuple(sequences[0].shape[1:])

    padded = []
    for sequence in sequences:
        missing = longest - sequence.size(0)
        if missing:
            filling = sequence.new_full((missing, *rest), padding_value)
            sequence = _torch.cat([sequence, filling] if padding_side == "right" else [filling, sequence])
        padded.append(sequence)

    return _torch.stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """Splits padded sequences (T, N, ...), or (N, T, ...) with
    `batch_first`, into a list of tensors of the given lengths.

    Args:
        padded_sequences: the padded sequences
        lengths: their lengths
        batch_first: whether the batch is the first dimension; default False

    Example:
        >>> nn.utils.rnn.unpad_sequence(torch.tensor([[1, 4], [2, 0]]), torch.tensor([2, 1]))
        [tensor([1, 2]), tensor([4])]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [sequence[: int(length)] for sequence, length in zip(padded_sequences, lengths, strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs a list of tensors (length, ...).

    Args:
        sequences: the tensors
        enforce_sorted: whether lengths must descend; default True

    Example:
        >>> nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])]).batch_sizes
        tensor([2, 1, 1])
    """
    lengths = _tensor([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Splits a packed batch into the list of its sequences.

    Args:
        packed_sequences: the packed sequences

    Example:
        >>> packed = nn.utils.rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([4])])
        >>> nn.utils.rnn.unpack_sequence(packed)
        [tensor([1, 2]), tensor([4])]
    """
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)
