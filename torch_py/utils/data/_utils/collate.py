"""Combines a list of examples into one batch."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.multiprocessing._messages import INLINE_BYTES
from torch_py.utils.data._utils import worker

np_str_obj_array_pattern = re.compile(r"[SaUO]")
_MESSAGE = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
CollateMap = dict[Any, Callable[..., Any]]


def _is_numpy(value: Any) -> bool:
    return type(value).__module__ == "numpy"


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def default_convert(data: Any) -> Any:
    """Makes tensors of NumPy arrays in an example, and keeps everything else. A `DataLoader` without batches
    applies it.

    Args:
        data: the example

    Example:
        >>> import numpy
        >>> torch.utils.data.default_convert({"x": numpy.array([1, 2]), "name": "a"})
        {'x': tensor([1, 2]), 'name': 'a'}
    """
    kind = type(data)
    if isinstance(data, Tensor):
        return data

    if _is_numpy(data):
        textual = kind.__name__ == "ndarray" and np_str_obj_array_pattern.search(data.dtype.str) is not None
        return data if textual or isinstance(data, str) else _C.as_tensor(data)

    if isinstance(data, Mapping):
        return _rebuild_mapping(data, {key: default_convert(value) for key, value in data.items()})

    if _is_named_tuple(data):
        return kind(*(default_convert(value) for value in data))
    if isinstance(data, tuple):
        return [default_convert(value) for value in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _rebuild_sequence(data, [default_convert(value) for value in data])
    return data


def _rebuild_mapping(like: Mapping[Any, Any], values: dict[Any, Any]) -> Any:
    """`values` in a mapping of the type and with the other attributes of `like`, or in a dict if such a
    mapping cannot be built."""
    if type(like) is dict:
        return values
    try:
        if isinstance(like, MutableMapping):
            clone = copy.copy(like)
            clone.update(values)
            return clone
        return type(like)(values)  # type: ignore[call-arg]
    except TypeError:
        return values


def _rebuild_sequence(like: Sequence[Any], values: list[Any]) -> Any:
    if type(like) is list:
        return values
    try:
        if isinstance(like, MutableSequence):
            clone = copy.copy(like)
            for index, value in enumerate(values):
                clone[index] = value
            return clone
        return type(like)(values)  # type: ignore[call-arg]
    except TypeError:
        return values


def collate(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    """Combines the examples in `batch` with the function that `collate_fn_map` holds for their type; mappings
    and sequences are combined entry by entry.

    The functions are called as ``f(batch, collate_fn_map=collate_fn_map)``. Raises TypeError for a type
    without a function and RuntimeError for sequences of different lengths.
    """
    first = batch[0]
    kind = type(first)

    if collate_fn_map is not None:
        if kind in collate_fn_map:
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)
        for handled, function in collate_fn_map.items():
            if isinstance(first, handled):
                return function(batch, collate_fn_map=collate_fn_map)
        if _is_numpy(first):
            function = collate_numpy_array_fn if kind.__name__ == "ndarray" else collate_numpy_scalar_fn
            return function(batch, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        columns = {
            key: collate([example[key] for example in batch], collate_fn_map=collate_fn_map) for key in first
        }
        return _rebuild_mapping(first, columns)

    if isinstance(first, Sequence) and not isinstance(first, (str, bytes)):
        return _collate_sequences(batch, collate_fn_map)
    raise TypeError(_MESSAGE.format(kind))


def _collate_sequences(batch: Sequence[Any], collate_fn_map: CollateMap | None) -> Any:
    first = batch[0]
    if not _is_named_tuple(first) and any(len(example) != len(first) for example in batch):
        raise RuntimeError("each element in list of batch should be of equal size")

    # Columns of text stay tuples.
    columns = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch)]

    if _is_named_tuple(first):
        return type(first)(*columns)
    if isinstance(first, tuple) or len(columns) != len(first):
        return columns
    return _rebuild_sequence(first, columns)


def collate_tensor_fn(batch: Sequence[Tensor], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Stacks tensors along a new first dimension.

    A worker stacks them directly into the memory that the main process will see.
    """
    first = batch[0]
    pool = worker.current_pool()
    size = first.numel() * len(batch) * first.element_size()
    if (
        pool is None
        or first.is_meta
        or size <= INLINE_BYTES
        or any(tensor.requires_grad or tensor.dtype != first.dtype for tensor in batch)
    ):
        return _torch.stack(batch, 0)

    shape = (len(batch), *first.shape)
    if any(tensor.shape != first.shape for tensor in batch):
        return _torch.stack(batch, 0)  # raises

    out: Any = _torch.empty(0, dtype=first.dtype)
    return _torch.stack(batch, 0, out=out.set_(pool.allocate(size), 0, shape))


def collate_numpy_array_fn(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Converts NumPy arrays to tensors and stacks them. Raises TypeError for arrays of text or objects."""
    if np_str_obj_array_pattern.search(batch[0].dtype.str) is not None:
        raise TypeError(_MESSAGE.format(batch[0].dtype))
    stacked: Tensor = collate([_C.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)
    return stacked


def collate_numpy_scalar_fn(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Converts NumPy scalars to one tensor. Raises TypeError for text and objects."""
    import numpy

    if np_str_obj_array_pattern.search(numpy.asarray(batch[0]).dtype.str) is not None:
        raise TypeError(_MESSAGE.format(type(batch[0])))
    return _C.as_tensor(numpy.stack([numpy.asarray(value) for value in batch]))


def collate_float_fn(batch: Sequence[float], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Converts floats to a tensor of float64."""
    return _C.tensor(list(batch), dtype=_C.float64)


def collate_int_fn(batch: Sequence[int], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Converts integers to a tensor of int64, and bools to one of bool."""
    return _C.tensor(list(batch))


def collate_str_fn(
    batch: Sequence[str | bytes], *, collate_fn_map: CollateMap | None = None
) -> Sequence[str | bytes]:
    """Returns text unchanged."""
    return batch


default_collate_fn_map: CollateMap = {
    Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: Sequence[Any]) -> Any:
    """Makes a batch of a list of examples: tensors are stacked, numbers and NumPy arrays become tensors,
    mappings and sequences are combined entry by entry, and text stays as it is.

    Args:
        batch: the examples

    Raises:
        TypeError: examples of another type
        RuntimeError: sequences have different lengths

    Example:
        >>> torch.utils.data.default_collate([(1, "a"), (2, "b")])
        [tensor([1, 2]), ('a', 'b')]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
