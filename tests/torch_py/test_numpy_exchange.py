"""Tensors and NumPy arrays that share memory, the buffer protocol, and lifetimes in both directions."""

from __future__ import annotations

import array
import gc
import subprocess
import sys
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

from tests.subject import NUMPY_DTYPES, only_torch_py, torch


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_round_trip_shares_memory(torch: Any, dtype: str) -> None:
    source = np.array([[0, 1, 1], [1, 0, 1]], dtype=dtype)
    tensor = torch.from_numpy(source)
    assert tensor.dtype is getattr(torch, dtype) and tensor.tolist() == source.tolist()
    tensor[0, 0] = 1
    assert source[0, 0] == 1
    back = tensor.numpy()
    assert back.dtype == source.dtype and back.ctypes.data == source.ctypes.data
    back[1, 1] = 1
    assert bool(tensor[1, 1])


@pytest.mark.parametrize("index", ["T", "[::2]", "[:, 1:]", "[1]", "[0, 0]", "[5:]"])
def test_strides_are_kept(torch: Any, index: str) -> None:
    source = np.arange(12.0).reshape(4, 3)
    view = eval(f"source.{index}" if index == "T" else f"source{index}", {"source": source})
    if not isinstance(view, np.ndarray):
        view = np.asarray(view)
    tensor = torch.from_numpy(view)
    assert tensor.tolist() == view.tolist()
    assert tensor.numel() == 0 or tensor.numpy().strides == view.strides
    original = torch.arange(12.0).reshape(4, 3)
    assert original.T.numpy().strides == (4, 12) and original[:, 1].numpy().tolist() == [1, 4, 7, 10]


def test_arrays_live_as_long_as_their_tensor(torch: Any) -> None:
    class Array(np.ndarray):
        pass

    source = np.arange(3.0).view(Array)
    alive = weakref.ref(source)
    tensor = torch.from_numpy(source)
    view = tensor[1:]
    del source, tensor
    gc.collect()
    assert alive() is not None and view.tolist() == [1, 2]
    del view
    gc.collect()
    assert alive() is None


def test_memory_lives_as_long_as_its_array(torch: Any) -> None:
    result = torch.arange(1000.0).numpy()
    gc.collect()
    torch.zeros(1000).fill_(7)  # would reuse the memory if it were free
    assert result[999] == 999


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: [1], TypeError, r"expected np.ndarray \(got list\)"),
        (lambda: np.array(["a"]), TypeError, "can't convert np.ndarray of type numpy.str_"),
        (lambda: np.array([object()]), TypeError, "can't convert np.ndarray of type numpy.object_"),
        (lambda: np.ones(3, dtype=">f4"), ValueError, "byte order"),
        (lambda: np.ones(3)[::-1], ValueError, "negative"),
        (lambda: np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f4")])["b"][::1].view(), None, ""),
        (lambda: np.ones(3, dtype="datetime64[s]"), TypeError, "can't convert"),
    ],
)
def test_arrays_without_a_tensor(torch: Any, make: Any, error: Any, message: str) -> None:
    if error is None:
        assert torch.from_numpy(make().copy()).tolist() == [2.0]
        return
    with pytest.raises(error, match=message):
        torch.from_numpy(make())


def test_fields_of_records_have_odd_strides(torch: Any) -> None:
    records = np.zeros(3, dtype=[("a", "i2"), ("b", "f4")])
    with pytest.raises(ValueError, match="not a multiple of the element byte size"):
        torch.from_numpy(records["b"])


def test_read_only_arrays_warn(torch: Any) -> None:
    source = np.ones(2)
    source.setflags(write=False)
    if torch.__name__ == "torch":
        return  # PyTorch warns once in a process
    with pytest.warns(UserWarning, match="not writable"):
        torch.from_numpy(source)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.tensor(source).tolist() == [1, 1]


def test_numpy_refuses(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="requires grad"):
        torch.ones(2, requires_grad=True).numpy()
    assert torch.ones(2, requires_grad=True).numpy(force=True).tolist() == [1, 1]
    with pytest.raises(TypeError, match="unsupported ScalarType BFloat16"):
        torch.ones(2, dtype=torch.bfloat16).numpy()
    with pytest.raises(TypeError, match="can't convert meta device type tensor to numpy"):
        torch.ones(2, device="meta").numpy()
    with pytest.raises(TypeError, match=r"numpy\(\) takes 0 positional arguments but 1 was given"):
        torch.ones(2).numpy(1)


def test_asarray(torch: Any) -> None:
    x = torch.ones(2, 3)
    assert np.asarray(x).ctypes.data == x.data_ptr()
    assert np.array(x).ctypes.data != x.data_ptr()
    assert np.asarray(x, dtype=np.int64).dtype == np.int64
    assert x.__array__(np.float64).dtype == np.float64
    assert np.sum(np.asarray(x)) == 6 and np.stack([x, x]).shape == (2, 2, 3)
    with pytest.raises(RuntimeError, match="requires grad"):
        np.array(torch.ones(2, requires_grad=True))


def test_as_tensor_shares_and_tensor_copies(torch: Any) -> None:
    source = np.ones(2)
    assert torch.as_tensor(source).data_ptr() == source.ctypes.data
    assert torch.as_tensor(source, dtype=torch.float32).data_ptr() != source.ctypes.data
    assert torch.tensor(source).data_ptr() != source.ctypes.data
    assert torch.asarray(source).data_ptr() == source.ctypes.data
    assert torch.asarray(source, copy=True).data_ptr() != source.ctypes.data

    with pytest.raises(ValueError, match="can't alias"):
        torch.asarray([1, 2], copy=False)
    with pytest.raises(ValueError, match="can't alias"):
        torch.asarray(torch.ones(2), dtype=torch.int32, copy=False)

    x = torch.ones(2, requires_grad=True)
    assert torch.as_tensor(x) is x and torch.as_tensor(x, dtype=torch.float64).requires_grad


def test_numpy_scalars(torch: Any) -> None:
    assert torch.tensor(np.float32(1)).dtype is torch.float32 and torch.tensor(np.int8(3)).dtype is torch.int8
    assert torch.tensor([np.float64(1), np.float64(2)]).dtype is torch.float64
    x = torch.ones(2)
    assert (x + np.float64(2)).tolist() == [3, 3] and (x * np.int32(2)).tolist() == [2, 2]
    assert torch.zeros(np.int64(2), 3).shape == (2, 3) and x[np.int64(1)].item() == 1
    assert x.sum(np.int64(0)).item() == 2


@only_torch_py
def test_buffer_protocol(torch: Any) -> None:
    x = torch.arange(6, dtype=torch.int32).reshape(2, 3)
    view = memoryview(x)
    assert (view.format, view.shape, view.strides, view.readonly) == ("i", (2, 3), (12, 4), False)
    assert view.tolist() == x.tolist()

    view[0, 1] = 9
    assert x[0, 1].item() == 9
    assert memoryview(x.T).strides == (4, 12) and bytes(x[0]) == x[0].numpy().tobytes()

    transposed = x.T
    with pytest.raises(BufferError, match="not contiguous"):
        array.array("i").frombytes(transposed)
    for wrong in (
        torch.ones(2, requires_grad=True),
        torch.ones(2, dtype=torch.bfloat16),
        torch.ones(2, device="meta"),
    ):
        with pytest.raises(BufferError):
            memoryview(wrong)


@only_torch_py
def test_exported_memory_does_not_move(torch: Any) -> None:
    for export in (memoryview, lambda tensor: tensor.numpy(), lambda tensor: tensor.__dlpack__()):
        x = torch.ones(2)
        held = export(x)
        with pytest.raises(RuntimeError, match="not resizable"):
            x.resize_(100000)
        with pytest.raises(RuntimeError, match="not resizable"):
            x.untyped_storage().resize_(100000)
        assert x.tolist() == [1, 1]
        del held


def test_frombuffer(torch: Any) -> None:
    data = bytearray(b"abcdefgh")
    x = torch.frombuffer(data, dtype=torch.int16)
    assert x.shape == (4,) and torch.frombuffer(data, dtype=torch.uint8, count=2, offset=3).tolist() == [
        100,
        101,
    ]

    x[0] = 0
    assert data[0] == 0
    if torch.__name__ != "torch":
        with pytest.raises(BufferError):
            data.extend(b"more")  # the tensor uses it

    assert torch.frombuffer(array.array("d", [1, 2]), dtype=torch.float64).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("buffer", "options", "message"),
    [
        (bytearray(), {}, "both buffer length"),
        (bytearray(4), {"count": 0}, "both buffer length"),
        (bytearray(4), {"count": 3}, "requested buffer length"),
        (bytearray(4), {"offset": 4}, "offset"),
        (bytearray(4), {"offset": -1}, "offset"),
        (bytearray(5), {}, "must be a multiple of element size"),
        (1, {}, "buffer protocol"),
    ],
)
def test_frombuffer_refuses(torch: Any, buffer: Any, options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        torch.frombuffer(buffer, dtype=torch.int16, **options)


@only_torch_py
def test_numpy_is_not_imported_before_it_is_needed() -> None:
    program = (
        "import torch_py as torch, sys; x = torch.ones(2) + 1; x[0]; torch.tensor([1.0]); "
        "print('numpy' in sys.modules); x.numpy()"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_numpy_of_what_requires_grad():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        x.numpy()
    with torch.no_grad():
        assert x.numpy().tolist() == [1, 1]


@only_torch_py
@pytest.mark.parametrize("left, right", [("array", "tensor"), ("tensor", "array")])
def test_arrays_and_tensors_compare_by_element(left, right):
    values = {"array": np.array([1.0, 2.0, 3.0]), "tensor": torch.tensor([1.0, 2.0, 4.0])}
    equal = values[left] == values[right]
    assert isinstance(equal, torch.Tensor) and equal.tolist() == [True, True, False]
    assert (values[left] != values[right]).tolist() == [False, False, True]


@only_torch_py
def test_array_divided_by_tensor():
    result = np.array([1.0, 2.0, 3.0]) / torch.tensor([1.0, 2.0, 4.0])
    assert isinstance(result, torch.Tensor) and result.tolist() == [1.0, 1.0, 0.75]


@only_torch_py
def test_columns_of_pandas_keep_their_dtype():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [3, 4]}, index=[5, 6])
    assert torch.tensor(frame["a"]).dtype == torch.float64
    assert torch.tensor(frame["b"]).tolist() == [3, 4]
    assert torch.tensor(frame.values).shape == (2, 2)
    assert pandas.Series(torch.ones(2)).dtype == np.float32
