"""Which headers of aten/vec define the words that kernels use."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

from torch_py._installation import include_paths

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
    """Whether aten/vec/pack.h has packs for this processor."""
    return {"avx2", "fma", "f16c"} <= set(cpu_features().split())


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
