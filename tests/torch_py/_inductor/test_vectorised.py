"""Innermost loops of kernels become vector code."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import torch_py as torch
from tests.subject import only_torch_py
from tests.torch_py._inductor.programs import PROGRAMS, compiled, make

pytestmark = [
    only_torch_py,
    pytest.mark.skipif(shutil.which("g++") is None, reason="the report is that of g++"),
]

# With rows that are long enough for vectors.
_FORMS = {
    "layer_norm_of_sum": lambda: (make(8, 96), make(8, 96), make(96), make(96)),
    "chain": lambda: (make(16, 33), make(16, 33)),
    "softmax": lambda: (make(8, 256),),
    "sums": lambda: (make(64, 256),),
    "variance": lambda: (make(12, 256),),
    "joined": lambda: (make(6, 128), make(6, 64)),
    "heads": lambda: (make(8, 512),),
    "integers": lambda: (make(5, 80),),
}


def innermost_loops(source: str) -> set[int]:
    """The numbers of the lines at which loops without other loops inside begin.

    Copies are left out: compilers call memcpy for them.
    """
    lines = source.split("\n")
    found = set()
    for number, line in enumerate(lines):
        if not line.lstrip().startswith("for ("):
            continue

        depth = len(line) - len(line.lstrip())
        inside = []
        for following in lines[number + 1 :]:
            if len(following) - len(following.lstrip()) <= depth:
                break
            inside.append(following)

        is_copy = bool(re.search(r"= \w+\[lane\];$", inside[-1]))
        if not is_copy and not any(text.lstrip().startswith("for (") for text in inside):
            found.add(number + 1)
    return found


@pytest.mark.parametrize("name", _FORMS)
def test_innermost_loops_are_vectors(name: str, tmp_path: Path) -> None:
    from torch_py._inductor.compile_cpp import flags
    from torch_py.utils.cpp_extension import include_paths

    source = compiled(PROGRAMS[name][0], *_FORMS[name]()).source
    (tmp_path / "kernels.cpp").write_text(source)
    command = ["g++", *flags(), *(f"-I{path}" for path in include_paths()), "-fopt-info-vec-optimized"]
    done = subprocess.run(
        [*command, "-o", "kernels.so", "kernels.cpp"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    reported = {int(line) for line in re.findall(r"kernels\.cpp:(\d+):\d+: optimized", done.stderr)}
    lines = source.split("\n")
    missing = {n: lines[n - 1].strip() for n in innermost_loops(source) if n not in reported}
    assert not missing, f"{missing}\n{source}\n{done.stderr}"


def test_sums_of_constants_count_the_elements_of_the_row() -> None:
    """GCC 12 reads the first lanes of some constant packs again."""
    for count in (1, 2, 4, 5, 8, 12, 16, 24):
        torch.compiler.reset()
        total = torch.compile(lambda: (torch.ones(count) * torch.ones(count).exp()).sum())()  # noqa: B023
        torch.testing.assert_close(total, torch.ones(count).exp().sum())


def test_random_numbers_in_a_program_without_tensors() -> None:
    compiled = torch.compile(lambda: torch.empty(5).normal_() + torch.zeros(5).uniform_())
    torch.manual_seed(0)
    found = compiled()
    torch.manual_seed(0)
    torch.testing.assert_close(found, torch.empty(5).normal_() + torch.zeros(5).uniform_())
