"""A copy of the checkout follows its files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools import copies


def test_the_copy_follows_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "ROOT", tmp_path)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("/build/\n")
    (tmp_path / "a.cpp").write_text("int a;")
    (tmp_path / "b.cpp").write_text("int b;")

    copy = copies.Copy(tmp_path / "build/copy")
    copy.update()
    before = (copy.folder / "a.cpp").stat().st_mtime_ns
    (tmp_path / "b.cpp").unlink()
    copy.update()
    assert not (copy.folder / "b.cpp").exists()
    assert (copy.folder / "a.cpp").stat().st_mtime_ns == before
