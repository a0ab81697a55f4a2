"""Compiles C++ to shared libraries, with the compiler of the machine; and which headers kernels need.

`CXX` names the compiler; otherwise clang++ is taken if it is there, else g++. No process stays behind: a
compiler that takes longer than a minute is killed.
"""

from __future__ import annotations

import hashlib
import os
import re
from functools import cache, partial
from pathlib import Path

from torch_py._inductor import config
from torch_py._inductor.cache import Cache
from torch_py._installation import include_paths
from torch_py._logging import artifacts

# Short inner loops stay loops: GCC 12 vectorises some around which it has unrolled them wrongly, those of
# several selections, and takes zeros for numbers.
FLAGS = (
    "-std=c++20", "-shared", "-fPIC", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math",
    "--param=max-completely-peel-times=0", "-fvisibility=default", "-w",
)  # fmt: skip
_LIMIT = 60.0  # seconds
_MOST_ERRORS = 3  # of the compiler, in a message
# In place of a header of the compiler, which takes it long to read.
BRIEF = "aten/vec/brief"
# Folders of the headers that kernels may include; a change of one changes the keys of the cache.
_HEADERS = ("aten/vec", BRIEF, "c10/util")


class NoCompilerError(RuntimeError):
    """The machine has no C++ compiler."""


class CompilerError(RuntimeError):
    """The C++ compiler has refused a program, or has taken too long."""


def find_compiler() -> str:
    """The path of the compiler. Raises NoCompilerError."""
    wanted = _without_launcher(os.environ.get("CXX", ""))
    usual = (wanted,) if wanted else ("clang++", "g++", "c++")
    given = config.cpp.cxx
    if isinstance(given, str):
        given = (given,)
    elif tuple(given) == (None, "g++"):
        given = (None,)  # the default: g++ is among the usual ones
    names = [name for one in given for name in (usual if one is None else (one,))]

    found = next(filter(None, map(_path_of, names)), None)
    if found is not None:
        return found
    if wanted:
        raise NoCompilerError(f"CXX is '{wanted}', which is not there")
    advice = "install g++ (on Debian and Ubuntu the package g++, on Fedora gcc-c++), or set CXX"
    raise NoCompilerError(f"no C++ compiler was found; {advice}")


def _without_launcher(command: str) -> str:
    """The compiler of ``ccache g++``: kernels have a cache of their own."""
    launcher, _, compiler = command.partition(" ")
    return compiler.strip() if os.path.basename(launcher) in ("ccache", "distcc", "sccache") else command


def _path_of(program: str) -> str | None:
    """Where a program is found, as by `shutil.which`, whose module takes long to import."""
    folders = [""] if os.path.dirname(program) else filter(None, os.get_exec_path())
    for path in (os.path.join(folder, program) for folder in folders):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


# The parts of -funsafe-math-optimizations. With its own name, GCC 12 links a start-up file into the library,
# which makes the whole process flush denormal numbers.
UNSAFE_MATH = ("-fassociative-math", "-freciprocal-math", "-fno-signed-zeros", "-fno-trapping-math")


def vector_bits() -> int:
    """The width of vectors in kernels, in bits, by the option `cpp.simdlen`; 0 for kernels without vectors.

    Raises RuntimeError for widths that processors do not have.
    """
    width = config.cpp.simdlen
    bits = {None: 512, 0: 0, 1: 0, 128: 128, 256: 256, 512: 512}
    if width not in bits:
        raise RuntimeError(f"cpp.simdlen is {width!r}, expected None, 128, 256, 512, or 0 or 1 for none")
    return bits[width]


def flags() -> tuple[str, ...]:
    """What the compiler is called with."""
    width = vector_bits()
    if width:
        vectors = [f"-mprefer-vector-width={width}"]
    else:
        vectors = ["-fno-tree-vectorize", "-fno-tree-slp-vectorize"]
    unsafe = UNSAFE_MATH if config.cpp.enable_unsafe_math_opt_flag else ()
    contract = f"-ffp-contract={config.cpp.enable_floating_point_contract_flag}"
    return (*FLAGS, *vectors, contract, *unsafe)


def compile_library(source: str) -> str:
    """The path of a library compiled from C++, from the cache if it has been compiled before.

    Raises NoCompilerError and CompilerError.
    """
    compiler = find_compiler()
    cache = Cache.opened()
    key = hashlib.sha256("\0".join([source, *identity(compiler)]).encode()).hexdigest()
    with artifacts.timed("compile C++"):
        return cache.library(key, source, partial(_run, compiler), again=config.force_disable_caches)


def _run(compiler: str, text: str, target: str) -> None:
    """Compiles the file `text` to the file `target`."""
    import subprocess  # programs that find their kernels in the cache go without

    paths = [f"{include_paths()[0]}/{BRIEF}", *include_paths()]
    includes = [f"-I{path}" for path in paths]
    command = [compiler, *flags(), *includes, "-o", target, text]
    # close_fds=False lets Python use posix_spawn, which copies nothing of a large process.
    try:
        done = subprocess.run(
            command, input="", capture_output=True, close_fds=False, errors="replace", timeout=_LIMIT
        )
    except subprocess.TimeoutExpired:
        raise CompilerError(f"{compiler} took longer than {_LIMIT:.0f} s") from None
    if done.returncode != 0:
        lines = done.stderr.replace(text, "kernels.cpp").splitlines()
        errors = "; ".join(([line for line in lines if "error:" in line] or lines)[:_MOST_ERRORS])
        kept = artifacts.write("kernels.cpp", Path(text).read_text) or "TORCH_COMPILE_DEBUG=1 keeps it"
        raise CompilerError(f"{compiler} cannot compile kernels.cpp: {errors} ({kept})")


def identity(compiler: str) -> list[str]:
    """What the result of a compilation depends on, in addition to the source."""
    path = os.path.realpath(compiler)
    facts = os.stat(path)
    return [path, f"{facts.st_size} {facts.st_mtime_ns}", *flags(), cpu_features(), _headers_digest()]


@cache
def _headers_digest() -> str:
    digest = hashlib.sha256()
    for folder in _HEADERS:
        for path in sorted(Path(include_paths()[0], folder).glob("*.h")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


# Which headers of aten/vec define the words that kernels use
# ------------------------------------------------------------

_DEFINITION = re.compile(r"^(?:C10_ALWAYS_INLINE|AT_VEC_CALLED|inline)\s+[\w:<> ]+?\s(\w+)\(", re.MULTILINE)
_OF_PACKS = re.compile(r"^C10_ALWAYS_INLINE Pack (\w+)\([A-Z]\w* ", re.MULTILINE)
# These are for eager kernels: vectors by hand, complex numbers. They take long to parse.
_OTHERS = ("pack", "complex", "math", "device_math")
_OF_TYPES = {"c10::Half": "c10/util/Half.h", "c10::BFloat16": "c10/util/BFloat16.h"}


@cache
def cpu_features() -> str:
    """The instruction sets of the processor."""
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith(("flags", "Features")):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return " ".join(os.uname())


def has_packs() -> bool:
    """Whether aten/vec/pack.h has packs for this processor, and kernels may have vectors."""
    return vector_bits() > 0 and {"avx2", "fma", "f16c"} <= set(cpu_features().split())


@cache
def pack_words() -> frozenset[str]:
    """The functions of packs."""
    folder = Path(include_paths()[0], "aten/vec")
    texts = [(folder / name).read_text() for name in ("pack.h", "pack_functions.h")]
    return frozenset(name for text in texts for name in _OF_PACKS.findall(text))


@cache
def _headers() -> dict[str, list[str]]:
    """For every function, the headers with a definition of it."""
    found: dict[str, list[str]] = {}
    for path in sorted(Path(include_paths()[0], "aten/vec").glob("*.h")):
        if not path.stem.startswith(_OTHERS):
            for name in set(_DEFINITION.findall(path.read_text())):
                found.setdefault(name, []).append(f"aten/vec/{path.name}")
    return found


def includes(text: str) -> str:
    """The lines that include what the text of kernels needs."""
    words = set(re.findall(r"at::vec::(\w+)", text))
    needed = {header for word in words for header in _headers().get(word, ())}
    if "for_packs(" in text:
        needed |= {"aten/vec/lanes.h", "aten/vec/math.h", "aten/vec/pack_loops.h"}
    needed.update(header for type, header in _OF_TYPES.items() if type in text)
    return "".join(f'#include "{header}"\n' for header in sorted(needed))
