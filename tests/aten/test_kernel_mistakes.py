"""What authors of kernels read after a mistake: what to change, and not that torch_py has a bug."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cpp_driver import REPOSITORY, build, run

LIBRARIES = REPOSITORY / "torch_py/lib"


@pytest.mark.skipif(not (LIBRARIES / "libtorch_py.so").exists(), reason="needs a build")
def test_function_with_other_parameters(tmp_path: Path) -> None:
    sources = ["tests/aten/kernel_mistakes_driver.cpp", str(LIBRARIES / "libtorch_py.so")]
    warnings = ("-Wno-unused-parameter", "-Wno-missing-field-initializers", "-Wno-psabi")
    capability = ("-DCPU_CAPABILITY=DEFAULT", "-DCPU_CAPABILITY_DEFAULT")
    places = ("-fopenmp", "-Ibuild/generated", f"-Wl,-rpath,{LIBRARIES}")

    printed = run(build(tmp_path / "driver", sources, *warnings, *capability, *places))
    assert printed.startswith(
        "twice: the function that its kernel passes to cpu_kernel takes 2 elements, but the operator has 1"
    )
    assert "bug in torch_py" not in printed
