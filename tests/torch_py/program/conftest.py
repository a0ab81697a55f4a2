"""The library of kernels that programs of these tests call."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the compiled kernels.cpp; skips tests where there is no C++ compiler."""
    named = (os.environ.get("CXX"), "g++", "clang++", "c++")
    compiler = next((name for name in named if name and shutil.which(name)), None)
    if compiler is None:
        pytest.skip("no C++ compiler")

    library = tmp_path_factory.mktemp("kernels") / "kernels.so"
    source = Path(__file__).parent / "kernels.cpp"
    subprocess.run([compiler, "-O2", "-fPIC", "-shared", str(source), "-o", str(library)], check=True)
    return str(library)
