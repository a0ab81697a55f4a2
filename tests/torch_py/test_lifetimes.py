"""Memory outlives every way of looking at it: exports, changes of a tensor's memory, other threads."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.subject import only_torch_py, torch
from tests.torch_py.dlpack_structure import ManagedTensor, capsule_around

pytestmark = only_torch_py

_COUNT = 1000


def _dlpack(tensor: Any) -> Any:
    capsule = tensor.__dlpack__()
    return lambda: torch.from_dlpack(_Producer(capsule)).numpy()


class _Producer:
    """Hands out a capsule that was made before."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def _fixed(array: Any) -> Callable[[], Any]:
    return lambda: array


EXPORTS: dict[str, Callable[[Any], Callable[[], Any]]] = {
    "memoryview": lambda t: _fixed(np.frombuffer(memoryview(t), np.float32)),
    "numpy": lambda t: _fixed(t.numpy()),
    "asarray": lambda t: _fixed(np.asarray(t)),
    "array_method": lambda t: _fixed(t.__array__()),
    "capsule": _dlpack,
    "np_from_dlpack": lambda t: _fixed(np.from_dlpack(t)),
    "from_dlpack": lambda t: _fixed(torch.from_dlpack(t).numpy()),
    "storage": lambda t: _fixed(np.frombuffer(t.untyped_storage(), np.float32)),
    "typed_storage": lambda t: _fixed(torch.tensor([], dtype=t.dtype).set_(t.untyped_storage()).numpy()),
}


def _set_data(tensor: Any) -> None:
    tensor.data = torch.zeros(1)


def _swap(tensor: Any) -> None:
    torch.utils.swap_tensors(tensor, torch.zeros(1))


CHANGES: dict[str, Callable[[Any], object]] = {
    "data": _set_data,
    "set_": lambda t: t.set_(),
    "set_other": lambda t: t.set_(torch.zeros(2)),
    "set_storage": lambda t: t.set_(torch.zeros(2).untyped_storage()),
    "swap": _swap,
    "share": lambda t: t.share_memory_(),
    "shrink": lambda t: t.resize_(0),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("export", EXPORTS)
def test_exports_keep_memory(export: str, change: str) -> None:
    tensor = torch.arange(_COUNT, dtype=torch.float32)
    array = EXPORTS[export](tensor)
    CHANGES[change](tensor)
    del tensor
    gc.collect()

    others = [torch.zeros(_COUNT) for _ in range(20)]
    values = array()
    assert values.tolist() == list(range(_COUNT))
    values[:] = 7
    assert all(other.count_nonzero() == 0 for other in others)


@pytest.mark.parametrize("change", [name for name in CHANGES if name != "swap"])  # refused with a view
def test_imports_release_their_owner(change: str) -> None:
    class Array(np.ndarray):  # can be referred to weakly
        pass

    owner = np.ones(_COUNT, np.float32).view(Array)
    released = weakref.ref(owner)
    tensor = torch.from_numpy(owner)
    view = tensor[10:]
    del owner

    CHANGES[change](tensor)
    assert released() is not None and view.sum() == _COUNT - 10
    del view, tensor
    gc.collect()
    assert released() is None


def test_buffers_release_their_memory() -> None:
    owner = bytearray(4 * _COUNT)
    tensor = torch.frombuffer(owner, dtype=torch.float32)
    view = memoryview(tensor)
    tensor.set_()
    with pytest.raises(BufferError):
        owner.append(0)
    view.release()
    owner.append(0)


@pytest.mark.parametrize("offset", [0, 64])
def test_capsule_without_data(offset: int) -> None:
    def import_rows(count: int) -> Any:
        shape = (ctypes.c_int64 * 2)(count, 3)
        managed = ManagedTensor(None, 1, 0, 2, 2, 32, 1, shape, None, offset, None, None)
        tensor = torch.from_dlpack(_Producer(capsule_around(managed)))
        return tensor.clone()

    with pytest.raises(BufferError, match="data is null"):
        import_rows(2)
    assert import_rows(0).shape == (0, 3)


# --- Other threads ---

_LARGE = 1 << 20  # such calls release the GIL, and take long enough to be met by a change


def _ones() -> Any:
    return torch.ones(_LARGE)


def _grow_storage(tensor: Any) -> None:
    tensor.untyped_storage().resize_(tensor.untyped_storage().nbytes() + 4)


def _grow(tensor: Any) -> None:
    tensor.resize_(tensor.numel() + 1)


def _new_data(tensor: Any) -> None:
    tensor.data = _ones()


def _swap_large(tensor: Any) -> None:
    with contextlib.suppress(RuntimeError):  # while a kernel refers to the tensor
        torch.utils.swap_tensors(tensor, _ones())


CHANGES_OF_LARGE: dict[str, Callable[[Any], object]] = {
    "data": _new_data,
    "set_": lambda t: t.set_(_ones()),
    "set_storage": lambda t: t.set_(_ones().untyped_storage()),
    "swap": _swap_large,
    "share": lambda t: t.set_(_ones()).share_memory_(),
    "grow_storage": _grow_storage,
    "grow": _grow,
}


class _Computing:
    """Calls a function in another thread until the block ends; its results must be `expected`."""

    def __init__(self, compute: Callable[[], Any], is_right: Callable[[Any], bool]) -> None:
        self.compute = compute
        self.is_right = is_right
        self.rounds = 0
        self.wrong: list[Any] = []
        self.ending = False
        self.thread = threading.Thread(target=self.run)

    def run(self) -> None:
        while not self.ending:
            result = self.compute()
            self.rounds += 1
            if not self.is_right(result):
                self.wrong.append(result)

    def __enter__(self) -> _Computing:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ending = True
        self.thread.join()


def _change_for(seconds: float, change: Callable[[], object]) -> None:
    """Repeats a change, and fills what it frees with another number."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        change()
        for _ in range(2):
            torch.full((_LARGE,), 1e6)
        time.sleep(0)


@pytest.mark.parametrize("change", CHANGES_OF_LARGE)
def test_changes_while_another_thread_reads(change: str) -> None:
    tensor = _ones()

    def extremes() -> Any:
        values = tensor[:_LARGE] if change.startswith("grow") else tensor  # what is new has no value yet
        return torch.stack(torch.aminmax(values)).tolist()

    with _Computing(extremes, lambda found: found == [1, 1]) as other:
        _change_for(0.2, lambda: CHANGES_OF_LARGE[change](tensor))
    assert other.rounds > 0 and not other.wrong


def test_changes_during_backward() -> None:
    weight = _ones().requires_grad_()
    x = _ones()

    def gradient() -> Any:
        (result,) = torch.autograd.grad((weight * x * x).sum(), weight)
        return result.max().item()

    with _Computing(gradient, lambda largest: largest == 1) as other:
        _change_for(0.2, lambda: _new_data(x))
    assert other.rounds > 0 and not other.wrong


def test_memory_handed_to_a_call_is_released() -> None:
    class Array(np.ndarray):
        pass

    def array() -> Any:
        return np.ones(_LARGE, np.float32).view(Array)

    tensor = torch.from_numpy(array())
    owners = []
    with _Computing(lambda: tensor.sum().item(), lambda total: total == _LARGE):
        for _ in range(5):
            fresh = array()
            owners.append(weakref.ref(fresh))
            tensor.data = torch.from_numpy(fresh)
            del fresh
            time.sleep(0.002)

    gc.collect()
    assert sum(owner() is not None for owner in owners) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_calls_of_other_threads_end_in_a_forked_child() -> None:
    class Array(np.ndarray):
        pass

    def releases_memory() -> bool:
        owner = np.ones(_COUNT, np.float32).view(Array)
        released = weakref.ref(owner)
        tensor = torch.from_numpy(owner)
        del owner

        tensor.data = torch.zeros(1)
        gc.collect()
        return released() is None

    def exit_code_of_child() -> int:
        pid = os.fork()
        if pid != 0:
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        code = 1
        try:
            code = 0 if releases_memory() else 2
        finally:
            os._exit(code)

    numbers = _ones()
    with _Computing(lambda: numbers.sum().item(), lambda total: total == _LARGE) as other:
        codes = [exit_code_of_child() for _ in range(5)]
    assert codes == [0] * 5 and not other.wrong
