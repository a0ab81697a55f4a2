"""The findings of each linter."""

from __future__ import annotations

import pytest

from tools.lint import layering, text


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        ("c10/core/Device.h", '#include "aten/core/Tensor.h"', "c10 knows only itself"),
        ("c10/util/Half.h", '#include "c10/core/Device.h"', "c10/util stands below"),
        (
            "aten/native/Sum.cpp",
            '#include "torch_py/csrc/autograd/Engine.h"',
            "aten knows nothing of torch_py",
        ),
        ("aten/native/Sum.cpp", "#include <Python.h>", "Python belongs in torch_py/csrc/bindings"),
        (
            "torch_py/csrc/autograd/Engine.cpp",
            "  #  include <pybind11/pybind11.h>",
            "Python belongs in torch_py/csrc/bindings",
        ),
        (
            "torch_py/csrc/autograd/Engine.cpp",
            '#include "torch_py/csrc/bindings/Tensor.h"',
            "autograd knows no Python",
        ),
        ("aten/native/Sum.cpp", "#include <mkl_cblas.h>", "BLAS is reached through aten/blas"),
    ],
)
def test_include_against_the_layers(path: str, line: str, expected: str) -> None:
    (finding,) = layering.check_includes(path, "// a comment\n" + line + "\n")
    assert finding.line == 2 and expected in finding.message


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("aten/native/Sum.cpp", '#include "c10/core/Device.h"'),
        ("aten/blas/Gemm.cpp", "#include <mkl_cblas.h>"),
        ("torch_py/csrc/bindings/Tensor.cpp", "#include <Python.h>"),
        ("c10/core/Device.h", '// #include "aten/core/Tensor.h"'),
    ],
)
def test_include_along_the_layers(path: str, line: str) -> None:
    assert list(layering.check_includes(path, line)) == []


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        ("codegen/model.py", "import torch_py.nn", "codegen/ must not import torch_py.nn"),
        ("codegen/model.py", "def f():\n    import requests", "needs only pyyaml and jinja2"),
        ("torch_py/nn.py", "from codegen.schema import parse", "torch_py/ must not import codegen.schema"),
        ("torch_py/nn.py", "import torch", "does not depend on PyTorch"),
        ("tools/build/plan.py", "import codegen", "start codegen as a process"),
        ("torch_py/nn.py", "def broken(:", "not valid Python"),
    ],
)
def test_import_against_the_layers(path: str, line: str, expected: str) -> None:
    (finding,) = layering.check_imports(path, line)
    assert expected in finding.message


def test_imports_along_the_layers() -> None:
    assert (
        list(
            layering.check_imports(
                "codegen/model.py", "import yaml\nimport dataclasses\nfrom . import torch\n"
            )
        )
        == []
    )
    assert list(layering.check_imports("torch_py/nn.py", "import torch_py\nimport numpy\n")) == []


def test_text() -> None:
    home = "/".join(["", "home", "someone"])
    findings = list(text.check_text("a.py", f"x = 1 \npath = '{home}/x'\n<<<<<<< ours\nend"))
    assert [(finding.line, finding.message.split(";")[0]) for finding in findings] == [
        (1, "blanks at the end of the line"),
        (2, f"a path of one machine, {home}"),
        (3, "a merge conflict"),
        (4, "no newline at the end of the file"),
    ]


def test_long_file() -> None:
    (finding,) = text.check_text("a.cpp", "int x;\n" * 801)
    assert "801 lines" in finding.message
