"""Whether a build of some operators can be linked, from the objects of the build of all."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from codegen.model import load
from codegen.output.generation import render
from codegen.targets.torch_py import TARGET
from codegen.targets.torch_py.selection import target_of
from tests.cpp_driver import REPOSITORY, object_file

OBJECTS = REPOSITORY / "build/objects"
LIST = "add.Tensor\nlinear\nrelu\nconv2d\ncross_entropy_loss\nmean\n"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not OBJECTS.is_dir(), reason="needs a build"),
    pytest.mark.skipif(shutil.which("nm") is None, reason="needs nm"),
]


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], dict[str, str]]:
    """The generated files with all operators, and with those of LIST."""
    names = tmp_path_factory.mktemp("selection") / "list.txt"
    names.write_text(LIST)
    program = load(REPOSITORY / "native_functions.yaml", dialect=TARGET.dialect)
    return dict(render(program, TARGET)), dict(render(program, target_of(names, TARGET)))


def test_what_stays_does_not_need_what_is_gone(trees: tuple[dict[str, str], dict[str, str]]):
    whole, some = trees
    gone = {_object(path) for path in whole if path.endswith(".cpp") and path not in some}
    changed = {_object(path) for path, text in some.items() if text != whole[path]}
    of_gone, of_rest = [], []
    for path in OBJECTS.glob("[bDA]*/**/*.o"):  # baseline and the instruction sets
        name = path.relative_to(OBJECTS).as_posix().partition("/")[2]
        if name in gone:
            of_gone.append(path)
        elif name not in changed:
            of_rest.append(path)
    assert len(of_gone) > 100 and len(changed) > 50

    needed, kept = _symbols(of_rest)
    _, lost = _symbols(of_gone)
    assert not (needed & lost) - kept


def test_a_registration_compiles(trees: tuple[dict[str, str], dict[str, str]], tmp_path: Path):
    some = trees[1]
    name = "aten/register/Linear.cpp"
    assert "left_out::refuse(entry)" in some[name] and "&linear" in some[name]
    for path in ("aten/native/LinearNative.h", "aten/native/loops/Linear.h", name):
        if path in some:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(some[path])

    # Declarations are those of every build.
    warnings = ("-Wno-unused-parameter", "-Wno-missing-field-initializers", "-Wno-psabi")
    places = (f"-I{tmp_path}", "-Ibuild/generated")
    object_file(tmp_path / "Linear.o", str(tmp_path / name), *warnings, *places, "-fopenmp")


def _object(path: str) -> str:
    """The object of a generated file, below the folder of its instruction set."""
    return f"generated/{path.removesuffix('.cpp')}.o"


def _symbols(objects: Iterable[Path]) -> tuple[set[str], set[str]]:
    """What they need of others or one another, and what they define."""
    command = ["nm", "-g", "--no-demangle", *map(str, objects)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    needed: set[str] = set()
    defined: set[str] = set()
    for line in printed.splitlines():
        kind, _, name = line[17:].partition(" ")
        if name:
            (needed if kind == "U" else defined).add(name)
    return needed, defined
