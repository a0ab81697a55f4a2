"""Builds libraries of operators that are declared outside the tree, and backends for devices.

They use the same generator, flags and instruction sets as torch_py, and become a shared object of their own.

    python -m tools.build.operator_library FILE.yaml --output DIR --include DIR ... --libraries DIR

With --portable, the shared object does not say where torch_py's libraries are: whoever opens it has
imported torch_py before.

Called by torch_py.utils.cpp_extension.build_operators, from a checkout or from what a wheel carries of it
(package.py).
An aten/native folder next to FILE.yaml may hold hand-written kernels, as in the tree: those named *.isa.cpp
are compiled once per instruction set, the others once.
The last line printed is the path of the shared object.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from . import isa as instruction_sets
from .configuration import Configuration
from .driver import ROOT, lock
from .errors import BuildError
from .files import write_if_changed
from .flags import compile_flags, flavours, link_flags
from .ninja_file import render
from .package import DECLARATIONS
from .plan import CORE_LIBRARY, PYTHON_LIBRARY, Plan, SharedObject, linked_to
from .runner import run_ninja
from .sources import CUDA, Unit, flavour_of, link_order
from .toolchain import find_toolchain

_NAME = re.compile(r"^(?P<kind>library|backend):\s*['\"]?(?P<name>[A-Za-z_]\w*)", re.MULTILINE)


@dataclass(frozen=True)
class OperatorLibrary:
    declarations: Path
    output: Path
    include: tuple[Path, ...]
    libraries: Path
    portable: bool = False

    @property
    def name(self) -> str:
        found = _NAME.search(self.declarations.read_text())
        if not found:
            raise BuildError(
                f"{self.declarations}:1:1: no 'library:'; write 'library: NAME', the name of the Python "
                "module to be built"
            )
        return found["name"]

    @property
    def is_backend(self) -> bool:
        """Whether it gives kernels for a device to existing operators; it is then no Python module."""
        found = _NAME.search(self.declarations.read_text())
        return found is not None and found["kind"] == "backend"


def build(library: OperatorLibrary, configuration: Configuration) -> Path:
    if library.declarations.parent == ROOT:
        raise BuildError(
            f"{library.declarations.name} is in the folder of torch_py's own sources; "
            "move it into a folder of its own"
        )

    library.output.mkdir(parents=True, exist_ok=True)
    with lock(library.output / ".lock"):
        generate(library)
        plan = make_plan(library, configuration)
        write_if_changed(library.output / "build.ninja", render(plan))
        progress = run_ninja(
            plan.toolchain.ninja,
            "build.ninja",
            configuration.jobs,
            configuration.verbose,
            folder=library.output,
        )

    if progress.failed:
        raise BuildError(
            f"operator library '{library.name}' was not built; the messages above are the compiler's"
        )

    return library.output / plan.objects[0].output


def generate(library: OperatorLibrary) -> None:
    command = [sys.executable, "-m", "codegen", "generate", "--yaml", str(library.declarations)]
    command += ["--library-of", str(ROOT / DECLARATIONS), "--output", str(library.output / "generated")]
    result = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    if result.returncode != 0:
        print(result.stdout + result.stderr, end="", flush=True)
        raise BuildError("nothing was built: the generator refused the declarations above")


def make_plan(library: OperatorLibrary, configuration: Configuration) -> Plan:
    toolchain = find_toolchain(configuration)
    chosen = instruction_sets.selected(configuration.instruction_sets)
    search_path = (library.output / "generated", library.declarations.parent, *library.include)
    # Messages name headers as in torch_py's own libraries, without folders of this machine.
    includes = [f"-I{folder} -ffile-prefix-map={folder}/=" for folder in search_path]

    return Plan(
        compiler=f"{toolchain.ccache} {toolchain.compiler}".strip(),
        compile_flags=(*compile_flags(configuration, toolchain), *includes),
        link_flags=link_flags(configuration, toolchain),
        flavours=flavours(chosen, toolchain),
        last_flags=configuration.compile_flags,
        objects=[shared_object(library, chosen, toolchain.python_include, toolchain.extension_suffix)],
        toolchain=toolchain,
        log_folder="objects",
    )


def shared_object(
    library: OperatorLibrary,
    chosen: tuple[instruction_sets.InstructionSet, ...],
    python_include: str,
    suffix: str,
) -> SharedObject:
    folder = str(library.libraries)
    linked = (CORE_LIBRARY,) if library.is_backend else (CORE_LIBRARY, PYTHON_LIBRARY)
    # A backend does not use Python, whose symbols the linker cannot know.
    complete = ("-Wl,-z,defs",) if library.is_backend else ()
    search_path = () if library.portable else (f"-Wl,-rpath,'{folder}'",)
    return SharedObject(
        output=library.name + suffix,
        units=units(library, chosen),
        compile_flags=(f"-isystem {python_include}",),
        link_flags=(*search_path, *complete, *linked_to(*linked, folder=folder)),
    )


def units(library: OperatorLibrary, chosen: tuple[instruction_sets.InstructionSet, ...]) -> list[Unit]:
    """Generated files, then hand-written ones.

    Names of generated sources are relative to the output folder, where ninja runs.
    """
    found: list[Unit] = []

    for root, place, named in (
        (library.output / "generated", "", "generated/"),
        (library.declarations.parent, "aten/native", ""),
    ):
        for path in sorted((root / place).rglob("*.cpp")):
            logical = path.relative_to(root).as_posix()
            if logical.startswith(tuple(folder + "/" for folder in CUDA)):
                continue  # a library of its own would hold these; without one, CUDA tensors take the fallback
            found += variants(
                path,
                f"{named}{logical}" if named else str(path),
                named + logical,
                instruction_sets.is_kernel_file(logical),
                chosen,
            )
    return link_order(found, chosen)


def variants(
    path: Path,
    source: str,
    logical: str,
    is_kernel: bool,
    chosen: tuple[instruction_sets.InstructionSet, ...],
) -> list[Unit]:
    which: tuple[instruction_sets.InstructionSet | None, ...] = chosen if is_kernel else (None,)
    return [
        Unit(
            source,
            f"objects/{isa.name if isa else 'baseline'}/{logical.removesuffix('.cpp')}.o",
            isa,
            flavour_of(path, logical, isa),
        )
        for isa in which
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.build.operator_library")
    parser.add_argument("declarations", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--include", type=Path, action="append", default=[])
    parser.add_argument("--libraries", type=Path, required=True)
    parser.add_argument("--portable", action="store_true")
    options = parser.parse_args()

    library = OperatorLibrary(
        declarations=options.declarations.resolve(),
        output=options.output.resolve(),
        include=tuple(folder.resolve() for folder in options.include),
        libraries=options.libraries.resolve(),
        portable=options.portable,
    )

    try:
        print(build(library, Configuration.from_environment()))
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
