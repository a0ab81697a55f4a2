"""Storages that several processes share."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

from tests.subject import only_torch_py, torch

ROOT = Path(__file__).resolve().parents[3]


def in_child(action: Callable[[], object]) -> int:
    """The exit code of a forked process: 0 if `action` returned."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_sharing_is_of_the_storage() -> None:
    tensor = torch.arange(6.0)
    view = tensor[2:]
    assert not tensor.is_shared() and not view.is_shared() and not tensor.untyped_storage().is_shared()
    assert tensor.share_memory_() is tensor
    assert view.is_shared() and tensor.untyped_storage().is_shared()
    view[0] = 20
    assert tensor.tolist() == [0, 1, 20, 3, 4, 5]
    assert tensor.untyped_storage().data_ptr() == view.untyped_storage().data_ptr()
    address = tensor.data_ptr()
    assert tensor.share_memory_().data_ptr() == address
    assert torch.empty(0).share_memory_().is_shared() and not torch.empty(3, device="meta").is_shared()


def test_a_child_writes_to_it() -> None:
    shared = torch.zeros(1000).share_memory_()
    private = torch.zeros(1000)

    def write() -> None:
        shared.add_(1)
        private.add_(1)

    assert in_child(write) == 0
    assert shared.sum() == 1000 and private.sum() == 0


def test_modules_and_parameters() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    parameters = list(model.parameters())
    assert model.share_memory() is model
    assert all(now is before for now, before in zip(model.parameters(), parameters))
    assert all(tensor.is_shared() for tensor in model.state_dict().values())
    assert all(parameter.is_leaf and parameter.requires_grad for parameter in parameters)

    def train() -> None:
        model(torch.ones(4, 3)).sum().backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()

    before = model[1].bias.detach().clone()
    assert in_child(train) == 0
    assert not torch.equal(before, model[1].bias)


@only_torch_py
def test_it_cannot_be_resized() -> None:  # PyTorch crashes
    tensor = torch.ones(3).share_memory_()
    assert not tensor.untyped_storage().resizable()
    with pytest.raises(RuntimeError, match="not resizable"):
        tensor.resize_(1000)
    with pytest.raises(RuntimeError, match="not resizable"):
        tensor.untyped_storage().resize_(1000)
    assert tensor.resize_(2).tolist() == [1, 1]


@only_torch_py
def test_arrays_of_the_memory_before_stay_valid() -> None:
    source = numpy.arange(100000.0)
    for tensor in (torch.arange(100000.0, dtype=torch.float64), torch.from_numpy(source)):
        array = tensor.numpy()
        tensor.share_memory_()
        tensor.fill_(-1)
        torch.full((100000,), 7.0, dtype=torch.float64)  # would take memory that was freed
        assert numpy.array_equal(array, source) and tensor.sum() == -100000


@only_torch_py
def test_buffers_stay_valid() -> None:
    tensor = torch.arange(1000.0)
    storage = tensor.untyped_storage()
    before = bytes(tensor.untyped_storage().tolist())
    view = memoryview(storage)

    for grow in (lambda: storage.resize_(10**7), lambda: tensor.resize_(10**7)):
        with pytest.raises(RuntimeError, match="not resizable"):
            grow()

    second = memoryview(storage)
    view.release()
    assert not storage.resizable()
    second.release()
    storage.resize_(8000)

    view = memoryview(storage)
    storage.share_memory_().fill_(9)
    torch.full((2000,), 7.0)  # would take memory that was freed
    assert bytes(view[:4000]) == before and not storage.resizable()

    view.release()
    assert not storage.resizable()


@only_torch_py
def test_others_run_while_a_large_storage_is_copied() -> None:
    tensor = torch.ones(50_000_000)
    ticks = [0]
    ended = threading.Event()

    def tick() -> None:
        while not ended.is_set():
            ticks[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=tick)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # threads give up the GIL only voluntarily
    try:
        thread.start()
        while ticks[0] == 0:
            time.sleep(0.001)
        before = ticks[0]
        tensor.share_memory_()
        during = ticks[0] - before
    finally:
        sys.setswitchinterval(interval)
        ended.set()
        thread.join()
    assert during > 10 and tensor.is_shared() and tensor[-1] == 1


@only_torch_py
def test_threads_share_one_storage_while_others_fork() -> None:
    for _ in range(3):
        tensor = torch.arange(2_000_000.0)
        threads = [threading.Thread(target=tensor.share_memory_) for _ in range(5)]
        for thread in threads:
            thread.start()
        assert in_child(lambda: torch.ones(500_000).share_memory_().sum().item()) == 0
        for thread in threads:
            thread.join()
        assert tensor.is_shared() and torch.equal(tensor, torch.arange(2_000_000.0))
        assert in_child(tensor.zero_) == 0 and tensor.sum() == 0


def test_a_meta_tensor_has_no_memory_to_share() -> None:
    with pytest.raises(RuntimeError, match="only"):
        torch.empty(3, device="meta").share_memory_()


@only_torch_py
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts the files that the process has open")
def test_no_descriptors_or_segments_are_left() -> None:
    def traces() -> tuple[int, list[str], int]:
        with open("/proc/self/maps") as maps:
            mapped = sum("torch_py" in line and "memfd" in line for line in maps)
        return (
            len(os.listdir("/proc/self/fd")),
            sorted(name for name in os.listdir("/dev/shm") if "torch_py" in name),
            mapped,
        )

    before = traces()
    tensors = [torch.ones(10).share_memory_() for _ in range(20)]
    assert traces()[0] == before[0] + 20 and traces()[1] == before[1]
    del tensors
    assert traces() == before


@only_torch_py
def test_a_descriptor_is_checked() -> None:
    storage = torch.ones(4).share_memory_().untyped_storage()

    with pytest.raises(RuntimeError, match="has 16 bytes, 1000 were expected"):
        torch.UntypedStorage._from_descriptor(os.dup(storage._shared_descriptor()), 1000)
    with pytest.raises(RuntimeError, match="descriptor 987654"):
        torch.UntypedStorage._from_descriptor(987654, 1)
    with pytest.raises(RuntimeError, match="not shared"):
        torch.ones(1).untyped_storage()._shared_descriptor()

    again = torch.UntypedStorage._from_descriptor(os.dup(storage._shared_descriptor()), 16)
    assert again.data_ptr() == storage.data_ptr()  # both share one mapping

    # The size is sealed: readers in other processes are safe.
    with pytest.raises(OSError):
        os.ftruncate(storage._shared_descriptor(), 0)


WITHOUT_MEMFD = """
import os, torch_py as torch
before = os.listdir("/dev/shm")
x = torch.zeros(100000).share_memory_()
assert "memfd" not in os.readlink(f"/proc/self/fd/{x.untyped_storage()._shared_descriptor()}")
assert [name for name in os.listdir("/dev/shm") if name not in before and "torch_py" in name] == []
pid = os.fork()
if pid == 0:
    x.add_(1)
    os._exit(0)
os.waitpid(pid, 0)
assert x.sum() == 100000
"""


@only_torch_py
@pytest.mark.skipif(
    shutil.which("cc") is None or not os.path.isdir("/dev/shm"), reason="needs a C compiler and /dev/shm"
)
def test_systems_without_memfd(tmp_path: Path) -> None:
    source, library = tmp_path / "refuse.c", tmp_path / "refuse.so"
    source.write_text(
        "#include <errno.h>\nint memfd_create(const char *name, unsigned flags) { errno = ENOSYS; return "
        "-1; }\n"
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    preloaded = f"{os.environ.get('LD_PRELOAD', '')} {library}".strip()  # sanitizers come first
    environment = {**os.environ, "LD_PRELOAD": preloaded}
    subprocess.run([sys.executable, "-c", WITHOUT_MEMFD], check=True, cwd=ROOT, env=environment, timeout=120)


@only_torch_py
def test_sharing_more_memory_than_there_is_raises() -> None:
    with pytest.raises(torch.OutOfMemoryError, match="cannot allocate .* bytes: this machine has"):
        torch._C._SegmentPool().allocate(2**60)


def test_operators_and_backward_after_a_fork() -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(max(2, threads))
    try:
        x = torch.randn(512, 2048, requires_grad=True)
        expected = (x.detach() @ x.detach().T).sum().item()
        x.exp().sum().backward()  # the pool of threads is running now

        def work() -> None:
            import signal

            signal.alarm(60)
            x.grad = None
            product = x @ x.T
            torch.nn.functional.softmax(product, dim=-1).sum().backward()
            assert x.grad is not None and x.grad.isfinite().all()
            assert abs(product.sum().item() - expected) < 1e-2 * abs(expected) + 10
            assert not hasattr(torch, "_C") or torch.__name__ == "torch" or torch.get_num_threads() == 1

        if torch.__name__ == "torch_py":  # PyTorch hangs in the child, as documented
            assert in_child(work) == 0
        assert (x.exp().sum() > 0).item()
    finally:
        torch.set_num_threads(threads)
