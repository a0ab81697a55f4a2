"""Builds without a BLAS library load LAPACK when they need it: see Note [A LAPACK that is loaded]."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cpp_driver

DRIVER = "tests/aten/lapack_loader_driver.cpp"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loader")
    cpp_driver.build(folder / "libscipy_openblas.so", [DRIVER], "-shared", "-fPIC", "-DLOOKS_LIKE_OPENBLAS")
    return cpp_driver.build(folder / "program", [DRIVER, "aten/blas/LapackLoader.cpp"], "-ldl")


def test_functions_of_the_wheel_have_its_prefix(program: Path) -> None:
    library = str(program.parent / "libscipy_openblas.so")
    found = cpp_driver.run(program, TORCH_PY_LAPACK=library)
    assert found == "2 threads, 7, LAPACK lacks dgetrf_\n"


def test_a_library_that_is_not_there_is_reported(program: Path) -> None:
    assert cpp_driver.run(program, TORCH_PY_LAPACK="/nowhere.so") == "none\n"


def test_a_library_is_found_on_the_path(program: Path) -> None:
    assert "7, " in cpp_driver.run(program, LD_LIBRARY_PATH=str(program.parent), TORCH_PY_LAPACK="")
