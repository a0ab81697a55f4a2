"""The build plan as pure data: sources, flags, instruction sets and BLAS; ninja_file.py prints it."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import isa as instruction_sets
from . import sources
from .blas import Blas, find_blas
from .configuration import Configuration
from .flags import compile_flags, flavours, link_flags
from .headers import mirror_headers
from .precompiled import PrecompiledHeader, headers_of
from .sources import GENERATED, Unit
from .toolchain import Toolchain, find_toolchain

LIBRARY_FOLDER = "torch_py/lib"
BLAS_LIBRARY = "libtorch_py_blas.so"
CORE_LIBRARY = "libtorch_py.so"
PYTHON_LIBRARY = "libtorch_py_python.so"
SEARCH_PATH = (".", GENERATED)


@dataclass(frozen=True)
class SharedObject:
    output: str
    units: list[Unit]
    compile_flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    after: tuple[str, ...] = ()  # shared objects that must exist when this one is linked


@dataclass(frozen=True)
class Plan:
    compiler: str  # with ccache in front when that is used
    compile_flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    flavours: dict[str, tuple[str, ...]]  # the flags of units by Unit.flavour
    last_flags: tuple[str, ...]  # of every compiler command
    objects: list[SharedObject]
    toolchain: Toolchain
    blas: str = ""  # for the closing line
    kernels: tuple[str, ...] = ()  # names of instruction sets, for the closing line
    log_folder: str = "build"  # where ninja keeps its log
    bundled: dict[str, str] = field(default_factory=dict)  # copied file -> where it comes from
    precompiled: dict[Unit, PrecompiledHeader] = field(default_factory=dict)  # units that load one
    foreign: dict[Unit, str] = field(default_factory=dict)  # units that are not compiled, and their objects

    @property
    def units(self) -> list[Unit]:
        return [unit for shared in self.objects for unit in shared.units]


def make_plan(configuration: Configuration, toolchain: Toolchain | None = None) -> Plan:
    toolchain = toolchain or find_toolchain(configuration)
    chosen = instruction_sets.selected(configuration.instruction_sets)
    blas = find_blas(configuration, toolchain)
    objects = _shared_objects(chosen, blas, toolchain)
    has_precompiled = configuration.precompiled_headers and not toolchain.is_clang

    return Plan(
        compiler=f"{toolchain.ccache} {toolchain.compiler}".strip(),
        compile_flags=(*compile_flags(configuration, toolchain), *(f"-I{folder}" for folder in SEARCH_PATH)),
        link_flags=link_flags(configuration, toolchain),
        flavours=flavours(chosen, toolchain),
        kernels=tuple(isa.name for isa in chosen),
        last_flags=configuration.compile_flags,
        objects=objects,
        toolchain=toolchain,
        blas=blas.name,
        bundled={f"{LIBRARY_FOLDER}/{path.name}": str(path) for path in blas.bundled},
        precompiled=headers_of(unit for shared in objects for unit in shared.units)
        if has_precompiled
        else {},
    )


def _shared_objects(
    chosen: tuple[instruction_sets.InstructionSet, ...], blas: Blas, toolchain: Toolchain
) -> list[SharedObject]:
    python_flags = (f"-isystem {mirror_headers()}", f"-isystem {toolchain.python_include}")
    return [
        SharedObject(
            output=f"{LIBRARY_FOLDER}/{BLAS_LIBRARY}",
            units=sources.blas_units(chosen),
            compile_flags=blas.compile_flags,
            link_flags=(*named(BLAS_LIBRARY), "-Wl,-z,defs", *blas.link_flags),
        ),
        SharedObject(
            output=f"{LIBRARY_FOLDER}/{CORE_LIBRARY}",
            units=sources.core_units(chosen),
            # -z defs: a symbol that is declared and nowhere defined, Python's included, is an error here and
            # not at import.
            link_flags=(*named(CORE_LIBRARY), "-Wl,-z,defs", *linked_to(BLAS_LIBRARY)),
            after=(f"{LIBRARY_FOLDER}/{BLAS_LIBRARY}",),
        ),
        SharedObject(
            output=f"{LIBRARY_FOLDER}/{PYTHON_LIBRARY}",
            units=sources.python_units(chosen),
            compile_flags=python_flags,
            link_flags=(*named(PYTHON_LIBRARY), *linked_to(CORE_LIBRARY)),
            after=(f"{LIBRARY_FOLDER}/{CORE_LIBRARY}",),
        ),
        SharedObject(
            output=f"torch_py/_C{toolchain.extension_suffix}",
            units=[sources.stub_unit()],
            compile_flags=python_flags,
            link_flags=("-Wl,-rpath,'$ORIGIN/lib'", *linked_to(PYTHON_LIBRARY)),
            after=(f"{LIBRARY_FOLDER}/{PYTHON_LIBRARY}",),
        ),
    ]


def named(library: str) -> tuple[str, ...]:
    return (f"-Wl,-soname,{library}", "-Wl,-rpath,'$ORIGIN'")


def linked_to(*libraries: str, folder: str = LIBRARY_FOLDER) -> tuple[str, ...]:
    return (f"-L{folder}", *(f"-l:{library}" for library in libraries), f"-Wl,-rpath-link,{folder}")
