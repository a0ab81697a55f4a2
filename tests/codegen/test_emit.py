"""codegen.emit: what is written when, and the pieces that generated text is made of."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.emit import explain_files, fingerprint, generate, render
from codegen.emit.expand import MISSING, expand
from codegen.emit.functions import functions_of
from codegen.emit.layout import WIDTH, comment, cpp_string, fill
from codegen.emit.parameters import parameters_of, signature_text
from codegen.emit.style import gradient_of
from codegen.model import Operator, load
from tests.codegen.golden import FOLDER, YAML, golden_files, golden_program

REPOSITORY = Path(__file__).resolve().parents[2]


def operator(name: str) -> Operator:
    found = expand(golden_program()).find(name)
    assert found is not None
    return found


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A copy of the golden declarations that a test may change."""
    shutil.copytree(FOLDER, tmp_path / "golden", ignore=shutil.ignore_patterns("expected"))
    return tmp_path / "golden"


# Writing


def test_same_input_same_output() -> None:
    assert render(golden_program()) == golden_files()


def test_unchanged_run_writes_nothing(tmp_path: Path) -> None:
    first = generate(golden_program(), tmp_path)
    assert set(first.written) == set(golden_files())
    times = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*.cpp")}
    second = generate(golden_program(), tmp_path)
    assert second.written == () and second.removed == ()
    assert times == {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*.cpp")}


def test_stale_files_and_their_folders_go(workspace: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    generate(load(workspace / "operators.yaml"), output)
    (output / "mine.txt").write_text("not generated")
    text = (workspace / "operators.yaml").read_text()
    (workspace / "operators.yaml").write_text(text[: text.index("  Memory:")])
    report = generate(load(workspace / "operators.yaml"), output)
    assert "aten/register/Memory.cpp" in report.removed
    assert not (output / "aten/register/Memory.cpp").exists()
    assert (output / "mine.txt").exists()


def test_stamp(workspace: Path, tmp_path: Path) -> None:
    yaml, output = workspace / "operators.yaml", tmp_path / "out"
    assert not fingerprint.is_current(output, yaml, workspace)
    generate(load(yaml), output)
    assert fingerprint.is_current(output, yaml, workspace)
    edited = output / "aten/register/Memory.cpp"
    edited.write_text(edited.read_text() + "// by hand\n")
    assert not fingerprint.is_current(output, yaml, workspace)
    generate(load(yaml), output)
    assert fingerprint.is_current(output, yaml, workspace)
    yaml.write_text(yaml.read_text() + "\n# a comment\n")
    assert not fingerprint.is_current(output, yaml, workspace)


def test_unchanged_command_imports_no_templates(workspace: Path, tmp_path: Path) -> None:
    arguments = ["generate", "--yaml", str(workspace / "operators.yaml"), "--output", str(tmp_path / "out")]
    code = f"import sys; from codegen.cli.main import main; r = main({arguments!r}); "
    code += "print('jinja2' in sys.modules, 'yaml' in sys.modules); sys.exit(r)"
    runs = [subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True) for _ in range(2)]
    assert [r.returncode for r in runs] == [0, 0], runs[0].stderr
    assert runs[0].stdout.endswith("True True\n") and runs[1].stdout.endswith("False False\n")


NEW_OPERATOR = """
    - func: logistic(Tensor self) -> Tensor
      variants: function, method, inplace, out
      structure: pointwise
      dtypes: floating
      expr: 1 / (1 + exp(-self))
      samples: unary
      doc: An operator that was not there before.
"""


@pytest.mark.parametrize("following", ["  Reduction:", "  Network:"])
def test_new_operator_recompiles_few_files(workspace: Path, following: str) -> None:
    """Kernel files count once for each of three instruction sets; headers that others include must not change."""
    before = render(load(workspace / "operators.yaml"))
    text = (workspace / "operators.yaml").read_text()
    (workspace / "operators.yaml").write_text(text.replace(f"\n{following}", f"{NEW_OPERATOR}\n{following}"))
    after = render(load(workspace / "operators.yaml"))
    changed = {name for name in after if before.get(name) != after[name]}
    units = [name for name in changed if name.endswith(".cpp")]
    assert sum(3 if "native/cpu/" in name else 1 for name in units) <= 6, units
    headers = {name for name in changed if name.endswith(".h") and name in before}
    assert {name.rsplit("/", 1)[-1] for name in headers} <= {"ArithmeticNodes.h", "ShapeNodes.h"}


def test_templates_name_no_operator() -> None:
    names = {o.base_name for o in load_tree()}
    for path in sorted((REPOSITORY / "templates").rglob("*")):
        if path.is_file():
            called = set(re.findall(r"\b(?:at|ops)::(\w+)\(", path.read_text()))
            assert not called & names, f"{path.name} calls {called & names}"
    call = re.compile(rf"\b(?:at|ops)::(?:{'|'.join(sorted(names))})\(")
    for path in sorted((REPOSITORY / "codegen" / "emit").glob("*.py")):
        assert not call.findall(path.read_text()), path.name


def load_tree() -> list[str]:
    """Operators of the tree, whether or not their kernels are written."""
    from codegen.diagnostics import Diagnostics
    from codegen.model import read_program

    program = read_program(REPOSITORY / "native_functions.yaml", Diagnostics())
    assert program is not None
    return list(program)  # type: ignore[arg-type]


# Operators that formulas imply


def test_gradients_of_formulas() -> None:
    cap = operator("softcap")
    assert [d.formula.text for d in cap.derivatives if d.formula] == ["softcap_backward(grad, self, cap)"]
    helper = operator("softcap_backward")
    assert str(helper.schema) == "softcap_backward(Tensor grad_output, Tensor self, float cap) -> Tensor"
    assert helper.python_module == "private" and helper.dtypes == ("float32", "float64")
    assert [d.inputs for d in helper.derivatives] == [("grad_output",), ("self",)]
    assert all(d.formula is not None and d.formula.node != MISSING for d in helper.derivatives)
    # The derivative in terms of the result, where that is all it needs.
    assert operator("tanh").derivatives[0].formula.text == "tanh_backward(grad, result)"  # type: ignore[union-attr]
    assert str(operator("tanh_backward").schema) == "tanh_backward(Tensor grad_output, Tensor output) -> Tensor"


def test_comparisons_have_no_gradient_but_forget_in_place() -> None:
    assert gradient_of(operator("less.Tensor")) == "none"
    nodes = golden_files()["torch_py/csrc/autograd/generated/ArithmeticNodes.cpp"]
    assert "Tensor less__Tensor(DispatchKeySet keys" in nodes and "Tensor less_Tensor(DispatchKeySet keys" not in nodes


def test_styles() -> None:
    styles = {name: gradient_of(operator(name)) for name in ("add.Tensor", "dropout", "nonzero", "zeros", "transpose.int")}
    assert styles == {"add.Tensor": "node", "dropout": "decomposed", "nonzero": "none", "zeros": "none", "transpose.int": "node"}


# Text


def test_fill() -> None:
    assert fill("f(", ["a", "b"], ");") == "f(a, b);"
    assert fill("f(", [], ");") == "f();"
    items = [f"argument_{i}" for i in range(30)]
    lines = fill("  call(", items, ");").split("\n")
    assert all(len(line) <= WIDTH for line in lines)
    assert lines[1].startswith(" " * 7 + "argument_") and lines[-1].endswith("argument_29);")
    wide = fill("  const " + "x" * 100 + "(", ["y" * 60, "z" * 60], ");").split("\n")
    assert wide[0].endswith("(") and wide[1] == " " * 6 + "y" * 60 + ", " + "z" * 60 + ");"


def test_strings_and_comments() -> None:
    assert cpp_string('say "so"\n') == '"say \\"so\\"\\n"'
    assert all(len(line) <= WIDTH and line.startswith("/// ") for line in comment("word " * 100, "/// ").split("\n"))


def test_keywords_of_cpp_are_no_names() -> None:
    (function,) = functions_of(operator("float"))
    assert (function.struct, function.name, function.python_name) == ("float_", "float_", "float")


def test_python_parameters() -> None:
    add = operator("add.Tensor")
    function, _, out = functions_of(add)
    parameters = parameters_of(add, function, out)
    assert [(p.name, p.kind) for p in parameters] == [("input", "Tensor"), ("other", "TensorOrNumber"), ("alpha", "Scalar"), ("out", "Tensor")]
    text = signature_text("add", parameters, -1)
    assert text == "add(Tensor input, Tensor or Number other, *, Number alpha = 1, Tensor out = None)"
    assert signature_text("add", parameters[:3], 0) == "add(Tensor or Number other, *, Number alpha = 1)"
    zeros = operator("zeros")
    names = [p.name for p in parameters_of(zeros, functions_of(zeros)[0], functions_of(zeros)[1])]
    assert names == ["size", "dtype", "layout", "device", "pin_memory", "requires_grad", "out"]


def test_metadata() -> None:
    rows = json.loads(golden_files()["torch_py/_generated/operators.json"])["operators"]
    by_name = {row["name"]: row for row in rows}
    assert by_name["softcap"]["numpy"] == "cap * np.tanh(self / cap)"
    assert by_name["softcap"]["requires"] == ["cap > 0"]
    assert by_name["max.dim"]["schemas"]["out"].startswith("max.dim_out(")
    assert by_name["dropout"]["gradient"] == "decomposed" and by_name["mul.Tensor"]["node"] == "MulBackward0"


def test_stubs_are_python() -> None:
    for name, text in golden_files().items():
        if name.endswith(".pyi"):
            ast.parse(text, name)
    methods = golden_files()["torch_py/_generated/_methods.pyi"]
    assert "def view(self, *size: _int) -> Tensor: ..." in methods
    assert "def max(self, dim: _int, keepdim: _bool = ...) -> max_dim_results: ..." in methods


def test_explain() -> None:
    places = explain_files(golden_program(), operator("softcap"))
    found = dict(places)
    for path in ("aten/ops/softcap.h", "aten/register/Arithmetic.cpp", "aten/native/cpu/expr/softcapKernel.cpp", "docs/operators/Arithmetic.md"):
        line = golden_files()[path].split("\n")[found[path] - 1]
        assert "softcap" in line
    assert "aten/register/Memory.cpp" not in found


# Libraries outside the tree


def test_library(tmp_path: Path) -> None:
    declarations = tmp_path / "library.yaml"
    declarations.write_text(
        "library: my_operators\ntopics:\n  Mine:\n    - func: twice(Tensor self, float factor=2.0) -> Tensor\n      variants: function, method\n"
        "      structure: pointwise\n      dtypes: floating\n      expr: factor * tanh(self)\n      samples: unary\n      doc: Twice.\n"
    )
    program = load(declarations, golden_program())
    files = render(program)
    assert "my_operators/ops/twice.h" in files and "aten/Dispatch.h" not in files
    module = files["torch_py/csrc/bindings/generated/module.cpp"]
    assert "PyInit_my_operators" in module and "Mine_library_table" in module
    nodes = files["torch_py/csrc/autograd/generated/MineNodes.cpp"]
    assert '#include "my_operators/ops/twice_backward.h"' in nodes and "is not implemented" not in nodes
    assert replace(program, base=None).library == "my_operators"


def test_yaml_is_where_the_tests_think() -> None:
    assert YAML.is_file()
