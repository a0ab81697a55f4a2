"""The findings of each linter."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.lint import (
    includes,
    kernels,
    layering,
    operator_lists,
    paragraphs,
    references,
    text,
    types,
    voice,
)


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        ("c10/core/Device.h", '#include "aten/core/Tensor.h"', "c10 knows only itself"),
        ("c10/util/Half.h", '#include "c10/core/Device.h"', "c10/util is the lowest layer"),
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
        ("c10/core/Stream.cpp", '#include "c10/cuda/Runtime.h"', "only the CUDA library knows CUDA"),
        ("aten/native/Sum.cpp", '#include "aten/native/cuda/Reduce.cuh"', "only the CUDA library knows CUDA"),
        (
            "torch_py/csrc/bindings/Tensor.cpp",
            "#include <cuda_runtime.h>",
            "only the CUDA library knows CUDA",
        ),
        ("aten/native/cuda/SumKernel.cu", '#include "torch_py/csrc/autograd/Engine.h"', "aten knows nothing"),
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
        ("aten/native/cuda/SumKernel.cu", '#include "c10/cuda/Launch.h"'),
        ("c10/cuda/Runtime.h", "#include <cuda_runtime.h>"),
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
        (
            "codegen/model.py",
            "def f():\n    import requests",
            "needs only pyyaml, jinja2 and the standard library",
        ),
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
    standard = "import yaml\nimport dataclasses\nfrom . import torch\n"
    assert list(layering.check_imports("codegen/model.py", standard)) == []
    assert list(layering.check_imports("torch_py/nn.py", "import torch_py\nimport numpy\n")) == []


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("kernel<<<1, 256>>>(out);", "<<<"),
        ("  __shared__ float parts[32];", "__shared__"),
        ("  __syncthreads();", "__syncthreads"),
        ("  __syncwarp();", "__syncwarp"),
        ('  asm volatile("membar.gl;");', "asm"),
        ("#include <cooperative_groups.h>", "cooperative_groups"),
        ("  launch(name, kernel, 1, 1, 0, cudaStreamLegacy);", "cudaStreamLegacy"),
        ("  cudaMallocManaged(&memory, bytes);", "cudaMallocManaged"),
    ],
)
def test_words_of_cuda_that_kernels_do_not_use(line: str, word: str) -> None:
    (finding,) = kernels.check_kernels("aten/native/cuda/reduction/SumKernel.cu", f"// a kernel\n{line}\n")
    assert finding.line == 2 and f"'{word}'" in finding.message
    assert list(kernels.check_kernels("c10/cuda/NativeSimt.h", line)) == []
    assert list(kernels.check_kernels("tests/emulation/checks/kernels.h", line)) == []


def test_words_of_kernels() -> None:
    text = "// in place of kernel<<<grid, block>>>()\nSIMT_SHARED(parts, float[32]);\nout << 3 << masm;\n"
    assert list(kernels.check_kernels("aten/native/cuda/reduction/SumKernel.cu", text)) == []


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


def test_expected_output_of_the_generator_may_be_long() -> None:
    assert not list(text.check_text("tests/golden/expected/a.cpp", "int x;\n" * 801))


def python_function(*body: str) -> str:
    return "def f(x):\n" + "".join(f"    {line}\n" if line else "\n" for line in body)


def test_long_function_without_a_paragraph() -> None:
    lines = [f"x += {number}" for number in range(15)]
    (finding,) = paragraphs.check_python("a.py", python_function(*lines))
    assert finding.line == 1 and "f: 15 lines without a paragraph" in finding.message

    assert not list(paragraphs.check_python("a.py", python_function(*lines[:14])))
    assert not list(paragraphs.check_python("a.py", python_function(*lines[:7], "", *lines[7:])))
    assert not list(paragraphs.check_python("a.py", python_function(*lines[:7], "# why", *lines[7:])))
    assert not list(paragraphs.check_python("a.py", python_function("return [", *["    1,"] * 20, "]")))
    assert list(
        paragraphs.check_python("a.py", python_function("with x:", *(f"    {line}" for line in lines)))
    )


def cpp_function(*body: str) -> str:
    return (
        "int f(const Tensor& first,\n      int second) {\n" + "".join(f"  {line}\n" for line in body) + "}\n"
    )


def test_long_cpp_function_without_a_paragraph() -> None:
    lines = [f"x += {number};" for number in range(15)]
    (finding,) = paragraphs.check_cpp("a.cpp", cpp_function(*lines))
    assert finding.line == 2 and "15 lines without a paragraph" in finding.message

    assert not list(paragraphs.check_cpp("a.cpp", cpp_function(*lines[:14])))
    assert not list(paragraphs.check_cpp("a.cpp", cpp_function(*lines, "// why", *lines)))
    assert not list(paragraphs.check_cpp("a.cpp", "namespace at {\n" + "int x;\n" * 20 + "}\n"))


def test_second_anonymous_namespace() -> None:
    text = "namespace {\nint a;\n}\nint b;\nnamespace {\nint c;\n}\n"
    (finding,) = paragraphs.check_cpp("a.cpp", text)
    assert finding.line == 5 and "the one in line 1" in finding.message


def test_wide_cpp_line() -> None:
    (finding,) = paragraphs.check_cpp("a.cpp", "//" + " x" * 50)
    assert "102 columns, at most 100" in finding.message


@pytest.mark.parametrize("line", ["self.a, self.b = a, b", "a, b, c = 1, 2, 3", "x.a, n = f(), g()"])
def test_unrelated_values_in_one_assignment(line: str) -> None:
    (finding,) = paragraphs.check_python("a.py", line)
    assert "give each a line" in finding.message


@pytest.mark.parametrize("line", ["a, b = b, a", "low, high = 0, n", "a, b, c = f()", "x, y, z = y, z, x"])
def test_related_values_in_one_assignment(line: str) -> None:
    assert not list(paragraphs.check_python("a.py", line))


@pytest.mark.parametrize(
    ("line", "phrase"),
    [
        ("'x-y' is no name", "is no name"),
        ("without arguments there is none of it", "there is none of"),
        ("one behind the other", "one behind the other"),
        ("make format mends it", "mends"),
        ("the entry stands below its topic", "stands below"),
        ("a test beside its source", "beside"),
        ("nothing is said twice", "nothing is said twice"),
    ],
)
def test_translated_phrase(line: str, phrase: str) -> None:
    (finding,) = voice.check_text("a.md", line)
    assert f"«{phrase}»" in finding.message


@pytest.mark.parametrize(
    "line", ["it is no longer there", "there is no need", "recommended", "besides", "stands for"]
)
def test_plain_phrase(line: str) -> None:
    assert not list(voice.check_text("a.md", line))


NOTES = {
    "a.h": "// Note [Order]\n// why\n",
    "b.py": '"""What it holds.\n\nNote [Levels]: why\n"""\n# see Note [Order]\n',
}


def test_notes_are_found_by_their_titles() -> None:
    assert references.note_titles(NOTES) == {"Order": "a.h", "Levels": "b.py"}


def test_notes_of_one_title() -> None:
    texts = {**NOTES, "c.h": "// Note [Order]: another\n", "d.h": "// as explained in\n// Note [Order].\n"}
    texts["e.cu"] = "// The sum of a row. Note [Order].\n"
    (finding,) = references.check_titles(texts)
    assert (finding.path, finding.line) == ("c.h", 1) and "a.h has a Note [Order], too" in finding.message


def test_reference_to_a_note_that_does_not_exist() -> None:
    texts = {**NOTES, "c.py": "# fine: Note [Levels]\n# not: Note [Ordering]\n"}
    (finding,) = references.check_notes(texts, references.note_titles(NOTES))
    assert (finding.path, finding.line) == ("c.py", 2) and "Note [Ordering]" in finding.message


def test_path_that_does_not_exist(tmp_path: Path) -> None:
    (tmp_path / "aten").mkdir()
    (tmp_path / "aten/Here.h").touch()
    page = "`aten/Here.h`, `aten/<Topic>.h`\n`aten/Gone.h`\n"
    (finding,) = references.check_paths({"README.md": page}, tmp_path)
    assert finding.line == 2 and "`aten/Gone.h` does not exist" in finding.message


def test_fixed_width_integers_need_their_header() -> None:
    texts = {
        "c10/A.h": "#include <cstdint>\n",
        "c10/B.h": '#include <string>\n#include "c10/A.h"\nint64_t by_way_of_ours();\n',
        "c10/C.h": "#include <string>\n\nuint8_t only_with_some_compilers();\n",
        "c10/D.cpp": '#include "aten/ops/generated.h"\nint32_t taken_to_be_there();\n',
    }
    (finding,) = includes.check_texts(texts)
    assert (finding.path, finding.line) == ("c10/C.h", 3) and "uint8_t without <cstdint>" in finding.message


def test_types_without_a_build(tmp_path: Path) -> None:
    (finding,) = types.check(tmp_path)
    assert finding.path == "torch_py/_C.pyi" and finding.message.endswith("build first: make")


ENTRIES = frozenset({"cat", "stack", "flip", "_foreach_add.Tensor", "relu"})


@pytest.mark.parametrize(
    "line",
    [
        'MOVING = ("cat", "stack", "flip")',
        'MOVING = {"cat": 1, "stack": 2, "flip": 3}',
        'MOVING = frozenset("cat stack flip".split())',
        'def f(name): return name in {"aten::cat", "flip", "_foreach_add.Tensor", "other"}',
        "MOVING = [ops.aten.cat.default, ops.aten.stack.default, ops.aten.flip.default]",
        '# Operators that move.\nMOVING = ("cat", "stack", "flip")',
        'RULES = {"cat": JOINED, "stack": JOINED, "flip": MOVED}',
        'RULES = {"cat": Kind.JOINED, "stack": Kind.JOINED, "flip": Kind.MOVED}',
        'RULES = {"cat": set(), "stack": set(), "flip": set()}',
    ],
)
def test_lists_of_operators(line: str) -> None:
    found = [finding.line for finding in operator_lists.check_file("torch_py/x.py", line, ENTRIES)]
    assert found == [line.count("\n") + 1]


@pytest.mark.parametrize(
    "line",
    [
        'RULES = {"cat": joined, "stack": joined, "flip": lambda x: x}',
        '__all__ = ["cat", "stack", "flip"]',
        '# Names of layers, as files\n# have them.\nKINDS = ("cat", "stack", "flip")',
        'WORDS = ("cat", "dog", "flip", "mouse", "stack", "house")',
        '@rule("cat", "stack", "flip")\ndef joined(): pass',
        'PAIR = ("cat", "stack")',
    ],
)
def test_lists_of_something_else(line: str) -> None:
    assert list(operator_lists.check_file("torch_py/x.py", line, ENTRIES)) == []


def test_the_names_of_operators() -> None:
    names = operator_lists.names_of(operator_lists.ROOT)
    assert {"cat", "add.Tensor", "clamp_", "_foreach_add.Tensor"} <= names
    assert "max" not in names  # a function of Python as well
