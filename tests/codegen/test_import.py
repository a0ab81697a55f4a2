"""``codegen import`` drafts entries from declarations in PyTorch's format, invented and installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.diagnostics import Diagnostics
from codegen.expressions.nodes import Index, Name, Number
from codegen.model import load, read_program
from codegen.schema import SchemaError
from codegen.targets.torch_py.importing.checking import Checker
from codegen.targets.torch_py.importing.declarations import Declarations, packaged_folder
from codegen.targets.torch_py.importing.formulas import translated
from tests.codegen.test_cli import YAML, checkout

__all__ = ["checkout"]

_OPERATORS = """\
- func: bend(Tensor self, float by=1.0) -> Tensor
  structured_delegate: bend.out
  variants: function, method
  tags: [pointwise, core]
- func: bend_(Tensor(a!) self, float by=1.0) -> Tensor(a!)
  structured_delegate: bend.out
  variants: method
- func: bend.out(Tensor self, float by=1.0, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU, CUDA: bend_out
- func: straighten(Tensor self) -> Tensor
- func: split_up(Tensor self, Tensor grad) -> (Tensor low, Tensor high)
  python_module: nn
  dispatch:
    CPU: split_up_cpu
- func: from_pipe(Tape s) -> Tensor
"""
_DERIVATIVES = """\
- name: bend(Tensor self, float by=1.0) -> Tensor
  self: 'grad * at::softcap(self, by) * 2.f'
  result: auto_element_wise
- name: split_up(Tensor self, Tensor grad) -> (Tensor low, Tensor high)
  self: grad + grads[1] * unheard_of(low.sym_sizes())
  grad: not_implemented("split_up")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "declarations"
    (place / "autograd").mkdir(parents=True)
    (place / "native_functions.yaml").write_text(_OPERATORS)
    (place / "autograd" / "derivatives.yaml").write_text(_DERIVATIVES)
    return place


@pytest.mark.parametrize(
    "theirs, ours",
    [
        ("grad.mul(other.conj())", "mul(grad, conj(other))"),
        (
            "at::where(a.defined() && !b.defined(), grad, 0.)",
            "where(a.defined() and not b.defined(), grad, 0.0)",
        ),
        ("maybe_multiply(grad, scale.conj())", "grad * conj(scale)"),
        ("handle_r_to_c(self.scalar_type(), grad * low)", "grad * result0"),
        ("expand_symint(grad, self.sym_sizes())", "expand(grad, self.sizes())"),
        ("grad.view_symint({self.sym_size(0), -1})", "view(grad, [self.size(0), -1])"),
        ("std::get<1>(both(grad, self))", "both(grad, self)[1]"),
        ("one == none ? grad : grads[1]", "one == none ? grads[0] : grads[1]"),
        ('not_implemented("nothing")', None),
        ("std::vector<int>(grad)", None),
        ("[&] { return grad; }()", None),
    ],
)
def test_formulas(theirs: str, ours: str | None):
    results = {"low": Name("result0")}
    if "grads" in theirs:
        results["grad"] = Index(Name("grads"), Number(0))
    assert translated(theirs, results) == ours


def test_a_pointwise_operator(checkout: Path, folder: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["import", "aten::bend", "--from", str(folder)]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[1:6] == [
        "- func: bend(Tensor self, float by=1.0) -> Tensor",
        "variants: function, method, inplace, out",
        "structure: pointwise  # TODO: a guess",
        "dtypes: floating  # TODO: a guess; name what the kernel takes",
        "derivatives:",
    ]
    assert lines[6] == "self: grad * softcap(self, by) * 2.0"
    assert "TODO: what ``bend`` computes, in a sentence." in lines


def test_what_the_checker_refuses_is_marked(checkout: Path, folder: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["import", "split_up", "straighten", "--from", str(folder)]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "- func: split_up(Tensor self, Tensor grad_output) -> (Tensor low, Tensor high)" in lines
    assert "# TODO: theirs is grad + grads[1] * unheard_of(low.sym_sizes())" in lines
    assert "self: non_differentiable" in lines
    assert '# TODO: theirs is not_implemented("split_up")' in lines
    assert "python_module: nn" in lines and "structure: composite" in lines


def test_written_into_the_file(checkout: Path, folder: Path):
    assert main(["import", "straighten", "--from", str(folder), "--write"]) == 0
    problems = Diagnostics()
    program = read_program(checkout / "native_functions.yaml", problems)
    assert program is not None and program.find("straighten") is not None
    assert {p.operator for p in problems.sorted()} == {"straighten"}  # its kernel is to be written


@pytest.mark.parametrize(
    "name, message",
    [
        ("aten::bent", "PyTorch declares no operator 'aten::bent'; did you mean bend?"),
        ("from_pipe", "from_pipe: unknown type 'Tape'; it cannot be an entry"),
    ],
)
def test_what_cannot_be_drafted(
    name: str, message: str, checkout: Path, folder: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["import", name, "--from", str(folder)]) == 1
    assert capsys.readouterr().err.strip() == message
    assert (checkout / "native_functions.yaml").read_text() == YAML


def test_a_folder_without_declarations(checkout: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["import", "add", "--from", str(checkout / "aten")]) == 1
    assert "has no native_functions.yaml" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(packaged_folder() is None, reason="PyTorch is not installed")
def test_operators_of_the_installed_package():
    """The checker takes more than a hundred drafts; what is left is marked for the author."""
    declarations = Declarations(packaged_folder() or Path())
    tree = Path(__file__).resolve().parents[2] / "native_functions.yaml"
    program = load(tree)
    checker = Checker(tree, program, None)

    drafts = []
    derived = [name for name in declarations.names() if name in declarations.derivatives]
    for name in [name for name in derived if not name.startswith("_foreach_")][::6]:
        try:
            drafts += [checker.draft(d) for d in declarations.called(name) if d.name == name]
        except SchemaError:
            continue
    checker.settle(drafts)

    assert len(drafts) >= 100
    assert [(str(d.schema.name), d.problems) for d in drafts if d.problems] == []
    found = checker.problems(drafts)
    assert {name: problems for name, problems in found.items() if problems} == {}

    gradients = [gradient for draft in drafts for gradient in draft.gradients]
    assert sum(gradient.ours is not None for gradient in gradients) > 0.4 * len(gradients)
    known = [d for d in drafts if d.schema.unambiguous_name in program.operators]
    right = [d for d in known if d.structure == program.operators[d.schema.unambiguous_name].structure]
    assert len(right) > 0.6 * len(known)
