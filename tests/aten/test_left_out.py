"""Operators that are not part of a build: every way to call one ends with the same error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cpp_driver import REPOSITORY, build, run

LIBRARIES = REPOSITORY / "torch_py/lib"


@pytest.mark.skipif(not (LIBRARIES / "libtorch_py.so").exists(), reason="needs a build")
def test_calls(tmp_path: Path) -> None:
    sources = ["tests/aten/left_out_driver.cpp", str(LIBRARIES / "libtorch_py.so")]
    warnings = ("-Wno-unused-parameter", "-Wno-missing-field-initializers", "-Wno-psabi")
    places = ("-fopenmp", "-Ibuild/generated", f"-Wl,-rpath,{LIBRARIES}")

    printed = run(build(tmp_path / "driver", sources, *warnings, *places)).splitlines()
    error = (
        "operator 'gone.Tensor' is not part of this build of torch_py, which has a selection of operators: "
        "add the line gone.Tensor to the list that TORCH_PY_OPERATORS names, and build again"
    )
    assert printed == [f"call: {error}", f"boxed: {error}"]
