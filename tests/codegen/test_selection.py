"""Builds with some operators alone: the list, what it implies, and what is left out of the generated tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.diagnostics import GenerationError
from codegen.model import Program, load
from codegen.output.generation import render
from codegen.targets.torch_py import TARGET
from codegen.targets.torch_py.selection import operators_of_list, target_of

_YAML = """\
dtype_sets:
  floating: [float32, float64]
topics:
  Caps:
    - func: softcap(Tensor self, float cap) -> Tensor
      variants: function, method, inplace, out
      structure: pointwise
      dtypes: floating
      expr: cap * tanh(self / cap)
      samples: unary
      doc: Caps.
    - func: twice(Tensor self) -> Tensor
      structure: composite
      samples: unary
      doc: Caps twice.
    - func: hardcap(Tensor self, float cap) -> Tensor
      structure: pointwise
      dtypes: floating
      expr: "minimum(self, cap)"
      derivatives:
        self: grad * capped_below(self, cap)
      samples: unary
      doc: Cuts.
    - func: capped_below(Tensor self, float cap) -> Tensor
      structure: pointwise
      dtypes: floating
      expr: "self < cap ? 1.0 : 0.0"
      non_differentiable: piecewise constant
      samples: unary
      doc: Whether ``self`` is below the cap.
    - func: alone(Tensor self) -> Tensor
      structure: composite
      samples: unary
      doc: Returns self.
"""
_KERNELS = """\
namespace at::native {
Tensor helper(const Tensor& self) {
  return at::softcap(self, 1.0);
}
Tensor twice(const Tensor& self) {
  return helper(helper(self));
}
Tensor alone(const Tensor& self) {
  return self;
}
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "native_functions.yaml").write_text(_YAML)
    (tmp_path / "aten" / "native").mkdir(parents=True)
    (tmp_path / "aten" / "native" / "Caps.cpp").write_text(_KERNELS)
    (tmp_path / "aten" / "core").mkdir()
    return load(tmp_path / "native_functions.yaml")


def _selected(program: Program, *names: str) -> frozenset[str]:
    root = Path(program.path).parent
    (root / "list.txt").write_text("# what we need\n" + "".join(f"{name}\n" for name in names))
    return operators_of_list(program, root / "list.txt")


@pytest.mark.parametrize(
    "name, implied",
    [
        ("alone", {"alone"}),
        ("aten::softcap  # a comment", {"softcap", "softcap_backward"}),
        ("softcap_.", None),
        ("softcap_", {"softcap", "softcap_backward"}),
        ("softcap.out", {"softcap", "softcap_backward"}),
        ("hardcap", {"hardcap", "capped_below"}),  # by its derivative
        ("twice", {"twice", "softcap", "softcap_backward"}),  # through a helper in C++
    ],
)
def test_what_an_operator_needs(name: str, implied: set[str] | None, program: Program):
    if implied is not None:
        assert _selected(program, name) == implied
        return
    with pytest.raises(
        GenerationError, match="list.txt:2:1: softcap_.: no operator has this name; did you mea"
    ):
        _selected(program, name)


def test_what_every_program_calls_is_needed(program: Program):
    core = Path(program.path).parent / "aten" / "core" / "Print.cpp"
    core.write_text("void print(const Tensor& self) {\n  show(at::ops::alone::call(self));\n}\n")
    assert _selected(program) == {"alone"}


def test_what_is_left_out_refuses_calls(program: Program):
    assert _selected(program, "hardcap") == {"hardcap", "capped_below"}
    whole = render(program, TARGET)
    files = render(program, target_of(Path(program.path).parent / "list.txt", TARGET))

    gone = {path for path in whole if path not in files}
    assert {path.rpartition("/")[2] for path in gone} == {"softcapKernel.isa.cpp"}
    registered = files["aten/register/Caps.cpp"]
    assert "Tensor softcap::call(const Tensor&, double) {\n  left_out::refuse(entry);\n}" in registered
    assert "register_operator<ops::softcap>();" in registered
    assert "Tensor hardcap::call(const Tensor& self, double cap) {\n  const Disp" in registered
    nodes = files["torch_py/csrc/autograd/generated/CapsNodes.cpp"]
    assert "HardcapBackward0" in nodes and "SoftcapBackward0" not in nodes
    # Declarations and bindings are those of every build.
    assert files["aten/ops/softcap.h"] == whole["aten/ops/softcap.h"]
    bindings = "torch_py/csrc/bindings/generated/Caps.cpp"
    assert files[bindings] == whole[bindings]


def test_the_command(program: Program, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(Path(program.path).parent)
    Path("list.txt").write_text("alone\n")
    assert main(["generate", "--operators", "list.txt"]) == 0
    assert "list.txt: 1 operators are to work" in capsys.readouterr().out
    assert main(["generate", "--operators", "list.txt"]) == 0
    assert capsys.readouterr().out == "build/generated is up to date\n"
    Path("list.txt").write_text("alone\ntwice\n")
    assert main(["generate", "--operators", "list.txt"]) == 0
    assert "list.txt: 4 operators are to work" in capsys.readouterr().out
