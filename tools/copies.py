"""Copies of the checkout below `build` that are built in another way."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.build.files import write_if_changed

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Copy:
    folder: Path

    def update(self) -> None:
        """Brings the sources up to date; files that did not change keep their time stamps."""
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        names = sorted(name for name in listed.split("\0") if name and (ROOT / name).is_file())
        manifest = self.folder / "build" / "sources.txt"

        previous = manifest.read_text().splitlines() if manifest.exists() else []
        for name in set(previous) - set(names):
            (self.folder / name).unlink(missing_ok=True)
        for name in names:
            write_if_changed(self.folder / name, (ROOT / name).read_bytes())
        write_if_changed(manifest, "\n".join(names))

    def build(self, variables: Mapping[str, str], compiled: Iterable[str] = ()) -> None:
        """Builds with these environment variables.

        With `compiled`, only the sources below these folders are compiled; the other objects are those of the
        checkout.
        """
        options = [f"--compile={folder}" for folder in compiled]
        if options:
            options += ["--objects-of", str(ROOT)]
        subprocess.run(
            [sys.executable, "-m", "tools.build", *options],
            cwd=self.folder,
            env={**os.environ, **variables, "PYTHONPATH": str(self.folder)},
            check=True,
        )
