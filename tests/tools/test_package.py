"""The contents of a wheel, and an operator library that finds its tools in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools.build import isa, package
from tools.build.errors import BuildError
from tools.build.operator_library import OperatorLibrary, units
from torch_py.utils.cpp_extension._build import _unpacked

ROOT = Path(__file__).parents[2]


def test_wheel_holds_libraries_headers_and_toolchain(miniature: Path, tmp_path: Path) -> None:
    for name in (
        "torch_py/lib/libtorch_py.so",
        "torch_py/_C.cpython-311-x86_64-linux-gnu.so",
        "build/generated/aten/ops/add.h",
        "build/generated/aten/native/SumNative.h",
        "build/generated/aten/native/declarations/cpu/SumKernel.isa.h",
        "build/generated/torch_py/csrc/autograd/generated/SumNodes.h",
        "build/generated/torch_py/_C.pyi",
        "templates/aten/ops/operator.h.jinja",
        "tools/__init__.py",
        "tools/build/isa.py",
        "tools/lint/text.py",
        "c10/cuda/Launch.h",
        "aten/native/cuda/SumKernel.cu",
        "native_functions.yaml",
    ):
        (miniature / name).parent.mkdir(parents=True, exist_ok=True)
        (miniature / name).touch()

    destination = tmp_path / "wheel"
    package.collect(miniature, destination)
    held = {
        path.relative_to(destination / "torch_py").as_posix()
        for path in destination.rglob("*")
        if path.is_file()
    }

    assert held == {
        "lib/libtorch_py.so",
        "_C.cpython-311-x86_64-linux-gnu.so",
        "_C.pyi",
        "include/aten/ops/add.h",
        "include/c10/util/Version.h",
        "_toolchain.tar.xz",
    }


def test_toolchain_is_unpacked_once(miniature: Path, tmp_path: Path) -> None:
    for name in (
        "templates/aten/ops/operator.h.jinja",
        "tools/__init__.py",
        "tools/build/isa.py",
        "tools/lint/text.py",
        "aten/native/cuda/SumKernel.cu",
        "aten/native/shared/Rows.h",
        "native_functions.yaml",
    ):
        (miniature / name).parent.mkdir(parents=True, exist_ok=True)
        (miniature / name).write_text(name)
    archive = tmp_path / "toolchain.tar.xz"
    package.pack(miniature, package.toolchain_files(miniature), archive)
    packed = archive.read_bytes()

    folder = _unpacked(archive, tmp_path / "output")
    held = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert held == {
        "native_functions.yaml",
        "templates/aten/ops/operator.h.jinja",
        "aten/native/Sum.cpp",
        "aten/native/cpu/SumKernel.isa.cpp",
        "aten/native/cuda/SumKernel.cu",
        "codegen/__init__.py",
        "codegen/__main__.py",
        "tools/__init__.py",
        "tools/build/isa.py",
    }
    assert (folder / "tools/build/isa.py").read_text() == "tools/build/isa.py"

    # The same files make the same archive, which is not unpacked again.
    os.utime(miniature / "native_functions.yaml", (1, 1))
    package.pack(miniature, package.toolchain_files(miniature), archive)
    assert archive.read_bytes() == packed
    (folder / "mark").touch()
    assert _unpacked(archive, tmp_path / "output") == folder
    assert [path.name for path in (tmp_path / "output").iterdir()] == [folder.name]
    assert (folder / "mark").exists()

    # Others are.
    (miniature / "native_functions.yaml").write_text("topics: {}")
    package.pack(miniature, package.toolchain_files(miniature), archive)
    assert _unpacked(archive, tmp_path / "output") != folder


def test_generated_stubs_come_and_go_with_what_generates_them(miniature: Path) -> None:
    stub = miniature / "build/generated/torch_py/_C.pyi"
    stub.parent.mkdir(parents=True)
    stub.write_text("x: int\n")
    package.place_generated_python(miniature)
    assert (miniature / "torch_py/_C.pyi").read_text() == "x: int\n"
    stub.unlink()
    package.place_generated_python(miniature)
    assert not (miniature / "torch_py/_C.pyi").exists()
    assert (miniature / "torch_py/__init__.py").exists()


def test_build_tools_need_nothing_that_a_wheel_lacks() -> None:
    """tools/build also runs from a wheel's toolchain, without tools/lint and the rest of the repository."""
    for path in (ROOT / "tools/build").glob("*.py"):
        assert "tools.lint" not in path.read_text(), path


def operator_library(tmp_path: Path, text: str) -> OperatorLibrary:
    (tmp_path / "ops.yaml").write_text(text)
    return OperatorLibrary(tmp_path / "ops.yaml", tmp_path / "output", (), tmp_path / "lib")


def test_operator_library_compiles_kernels_per_instruction_set(tmp_path: Path) -> None:
    library = operator_library(tmp_path, "# mine\nlibrary: softcap_ops\ntopics: {}\n")
    generated = ("output/generated/aten/native/cpu/SoftcapKernel.isa.cpp", "output/generated/Register.cpp")
    for_cuda = ("aten/native/cuda/Mine.cu", "output/generated/aten/register/cuda/Mine.cpp")
    for name in (*generated, "aten/native/cpu/Mine.isa.cpp", "aten/native/cpu/Mine.cpp", *for_cuda):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    assert library.name == "softcap_ops"
    chosen = isa.selected(("DEFAULT", "AVX2"), "x86_64")
    once = [f"objects/baseline/{name}.o" for name in ("aten/native/cpu/Mine", "generated/Register")]
    kernels = ("aten/native/cpu/Mine.isa", "generated/aten/native/cpu/SoftcapKernel.isa")
    each = [
        f"objects/{instruction_set}/{name}.o" for instruction_set in ("DEFAULT", "AVX2") for name in kernels
    ]

    assert [unit.object for unit in units(library, chosen)] == once + each


def test_operator_library_without_a_name(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="write 'library: NAME'"):
        _ = operator_library(tmp_path, "topics: {}\n").name
