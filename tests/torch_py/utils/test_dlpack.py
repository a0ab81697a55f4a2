"""DLPack in both directions, versioned and unversioned, and defective producers."""

from __future__ import annotations

import ctypes
import gc
import weakref
from typing import Any

import numpy as np
import pytest

import torch_py as torch
from tests.subject import NUMPY_DTYPES, only_torch_py
from tests.torch_py.dlpack_structure import ManagedTensor, capsule_around


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_numpy_reads_tensors(torch: Any, dtype: str) -> None:
    x = torch.ones(2, 3, dtype=getattr(torch, dtype)).T
    result = np.from_dlpack(x)
    assert result.dtype == np.dtype(dtype) and result.shape == (3, 2) and result.ctypes.data == x.data_ptr()


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_tensors_read_numpy(torch: Any, dtype: str) -> None:
    source = np.ones((2, 3), dtype=dtype)[:, 1:]
    x = torch.from_dlpack(source)
    assert x.dtype is getattr(torch, dtype)
    assert x.data_ptr() == source.ctypes.data
    assert x.tolist() == source.tolist()
    x[0, 0] = 0
    assert source[0, 0] == 0


def test_tensors_read_tensors(torch: Any) -> None:
    for dtype in (torch.bfloat16, torch.float32):
        x = torch.ones(3, dtype=dtype)
        y = torch.from_dlpack(x)
        assert y.data_ptr() == x.data_ptr() and y.dtype is dtype and y is not x
    assert torch.from_dlpack(torch.ones(())).shape == () and torch.from_dlpack(torch.ones(0, 2)).shape == (
        0,
        2,
    )


def test_capsules(torch: Any) -> None:
    x = torch.ones(2)
    assert '"dltensor"' in repr(x.__dlpack__()) and '"dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
    assert '"dltensor_versioned"' in repr(x.__dlpack__(max_version=(1, 0)))
    for capsule in (x.__dlpack__(), x.__dlpack__(max_version=(1, 1))):
        assert torch.from_dlpack(capsule).data_ptr() == x.data_ptr()
        assert "used_dltensor" in repr(capsule)
        with pytest.raises(RuntimeError, match="consumed only once"):
            torch.from_dlpack(capsule)


def test_copy(torch: Any) -> None:
    x = torch.ones(2)
    assert torch.from_dlpack(x.__dlpack__(copy=True)).data_ptr() != x.data_ptr()
    assert torch.from_dlpack(x, copy=True).data_ptr() != x.data_ptr()
    source = np.ones(2)
    assert torch.from_dlpack(source, copy=True).data_ptr() != source.ctypes.data
    assert torch.from_dlpack(source, device="cpu").data_ptr() == source.ctypes.data


def test_device(torch: Any) -> None:
    assert tuple(int(part) for part in torch.ones(2).__dlpack_device__()) == (1, 0)
    with pytest.raises(ValueError, match="Unknown device type meta"):
        torch.ones(2, device="meta").__dlpack_device__()


def test_lifetimes(torch: Any) -> None:
    class Array(np.ndarray):
        pass

    source = np.arange(3.0).view(Array)
    alive = weakref.ref(source)
    x = torch.from_dlpack(source)
    del source
    gc.collect()
    assert alive() is not None and x.tolist() == [0, 1, 2]
    del x
    gc.collect()
    assert alive() is None
    capsule = torch.ones(1000).__dlpack__()
    del capsule  # never consumed
    result = np.from_dlpack(torch.arange(1000.0))
    gc.collect()
    torch.zeros(1000).fill_(7)
    assert result[999] == 999


def test_export_refuses(torch: Any) -> None:
    with pytest.raises(BufferError, match="require gradient"):
        torch.ones(2, requires_grad=True).__dlpack__()
    with pytest.raises(BufferError):
        torch.ones(2, device="meta").__dlpack__()
    with pytest.raises(TypeError):
        torch.ones(2).__dlpack__(stream="a")
    with pytest.raises(TypeError):
        torch.ones(2).__dlpack__(max_version=1)
    with pytest.raises(TypeError):
        torch.ones(2).__dlpack__(copy=1)


def test_import_refuses(torch: Any) -> None:
    for wrong in (1, "a", None, object()):
        with pytest.raises((RuntimeError, TypeError, AttributeError)):
            torch.from_dlpack(wrong)
    with pytest.raises(BufferError):
        torch.from_dlpack(np.array(["a"]))

    class Fails:
        def __dlpack__(self, **keywords: Any) -> Any:
            raise KeyError("mine")

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    with pytest.raises(KeyError, match="mine"):
        torch.from_dlpack(Fails())


@only_torch_py
def test_old_producers_know_no_keywords(torch: Any) -> None:
    class Old:
        def __init__(self) -> None:
            self.tensor = torch.ones(2)

        def __dlpack__(self) -> Any:
            return self.tensor.__dlpack__()

    assert torch.from_dlpack(Old()).tolist() == [1, 1]


@only_torch_py
def test_read_only_memory_is_copied(torch: Any) -> None:
    source = np.ones(2)
    source.setflags(write=False)
    x = torch.from_dlpack(source)
    x.fill_(5)
    assert source.tolist() == [1, 1]


MEMORY = (ctypes.c_double * 16)(*range(16))


def capsule_of(**changes: Any) -> tuple[Any, ManagedTensor]:
    shape, strides = changes.pop("shape", (2, 3)), changes.pop("strides", None)

    fields = {
        "data": ctypes.addressof(MEMORY),
        "device_type": 1,
        "ndim": len(shape),
        "code": 2,
        "bits": 64,
        "lanes": 1,
        **changes,
    }

    managed = ManagedTensor(**fields)
    managed.shape = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    if strides is not None:
        managed.strides = (ctypes.c_int64 * len(strides))(*strides)

    return capsule_around(managed), managed


@only_torch_py
def test_handmade_capsules(torch: Any) -> None:
    capsule, managed = capsule_of()
    assert torch.from_dlpack(capsule).tolist() == [[0, 1, 2], [3, 4, 5]]
    capsule, managed = capsule_of(strides=(1, 2), byte_offset=8)
    assert torch.from_dlpack(capsule).tolist() == [[1, 3, 5], [2, 4, 6]]
    del managed


@only_torch_py
@pytest.mark.parametrize(
    "changes",
    [
        {"ndim": -1},
        {"ndim": 1000},
        {"shape": (-2, 3)},
        {"strides": (-3, 1)},
        {"lanes": 2},
        {"code": 77},
        {"bits": 13},
        {"device_type": 2},
        {"device_type": 99},
        {"shape": (2**62, 2**62)},
        {"strides": (2**62, 2**62)},
        {"byte_offset": 3},
    ],
)
def test_broken_capsules_are_refused_and_not_consumed(torch: Any, changes: dict[str, Any]) -> None:
    capsule, managed = capsule_of(**changes)
    with pytest.raises((BufferError, ValueError)):
        torch.from_dlpack(capsule)
    assert '"dltensor"' in repr(capsule) and managed.code is not None


def test_jax_shares_memory():
    jax = pytest.importorskip("jax")
    x = torch.arange(6.0)
    assert jax.numpy.from_dlpack(x).unsafe_buffer_pointer() == x.data_ptr()
    y = jax.numpy.arange(4.0)
    assert torch.from_dlpack(y).data_ptr() == y.unsafe_buffer_pointer()
