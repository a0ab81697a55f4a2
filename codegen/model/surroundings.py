"""What a file's entries refer to outside of it: kernels, generators of arguments, names of the package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from codegen.dialect import Dialect
from codegen.model.kernels import Kernel, KernelIndex
from codegen.model.program import Program
from codegen.model.taken_names import TakenNames


class Surroundings(NamedTuple):
    kernels: KernelIndex
    samples: frozenset[str] | None  # None where the file's folder has no generators
    taken: TakenNames
    version: str | None  # of the package that the folder builds, where that is known


def scan_surroundings(
    dialect: Dialect, folder: Path, base: Program | None = None, planned: Sequence[Kernel] = ()
) -> Surroundings:
    """Reads the sources below the file's folder; ``planned`` adds kernels that are still to be written."""
    return Surroundings(
        KernelIndex(planned) if dialect.kernels is None else dialect.kernels(folder, planned),
        _samples(dialect, folder, base),
        TakenNames() if dialect.taken_names is None else dialect.taken_names(folder),
        None if dialect.version is None else dialect.version(folder),
    )


def _samples(dialect: Dialect, folder: Path, base: Program | None) -> frozenset[str] | None:
    """The known generators of arguments: those of the file's folder, and those of the tree it extends."""
    own = None if dialect.samples is None else dialect.samples(folder)
    if base is None:
        return own
    inherited = _samples(dialect, Path(base.path).parent, base.base)
    return None if inherited is None else inherited | (own or frozenset())
