"""The translation units, the shared object each belongs to, and their link order."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

from .errors import BuildError
from .isa import InstructionSet, available, is_kernel_file

GENERATED = "build/generated"
BLAS = ("aten/blas",)
CORE = ("c10", "aten", "torch_py/csrc/autograd")
PYTHON = ("torch_py/csrc/bindings", "torch_py/csrc/compiler")
# Compiled for size: the formulas of backward, whose time is that of the operators they call.
SMALL = ("generated/torch_py/csrc/autograd/generated/",)
# What the comment at the top of a kernel file may say of its flags. Some kernels are faster with the copies
# of loops that -O3 makes. They are twice as large with it, and most kernels are as fast without: measure
# before writing this, with `speed` of tools.benchmark.
WITH_COPIES_OF_LOOPS = "Compiled with -O3."
# Of formulas with the tag `rarely_used`. For processors without AVX2 (most are from before 2013) their loops
# are not vectorized: they would be three times as large, and two to three times as fast.
FOR_SIZE = "Compiled for size."
STUB = "torch_py/csrc/stub.cpp"
# Of the CUDA library, which the core neither contains nor links to.
CUDA = ("c10/cuda", "aten/native/cuda", "aten/register/cuda")


@dataclass(frozen=True)
class Unit:
    """One compiler command: a source file and, for kernel files, the instruction set it is compiled for."""

    source: str  # as given to the compiler
    object: str
    isa: InstructionSet | None = None
    flavour: str = "baseline"  # names the flags that it adds to those of every file

    @property
    def title(self) -> str:
        name = self.source.removeprefix(GENERATED + "/")
        return f"{name} ({self.isa.name})" if self.isa else name


def discover(
    folders: tuple[str, ...], chosen: tuple[InstructionSet, ...], without: tuple[str, ...] = ()
) -> list[Unit]:
    """All units under `folders` of the sources and of the generated tree, in link order.

    For that order, see Note [Link order and instruction sets].
    """
    units: list[Unit] = []
    for root in ("", GENERATED):
        for folder in folders:
            units += units_in(Path(root), folder, chosen, "build/objects", without)
    return link_order(units, chosen)


def units_in(
    root: Path, folder: str, chosen: tuple[InstructionSet, ...], objects: str, without: tuple[str, ...] = ()
) -> list[Unit]:
    units: list[Unit] = []
    for path in sorted((root / folder).rglob("*.cpp")):
        logical = path.relative_to(root).as_posix()
        if any(logical.startswith(prefix + "/") for prefix in without):
            continue

        place = "generated/" + logical if root.name == "generated" else logical
        variants: tuple[InstructionSet | None, ...] = chosen if is_kernel_file(logical) else (None,)

        for isa in variants:
            units.append(
                Unit(
                    path.as_posix(),
                    f"{objects}/{isa.name if isa else 'baseline'}/{place.removesuffix('.cpp')}.o",
                    isa,
                    flavour_of(path, place, isa),
                )
            )
    return units


def flavour_of(path: Path, place: str, isa: InstructionSet | None) -> str:
    """The name among those of flags.flavours(); `place` is below the tree, or below generated/."""
    if isa is None:
        return "small" if place.startswith(SMALL) else "baseline"

    said = _head_of(path)
    if isa.name == "DEFAULT":
        return "DEFAULT_small" if FOR_SIZE in said and len(available()) > 1 else "DEFAULT"
    return isa.name + ("_unrolled" if WITH_COPIES_OF_LOOPS in said else "")


def _head_of(path: Path) -> str:
    """The comment at the top of a file, as one line."""
    with path.open(encoding="utf-8") as file:
        lines = itertools.takewhile(lambda line: line.startswith("//"), file)
        return " ".join(line.strip("/ \n") for line in lines)


def link_order(units: list[Unit], chosen: tuple[InstructionSet, ...]) -> list[Unit]:
    """Note [Link order and instruction sets]; also, what is compiled for size comes after DEFAULT.

    Thus inline functions that loops also use are taken from units compiled for speed.
    """
    ranks = {"baseline": 0, "DEFAULT": 1, "small": 2}
    ranks |= {isa.name: 2 + rank for rank, isa in enumerate(chosen) if rank > 0}
    names = {unit: unit.isa.name if unit.isa else unit.flavour for unit in units}
    return sorted(units, key=lambda unit: (ranks[names[unit]], unit.source))


def core_units(chosen: tuple[InstructionSet, ...]) -> list[Unit]:
    return _present(discover(CORE, chosen, without=(*BLAS, *CUDA)), CORE)


def blas_units(chosen: tuple[InstructionSet, ...]) -> list[Unit]:
    return _present(discover(BLAS, chosen), BLAS)


def python_units(chosen: tuple[InstructionSet, ...]) -> list[Unit]:
    return _present(discover(PYTHON, chosen), PYTHON)


def cuda_units(objects: str, more_folders: tuple[str, ...] = ()) -> list[Unit]:
    """The units of the CUDA library, and the `.cpp` files directly in `more_folders`."""
    found: list[Unit] = []
    for root in (Path(), Path(GENERATED)):
        paths = [path for folder in CUDA for path in (root / folder).rglob("*")]
        paths += [path for folder in more_folders for path in (root / folder).glob("*.cpp")]
        found += [_cuda_unit(path, root, objects) for path in paths if path.suffix in (".cpp", ".cu")]
    return _present(sorted(found, key=lambda unit: unit.source), CUDA)


def _cuda_unit(path: Path, root: Path, objects: str) -> Unit:
    logical = path.relative_to(root).as_posix()
    place = logical if root == Path() else "generated/" + logical
    return Unit(path.as_posix(), f"{objects}/{place.removesuffix('.cpp')}.o")


def stub_unit() -> Unit:
    return Unit(STUB, "build/objects/baseline/torch_py/csrc/stub.o")


def _present(units: list[Unit], folders: tuple[str, ...]) -> list[Unit]:
    if not units:
        raise BuildError(f"no .cpp file under {', '.join(folders)}: is this the root of a complete checkout?")
    return units
