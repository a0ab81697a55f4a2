"""The byte code of other versions of Python."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "interpret_plain.py"
VERSIONS = ["3.10", "3.11", "3.12", "3.13"]


def interpreter(version):
    if f"{sys.version_info[0]}.{sys.version_info[1]}" == version:
        return sys.executable
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(found[-1]) if found else None


@pytest.mark.parametrize("version", VERSIONS)
def test_programs_without_tensors(version):
    python = interpreter(version)
    if python is None:
        pytest.skip(f"Python {version} is not installed")
    result = subprocess.run([python, str(SCRIPT)], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stdout + result.stderr
