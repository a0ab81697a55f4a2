"""What a file's entries refer to outside of it: kernels, generators of arguments, names of the package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.model.kernels import Kernel, KernelIndex, scan_kernels
from codegen.model.program import Program
from codegen.model.samples import scan_samples
from codegen.model.taken_names import TakenNames, scan_taken_names


@dataclass(frozen=True)
class Surroundings:
    kernels: KernelIndex
    samples: frozenset[str] | None  # None where the file's folder has no generators
    taken: TakenNames


def scan_surroundings(
    folder: Path, base: Program | None = None, planned: Sequence[Kernel] = ()
) -> Surroundings:
    """Reads the sources below ``folder``, the file's; ``planned`` adds kernels that are still to be written."""
    return Surroundings(scan_kernels(folder, planned), _samples(folder, base), scan_taken_names(folder))


def _samples(folder: Path, base: Program | None) -> frozenset[str] | None:
    """The known generators of arguments: those of the file's folder, and those of the tree it extends."""
    own = scan_samples(folder)
    if base is None:
        return own
    inherited = _samples(Path(base.path).parent, base.base)
    return None if inherited is None else inherited | (own or frozenset())
