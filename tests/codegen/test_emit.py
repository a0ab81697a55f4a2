"""The output of torch_py: which files are written when, and the pieces of generated text."""

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

from codegen.cli.main import main
from codegen.expressions import parse
from codegen.model import Operator, load
from codegen.model.keywords import CPP_KEYWORDS
from codegen.output import fingerprint
from codegen.output.literals import cpp_lines, cpp_string
from codegen.targets.torch_py import TARGET
from codegen.targets.torch_py.analysis import argument_names
from codegen.targets.torch_py.analysis.functions import functions_of
from codegen.targets.torch_py.analysis.gradient_kind import gradient_kind
from codegen.targets.torch_py.analysis.implied_operators import MISSING, expand
from codegen.targets.torch_py.cli.python_signature import python_signatures
from codegen.targets.torch_py.emit import generate, render
from codegen.targets.torch_py.emit.explain import Explanation
from codegen.targets.torch_py.emit.parameters import Parameters, parameters_of, signature_text
from codegen.targets.torch_py.emit.requirements import checks_of
from codegen.targets.torch_py.scanned import kernel_files
from tests.codegen.golden import FOLDER, YAML, golden_files, golden_program

REPOSITORY = Path(__file__).resolve().parents[2]


LIBRARY = (
    "library: my_operators\ntopics:\n  Mine:\n    - func: twice(Tensor self, float factor=2.0) -> Tensor\n  "
    "    variants: function, method\n"
    "      structure: pointwise\n      dtypes: floating\n      expr: factor * tanh(self)\n      doc: Twice.\n"
)


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


def test_output_holds_no_absolute_paths(workspace: Path, tmp_path: Path) -> None:
    generate(load(workspace / "operators.yaml"), tmp_path / "out")
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            assert (
                str(REPOSITORY).encode() not in path.read_bytes()
                and str(tmp_path).encode() not in path.read_bytes()
            ), path


def test_stamp_follows_the_inputs(workspace: Path, tmp_path: Path) -> None:
    yaml, output = workspace / "operators.yaml", tmp_path / "out"
    assert not fingerprint.is_current(output, yaml, TARGET)
    generate(load(yaml), output)
    assert fingerprint.is_current(output, yaml, TARGET)

    edited = output / "aten/register/Memory.cpp"
    edited.write_text(edited.read_text() + "// by hand\n")
    assert not fingerprint.is_current(output, yaml, TARGET)
    generate(load(yaml), output)
    assert fingerprint.is_current(output, yaml, TARGET)

    yaml.write_text(yaml.read_text() + "\n# a comment\n")
    assert not fingerprint.is_current(output, yaml, TARGET)


def test_stamp_of_a_library(workspace: Path, tmp_path: Path) -> None:
    """All scanned files count: kernels in any folder of the library, and kernels and samples of the tree."""
    mine, output = tmp_path / "mine", tmp_path / "mine" / "out"
    (mine / "loops").mkdir(parents=True)
    declarations = mine / "library.yaml"
    declarations.write_text(LIBRARY)

    base = workspace / "operators.yaml"
    names_of_samples = dict.fromkeys(re.findall(r"samples: (\w+)", base.read_text()))
    samples = "".join(f'@samples("{name}")\ndef {name}(): ...\n' for name in names_of_samples)
    inputs = [
        mine / "loops" / "new.cpp",
        mine / "new.cpp",
        workspace / "aten/native/new.cpp",
        workspace / "tests/ops/samples/new.py",
    ]

    for path in inputs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(samples if path.suffix == ".py" else "")
        generate(load(declarations, load(base)), output)
        assert fingerprint.is_current(output, declarations, TARGET, base), "generated files are not inputs"
        assert not fingerprint.is_current(output, declarations, TARGET)

        path.write_text("// changed\n")
        assert not fingerprint.is_current(output, declarations, TARGET, base), path


def test_generated_sources_are_not_kernels(tmp_path: Path) -> None:
    declarations = tmp_path / "library.yaml"
    declarations.write_text(LIBRARY)
    generate(load(declarations, golden_program()), tmp_path / "out")
    assert (tmp_path / "out" / "aten/native/cpu/expr/twiceKernel.isa.cpp").is_file()
    assert kernel_files(tmp_path) == []


def test_unchanged_command_imports_no_templates(workspace: Path, tmp_path: Path) -> None:
    arguments = ["generate", "--yaml", str(workspace / "operators.yaml"), "--output", str(tmp_path / "out")]
    code = f"import sys; from codegen.cli.main import main; r = main({arguments!r}); "
    code += "print('jinja2' in sys.modules, 'yaml' in sys.modules); sys.exit(r)"
    runs = [
        subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True)
        for _ in range(2)
    ]
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
    """Kernel files count once for each of three instruction sets; headers that others include must not
    change."""
    before = render(load(workspace / "operators.yaml"))
    text = (workspace / "operators.yaml").read_text()
    (workspace / "operators.yaml").write_text(text.replace(f"\n{following}", f"{NEW_OPERATOR}\n{following}"))
    after = render(load(workspace / "operators.yaml"))
    changed = {name for name in after if before.get(name) != after[name]}
    units = [name for name in changed if name.endswith(".cpp") and "/cuda/" not in name]
    # Texts alone compile in no time.
    units = [name for name in units if "/generated/docs/" not in name]
    assert sum(3 if ".isa" in name else 1 for name in units) <= 6, units
    cuda = [name for name in changed if name.endswith((".cpp", ".cu")) and "/cuda/" in name]
    assert len(cuda) <= 2, cuda
    headers = {name for name in changed if name.endswith(".h") and name in before}
    # Only registrations, the CPU's and those of other devices, include the kernels of a topic.
    headers = {name for name in headers if not name.startswith("aten/native/loops/")}
    assert {name.rsplit("/", 1)[-1] for name in headers} <= {"ArithmeticNodes.h", "ShapeNodes.h"}


def test_an_edited_doc_recompiles_one_file(workspace: Path) -> None:
    file = workspace / "operators.yaml"
    before = render(load(file))
    text = file.read_text()
    assert "doc: The product." in text
    file.write_text(text.replace("doc: The product.", "doc: The product of both."))

    after = render(load(file))
    changed = {name for name in after if before.get(name) != after[name]}
    assert len([name for name in changed if name.endswith((".cpp", ".cu"))]) == 1
    assert not any(name.endswith(".h") for name in changed), changed


def test_a_new_line_changes_only_the_list_of_operators(workspace: Path) -> None:
    file = workspace / "operators.yaml"
    before = render(load(file))
    file.write_text(f"# A comment.\n{file.read_text()}")
    after = render(load(file))
    assert [name for name in after if before.get(name) != after[name]] == [
        "torch_py/_generated/operators.json"
    ]


def test_topics_with_numbers_have_files_of_their_own(tmp_path: Path) -> None:
    """The second file of a topic is not called like the first one of another."""
    many = "".join(
        f"    - func: f{k}(Tensor self) -> Tensor\n      structure: pointwise\n      dtypes: floating\n"
        f"      expr: self * {k + 2}\n      doc: A formula.\n"
        for k in range(120)
    )
    text = (
        f"dtype_sets:\n  floating: [float32, float64]\ntopics:\n  Sum:\n{many}"
        f"  Sum2:\n{many.replace('func: f', 'func: g')}"
    )
    file = tmp_path / "native_functions.yaml"
    file.write_text(text)
    paths = [name for name in render(load(file)) if name.endswith(".cu")]
    assert any(name.endswith("/Sum-2.cu") for name in paths) and any("/Sum2.cu" in name for name in paths)


def test_templates_name_no_operator() -> None:
    names = {o.base_name for o in load_tree()}
    for path in sorted((REPOSITORY / "templates").rglob("*")):
        if path.is_file():
            called = set(re.findall(r"\b(?:at|ops)::(\w+)\(", path.read_text()))
            assert not called & names, f"{path.name} calls {called & names}"
    call = re.compile(rf"\b(?:at|ops)::(?:{'|'.join(sorted(names))})\(")
    for package in ("analysis", "emit"):
        for path in sorted((REPOSITORY / "codegen" / package).glob("*.py")):
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
    assert [d.formula.text for d in cap.derivatives if d.formula] == ["softcap_backward(grad, result, cap)"]
    helper = operator("softcap_backward")
    assert str(helper.schema) == "softcap_backward(Tensor grad_output, Tensor output, float cap) -> Tensor"
    assert helper.python_module == "private" and helper.dtypes == ("float32", "float64")
    assert [d.inputs for d in helper.derivatives] == [("grad_output",), ("output",)]
    assert all(d.formula is not None and d.formula.node != MISSING for d in helper.derivatives)
    # The derivative in terms of the result, where that is all it needs.
    assert operator("tanh").derivatives[0].formula.text == "tanh_backward(grad, result)"  # type: ignore[union-attr]
    assert (
        str(operator("tanh_backward").schema) == "tanh_backward(Tensor grad_output, Tensor output) -> Tensor"
    )


def test_gradients_of_conjugates(tmp_path: Path) -> None:
    """A gradient with conj(grad) is not a product with grad: its adjoint has two terms, too."""
    text = LIBRARY.replace("floating", "complex64")
    text = text.replace("factor * tanh(self)", "factor * self * conj(self)")
    conj = "    - func: conj(Tensor self) -> Tensor\n      structure: pointwise\n      dtypes: complex64\n"
    (tmp_path / "operators.yaml").write_text(f"{text}{conj}      expr: conj(self)\n      doc: As conj.\n")
    helper = expand(load(tmp_path / "operators.yaml")).find("twice_backward")
    assert helper is not None
    first, _ = (d.formula.text for d in helper.derivatives if d.formula is not None)
    assert first == "grad * factor * conj(self) + conj(grad) * factor * self"


def test_comparisons_have_no_gradient_except_in_place() -> None:
    assert gradient_kind(operator("less.Tensor")) == "none"
    nodes = golden_files()["torch_py/csrc/autograd/generated/ArithmeticNodes.cpp"]
    assert (
        "Tensor less__Tensor(DispatchKeySet keys" in nodes
        and "Tensor less_Tensor(DispatchKeySet keys" not in nodes
    )


def test_kinds_of_gradients() -> None:
    styles = {
        name: gradient_kind(operator(name))
        for name in ("add.Tensor", "dropout", "nonzero", "zeros", "transpose.int")
    }
    assert styles == {
        "add.Tensor": "node",
        "dropout": "decomposed",
        "nonzero": "none",
        "zeros": "none",
        "transpose.int": "node",
    }


# Text


def test_string_literals() -> None:
    assert cpp_string('say "so"\n') == '"say \\"so\\"\\n"'
    assert cpp_lines("a\nb", 2) == '"a\\n"\n  "b"'


def test_messages_of_requirements(tmp_path: Path) -> None:
    file = tmp_path / "native_functions.yaml"
    file.write_text(
        "topics:\n"
        "  Products:\n"
        "    - func: linalg_scaled(Tensor self, float iter) -> Tensor\n"
        "      structure: pointwise\n"
        "      dtypes: float32\n"
        "      expr: self * iter\n"
        "      samples: unary\n"
        "      requires:\n"
        "        - check: dim(self) == 1\n"
        "          error: NotImplementedError\n"
        '          message: "{operator}: {self} has {dim(self)}D, {iter + 1}"\n'
        "      doc: A product.\n"
    )

    found = load(file).find("linalg_scaled")
    assert found is not None

    (check,) = checks_of(argument_names.with_free_names(found), {})
    assert check.macro == "TORCH_CHECK_NOT_IMPLEMENTED"
    assert check.condition == "self.dim() == 1"
    assert check.message == (
        '"linalg.scaled: "',
        "self.sizes()",
        '" has "',
        "self.dim()",
        '"D, "',
        "iter_ + 1",
    )


def test_keywords_of_cpp_are_not_names() -> None:
    (function,) = functions_of(operator("float"))
    assert (function.struct, function.name, function.python_name) == ("float_", "float_", "float")


def test_python_parameters() -> None:
    add = operator("add.Tensor")
    function, _, out = functions_of(add)
    parameters = parameters_of(add, function, out)
    assert [(p.name, p.kind) for p in parameters] == [
        ("input", "Tensor"),
        ("other", "TensorOrNumber"),
        ("alpha", "Scalar"),
        ("out", "Tensor"),
    ]

    text = signature_text("add", parameters, -1)
    assert text == "add(Tensor input, Tensor or Number other, *, Number alpha = 1, Tensor out = None)"
    assert (
        signature_text("add", Parameters(parameters[:3]), 0)
        == "add(Tensor or Number other, *, Number alpha = 1)"
    )

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


def test_formulas_are_python() -> None:
    """What the compiler and the tests evaluate, of the golden operators and of the whole tree."""
    for program in (golden_program(), load(REPOSITORY / "native_functions.yaml")):
        for row in json.loads(render(program)["torch_py/_generated/operators.json"])["operators"]:
            for text in (row["numpy"], *(d["python"] for d in row["derivatives"].values())):
                if text is not None:
                    ast.parse(text, row["name"], "eval")


def test_in_place_functions(workspace: Path) -> None:
    yaml = workspace / "operators.yaml"
    head, found, tail = yaml.read_text().partition("softcap(Tensor self")
    yaml.write_text(head + found + tail.replace("inplace", "inplace, inplace_function", 1))
    program = load(yaml)
    files = render(program)
    stubs, methods = (files[f"torch_py/_generated/{name}.pyi"] for name in ("_nn", "_methods"))

    assert "def softcap_(input: Tensor, cap: _float = 30.0) -> Tensor:\n" in stubs
    assert "def softcap_(self, cap: _float = 30.0) -> Tensor:\n" in methods
    assert "def add_(" not in files["torch_py/_generated/_torch.pyi"] and "def add_(" in methods
    assert python_signatures(program.find("softcap"), REPOSITORY)[-2:] == [  # type: ignore[arg-type]
        "torch._C._nn.softcap_(input: Tensor, cap: float = 30.0) -> Tensor",
        "Tensor.softcap_(cap: float = 30.0) -> Tensor",
    ]


def test_numbers_become_tensors_where_an_operator_takes_no_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Derivatives of every order: those of hypot(self, 1) call hypot, whose arguments are tensors.

    Derivatives that are left out are reported.
    """

    yaml = tmp_path / "native_functions.yaml"
    entry = (
        "    - func: {}(Tensor self{}) -> Tensor\n      variants: function\n      structure: "
        "pointwise\n      dtypes: float32\n"
    )
    entry += "      expr: {}\n      samples: unary\n      doc: x\n      {}\n"
    names = (
        ("mul.Tensor", ", Tensor other", "self * other"),
        ("hypot", ", Tensor other", "hypot(self, other)"),
        ("f", "", "hypot(self, 1) ** 3"),
        ("pow.Tensor_Scalar", ", Scalar exponent", "self ** exponent"),
        ("add.Tensor", ", Tensor other", "self + other"),
        ("g", "", "lgamma(self)"),
        ("digamma", "", "digamma(self)"),
    )

    scalar = (
        "    - func: scalar_tensor(Scalar s) -> Tensor\n      structure: composite\n      dispatch:\n  "
        "      All: scalar_tensor\n"
    )
    scalar += "      samples: unary\n      doc: x\n"

    reason = "non_differentiable: a test"
    text = "".join(
        entry.format(*name, reason if name[0] not in ("f", "g") else "tags: core") for name in names
    )
    yaml.write_text("topics:\n  A:\n" + scalar + text)
    (tmp_path / "aten/native").mkdir(parents=True)
    kernel = "namespace at::native {\nTensor scalar_tensor(const Scalar& s) {}\n}\n"
    (tmp_path / "aten/native/A.cpp").write_text(kernel)

    helper = expand(load(yaml)).find("f_backward")
    assert helper is not None and "hypot(self, scalar_tensor(1))" in helper.derivatives[1].formula.text  # type: ignore[union-attr]

    assert main(["generate", "--yaml", str(yaml), "--output", str(tmp_path / "out")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and lines[1].endswith(
        ": g_backward: the derivative in self is not generated; unknown operator 'polygamma'"
    ), lines


def test_stubs_are_python() -> None:
    for name, text in golden_files().items():
        if name.endswith(".pyi"):
            ast.parse(text, name)
    methods = golden_files()["torch_py/_generated/_methods.pyi"]
    assert "def view(self, *size: _int) -> Tensor:\n" in methods
    assert "def max(self, dim: _int, keepdim: _bool = False) -> max_dim_results:\n" in methods


def test_explain() -> None:
    explanation = Explanation(golden_program(), [operator("softcap")])
    found = dict(explanation.places(operator("softcap")))
    assert {path: golden_files()[path] for path in explanation.files} == explanation.files

    for path in (
        "aten/ops/softcap.h",
        "aten/register/Arithmetic.cpp",
        "aten/native/cpu/expr/softcapKernel.isa.cpp",
        "docs/operators/Arithmetic.md",
    ):
        line = golden_files()[path].split("\n")[found[path] - 1]
        assert "softcap" in line
    assert "aten/register/Memory.cpp" not in found


# Names of arguments

WORDS = (
    "with_words(Tensor self, float output, float iter, bool default=True, *, "
    "float wrap=inf, float self_value=nan) -> Tensor"
)
NAMES = f"""\
library: named
topics:
  Named:
    - func: with_grad(Tensor grad_output, Tensor self) -> Tensor
      structure: pointwise
      dtypes: floating
      expr: grad_output * sin(self)
      doc: A formula.
    - func: {WORDS}
      variants: function, method, inplace, out
      structure: pointwise
      dtypes: floating
      expr: "exp(self * output) * iter + (default ? wrap : self_value)"
      requires: ["iter > 0"]
      doc: A formula.
"""


def test_arguments_have_names_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "named.yaml").write_text(NAMES)
    program = load(tmp_path / "named.yaml", golden_program())
    expanded = expand(program)

    helper = expanded.find("with_grad_backward_grad_output")
    assert (
        helper is not None
        and str(helper.schema) == "with_grad_backward_grad_output(Tensor grad_output_, Tensor self) -> Tensor"
    )
    assert str(expanded.find("with_words_backward").schema).startswith(
        "with_words_backward(Tensor grad_output, "
    )  # type: ignore[union-attr]

    words = expanded.find("with_words")
    assert words is not None and str(words.schema) == str(program.find("with_words").schema)  # type: ignore[union-attr]
    assert words.schema.arguments.names() == ("self", "output", "iter_", "default_", "wrap_", "self_value_")

    files = render(program)
    kernel = " ".join(files["aten/native/cpu/expr/with_wordsKernel.isa.cpp"].split())
    assert "TensorIteratorBase& iter, double output, double iter_, bool default_, double wrap_" in kernel

    header = " ".join(files["named/ops/with_words.h"].split())
    assert (
        "double wrap_ = std::numeric_limits<double>::infinity()" in header
        and "= std::numeric_limits<double>::quiet_NaN()" in header
    )

    binding = files["torch_py/csrc/bindings/generated/Named.cpp"]
    assert '{"default", Kind::Bool' in binding and "const auto default_ = " in binding
    assert 'expected iter > 0, but got iter = "' in files["aten/register/Named.cpp"]

    (row,) = (
        r
        for r in json.loads(files["torch_py/_generated/operators.json"])["operators"]
        if r["name"] == "with_words"
    )

    assert row["numpy"] == "np.exp(self * output) * iter + np.where((default != 0), wrap, self_value)"
    assert row["requires"] == ["iter > 0"]


def test_forgotten_trees_are_made_again(workspace: Path) -> None:
    """From the text, with the names that arguments have in C++."""
    for found in expand(load(workspace / YAML.name)):
        written = [d.formula for d in found.derivatives] + [r.check for r in found.requires] + [found.expr]
        formulas = [formula for formula in written if formula is not None]
        before = [formula.node for formula in formulas]
        found.forget()
        assert [formula.node for formula in formulas] == before

    file = workspace / "renamed.yaml"
    file.write_text(LIBRARY.replace("float factor", "float iter").replace("factor *", "iter *"))
    found = argument_names.with_free_names(load(file, load(workspace / YAML.name)).operators["twice"])
    found.forget()
    assert found.expr is not None
    assert found.expr.node == parse("iter_ * tanh(self)")


def test_names_of_generated_code_are_known() -> None:
    """Arguments are renamed where generated bodies use their names, unqualified, for something else."""
    known = argument_names.GENERATED | {
        a.name for o in expand(golden_program()) for f in functions_of(o) for a in f.arguments
    }
    outside = (
        "__attribute__",
        "as_method",
        "apply",
        "call",
        "end_write",
        "version_of",
        "name",
        "redispatch",
        "register_kernel",
        "register_operator",
        "register_without_gradient",
        "register_wrapper",
        "release_variables",
        "reset_list",
        "grad",
    )

    for path, text in golden_files().items():
        if not path.endswith((".cpp", ".cu", ".h")) or path == "aten/Dispatch.h":
            continue

        bodies = [
            line
            for line in re.sub(r'//[^\n]*|"(?:[^"\\]|\\.)*"|#[^\n]*', "", text).split("\n")
            if line.startswith("  ")
        ]

        for line in bodies:
            called = re.findall(r"(?<![\w.>:&])([a-z_]\w*)(?:<[^<>()]*>)?\(", line)
            declared = re.findall(
                r"(?:auto&?|bool|LaunchPlan|Tensor&?|TensorIterator|DispatchKeySet|variable_list) "
                r"([a-z]\w*)(?= =|\(| :)",
                line,
            )

            for name in (*called, *declared):
                derived = (
                    name.rsplit("_", 1)[0] in known
                    or name.startswith(("check_", "call_", "is_plain_", "result"))
                    or name in CPP_KEYWORDS
                    or name.endswith(("_loop", "_kernels"))  # objects outside of functions
                )
                assert name in known or name in outside or derived, f"{path}: {line.strip()}"


# Libraries outside the tree


def test_library(tmp_path: Path) -> None:
    declarations = tmp_path / "library.yaml"
    declarations.write_text(LIBRARY)
    program = load(declarations, golden_program())
    files = render(program)
    assert "my_operators/ops/twice.h" in files and "aten/Dispatch.h" not in files
    module = files["torch_py/csrc/bindings/generated/module.cpp"]
    assert "PyInit_my_operators" in module and "Mine_library_table" in module
    nodes = files["torch_py/csrc/autograd/generated/MineNodes.cpp"]
    assert '#include "my_operators/ops/twice_backward.h"' in nodes and "is not implemented" not in nodes
    assert replace(program, base=None).library == "my_operators"


def test_yaml_is_where_the_tests_look_for_it() -> None:
    assert YAML.is_file()
