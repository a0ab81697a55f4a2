"""The stub of the native module has the documentation that is written in C++."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from codegen.output.templates import Templates
from codegen.targets.torch_py import TARGET
from codegen.targets.torch_py.emit.native_docs import texts_in, with_docstrings
from tests.python_process import REPOSITORY

STUB = """\
class Size:
    def numel(self) -> int: ...

class TensorBase:
    @property
    def T(self) -> Tensor: ...
    def dim(
        self,
    ) -> int: ...
    def other(self) -> int: ...

def dim(x: Tensor) -> int: ...
def tensor(data: Any) -> Tensor: ...
"""


def documented(folder: Path) -> ast.Module:
    bindings = folder / "torch_py/csrc/bindings"
    (bindings / "tensor").mkdir(parents=True)
    (bindings / "Texts.cpp").write_text(
        'const char torch_tensor[] =\n    R"(tensor(data)\n--\n\n'
        'Makes a tensor.\n\nExample:\n    >>> tensor(1))";\n\n'
        "const char Tensor_dim[] = R\"(dim($self)\n--\n\nThe number of 'dims')\";\n"
    )
    (bindings / "tensor/TensorProperties.cpp").write_text(
        '    {"T", get<transposed>, nullptr, "Reversed, "\n     "a view.",\n     nullptr},\n'
        '    {"H", get_H, nullptr, nullptr, nullptr},\n'
    )
    return ast.parse(with_docstrings(STUB, texts_in(folder)))


def test_texts_are_those_of_the_source(tmp_path: Path) -> None:
    size, tensor_base, function, tensor = documented(tmp_path).body
    assert isinstance(size, ast.ClassDef) and isinstance(tensor_base, ast.ClassDef)
    assert [_doc(part) for part in size.body] == [None]
    assert [_doc(part) for part in tensor_base.body] == ["Reversed, a view.", "The number of 'dims'", None]
    assert _doc(function) is None
    assert _doc(tensor) == "Makes a tensor.\n\nExample:\n    >>> tensor(1)"


def test_nothing_is_lost_without_the_files(tmp_path: Path) -> None:
    assert with_docstrings(STUB, texts_in(tmp_path)) == STUB


def test_the_stub_says_what_help_shows() -> None:
    native = pytest.importorskip("torch_py._C")
    templates = Templates("native_functions.yaml", TARGET)
    stub = templates.render("torch_py/_C.pyi", dtypes=[], operators=[], comparisons=[])
    module = ast.parse(with_docstrings(stub, texts_in(REPOSITORY)))
    owners = [(native, module.body)]
    owners += [(native.TensorBase, c.body) for c in module.body if getattr(c, "name", "") == "TensorBase"]
    compared = 0
    for owner, body in owners:
        for part in body:
            shown = _doc(part)
            if shown is not None:
                assert inspect.cleandoc(getattr(owner, part.name).__doc__) == shown  # type: ignore[attr-defined]
                compared += 1
    assert compared > 60


def _doc(part: ast.stmt) -> str | None:
    return ast.get_docstring(part) if isinstance(part, ast.FunctionDef) else None
