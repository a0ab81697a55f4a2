"""The instruction sets: their compiler flags, and which files are compiled once for each.

A file named *.isa.cpp below aten/ is compiled once per instruction set, with CPU_CAPABILITY naming the
variant; one of the variants is chosen at start-up by CPUID. Every other file is compiled once, for the
baseline. The rule holds for generated files and for libraries of operators, too.

Note [Link order and instruction sets]
Inline functions and templates (std::vector's, say) end up in every object that uses them and the linker keeps
the first copy. Were that a copy from an AVX-512 object, baseline code would run AVX-512 instructions on a
machine without them.
Objects are therefore linked in the order baseline files, DEFAULT, AVX2, AVX512: a function that any lower
object holds is taken from there (sources.py sorts; tests/tools/test_instruction_sets.py checks the result).
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import PurePosixPath

from .errors import BuildError


@dataclass(frozen=True)
class InstructionSet:
    name: str
    flags: tuple[str, ...]

    @property
    def defines(self) -> tuple[str, ...]:
        return (f"-DCPU_CAPABILITY={self.name}", f"-DCPU_CAPABILITY_{self.name}")


# The vectorizer's default cost model at -O2 ("very-cheap") refuses loops whose length is unknown, which are
# all of ours.
LOOPS = ("-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic")
DEFAULT = InstructionSet("DEFAULT", LOOPS)
AVX2 = InstructionSet("AVX2", (*LOOPS, "-mavx2", "-mfma", "-mf16c"))
AVX512 = InstructionSet(
    "AVX512",
    (
        *LOOPS,
        "-mavx512f",
        "-mavx512bw",
        "-mavx512vl",
        "-mavx512dq",
        "-mavx2",
        "-mfma",
        "-mf16c",
        "-mprefer-vector-width=512",
        # GCC 12 warns of the undefined registers that its own header passes where a mask covers all lanes.
        # The other instruction sets compile the same sources with these warnings.
        "-Wno-uninitialized",
        "-Wno-maybe-uninitialized",
    ),
)
BY_ARCHITECTURE = {"x86_64": (DEFAULT, AVX2, AVX512), "amd64": (DEFAULT, AVX2, AVX512)}


def available(architecture: str | None = None) -> tuple[InstructionSet, ...]:
    return BY_ARCHITECTURE.get((architecture or platform.machine()).lower(), (DEFAULT,))


def selected(names: tuple[str, ...], architecture: str | None = None) -> tuple[InstructionSet, ...]:
    """The instruction sets named in TORCH_PY_ISAS, in their order of precedence.

    All those of the architecture if it names none.
    """
    offered = available(architecture)
    unknown = sorted(set(names) - {isa.name for isa in offered})

    if unknown:
        raise BuildError(
            f"TORCH_PY_ISAS: no instruction set {', '.join(unknown)} here; there are "
            f"{', '.join(isa.name for isa in offered)}"
        )
    if names and DEFAULT.name not in names:
        raise BuildError(
            f"TORCH_PY_ISAS={','.join(names)}: DEFAULT must be among them, it is what every machine can run"
        )

    return tuple(isa for isa in offered if not names or isa.name in names)


def is_kernel_file(path: str) -> bool:
    """Whether a file is compiled once per instruction set.

    `path` is relative to the root of the sources or of the generated tree.
    """
    pure = PurePosixPath(path)
    return pure.parts[:1] == ("aten",) and pure.name.endswith(".isa.cpp")
