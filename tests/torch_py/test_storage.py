"""Typed and untyped storages: elements, conversions, files and buffers."""

from __future__ import annotations

import copy
import importlib
import io
import warnings
from typing import Any

import pytest

from tests.subject import WITH_PEER, only_torch_py, torch

TorchDispatchMode = importlib.import_module(f"{torch.__name__}.utils._python_dispatch").TorchDispatchMode

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")


def test_elements_are_those_of_the_tensor() -> None:
    x = torch.arange(4.0)
    storage = x.storage()

    assert type(storage) is torch.TypedStorage and storage.dtype is torch.float32
    assert len(storage) == storage.size() == 4 and storage.nbytes() == 16 and storage.element_size() == 4
    assert storage[1] == 1.0
    assert storage[-1] == 3.0
    assert storage.tolist() == list(storage) == [0.0, 1.0, 2.0, 3.0]

    storage[0] = 7
    storage[2:] = 5
    assert x.tolist() == [7.0, 1.0, 5.0, 5.0]

    assert storage.fill_(2) is storage and x.tolist() == [2.0] * 4
    assert storage.data_ptr() == x.data_ptr() == storage.untyped().data_ptr()
    assert torch.is_storage(storage) and not torch.is_storage(x)


@pytest.mark.skipif(WITH_PEER, reason="PyTorch warns once per process")
def test_storage_warns() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.ones(1).storage()
    assert any("TypedStorage is deprecated" in str(warning.message) for warning in caught)


def test_wrong_indices_are_refused() -> None:
    storage = torch.arange(4.0).storage()
    with pytest.raises(IndexError, match="out of range"):
        storage[4]
    with pytest.raises(RuntimeError, match="slices are only supported"):
        storage[1:3]
    with pytest.raises(RuntimeError, match="can't index"):
        storage["a"]


def test_legacy_classes() -> None:
    made = torch.FloatStorage([1, 2, 3])
    assert type(made) is torch.TypedStorage and made.tolist() == [1.0, 2.0, 3.0]
    assert isinstance(made, torch.FloatStorage) and not isinstance(made, torch.LongStorage)
    assert isinstance(made, torch.TypedStorage) and issubclass(torch.FloatStorage, torch.TypedStorage)

    assert torch.LongStorage(2).size() == 2
    assert torch.BoolStorage().size() == 0
    assert torch.HalfStorage.dtype is torch.float16
    assert torch.ones(1, dtype=torch.int64).storage_type() is torch.LongStorage

    with pytest.raises(TypeError, match="invalid data type 'str'"):
        torch.FloatStorage("a")
    with pytest.raises(RuntimeError, match="invalid combination"):
        torch.FloatStorage(2, 3)


def test_constructor() -> None:
    assert torch.TypedStorage(3).dtype is torch.get_default_dtype()
    assert torch.TypedStorage([1, 2], dtype=torch.int16).tolist() == [1, 2]
    untyped = torch.arange(2, dtype=torch.int32).untyped_storage()
    wrapped = torch.TypedStorage(wrap_storage=untyped, dtype=torch.int16)
    assert wrapped.size() == 4 and wrapped.untyped() is untyped
    assert torch.FloatStorage.from_buffer(b"\x00\x00\x80\x3f", byte_order="little").tolist() == [1.0]
    assert torch.FloatStorage.from_buffer(b"\x3f\x80\x00\x00", byte_order="big").tolist() == [1.0]


def test_conversions_and_copies() -> None:
    storage = torch.tensor([0.0, 2.5]).storage()
    assert storage.long().tolist() == [0, 2]
    assert storage.bool().tolist() == [False, True]
    assert storage.half().dtype is torch.float16
    assert storage.type() == "torch.FloatStorage" and storage.pickle_storage_type() == "FloatStorage"

    clone = storage.clone()
    clone[0] = 9
    assert storage[0] == 0.0 and clone != storage and storage == storage
    assert storage.copy_(clone).tolist() == [9.0, 2.5]

    with pytest.raises(RuntimeError, match="size does not match"):
        storage.copy_(torch.ones(3).storage())

    assert copy.deepcopy(storage).tolist() == storage.tolist()
    assert copy.deepcopy(storage).data_ptr() != storage.data_ptr()

    storage.resize_(1)
    assert storage.tolist() == [9.0]


def test_tensors_of_storages() -> None:
    storage = torch.arange(4.0).storage()
    assert torch.empty(0).set_(storage).tolist() == [0.0, 1.0, 2.0, 3.0]
    assert torch.empty(0).set_(storage, 1, (2,), (2,)).tolist() == [1.0, 3.0]
    shared: Any = torch.FloatTensor(storage)
    shared[0] = 5
    assert storage[0] == 5.0


def test_text() -> None:
    assert (
        repr(torch.tensor([1, 2]).storage())
        == " 1\n 2\n[torch.storage.TypedStorage(dtype=torch.int64, device=cpu) of size 2]"
    )


@pytest.mark.parametrize("weights_only", [True, False])
def test_files(weights_only: bool) -> None:
    x = torch.arange(3.0)
    file = io.BytesIO()
    torch.save({"storage": x.storage(), "tensor": x}, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=weights_only)
    assert type(loaded["storage"]) is torch.TypedStorage and loaded["storage"].tolist() == [0.0, 1.0, 2.0]
    assert loaded["storage"].data_ptr() == loaded["tensor"].data_ptr()


def test_sharing() -> None:
    x = torch.ones(3)
    storage = x.storage()
    assert not storage.is_shared() and not x.is_shared()
    assert storage.share_memory_() is storage
    assert storage.is_shared() and x.is_shared()
    storage[0] = 5
    assert x.tolist() == [5.0, 1.0, 1.0]


def test_elements_of_a_buffer() -> None:
    data = bytes.fromhex("0000803f0000004000004040")
    make = torch.FloatStorage.from_buffer
    assert make(data, "little").tolist() == [1.0, 2.0, 3.0]
    assert make(data, "little", offset=4).tolist() == [2.0, 3.0]
    assert make(data, "little", 1, 8).tolist() == [3.0]
    assert make(data, "little", offset=12).tolist() == []


@pytest.mark.parametrize("count,offset", [(-1, -4), (-1, 16), (-1, 1), (4, 0), (2, 8)])
def test_a_buffer_that_does_not_fit(count: int, offset: int) -> None:
    with pytest.raises(ValueError, match="offset|multiple|only"):
        torch.FloatStorage.from_buffer(bytes(12), "little", count, offset)


def test_untyped_from_buffer_and_byteswap() -> None:
    untyped = torch.UntypedStorage
    assert untyped.from_buffer(b"\1\2\3\4", byte_order="big", dtype=torch.int16).tolist() == [2, 1, 4, 3]
    assert untyped.from_buffer(b"\1\2\3\4", dtype=torch.uint8, offset=1, count=2).tolist() == [2, 3]

    for arguments, error in [
        ({}, RuntimeError),
        ({"dtype": torch.int16}, RuntimeError),
        ({"dtype": torch.int16, "byte_order": "x"}, ValueError),
        ({"dtype": torch.int16, "byte_order": "native", "offset": 9}, ValueError),
        ({"dtype": torch.int16, "byte_order": "native", "count": 9}, ValueError),
        ({"dtype": torch.int16, "byte_order": "native", "offset": 1}, ValueError),
    ]:
        with pytest.raises(error):
            untyped.from_buffer(b"\1\2\3\4", **arguments)

    storage = untyped([1, 2, 3, 4, 5, 6, 7, 8])
    storage.byteswap(torch.int32)
    assert storage.tolist() == list(storage) == [4, 3, 2, 1, 8, 7, 6, 5]


def test_untyped_copies_and_conversions() -> None:
    storage = torch.UntypedStorage([1, 2])
    assert storage.float().tolist() == [1.0, 2.0] and storage.long().dtype == torch.int64

    assert storage.type() == "torch.storage.UntypedStorage"
    assert storage.cpu() is storage
    assert storage.to(device="cpu") is storage
    assert storage.new().nbytes() == 0
    assert not storage.is_cuda
    assert storage.get_device() is None
    assert not storage.is_pinned()
    assert storage._cdata == storage.untyped()._cdata

    for copied in (copy.copy(storage), copy.deepcopy(storage)):
        copied[0] = 9
        assert storage.tolist() == [1, 2]

    x = torch.ones(2)
    tensor, memory = copy.deepcopy((x, x.untyped_storage()))
    assert tensor.data_ptr() == memory.data_ptr() != x.data_ptr()

    with pytest.raises((RuntimeError, AssertionError)):
        storage.cuda()


@only_torch_py
def test_a_shrunk_storage_keeps_the_memory_that_tensors_reach():
    tensor = torch.arange(1000.0)
    part = torch.empty(0).set_(tensor.untyped_storage(), 0, (10,))
    storage = tensor.untyped_storage()

    storage.resize_(0)
    storage.resize_(16)
    part.resize_(8)  # within the memory that the storage still has
    assert storage.nbytes() == 32
    assert tensor.sum() == 499500  # PyTorch reads memory that it has freed

    storage.resize_(8000)
    assert tensor.sum() == 499500
    with pytest.raises(RuntimeError, match="storage"):
        torch.empty(0).set_(storage, 0, (2001,))


@only_torch_py
def test_sharing_a_shrunk_storage_keeps_the_memory_that_tensors_reach():
    tensor = torch.arange(10000.0)
    tensor.untyped_storage().resize_(16)
    tensor.share_memory_()
    assert tensor.sum() == 49995000


def test_dispatch_modes_see_set():
    class Seen(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.calls = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.calls.append(str(func))
            return func(*args, **(kwargs or {}))

    source = torch.arange(6.0)
    window = torch.empty(0)
    with Seen() as seen:
        window.set_(source.untyped_storage(), 2, (2, 2), (1, 2))
        window.set_(source)
        window.set_()

    assert seen.calls[1:] == ["aten.set_.source_Tensor", "aten.set_.default"]
    assert seen.calls[0].startswith("aten.set_.source_")
    assert window.shape == (0,)
