"""Making one batch out of a list of examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor


def _is_array(value: Any) -> bool:
    return type(value).__module__ == "numpy"


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def default_collate(batch: Sequence[Any]) -> Any:
    """Tensors are stacked; numbers and NumPy arrays become tensors; mappings and sequences are collated element by element; text stays.

    Raises TypeError for other types, RuntimeError for sequences of different lengths.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return _torch.stack(list(batch), 0)
    if _is_array(first):
        return _collate_arrays(batch)
    if isinstance(first, float):
        return _C.tensor(list(batch), dtype=_C.float64)
    if isinstance(first, int):
        return _C.tensor(list(batch))
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        collated = {key: default_collate([example[key] for example in batch]) for key in first}
        return collated if type(first) is dict else type(first)(collated)  # type: ignore[call-arg]
    if isinstance(first, Sequence):
        return _collate_sequences(batch)
    raise TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}")


def _collate_arrays(batch: Sequence[Any]) -> Any:
    first = batch[0]
    if first.dtype.kind not in "biufc":
        raise TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {first.dtype}")
    if first.shape == ():
        return _C.as_tensor([value.item() for value in batch]) if first.dtype.kind != "f" else _as_float(batch)
    return default_collate([_C.as_tensor(array) for array in batch])


def _as_float(batch: Sequence[Any]) -> Any:
    import numpy

    return _C.from_numpy(numpy.stack(list(batch)))


def _collate_sequences(batch: Sequence[Any]) -> Any:
    first = batch[0]
    if any(len(example) != len(first) for example in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    columns = [default_collate(list(column)) for column in zip(*batch)]
    if _is_named_tuple(first):
        return type(first)(*columns)
    return columns


def default_convert(data: Any) -> Any:
    """NumPy arrays inside of `data` become tensors, the rest stays: what a DataLoader without batches does to an example."""
    if _is_array(data) and data.dtype.kind in "biufc":
        return _C.as_tensor(data)
    if isinstance(data, Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if _is_named_tuple(data):
        return type(data)(*(default_convert(value) for value in data))
    if isinstance(data, (tuple, list)):
        return [default_convert(value) for value in data]
    return data
