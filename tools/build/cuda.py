"""The CUDA library: the same sources compiled by nvcc for a GPU, or by g++ for the emulation of one.

Note [Two compilers for CUDA]. `make cuda` makes torch_py/lib/libtorch_py_cuda.so with nvcc. `make emulation`
makes build/emulation/libtorch_py_cuda.so with the ordinary compiler and the headers of tests/emulation, which
execute kernels on the host: it needs no CUDA. Both are linked against libtorch_py.so, which knows neither.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from . import flags, sources
from .configuration import Configuration
from .errors import BuildError
from .plan import CORE_LIBRARY, LIBRARY_FOLDER, SEARCH_PATH, Plan, SharedObject, linked_to
from .toolchain import Toolchain, find_toolchain

CUDA_LIBRARY = "libtorch_py_cuda.so"
DEVICE_LIBRARY = f"{LIBRARY_FOLDER}/{CUDA_LIBRARY}"
COSTS_FILE = "build/cuda/costs.txt"  # see costs.py
Target = Literal["cuda", "emulation"]

# A kernel that calls a host function is an error: nvcc would warn and drop the call.
NVCC_FLAGS = (
    "-O2",
    "--extended-lambda",
    "--expt-relaxed-constexpr",
    "--compress-mode=size",
    "-Werror=cross-execution-space-call",
)
# Line numbers for the reports of the emulation; full debug information doubles the objects.
EMULATION_FLAGS = (
    "-O1",
    "-g1",
    "-fno-omit-frame-pointer",
    "-D_GLIBCXX_ASSERTIONS",
    "-DTORCH_PY_CUDA_EMULATION",
    "-Itests/emulation/include",
)
# The shell expands it when the compiler runs, so that ccache hits across checkouts in spite of -g.
RELATIVE_PATHS = "-ffile-prefix-map=$PWD=."


@dataclass(frozen=True)
class Compiler:
    """nvcc, and where its runtime library is."""

    program: str
    library_flags: tuple[str, ...]  # -L...


def make_cuda_plan(configuration: Configuration, target: Target, toolchain: Toolchain | None = None) -> Plan:
    """The plan of the CUDA library alone; the core is built by the plan of the tree."""
    toolchain = toolchain or find_toolchain(configuration)
    return (
        _device_plan(configuration, toolchain)
        if target == "cuda"
        else _emulation_plan(configuration, toolchain)
    )


def wants_cuda(configuration: Configuration) -> bool:
    """Whether an ordinary build includes the CUDA library; `auto`: with nvcc and the driver of a GPU."""
    if configuration.cuda == "auto":
        return shutil.which("nvcc") is not None and Path("/proc/driver/nvidia/version").exists()
    return configuration.cuda == "1"


# With nvcc


def _device_plan(configuration: Configuration, toolchain: Toolchain) -> Plan:
    if configuration.sanitize:
        raise BuildError("TORCH_PY_SANITIZE is for `make emulation`; on a GPU, use compute-sanitizer")

    nvcc = find_nvcc()
    host = f"-ccbin={toolchain.compiler}" if configuration.compiler else ""
    debug = ("-lineinfo",) if configuration.debug else ()
    shared = SharedObject(
        output=DEVICE_LIBRARY,
        units=sources.cuda_units("build/objects/cuda"),
        link_flags=(
            f"-Wl,-soname,{CUDA_LIBRARY}",
            "-Wl,-rpath,'$ORIGIN'",
            "-Wl,-z,defs",
            *linked_to(CORE_LIBRARY),
            *nvcc.library_flags,
            # cudart's own symbols stay inside: another library of the process may bring its own.
            "-Wl,--exclude-libs,libcudart_static.a",
            "-lcudart_static",
            *("-ldl", "-lrt", "-lpthread"),
        ),
    )
    return Plan(
        compiler=" ".join(filter(None, (measured(toolchain.ccache, nvcc.program), host))),
        compile_flags=(
            "-std=c++20",
            *NVCC_FLAGS,
            *debug,
            *architecture_flags(configuration.cuda_architectures),
            *(f"-Xcompiler={flag}" for flag in host_flags(configuration, toolchain)),
            *(f"-I{folder}" for folder in SEARCH_PATH),
        ),
        link_flags=flags.link_flags(configuration, toolchain),
        flavours={"baseline": ()},
        last_flags=tuple(f"-Xcompiler={flag}" for flag in configuration.compile_flags),
        objects=[shared],
        toolchain=toolchain,
        log_folder="build/cuda",
    )


def measured(ccache: str, program: str) -> str:
    """The command of a compiler that writes down what each file takes."""
    script = Path(__file__).resolve().with_name("measured.py")
    costs = f"TORCH_PY_COSTS={COSTS_FILE}"
    return f"{costs} CCACHE_PREFIX={script} {ccache} {program}" if ccache else f"{costs} {script} {program}"


def host_flags(configuration: Configuration, toolchain: Toolchain) -> tuple[str, ...]:
    """What the host's compiler, to which nvcc hands its part of each file, is told."""
    found = ["-fPIC", "-fopenmp", *flags.VISIBILITY, *flags.ARITHMETIC, *flags.SECTIONS]
    if not toolchain.is_clang:
        found += ["-fno-gnu-unique", "-Wno-psabi"]
    if configuration.debug:
        found += ["-g", "-D_GLIBCXX_ASSERTIONS"]
    return tuple(found)


def architecture_flags(architectures: tuple[str, ...]) -> tuple[str, ...]:
    """Machine code for each compute capability, and PTX of the newest for GPUs that come later."""
    generated = [f"-gencode=arch=compute_{name},code=sm_{name}" for name in architectures]
    newest = max(architectures, key=int)
    return (*generated, f"-gencode=arch=compute_{newest},code=compute_{newest}")


def find_nvcc() -> Compiler:
    if not shutil.which("nvcc"):
        raise BuildError(
            "nvcc is not on PATH. It is part of the CUDA 13 toolkit; `make emulation` does without it"
        )

    # It says where its libraries are by printing the commands that it would run.
    dry = subprocess.run(["nvcc", "--dryrun", "-x", "cu", "/dev/null"], capture_output=True, text=True)
    found = re.search(r"^#\$ LIBRARIES=(.*)$", dry.stderr, re.MULTILINE)
    if found is None:
        raise BuildError(f"nvcc does not work: {dry.stderr.strip()}")
    return Compiler("nvcc", tuple(re.findall(r"-L[^\s\"]+", found[1])))


# Emulated


def emulation_name(configuration: Configuration) -> str:
    """`emulation`, or `emulation-thread` with that sanitizer: builds that do not share a file."""
    return "-".join(filter(None, ("emulation", configuration.sanitize.replace(",", "-"))))


def _emulation_plan(configuration: Configuration, toolchain: Toolchain) -> Plan:
    name = emulation_name(configuration)
    shared = SharedObject(
        output=f"build/{name}/{CUDA_LIBRARY}",
        units=sources.cuda_units(f"build/objects/{name}", ("tests/emulation",)),
        link_flags=(
            f"-Wl,-soname,{CUDA_LIBRARY}",
            f"-Wl,-rpath,'$ORIGIN/../../{LIBRARY_FOLDER}'",
            "-Wl,-z,defs",
            *linked_to(CORE_LIBRARY),
            *("-ldl", "-lpthread"),
        ),
    )
    return Plan(
        compiler=f"{toolchain.ccache} {toolchain.compiler}".strip(),
        compile_flags=(
            *flags.compile_flags(configuration, toolchain),
            *EMULATION_FLAGS,
            RELATIVE_PATHS,
            *(f"-I{folder}" for folder in SEARCH_PATH),
            "-x c++",
        ),
        # Not stripped: reports name lines.
        link_flags=flags.link_flags(replace(configuration, debug=True), toolchain),
        flavours={"baseline": ()},
        last_flags=configuration.compile_flags,
        objects=[shared],
        toolchain=toolchain,
        log_folder=f"build/{name}",
    )
