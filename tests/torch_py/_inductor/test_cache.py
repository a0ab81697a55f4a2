"""The cache of compiled code: shared, damaged, foreign, read-only, and full."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.subject import only_torch_py

pytestmark = only_torch_py

_PROGRAM = """
import torch_py as torch
from tests.torch_py._inductor.programs import compiled, gelu_with_bias
x, bias = torch.ones(4, 8), torch.ones(8)
(result,) = compiled(gelu_with_bias, x, bias)(x, bias)
assert torch.allclose(result, gelu_with_bias(x, bias)), result
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    found = tmp_path / "kernels"
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(found))
    return found


def opened() -> Any:
    from torch_py._inductor.cache import Cache

    Cache._opened = None
    return Cache.opened()


def writing(content: bytes) -> tuple[list[str], Callable[[str, str], None]]:
    """A compiler that writes `content`, and the sources it was called with."""
    sources: list[str] = []

    def compile(source: str, target: str) -> None:
        sources.append(Path(source).read_text())
        Path(target).write_bytes(content)

    return sources, compile


def test_an_entry_is_compiled_once(folder: Path) -> None:
    sources, compile = writing(b"code")
    cache = opened()
    paths = {cache.library("ab12", "source", compile) for _ in range(3)}
    assert sources == ["source"] and len(paths) == 1
    assert Path(paths.pop()).read_bytes().startswith(b"code")


def test_an_entry_is_compiled_again_when_asked(folder: Path) -> None:
    sources, compile = writing(b"code")
    cache = opened()
    cache.library("ab12", "source", compile)
    cache.library("ab12", "source", compile, again=True)
    assert len(sources) == 2


def test_the_folder_is_closed_to_others(folder: Path) -> None:
    opened()
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", [b"", b"other code", b"code" + b"0" * 32])
def test_a_damaged_entry_is_compiled_anew(folder: Path, damage: bytes) -> None:
    sources, compile = writing(b"code")
    cache = opened()
    path = Path(cache.library("ab12", "source", compile))
    path.write_bytes(damage)
    assert Path(cache.library("ab12", "source", compile)).read_bytes().startswith(b"code")
    assert len(sources) == 2


def test_an_entry_of_another_key_is_not_taken(folder: Path) -> None:
    sources, compile = writing(b"code")
    cache = opened()
    first = Path(cache.library("ab12", "one", compile))
    second = first.with_name("ab34.so")
    second.write_bytes(first.read_bytes())
    cache.library("ab34", "two", compile)
    assert sources == ["one", "two"]


def test_a_link_is_not_followed(folder: Path, tmp_path: Path) -> None:
    sources, compile = writing(b"code")
    cache = opened()
    path = Path(cache.library("ab12", "source", compile))
    moved = tmp_path / "elsewhere"
    path.rename(moved)
    path.symlink_to(moved)
    cache.library("ab12", "source", compile)
    assert len(sources) == 2 and not path.is_symlink()


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_may_write_to_is_left_alone(folder: Path, mode: int) -> None:
    folder.mkdir()
    folder.chmod(mode)
    cache = opened()
    assert cache.folder != folder and not list(folder.iterdir())


def test_a_file_in_place_of_the_folder(folder: Path) -> None:
    folder.write_text("not a folder")
    sources, compile = writing(b"code")
    opened().library("ab12", "source", compile)
    assert sources and folder.read_text() == "not a folder"


def test_a_failed_compilation_leaves_nothing(folder: Path) -> None:
    def compile(source: str, target: str) -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        opened().library("ab12", "source", compile)
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_the_oldest_entries_go_first(folder: Path) -> None:
    from torch_py._inductor.cache import sweep

    _, compile = writing(b"0" * 5000)
    cache = opened()
    paths = [Path(cache.library(f"a{n}", "source", compile)) for n in range(4)]
    for age, path in enumerate(paths):
        for file in (path, path.with_suffix(".cpp")):
            os.utime(file, (1000 - age, 1000 - age))
    size = sum(file.stat().st_blocks * 512 for file in folder.glob("??/*"))

    sweep(folder, size)
    assert all(path.exists() for path in paths)
    sweep(folder, size * 3 // 4)
    assert [path.exists() for path in paths] == [True, True, False, False]
    assert [path.with_suffix(".cpp").exists() for path in paths] == [True, True, False, False]


def test_the_size_is_looked_at_once_an_hour(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch_py._inductor import cache as module

    sweeps: list[Path] = []
    monkeypatch.setattr(module, "sweep", lambda *_, keep: sweeps.append(keep))
    _, compile = writing(b"0")
    cache = opened()
    cache.library("a1", "source", compile)
    assert not sweeps  # the folder is new
    os.utime(folder / "swept", (1000, 1000))
    paths = [Path(cache.library(key, "source", compile)) for key in ("a2", "a3")]
    assert sweeps == paths[:1]


def test_what_a_killed_process_left_is_removed(folder: Path) -> None:
    from torch_py._inductor.cache import sweep

    opened()
    left, running = folder / "torch_py-1-abc", folder / "torch_py-2-abc"
    left.mkdir()
    running.mkdir()
    os.utime(left, (1000, 1000))
    sweep(folder, 10**6)
    assert not left.exists() and running.exists()


def test_what_was_half_written_is_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch_py._inductor.cache import sweep

    def killed(source: str, target: str) -> None:
        raise KeyboardInterrupt

    cache = opened()
    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        cache.write("ab12", ".graph", b"content")
    (left,) = folder.glob("ab/*")
    assert cache.read("ab12", ".graph") is None

    sweep(folder, 10**6)
    assert left.exists()  # another process may be writing it
    os.utime(left, (1000, 1000))
    sweep(folder, 10**6)
    assert not left.exists()


def test_processes_share_an_empty_cache(folder: Path) -> None:
    command = [sys.executable, "-c", _PROGRAM]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    problems = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, problems
    assert len(list(folder.glob("*/*.so"))) == 1
    assert not list(folder.glob("torch_py-*"))


def test_without_a_compiler_operators_are_called(folder: Path) -> None:
    environment = {**os.environ, "CXX": "no-such-compiler"}
    command = [sys.executable, "-W", "error::DeprecationWarning", "-c", _PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("calls operators one by one") == 1 and "no-such-compiler" in done.stderr


def test_the_compiler_behind_a_launcher(folder: Path) -> None:
    environment = {**os.environ, "CXX": "ccache g++"}
    done = subprocess.run([sys.executable, "-c", _PROGRAM], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr
    assert len(list(folder.glob("*/*.so"))) == 1
