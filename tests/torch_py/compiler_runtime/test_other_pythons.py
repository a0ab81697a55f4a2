"""Frames of the other versions of Python that are at hand, in an extension module without tensors.

The versions differ in nothing else of the compiler's runtime as much, and this takes seconds to build.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import cpp_driver
from tests.subject import not_sanitized

HERE = Path(__file__).parent
REPOSITORY = Path(__file__).resolve().parents[3]
OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
OTHERS = [version for version in ("3.10", "3.11", "3.12", "3.13") if version != OWN]
TESTS = ("__init__.py", "frames.py", "test_resume.py", "test_frame_hook.py")
SOURCES = (
    "tests/torch_py/compiler_runtime/frames_alone.cpp",
    "torch_py/csrc/compiler/Module.cpp",
    "torch_py/csrc/compiler/frames/Evaluator.cpp",
    "torch_py/csrc/compiler/frames/FrameHook.cpp",
    "torch_py/csrc/compiler/frames/Resume.cpp",
)
# What pytest consists of; it is the same for all versions from 3.11 on.
PYTEST = ("pytest", "_pytest", "py.py", "pluggy", "iniconfig", "packaging", "pygments")
ASK = "import sysconfig, pytest; print(sysconfig.get_path('include'))"


def interpreter(version: str) -> str | None:
    installed = sorted(Path("~/.pyenv/versions").expanduser().glob(f"{version}.*/bin/python{version}"))
    return str(installed[-1]) if installed else shutil.which(f"python{version}")


def link_packages(folder: Path) -> None:
    folder.mkdir()
    site_packages = Path(pytest.__file__).parents[1]
    for name in PYTEST:
        if (site_packages / name).exists():
            (folder / name).symlink_to(site_packages / name)


def build(folder: Path, include: str) -> None:
    """The package torch_py with nothing but _C._compiler."""
    package = folder / "torch_py"
    package.mkdir()
    (package / "__init__.py").write_text("from . import _C\n")
    warnings = ("-Wno-unused-parameter", "-Wno-missing-field-initializers")
    flags = ("-O1", "-shared", "-fPIC", "-fvisibility=hidden", *warnings)
    includes = ("-Ibuild/generated", f"-isystem{REPOSITORY / 'build/include'}", f"-isystem{include}")
    cpp_driver.build(package / "_C.so", list(SOURCES), *flags, *includes)


@not_sanitized
@pytest.mark.parametrize("version", OTHERS)
def test_frames(version: str, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version}")
    link_packages(tmp_path / "packages")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{tmp_path / 'packages'}"}
    asked = subprocess.run([python, "-c", ASK], capture_output=True, text=True, env=environment)
    if asked.returncode != 0:
        pytest.skip(f"Python {version} cannot run pytest: {asked.stderr.strip().splitlines()[-1]}")

    build(tmp_path, asked.stdout.strip())
    (tmp_path / "tests").mkdir()
    for name in TESTS:
        shutil.copy(HERE / name, tmp_path / "tests" / name)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
