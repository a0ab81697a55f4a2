"""One build of the tree: generate, write the ninja file, run ninja. A lock prevents two builds at once."""

from __future__ import annotations

import contextlib
import difflib
import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from .configuration import Configuration
from .cuda import Target, make_cuda_plan, wants_cuda
from .errors import BuildError
from .files import write_if_changed
from .ninja_file import render
from .package import ABI_FILE, abi_stamp, place_generated_python
from .plan import LIBRARY_FOLDER, Plan, make_plan
from .precompiled import write_names
from .runner import run_ninja
from .sources import GENERATED, Unit

ROOT = Path(__file__).resolve().parents[2]
NINJA_FILE = Path("build/build.ninja")
WARNINGS_FILE = Path("build/warnings.txt")


def build(
    configuration: Configuration, only: tuple[str, ...] = (), foreign: Callable[[Unit], str] | None = None
) -> None:
    """Brings everything up to date; with `only`, just the objects of those source files.

    `foreign` gives the object of a unit that another tree has compiled, or an empty string. Runs in the
    repository's root.
    """
    os.chdir(ROOT)

    with lock(Path("build/.lock")):
        generate(configuration)
        place_generated_python(ROOT)
        plan = make_plan(configuration)
        if foreign:
            plan.foreign.update({unit: found for unit in plan.units if (found := foreign(unit))})
        write_names(set(plan.precompiled.values()))
        Path(LIBRARY_FOLDER).mkdir(exist_ok=True)

        kernels = ", ".join(plan.kernels)
        run_plan(plan, NINJA_FILE, configuration, only, f"BLAS: {plan.blas}; kernels: {kernels}")
        write_if_changed(ROOT / ABI_FILE, abi_stamp(ROOT))

    if wants_cuda(configuration) and not only:
        build_cuda(configuration, "cuda")


def build_cuda(configuration: Configuration, target: Target, only: tuple[str, ...] = ()) -> None:
    """Brings the CUDA library up to date. The core, which it is linked against, must be built."""
    os.chdir(ROOT)

    with lock(Path("build/.lock")):
        if only:
            generate(configuration)
        plan = make_cuda_plan(configuration, target)
        folder = Path(plan.log_folder)
        folder.mkdir(parents=True, exist_ok=True)
        run_plan(plan, folder / NINJA_FILE.name, configuration, only, plan.objects[0].output)


def run_plan(
    plan: Plan, ninja_file: Path, configuration: Configuration, only: tuple[str, ...], what: str
) -> None:
    """Compiles and links what has changed. `what` describes the result in the closing line."""
    started = time.monotonic()
    ninja = plan.toolchain.ninja
    if write_if_changed(ninja_file, render(plan)):  # objects of sources that are gone
        subprocess.run([ninja, "-f", str(ninja_file), "-t", "cleandead"], capture_output=True)

    progress = run_ninja(
        ninja, str(ninja_file), configuration.jobs, configuration.verbose, objects_of(plan, only)
    )

    if progress.failed:
        raise BuildError(
            "the build failed; the messages above are the compiler's. All commands: TORCH_PY_VERBOSE=1 make"
        )

    if progress.warnings:
        write_if_changed(WARNINGS_FILE, "\n".join(progress.warnings) + "\n")
        print(f"{len(progress.warnings)} files gave warnings: {WARNINGS_FILE}")

    if progress.done:
        seconds = time.monotonic() - started
        print(f"built {progress.done} steps in {seconds:.1f} s ({what})", flush=True)
    elif only:
        print(f"up to date: {', '.join(only)}", flush=True)


def generate(configuration: Configuration) -> None:
    command = [sys.executable, "-m", "codegen", "generate", "--output", GENERATED]
    if configuration.operators:
        command += ["--operators", configuration.operators]
    result = subprocess.run(command, text=True, capture_output=True)
    if result.returncode != 0:
        print(result.stdout + result.stderr, end="", flush=True)
        raise BuildError("nothing was built: the generator refused the declarations above")


def objects_of(plan: Plan, only: tuple[str, ...]) -> list[str]:
    wanted = {os.path.normpath(source) for source in only}
    known = {unit.source for unit in plan.units}
    for source in sorted(wanted - known):
        near = difflib.get_close_matches(source, known, 1)
        question = f"; did you mean {near[0]}?" if near else ""
        raise BuildError(f"not a source file of the build: {source}{question}")
    return [unit.object for unit in plan.units if unit.source in wanted]


def write_compile_commands(configuration: Configuration) -> Path:
    """build/compile_commands.json, for editors and clang-tidy."""
    os.chdir(ROOT)
    generate(configuration)
    plan = make_plan(configuration)
    write_if_changed(NINJA_FILE, render(plan))

    text = subprocess.run(
        [plan.toolchain.ninja, "-f", str(NINJA_FILE), "-t", "compdb", "compile"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    path = Path("build/compile_commands.json")
    write_if_changed(path, json.dumps(json.loads(text), indent=1))
    return path


@contextlib.contextmanager
def lock(path: Path) -> Iterator[None]:
    """Held while building. Whoever comes second waits, and then finds little left to do."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another build to finish", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
