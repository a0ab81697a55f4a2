"""The CUDA library of a miniature repository: built for an emulated GPU, with nvcc, or not at all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.build import costs, driver
from tools.build.configuration import Configuration
from tools.build.cuda import COSTS_FILE, architecture_flags, find_nvcc, make_cuda_plan, wants_cuda
from tools.build.errors import BuildError

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")

SETTINGS = {"TORCH_PY_BLAS": "builtin", "TORCH_PY_CCACHE": "0", "TORCH_PY_ISAS": "DEFAULT"}
EXPORT = '__attribute__((visibility("default")))'
EMULATED = Path("build/emulation/libtorch_py_cuda.so")
REAL = Path("torch_py/lib/libtorch_py_cuda.so")

FILES = {
    "c10/cuda/Functions.cpp": '#include "c10/util/Version.h"\n'
    f'extern "C" {EXPORT} int cuda_version() {{ return version() * 10; }}\n',
    "aten/native/cuda/math/AddKernel.cu": '#include "c10/cuda/Launch.h"\nint plain(int x) { return x; }\n'
    "DEVICE int one() { return 1; }\nGLOBAL void add(int* to) { *to += one(); }\n"
    f'extern "C" {EXPORT} int launches() {{ return LAUNCHES; }}\n',
    "c10/cuda/Launch.h": "#pragma once\n#include <cuda_runtime.h>\n#ifdef TORCH_PY_CUDA_EMULATION\n"
    "#define DEVICE\n#define GLOBAL\n#define LAUNCHES emulated_launches()\n#else\n"
    "#define DEVICE __device__\n#define GLOBAL __global__\n#define LAUNCHES -1\n#endif\n",
    "tests/emulation/include/cuda_runtime.h": "int emulated_launches();\n",
    "tests/emulation/grid.cpp": "int emulated_launches() { return 3; }\n",
    "tests/emulation/examples/driver.cpp": "#error a program of its own, which is not part of the library\n",
}


@pytest.fixture
def tree(miniature: Path) -> Path:
    for name, text in FILES.items():
        path = miniature / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return miniature


def configured(**settings: str) -> Configuration:
    return Configuration.from_environment({**SETTINGS, **settings})


def result_of(library: Path, function: str) -> int:
    """What a function returns in a process of its own: this one may have another core of that name."""
    code = f"import ctypes; print(ctypes.CDLL({str(library.resolve())!r}).{function}())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_ordinary_build_leaves_it_out(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    driver.build(configured(TORCH_PY_VERBOSE="1"))
    assert "cuda" not in capsys.readouterr().out.lower()
    assert not list(tree.rglob("libtorch_py_cuda.so"))


def test_emulated_library_is_linked_to_the_core(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    driver.build(configured())
    driver.build_cuda(configured(), "emulation")
    assert f"({EMULATED})" in capsys.readouterr().out
    assert result_of(EMULATED, "cuda_version") == 70
    assert result_of(EMULATED, "launches") == 3
    assert not REAL.exists()

    driver.build_cuda(configured(), "emulation")
    assert capsys.readouterr().out == ""


def test_symbol_that_is_nowhere_defined_is_a_link_error(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "tests/emulation/grid.cpp").write_text("")
    driver.build(configured())
    with pytest.raises(BuildError):
        driver.build_cuda(configured(), "emulation")
    assert "emulated_launches" in capsys.readouterr().out


def test_edited_header_of_the_emulation_recompiles(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    driver.build(configured())
    driver.build_cuda(configured(), "emulation")
    (tree / "tests/emulation/include/cuda_runtime.h").write_text("int emulated_launches();\n// edited\n")
    capsys.readouterr()
    driver.build_cuda(configured(TORCH_PY_VERBOSE="1"), "emulation")
    shown = capsys.readouterr().out
    assert "AddKernel.cu -o" in shown and "grid.cpp -o" not in shown


def test_one_file_is_compiled_alone(tree: Path) -> None:
    driver.build_cuda(configured(), "emulation", ("aten/native/cuda/math/AddKernel.cu",))
    assert [path.name for path in tree.rglob("*.o")] == ["AddKernel.cu.o"]


def test_sanitized_one_has_a_folder_of_its_own(tree: Path) -> None:
    driver.build(configured())
    driver.build_cuda(configured(TORCH_PY_SANITIZE="address"), "emulation")
    assert (tree / "build/emulation-address/libtorch_py_cuda.so").exists()
    assert not EMULATED.exists()


def test_commands_do_not_name_the_checkout(tree: Path) -> None:
    driver.build(configured())
    driver.build_cuda(configured(), "emulation")
    assert str(tree) not in (tree / "build/emulation/build.ninja").read_text()


@needs_nvcc
def test_nvcc_builds_what_loads_without_a_driver(tree: Path) -> None:
    driver.build(configured())
    driver.build_cuda(configured(), "cuda")
    assert result_of(REAL, "cuda_version") == 70
    assert result_of(REAL, "launches") == -1

    needed = subprocess.run(["readelf", "-d", str(REAL)], capture_output=True, text=True, check=True).stdout
    assert "libtorch_py.so" in needed and "libcudart" not in needed


@needs_nvcc
def test_kernel_that_calls_a_host_function_is_refused(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = tree / "aten/native/cuda/math/AddKernel.cu"
    kernel.write_text(kernel.read_text().replace("*to += one()", "*to += plain(1)"))
    driver.build(configured())
    with pytest.raises(BuildError):
        driver.build_cuda(configured(), "cuda")
    assert 'calling a __host__ function("plain' in capsys.readouterr().out


def test_absent_nvcc_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BuildError, match="nvcc is not on PATH.*make emulation"):
        find_nvcc()


def test_sanitizers_are_for_the_emulation(tree: Path) -> None:
    with pytest.raises(BuildError, match="compute-sanitizer"):
        make_cuda_plan(configured(TORCH_PY_SANITIZE="thread"), "cuda")


def test_code_for_each_architecture_and_for_later_ones() -> None:
    assert architecture_flags(("80", "100", "90")) == (
        "-gencode=arch=compute_80,code=sm_80",
        "-gencode=arch=compute_100,code=sm_100",
        "-gencode=arch=compute_90,code=sm_90",
        "-gencode=arch=compute_100,code=compute_100",
    )


def test_when_an_ordinary_build_includes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not wants_cuda(configured())
    assert wants_cuda(configured(TORCH_PY_CUDA="1"))
    monkeypatch.setenv("PATH", os.devnull)
    assert not wants_cuda(configured(TORCH_PY_CUDA="auto"))


@needs_nvcc
def test_costs_of_files_and_of_the_library_have_limits(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.build(configured())
    driver.build_cuda(configured(), "cuda")
    kernel = "build/objects/cuda/aten/native/cuda/math/AddKernel.cu.o"
    assert 0.1 < costs.read_costs(Path(COSTS_FILE))[kernel] < costs.SECONDS_OF_A_FILE
    capsys.readouterr()
    assert costs.main() == 0
    assert kernel in capsys.readouterr().out

    monkeypatch.setattr(costs, "SECONDS_OF_A_FILE", 0.1)
    monkeypatch.setattr(costs, "MEGABYTES_OF_AN_ARCHITECTURE", 0.001)
    assert costs.main() == 1
    said = capsys.readouterr().out
    assert f"{kernel}: " in said and "split the file" in said
    assert f"{REAL}: " in said and "fewer instances" in said
