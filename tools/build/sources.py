"""The translation units, the shared object each belongs to, and their link order."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .errors import BuildError
from .isa import InstructionSet, is_kernel_file

GENERATED = "build/generated"
BLAS = ("aten/blas",)
CORE = ("c10", "aten", "torch_py/csrc/autograd")
PYTHON = ("torch_py/csrc/bindings",)
STUB = "torch_py/csrc/stub.cpp"
# Of the CUDA library, which the core neither contains nor links to.
CUDA = ("c10/cuda", "aten/native/cuda", "aten/register/cuda")


@dataclass(frozen=True)
class Unit:
    """One compiler command: a source file and, for kernel files, the instruction set it is compiled for."""

    source: str  # as given to the compiler
    object: str
    isa: InstructionSet | None = None

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
                )
            )
    return units


def link_order(units: list[Unit], chosen: tuple[InstructionSet, ...]) -> list[Unit]:
    return sorted(units, key=lambda unit: (chosen.index(unit.isa) + 1 if unit.isa else 0, unit.source))


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
