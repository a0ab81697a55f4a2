"""Sequences of different lengths as one tensor: padded, or packed without the padding."""

from __future__ import annotations

from collections.abc import Iterable
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
    """Rows of the first step of all sequences, of the second of those that have one, ...; `batch_sizes`
    counts the rows of each step.

    Sequences are in the order of descending lengths; `sorted_indices` brought them there, `unsorted_indices`
    bring them back.
    Made by `pack_padded_sequence` and `pack_sequence`.
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
                    "created manually. "
                    f"Got a tensor on {batch_sizes.device}"
                )
        else:  # a pair in place of the first two
            if len(data) != 2:
                raise AssertionError(f"expected data and batch_sizes, got {len(data)} values")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *arguments: Any, **keywords: Any) -> PackedSequence:
        """This sequence if it has the dtype and device already, else a copy; as Tensor.to."""
        data = self.data.to(*arguments, **keywords)
        if data is self.data:
            return self
        device = {"device": data.device}
        return type(self)(
            data,
            self.batch_sizes,
            *(x if x is None else x.to(**device) for x in (self.sorted_indices, self.unsorted_indices)),
        )

    def pin_memory(self) -> PackedSequence:
        return type(self)(
            self.data.pin_memory(), self.batch_sizes, self.sorted_indices, self.unsorted_indices
        )

    def cpu(self, *arguments: Any, **keywords: Any) -> PackedSequence:
        return self.to("cpu")

    def cuda(self, *arguments: Any, **keywords: Any) -> PackedSequence:
        return self.to("cuda", *arguments, **keywords)

    def double(self) -> PackedSequence:
        return self.to(dtype=_C.float64)

    def float(self) -> PackedSequence:
        return self.to(dtype=_C.float32)

    def half(self) -> PackedSequence:
        return self.to(dtype=_C.float16)

    def long(self) -> PackedSequence:
        return self.to(dtype=_C.int64)

    def int(self) -> PackedSequence:
        return self.to(dtype=_C.int32)

    def short(self) -> PackedSequence:
        return self.to(dtype=_C.int16)

    def char(self) -> PackedSequence:
        return self.to(dtype=_C.int8)

    def byte(self) -> PackedSequence:
        return self.to(dtype=_C.uint8)

    @property
    def is_cuda(self) -> bool:
        return bool(self.data.is_cuda)

    def is_pinned(self) -> bool:
        return bool(self.data.is_pinned())


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that takes back what `permutation` does."""
    if permutation is None:
        return None
    result = _torch.empty_like(permutation)
    return result.scatter_(0, permutation, _torch.arange(0, permutation.numel(), device=permutation.device))


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packs (T, N, ...), or (N, T, ...) if `batch_first`, of sequences of `lengths`; they are sorted first
    unless `enforce_sorted`."""
    if not isinstance(lengths, Tensor):
        lengths = _tensor(lengths)
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = lengths.sort(descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    data, batch_sizes = _torch._pack_padded_sequence(input, lengths.to(_C.int64), batch_first)
    return PackedSequence(data, batch_sizes, sorted_indices, None)


def _tensor(values: Any) -> Tensor:
    return _C.tensor(values, dtype=_C.int64)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The inverse of `pack_padded_sequence`: padded sequences, of `total_length` steps if given, and their
    lengths."""
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
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Tensors (length, ...) as (longest, N, ...), or (N, longest, ...) if `batch_first`, padded at the
    'right' or the 'left'."""
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
    longest, rest = max(x.size(0) for x in sequences), tuple(sequences[0].shape[1:])
    padded = []
    for sequence in sequences:
        missing = longest - sequence.size(0)
        if missing:
            filling = sequence.new_full((missing, *rest), padding_value)
            sequence = _torch.cat([sequence, filling] if padding_side == "right" else [filling, sequence])
        padded.append(sequence)
    return _torch.stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The list of which `pad_sequence` made (T, N, ...), or (N, T, ...) if `batch_first`."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [sequence[: int(length)] for sequence, length in zip(padded_sequences, lengths, strict=True)]


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> PackedSequence:
    """Packs a list of tensors (length, ...)."""
    lengths = _tensor([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The list of which `pack_sequence` made a packed one."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)
