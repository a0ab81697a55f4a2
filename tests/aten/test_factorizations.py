"""Our own factorizations and triangular systems, for every element type and instruction set."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cpp_driver

from tests.aten.test_blas import LEVELS


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("factorizations")
    levels = LEVELS if platform.machine() == "x86_64" else {"DEFAULT": LEVELS["DEFAULT"]}
    objects = [
        cpp_driver.object_file(
            folder / f"{level}.o", "aten/blas/lapack/Blocks.isa.cpp", f"-DCPU_CAPABILITY={level}", *flags
        )
        for level, flags in levels.items()
    ]
    sources = ["tests/aten/factorizations_driver.cpp", "aten/blas/lapack/Factorizations.cpp", *objects]
    return cpp_driver.build(folder / "program", sources, "-O1")


@pytest.mark.parametrize("capability", range(len(LEVELS)), ids=list(LEVELS))
def test_equal_their_definitions(program: Path, capability: int) -> None:
    if capability > 0 and list(LEVELS)[capability].lower() not in supported():
        pytest.skip("the processor does not have it")
    assert cpp_driver.run(program, str(capability)) == "ok\n"


def supported() -> str:
    """The flags of the processor, as Linux lists them."""
    return Path("/proc/cpuinfo").read_text() if platform.system() == "Linux" else ""
