"""Device code: kernels use the vocabulary of c10/cuda/Simt.h, which the emulation can execute and check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .finding import Finding
from .tree import CPP, ROOT, files

# The files that give CUDA's own words other names, and the emulation, which gives those a meaning.
VOCABULARY = tuple(f"c10/cuda/{name}.h" for name in ("Simt", "NativeSimt", "NativeMatrix", "Launch"))
EMULATION = "tests/emulation/"

COMMENT = re.compile(r"//.*")


@dataclass(frozen=True)
class Refused:
    pattern: re.Pattern[str]
    advice: str
    except_in: tuple[str, ...] = ()  # files, in addition to those above
    only_in: tuple[str, ...] = ("",)  # what paths begin with

    def concerns(self, path: str) -> bool:
        return path not in self.except_in and path.startswith(self.only_in)


REFUSED = (
    Refused(re.compile(r"<<<"), "start kernels with c10::cuda::launch of c10/cuda/Launch.h"),
    Refused(re.compile(r"\b__shared__\b"), "declare shared memory with SIMT_SHARED(name, float[32])"),
    Refused(
        re.compile(r"\b__sync(?:threads|warp)\w*"),
        "synchronise with simt::sync_block() or simt::sync_warp(mask)",
    ),
    Refused(
        re.compile(r"\b(?:__)?asm(?:__)?\b"),
        "add a function with an emulated twin to c10/cuda/NativeSimt.h and call that",
        only_in=("aten/native/", "c10/cuda/"),  # elsewhere it cannot become device code
    ),
    Refused(
        re.compile(r"\bcooperative_groups\b"),
        "use simt::sync_warp(mask) and shuffles; grids do not synchronise",
    ),
    Refused(
        re.compile(r"\bcudaStream(?:Legacy|PerThread)\b"),
        "work goes to c10::cuda::current_stream()",
        ("c10/cuda/Stream.cpp",),  # recognises the handle that a program passes
    ),
    Refused(
        re.compile(r"\bcudaMallocManaged\b|\b__managed__\b"),
        "memory comes from the allocator, and is either the device's or the host's",
    ),
)


def check(root: Path = ROOT) -> Iterator[Finding]:
    for path in files(CPP, root):
        yield from check_kernels(path, (root / path).read_text(errors="replace"))


def check_kernels(path: str, text: str) -> Iterator[Finding]:
    if path in VOCABULARY or path.startswith(EMULATION):
        return

    for number, line in enumerate(text.splitlines(), 1):
        code = COMMENT.sub("", line)
        for refused in REFUSED:
            found = refused.pattern.search(code)
            if found and refused.concerns(path):
                yield Finding(path, number, f"'{found[0]}' is not for this file; {refused.advice}")
