"""Compiler and linker flags, and why each is there."""

from __future__ import annotations

from collections.abc import Iterable

from .configuration import Configuration
from .isa import InstructionSet
from .toolchain import Toolchain

LANGUAGE = ("-std=c++20", "-fPIC", "-fopenmp")
# Two libraries in one process (torch and torch_py) must not share inline functions or template statics:
# everything that is not exported by name is hidden, and no symbol is STB_GNU_UNIQUE.
VISIBILITY = ("-fvisibility=hidden", "-fvisibility-inlines-hidden")
# Loops over maths functions vectorize only when errno and the exception flags need not be kept. NaN and
# infinity stay exact.
ARITHMETIC = ("-fno-math-errno", "-fno-trapping-math")
SECTIONS = ("-ffunction-sections", "-fdata-sections")
SMALL = ("-Os",)
SMALL_LOOPS = ("-fvect-cost-model=very-cheap",)
UNROLLED = ("-O3",)
WARNINGS = (
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",
    "-Wno-missing-field-initializers",
    "-Werror=return-type",
)


def compile_flags(configuration: Configuration, toolchain: Toolchain) -> tuple[str, ...]:
    """For every file.

    What a kernel file's instruction set adds comes after these, and then TORCH_PY_CXXFLAGS, which can
    override all of them.
    """
    flags = [*LANGUAGE, "-O2", *VISIBILITY, *ARITHMETIC, *SECTIONS, *WARNINGS]
    if not toolchain.is_clang:
        flags += ["-fno-gnu-unique", "-Wno-psabi"]
    if configuration.debug:
        flags += ["-g", "-D_GLIBCXX_ASSERTIONS"]
    if configuration.sanitize:
        flags += sanitizer_flags(configuration.sanitize)
    if configuration.warnings_are_errors:
        flags.append("-Werror")
    return tuple(flags)


def sanitizer_flags(kinds: str) -> list[str]:
    """Programs go on after a report, so that one run finds everything.

    The allocator of tensors then returns blocks of exactly the requested size, which are used once. Otherwise
    an access beyond a block or after its end would be one to another tensor.
    """
    return [
        f"-fsanitize={kinds}",
        *(["-fsanitize-recover=address"] if "address" in kinds else []),
        "-fno-omit-frame-pointer",
        "-g1",
        "-DTORCH_PY_EXACT_BLOCKS",
    ]


def flavours(chosen: Iterable[InstructionSet], toolchain: Toolchain) -> dict[str, tuple[str, ...]]:
    """What each flavour of units (sources.py) adds to the flags of every file."""
    flags: dict[str, tuple[str, ...]] = {"baseline": (), "small": SMALL}
    for isa in chosen:
        flags[isa.name] = (*isa.flags, *isa.defines)
        flags[f"{isa.name}_small"] = (*flags[isa.name], *SMALL_LOOPS)
        flags[f"{isa.name}_unrolled"] = (*flags[isa.name], *UNROLLED)

    only_gcc = ("-fvect-cost-model=dynamic", *SMALL_LOOPS) if toolchain.is_clang else ()
    return {name: tuple(flag for flag in own if flag not in only_gcc) for name, own in flags.items()}


def link_flags(configuration: Configuration, toolchain: Toolchain) -> tuple[str, ...]:
    """For every shared object; search path, soname and libraries are the plan's."""
    flags = [
        "-shared",
        "-fopenmp",
        "-Wl,-Bsymbolic-functions",
        "-Wl,--gc-sections",
        "-Wl,-z,relro",
        "-Wl,-O2",  # strings share their ends
    ]

    if toolchain.linker:
        flags.append(f"-fuse-ld={toolchain.linker}")

    if configuration.sanitize:
        flags.append(f"-fsanitize={configuration.sanitize}")
    elif not configuration.debug:
        # Not --icf: it merges the cold parts of functions whose frames differ, and exceptions thrown there
        # could not be unwound.
        flags.append("-s")

    return (*flags, *configuration.link_flags)


def openmp_library(toolchain: Toolchain) -> str:
    """MKL's gnu_thread layer calls libgomp's entry points, which LLVM's libomp offers too."""
    return "-lomp" if toolchain.is_clang else "-lgomp"
