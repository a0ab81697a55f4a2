"""The whole build of a miniature repository: what compiles when, messages of failures, exported symbols."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools.build import driver
from tools.build.configuration import Configuration
from tools.build.errors import BuildError
from tools.build.sources import Unit

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None and shutil.which("clang++") is None, reason="needs a C++ compiler"
)
SETTINGS = {"TORCH_PY_BLAS": "builtin", "TORCH_PY_CCACHE": "0"}


def build(capsys: pytest.CaptureFixture[str], **settings: str) -> str:
    driver.build(Configuration.from_environment({**SETTINGS, **settings}))
    return capsys.readouterr().out


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    later = time.time() + 2  # file systems may have coarse time stamps
    os.utime(path, (later, later))


def test_result_can_be_imported_and_second_build_does_nothing(
    miniature: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = build(capsys)
    assert "built " in first and "BLAS: builtin" in first
    shown = subprocess.run(
        [sys.executable, "-c", "import torch_py._C; print(torch_py._C.sum)"],
        cwd=miniature,
        capture_output=True,
        text=True,
    )
    assert shown.stdout == "10\n", shown.stderr
    assert build(capsys) == ""


def test_only_what_depends_on_an_edited_file_is_recompiled(
    miniature: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(capsys)
    edit(miniature / "c10/util/Version.h", "#pragma once", "#pragma once\n// edited")
    shown = build(capsys, TORCH_PY_VERBOSE="1")
    names = ("Version.cpp", "Sum.cpp", "SumKernel.cpp", "Gemm.cpp", "Module.cpp")
    compiled = {name for name in names if f"/{name} -o" in shown}
    assert compiled == {"Version.cpp", "Sum.cpp"}


def test_flags_of_the_user_come_last(miniature: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = build(capsys, TORCH_PY_VERBOSE="1", TORCH_PY_ISAS="DEFAULT", TORCH_PY_CXXFLAGS="-O0")
    for source in ("Version.cpp", "SumKernel.isa.cpp"):
        (command,) = [line for line in shown.splitlines() if f"/{source} -o" in line]
        assert [word for word in command.split() if word.startswith("-O")][-1] == "-O0"


def test_objects_of_another_checkout_are_linked(miniature: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(capsys)
    for path in (miniature / "torch_py").glob("_C*"):
        path.unlink()
    shutil.move(miniature / "build/objects", miniature / "compiled")

    def foreign(unit: Unit) -> str:
        own = unit.source.startswith("c10/")
        return "" if own else str(miniature / "compiled" / unit.object.removeprefix("build/objects/"))

    configuration = Configuration.from_environment({**SETTINGS, "TORCH_PY_VERBOSE": "1"})
    driver.build(configuration, foreign=foreign)
    shown = capsys.readouterr().out
    assert "/Version.cpp -o" in shown and "/Sum.cpp -o" not in shown
    assert list((miniature / "torch_py").glob("_C*.so"))


def test_objects_of_a_removed_file_go(miniature: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(capsys)
    old = miniature / "build/objects/baseline/torch_py/csrc/autograd/Engine.o"
    assert old.exists()
    (miniature / "torch_py/csrc/autograd/Engine.cpp").rename(miniature / "torch_py/csrc/autograd/Graph.cpp")
    build(capsys)
    assert not old.exists()


def test_compile_error_shows_the_compilers_words_and_not_the_command(
    miniature: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(miniature / "aten/native/Sum.cpp", "int gemm();", "int gemm()")
    with pytest.raises(BuildError, match="the build failed"):
        driver.build(Configuration.from_environment(SETTINGS))
    shown = capsys.readouterr().out
    assert "error while compiling aten/native/Sum.cpp" in shown
    assert "aten/native/Sum.cpp:3:" in shown
    assert "-fvisibility" not in shown


def test_symbol_that_is_nowhere_defined_is_a_link_error(
    miniature: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(miniature / "aten/native/Sum.cpp", "int gemm();", "int gemm(); int nowhere();")
    edit(miniature / "aten/native/Sum.cpp", "return gemm() +", "return nowhere() + gemm() +")
    with pytest.raises(BuildError):
        driver.build(Configuration.from_environment(SETTINGS))
    assert "nowhere" in capsys.readouterr().out


def test_generators_refusal_is_shown_and_nothing_is_compiled(
    miniature: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (miniature / "refuse").touch()
    with pytest.raises(BuildError, match="refused the declarations"):
        driver.build(Configuration.from_environment(SETTINGS))
    assert "native_functions.yaml:3:5: add: no such kernel" in capsys.readouterr().out
    assert not (miniature / "build/objects").exists()


def test_only_marked_functions_are_visible(miniature: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("nm") is None:
        pytest.skip("needs nm")
    build(capsys)
    library = miniature / "torch_py/lib/libtorch_py.so"
    symbols = subprocess.run(
        ["nm", "-DC", "--defined-only", str(library)], capture_output=True, text=True, check=True
    ).stdout
    assert "sum()" in symbols and "version()" in symbols
    assert "hidden_helper" not in symbols and "sum_kernel" not in symbols


def test_one_file_for_every_instruction_set(miniature: Path, capsys: pytest.CaptureFixture[str]) -> None:
    driver.build(Configuration.from_environment(SETTINGS), only=("./aten/native/cpu/SumKernel.isa.cpp",))
    objects = sorted((miniature / "build/objects").rglob("*.o"))
    assert {path.name for path in objects} == {"SumKernel.isa.o"}
    with pytest.raises(BuildError, match="aten/native/Nothing.cpp"):
        driver.build(Configuration.from_environment(SETTINGS), only=("aten/native/Nothing.cpp",))


def test_commands_do_not_name_the_checkout(miniature: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The keys of ccache contain the command: an absolute path would recompile it in each checkout."""
    build(capsys)
    assert str(miniature) not in (miniature / "build/build.ninja").read_text()


def test_second_build_at_the_same_time_waits(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from tools.build.driver import lock\n"
        "with lock(Path(sys.argv[1])):\n    print('in', flush=True); time.sleep(0.6); print('out', "
        "flush=True)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / ".lock")]
    root = Path(__file__).parents[2]

    log = tmp_path / "log"
    with log.open("w") as file:
        for process in [subprocess.Popen(command, cwd=root, stdout=file) for _ in range(2)]:
            assert process.wait() == 0

    order = [word for word in log.read_text().split() if word in ("in", "out")]
    assert order == ["in", "out", "in", "out"]


@pytest.mark.skipif(shutil.which("g++") is None, reason="clang compiles without precompiled headers")
class TestPrecompiledHeader:
    HEADER = "aten/core/Precompiled.h"

    @pytest.fixture
    def tree(self, miniature: Path) -> Path:
        path = miniature / self.HEADER
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('#pragma once\n#include "c10/util/Version.h"\n')
        return miniature

    def test_files_of_its_folders_load_it(self, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
        shown = build(capsys, TORCH_PY_VERBOSE="1", CXX="g++")
        output = f"build/precompiled/baseline/{self.HEADER}"
        assert (tree / f"{output}.gch").exists()
        loading = {
            line.split(" -c ")[1].split()[0] for line in shown.splitlines() if f"-include {output}" in line
        }
        assert loading == {"aten/native/Sum.cpp", "torch_py/csrc/autograd/Engine.cpp"}
        assert not (tree / "build/warnings.txt").exists()  # none that could not be used

    def test_a_change_below_it_recompiles_them(self, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
        build(capsys, CXX="g++")
        edit(tree / "c10/util/Version.h", "#pragma once", "#pragma once\n// edited")
        shown = build(capsys, TORCH_PY_VERBOSE="1", CXX="g++")
        assert {
            name for name in ("Sum.cpp", "Engine.cpp", "Gemm.cpp", "Module.cpp") if f"/{name} -o" in shown
        } == {"Sum.cpp", "Engine.cpp"}

    def test_without(self, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert "built " in build(capsys, TORCH_PY_PCH="0", CXX="g++")
        assert not (tree / "build/precompiled").exists()


def test_a_build_that_is_ended_ends_its_compilers(miniature: Path, tmp_path: Path) -> None:
    compiler = tmp_path / "slow"
    compiler.write_text('#!/bin/sh\ncase "$*" in *Sum.cpp*) touch started; sleep 60;; esac\nexec g++ "$@"\n')
    compiler.chmod(0o755)

    source = (
        "import sys, os\nfrom pathlib import Path\nfrom tools.build import driver\nfrom "
        "tools.build.configuration import Configuration\n"
    )
    source += f"driver.ROOT = Path({str(miniature)!r})\nos.chdir(driver.ROOT)\n"
    source += f"driver.build(Configuration.from_environment({SETTINGS | {'CXX': str(compiler)}!r}))\n"

    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", source], cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )

    deadline = time.monotonic() + 60
    while not (miniature / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.05)

    process.terminate()
    assert process.wait(timeout=20) == 143
    assert not any(
        str(compiler).encode() in command_line(path) for path in Path("/proc").glob("[0-9]*/cmdline")
    )


def command_line(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # of a process that has ended meanwhile
        return b""
