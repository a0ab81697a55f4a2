"""Precompiled headers: shared includes are parsed once, which saves about a third of a unit's time.

A folder that has a Precompiled.h gets one for each flavour of its units, as the flags are part of it. Files
include what they use all the same: clang, libraries of operators and TORCH_PY_PCH=0 compile them without it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .files import write_if_changed
from .isa import is_kernel_file
from .sources import GENERATED, Unit

FOLDER = "build/precompiled"
KERNELS = "aten/native/cpu/shared/Precompiled.h"  # of what is compiled once per instruction set
# For the others the first folder that a source lies in decides. c10 has none, as it must not see what it lies
# below; nor have the few files of the empty ones.
HEADERS = {
    "aten/blas/": "",
    "aten/vec/": "",
    "aten/": "aten/core/Precompiled.h",
    "torch_py/csrc/autograd/": "aten/core/Precompiled.h",
    "torch_py/csrc/bindings/": "torch_py/csrc/bindings/Precompiled.h",
    "torch_py/csrc/compiler/": "torch_py/csrc/bindings/Precompiled.h",
}


@dataclass(frozen=True)
class PrecompiledHeader:
    header: str
    flavour: str  # of the units that load it

    @property
    def name(self) -> str:
        """The path that units are told to include.

        It names a file that includes the header; next to it, the compiler finds `output`.
        """
        return f"{FOLDER}/{self.flavour}/{self.header}"

    @property
    def output(self) -> str:
        return self.name + ".gch"

    @property
    def title(self) -> str:
        return self.header if self.flavour == "baseline" else f"{self.header} ({self.flavour})"


def header_of(unit: Unit) -> PrecompiledHeader | None:
    source = unit.source.removeprefix(GENERATED + "/")
    header = next((header for folder, header in HEADERS.items() if source.startswith(folder)), "")
    if header and is_kernel_file(source):
        header = KERNELS
    return PrecompiledHeader(header, unit.flavour) if header else None


def headers_of(units: Iterable[Unit]) -> dict[Unit, PrecompiledHeader]:
    """For the units of the tree in the current directory."""
    found = ((unit, header_of(unit)) for unit in units)
    return {unit: header for unit, header in found if header and Path(header.header).exists()}


def write_names(headers: Iterable[PrecompiledHeader]) -> None:
    for header in headers:
        Path(header.name).parent.mkdir(parents=True, exist_ok=True)
        write_if_changed(Path(header.name), f'#include "{header.header}"\n')
