"""The files that the generator scans in addition to the YAML: kernels and sample generators.

The scanners and the fingerprint of a generated tree must agree on them. This module imports nothing of the
package.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

# Written into every folder that the generator fills.
STAMP = ".stamp.json"


def kernel_files(root: Path) -> list[Path]:
    """Sources below ``root/aten/native``, or below ``root`` itself when it has no such folder (a library)."""
    native = root / "aten" / "native"
    return sorted(_files(native if native.is_dir() else root, (".cpp", ".cu")))


def sample_files(root: Path) -> list[Path]:
    """Generators of arguments for tests."""
    return sorted(_files(root / "tests" / "ops" / "samples", (".py",)))


def _files(folder: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    """Without those of builds, and without what the generator itself wrote, wherever its output lies."""
    for place, folders, names in os.walk(folder):
        if STAMP in names:
            folders.clear()
            continue
        folders[:] = [f for f in folders if f not in ("build", "__pycache__") and not f.startswith(".")]
        yield from (Path(place, name) for name in names if name.endswith(suffixes))
