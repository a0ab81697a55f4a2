"""The byte code of other versions of Python."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from tests.subject import not_sanitized
from tests.torch_py.compiler_runtime.test_other_pythons import build
from torch_py._dynamo import decode
from torch_py._dynamo.handlers import all_handlers

SCRIPT = Path(__file__).parent / "interpret_plain.py"
VERSIONS = ["3.10", "3.11", "3.12", "3.13"]


def interpreter(version):
    if f"{sys.version_info[0]}.{sys.version_info[1]}" == version:
        return sys.executable
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(found[-1]) if found else None


def run(python, *arguments):
    return subprocess.run([python, *arguments], capture_output=True, text=True, timeout=120)


@not_sanitized
@pytest.mark.parametrize("version", VERSIONS)
def test_programs_without_tensors(version, tmp_path):
    """They are interpreted, and interrupted anywhere for CPython to run the rest."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"Python {version} is not installed")
    include = run(python, "-c", "import sysconfig; print(sysconfig.get_path('include'))").stdout.strip()
    build(tmp_path, include)
    result = run(python, str(SCRIPT), str(tmp_path / "torch_py/_C.so"))
    assert result.returncode == 0, result.stdout + result.stderr


def _instructions_of(owner):
    """The names that a text gives: as values of tables, and with an argument in pairs."""
    found = set()
    for node in ast.walk(ast.parse(inspect.getsource(owner))):
        places = node.values if isinstance(node, ast.Dict) else []
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:
            places = node.elts[:1]
        texts = [part.value for place in places for part in ast.walk(place) if isinstance(part, ast.Constant)]
        found |= {text for text in texts if isinstance(text, str) and text.islower()}
    return found


def test_handlers_are_the_instructions_of_all_versions():
    handlers = {name for name, handler in all_handlers().items() if handler.__name__ != "unsupported"}
    names = _instructions_of(decode)
    assert names <= handlers

    pythons = [interpreter(version) for version in VERSIONS]
    if None in pythons:
        pytest.skip("some version of Python is not installed")
    for python in pythons:
        names.update(run(python, str(SCRIPT), "names").stdout.split())
    assert handlers <= names
