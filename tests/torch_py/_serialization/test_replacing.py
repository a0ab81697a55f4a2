"""Files in progress: what a killed save leaves behind, and who removes it."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.subject import WITH_PEER, torch

pytestmark = pytest.mark.skipif(WITH_PEER, reason="not a feature of PyTorch")

if not WITH_PEER:
    from torch_py._serialization import replacing


@pytest.fixture(params=["without a name", "with a name", "copied"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of writing, on every file system."""
    if request.param == "with a name":
        monkeypatch.setattr(replacing, "_open_unnamed", lambda target: (-1, None))
    if request.param == "copied":
        monkeypatch.setattr(replacing, "_link", _refuse)
    return str(request.param)


def _refuse(descriptor: int, name: Path) -> bool:
    raise OSError(errno.EXDEV, "not here", str(name))


def _in_child(work: Callable[[Path], None], path: Path) -> int:
    """Runs `work` in a child, which must be killed."""
    child = os.fork()
    if child == 0:
        try:
            work(path)
        finally:
            os._exit(1)
    return child


def _write_forever(path: Path) -> None:
    with replacing.replacing(path) as file:
        (path.parent / "started").touch()
        while True:
            file.write(bytes(1000))


def _kill_when_started(child: int, folder: Path) -> None:
    started = folder / "started"
    while not started.exists():
        time.sleep(0.001)
    started.unlink()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


@pytest.mark.parametrize("exists", [False, True])
def test_killed_save(tmp_path: Path, _way: str, exists: bool) -> None:
    path = tmp_path / "weights.pt"
    if exists:
        torch.save(torch.ones(3), path)

    _kill_when_started(_in_child(_write_forever, path), tmp_path)
    expected = ["weights.pt"] if exists else []
    if _way != "with a name":
        assert _names(tmp_path) == expected
    if exists:
        assert torch.equal(torch.load(path), torch.ones(3))

    torch.save(torch.zeros(2), path)
    assert _names(tmp_path) == ["weights.pt"]
    assert torch.equal(torch.load(path), torch.zeros(2))


def test_file_of_a_living_writer_stays(tmp_path: Path, _way: str) -> None:
    path = tmp_path / "weights.pt"
    torch.save(torch.ones(1), path)
    with replacing.replacing(path) as file:
        file.write(b"first")
        torch.save(torch.ones(2), path)
        assert torch.equal(torch.load(path), torch.ones(2))
    assert path.read_bytes() == b"first" and _names(tmp_path) == ["weights.pt"]


def test_concurrent_writers(tmp_path: Path, _way: str) -> None:
    path = tmp_path / "weights.pt"
    failures = []

    def write(value: int) -> None:
        for _ in range(20):
            try:
                torch.save(torch.full((100,), value), path)
                loaded = torch.load(path)
                assert loaded.unique().numel() == 1 and loaded.numel() == 100
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=write, args=(value,)) for value in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and _names(tmp_path) == ["weights.pt"]


def test_permissions(tmp_path: Path, _way: str) -> None:
    path = tmp_path / "weights.pt"
    mask = os.umask(0o027)
    try:
        torch.save(torch.ones(1), path)
        assert path.stat().st_mode & 0o777 == 0o640
        path.chmod(0o604)
        torch.save(torch.ones(1), path)
        assert path.stat().st_mode & 0o777 == 0o604
    finally:
        os.umask(mask)


def test_link_over_a_dead_name(tmp_path: Path) -> None:
    # What a process leaves that is killed between its last two steps.
    path = tmp_path / "weights.pt"
    torch.save(torch.ones(1), path)
    dead = tmp_path / ".weights.pt.0.unfinished"
    dead.write_bytes(b"dead")
    torch.save(torch.zeros(2), path)
    assert _names(tmp_path) == ["weights.pt"] and torch.equal(torch.load(path), torch.zeros(2))
