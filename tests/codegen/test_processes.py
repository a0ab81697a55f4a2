"""Work that forked processes share, and an output that they render together."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.output import fingerprint, generation, processes
from codegen.output.writer import Staged
from codegen.targets.torch_py import TARGET
from tests.codegen.synthetic import write_entries
from tests.codegen.test_incremental import texts

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forked processes")


@pytest.mark.parametrize("count", [0, 1, 3, 10_000])
@pytest.mark.parametrize("several", [1, 2, 3])
def test_every_piece_is_done_once_and_in_order(count: int, several: int) -> None:
    done = []
    found = processes.shared(count, lambda n: (n, os.getpid()), several, lambda: done.append("meanwhile"))
    assert [n for n, _ in found] == list(range(count))
    assert len({process for _, process in found}) <= several
    assert done == ["meanwhile"]


def test_pieces_of_a_process_that_ends_are_done_again() -> None:
    first = os.getpid()
    ready, wait = os.pipe()

    def work(n: int) -> int:
        if os.getpid() != first:
            os.write(wait, b".")
            os._exit(9)
        return n * n

    def until_the_other_has_a_piece() -> None:
        os.read(ready, 1)

    assert processes.shared(5, work, 2, until_the_other_has_a_piece) == [0, 1, 4, 9, 16]


def test_an_error_is_raised_here(capfd: pytest.CaptureFixture[str]) -> None:
    def work(n: int) -> int:
        if n == 3:
            raise ValueError("the third")
        return n

    for several in (1, 2):
        with pytest.raises(ValueError, match="the third"):
            processes.shared(5, work, several)
    assert capfd.readouterr().err == ""


def test_an_output_of_several_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_entries(tmp_path, 1000)
    around = fingerprint.surroundings_digest(path, TARGET)
    reports = []
    for several in (1, 2):
        monkeypatch.setattr(processes, "available", lambda several=several: several)
        reports.append(generation.generate_file(path, TARGET, tmp_path / f"out{several}", around))

    assert reports[0] == reports[1]
    assert texts(tmp_path / "out1") == texts(tmp_path / "out2")
    for name in (generation.KNOWN, fingerprint.STAMP):
        sizes = [(tmp_path / f"out{several}" / name).stat().st_size for several in (1, 2)]
        assert sizes[0] == sizes[1]


def test_nothing_is_written_before_everything_is_rendered(tmp_path: Path) -> None:
    path = write_entries(tmp_path, 30)
    output = tmp_path / "out"
    generation.generate_file(path, TARGET, output, "")
    before = texts(output)

    path.write_text(path.read_text().replace("doc: The", "doc: A"))
    files = TARGET.files

    def failing(*arguments: object) -> object:
        def fail() -> dict[str, str]:
            raise RuntimeError("a part failed")

        return [*files(*arguments), fail]  # type: ignore[arg-type, misc]

    with pytest.raises(RuntimeError, match="a part failed"):
        generation.generate_file(path, replace(TARGET, files=failing), output, "other")  # type: ignore[arg-type]
    assert texts(output) == before
    assert not list(output.glob(".new*"))


def test_runs_beside_one_another(tmp_path: Path) -> None:
    """Each has a place of its own for texts that wait, and removes what killed runs have left."""
    (tmp_path / ".new-999999999-left").mkdir()
    with Staged(tmp_path) as one, Staged(tmp_path) as other:
        assert not (tmp_path / ".new-999999999-left").exists()
        changed = one.add({"a/x": "1"}), other.add({"a/x": "2"})
        one.commit(["a/x"], changed[0], [])
        other.commit(["a/x"], changed[1], [])
    assert (tmp_path / "a/x").read_text() == "2"
    assert not list(tmp_path.glob(".new*"))


def test_files_in_pieces(tmp_path: Path) -> None:
    """Parts add pieces in any order; the file is written if it differs."""
    pieces = ({(1, 10): "third\n", (2,): "last"}, {(0,): "first\n", (1, 9): "second\n"})
    for before, expected in ((None, ["a/%x"]), ("another", ["a/%x"]), ("first\nsecond\nthird\nlast", [])):
        if before is not None:
            (tmp_path / "a/%x").write_text(before)
        with Staged(tmp_path) as staged:
            for some in pieces:
                assert staged.add({"a/%x": some}) == []
            names, differing = staged.join_pieces()
            assert (names, differing) == (["a/%x"], expected)
            staged.commit(names, differing, [])
        assert (tmp_path / "a/%x").read_text() == "first\nsecond\nthird\nlast"


def test_no_more_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(os, "fork", refused)
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    assert processes.shared(5, lambda n: n * n, 3) == [0, 1, 4, 9, 16]
    assert not before or len(os.listdir("/proc/self/fd")) == before
