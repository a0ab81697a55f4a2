"""``new`` drafts operators of all kinds from their schemas; every draft passes the check and compiles."""

from __future__ import annotations

import subprocess
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.diagnostics import Diagnostics
from codegen.model import Program, load, read_program
from codegen.schema import FunctionSchema
from codegen.targets.torch_py.cli import new
from codegen.targets.torch_py.cli.drafts import dtypes_like, entry_text, kernel_stubs, structure_like
from codegen.targets.torch_py.cli.insertion import with_stub
from codegen.targets.torch_py.emit import generate
from tests.codegen.test_cli import check_with_docs, checkout

__all__ = ["checkout"]
ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = [line for line in (Path(__file__).parent / "drafted.txt").read_text().splitlines() if line]
_GENERATED = ROOT / "build" / "generated"
_LIBRARY = "drafts_of_tests"


def test_there_are_schemas_of_all_kinds():
    assert len(SCHEMAS) >= 40
    kinds = {structure_like(FunctionSchema.parse(new._without_module(text)[1])) for text in SCHEMAS}
    assert kinds == {"pointwise", "reduction", "view", "shaped", "composite", "mutation"}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_drafts_pass_the_check(schema: str, checkout: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["new", schema, "--topic", "Fresh", "--write"]) == 0, capsys.readouterr().err
    assert check_with_docs(checkout) == 0, capsys.readouterr().err


def test_drafts_compile(tmp_path: Path):
    """All drafts together, in a library outside the tree."""
    if not _GENERATED.is_dir():
        pytest.skip("the headers of the tree are not generated")

    tree = load(ROOT / "native_functions.yaml")
    file = tmp_path / "operators.yaml"
    file.write_text(_drafted(tree, tmp_path))
    problems = Diagnostics()
    program = read_program(file, problems, tree)
    assert not problems and program is not None, problems.render()
    generate(program, tmp_path / "generated")

    sources = [*tmp_path.glob("aten/**/*.cpp"), *tmp_path.glob("generated/**/*.cpp")]
    assert len(sources) >= 5
    include = [tmp_path / "generated", tmp_path, ROOT, _GENERATED, sysconfig.get_paths()["include"]]
    flags = [f"-I{folder}" for folder in include]
    for source in sources:
        isa = ["-DCPU_CAPABILITY=DEFAULT", "-DCPU_CAPABILITY_DEFAULT"] if ".isa." in source.name else []
        command = ["g++", "-std=c++20", "-fsyntax-only", "-Werror=return-type", *flags, *isa, str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{source.name}\n{done.stderr[:3000]}"


def _drafted(tree: Program, folder: Path) -> str:
    """The YAML of a library with a draft for each schema; their functions are written below ``folder``."""
    entries = []
    texts: dict[Path, str] = {}
    for text in SCHEMAS:
        module, text = new._without_module(text)
        schema, has_out = new._without_out(FunctionSchema.parse(text))
        structure = structure_like(schema)
        operator = new._operator(schema, "Drafts", structure, "")
        operator = replace(operator, dtype_sets=dtypes_like(tree, structure, False))
        if has_out:
            operator = replace(operator, variants=("function", "out"))
        if module is not None:
            operator = replace(operator, python_module=module)

        entries.append(entry_text(operator, None, tree, "unary"))
        for stub in kernel_stubs(operator):
            path = folder / stub.path
            texts[path] = with_stub(path, stub.text, texts.get(path), stub.include)

    for path, source in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return f"library: {_LIBRARY}\ntopics:\n  Drafts:\n" + "\n".join(entries)
