"""Kernels of the CUDA library: claimed by entries, printed from formulas, or absent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.model import Program, load
from codegen.targets.torch_py.analysis.implied_operators import expand
from codegen.targets.torch_py.analysis.kernels import INSTANCES_PER_FILE, cuda_entry
from codegen.targets.torch_py.cli.counts import pages
from codegen.targets.torch_py.emit import render

REPOSITORY = Path(__file__).parents[2]

YAML = """\
dtype_sets:
  floating: [float32, float64]
topics:
  # Chapter elementwise: one number from one number
  Rounding:
    - func: rounded(Tensor self) -> Tensor
      structure: pointwise
      dtypes: floating
{dispatch}      non_differentiable: a step function
      samples: unary
      doc: Rounds.
    - func: halved(Tensor self, *, float by=2) -> Tensor
      structure: pointwise
      dtypes: floating
      expr: self / by
      samples: unary
      doc: Divides.
"""
CLAIM = "      dispatch:\n        CPU, CUDA: rounded_kernel\n"
CPU = "aten/native/cpu/elementwise/RoundingKernel.isa.cpp"
CUDA = "aten/native/cuda/elementwise/RoundingKernel.cu"
LOOP = "void rounded_kernel(TensorIteratorBase& iter) {\n}\n"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, CPU, "namespace at::native { inline namespace CPU_CAPABILITY {\n" + LOOP + "} }\n")
    write(tmp_path, "native_functions.yaml", YAML.format(dispatch=""))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def write_cuda(folder: Path, definitions: str, name: str = CUDA) -> None:
    write(folder, name, f"namespace at::native::cuda {{\n{definitions}}}\n")


def claim(folder: Path, text: str = CLAIM) -> None:
    write(folder, "native_functions.yaml", YAML.format(dispatch=text))


def problems(capsys: pytest.CaptureFixture[str]) -> str:
    status = main(["check"])
    shown = capsys.readouterr()
    assert (status == 0) == (not shown.err)
    return shown.err


@pytest.fixture(scope="module")
def tree() -> Program:
    return load(REPOSITORY / "native_functions.yaml")


def test_claimed_kernel_is_set_in_the_loop(checkout: Path) -> None:
    claim(checkout)
    write_cuda(checkout, LOOP)
    text = render(load(checkout / "native_functions.yaml"))["aten/register/cuda/Rounding.cpp"]
    assert "void rounded_kernel(TensorIteratorBase& iter);" in text
    assert "loops::rounded_loop.set(DeviceType::CUDA, &rounded_kernel);" in text


def test_it_may_name_the_iterator_by_its_class(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim(checkout)
    write_cuda(checkout, LOOP.replace("TensorIteratorBase", "TensorIterator"))
    assert problems(capsys) == ""


def test_claim_without_a_kernel(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim(checkout)
    expected = (
        f"the CUDA kernel 'rounded_kernel' is defined nowhere; write void rounded_kernel({'.*'}) in {CUDA}"
    )
    assert re.search(expected, problems(capsys))

    write_cuda(checkout, LOOP.replace("rounded", "roundd"))
    assert "did you mean roundd_kernel?" in problems(capsys)


def test_kernel_that_no_entry_claims(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cuda(checkout, LOOP)
    shown = problems(capsys)
    assert shown.startswith(f"{CUDA}:2:1: rounded_kernel: no entry claims this CUDA kernel; ")
    assert "write CPU, CUDA: rounded_kernel in the dispatch of rounded, native_functions.yaml:" in shown


def test_kernel_with_a_name_that_no_entry_has(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim(checkout)
    helper = "namespace {\nvoid local_kernel(float* p) {\n}\n}\nvoid shared_by_files(int n) {\n}\n"
    write_cuda(checkout, helper + LOOP)
    assert problems(capsys) == ""

    write_cuda(checkout, LOOP + LOOP.replace("rounded", "ronded"))
    assert (
        "ronded_kernel: this CUDA kernel has the name of none for the CPU; did you mean rounded"
        in problems(capsys)
    )


def test_other_name_than_the_cpus(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim(checkout, "      dispatch:\n        CPU: rounded_kernel\n        CUDA: fast_kernel\n")
    write_cuda(checkout, LOOP.replace("rounded", "fast"))
    assert "the CUDA kernel is called 'fast_kernel' and the CPU's 'rounded_kernel'" in problems(capsys)


def test_wrong_parameters_and_wrong_file(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim(checkout)
    write_cuda(checkout, LOOP.replace("iter)", "iter, double by)"))
    assert "the CUDA kernel 'rounded_kernel' has other parameters" in problems(capsys)

    (checkout / CUDA).unlink()
    write_cuda(checkout, LOOP, "aten/native/cuda/elementwise/OtherKernel.cu")
    assert f"outside the files of its topic Rounding; move it to {CUDA}" in problems(capsys)


def test_kernel_outside_of_its_namespace(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim(checkout)
    write(checkout, CUDA, f"namespace at::native {{\n{LOOP}}}\n")
    assert (
        "the CUDA kernel 'rounded_kernel' is in namespace at::native; "
        f"move it into namespace at::native::cuda: {CUDA}:2" in problems(capsys)
    )


def test_kernels_of_the_other_device_are_not_seen(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / CPU).unlink()
    claim(checkout)
    write_cuda(checkout, LOOP)
    assert "the CPU kernel 'rounded_kernel' is defined nowhere" in problems(capsys)


def test_formula_written_by_hand_for_cuda(checkout: Path) -> None:
    text = YAML.format(dispatch="").replace(
        "      expr: self / by\n", "      expr: self / by\n      dispatch:\n        CUDA: halved_kernel\n"
    )
    write(checkout, "native_functions.yaml", text)
    write_cuda(checkout, "void halved_kernel(TensorIteratorBase& iter, double by) {\n}\n")
    files = render(load(checkout / "native_functions.yaml"))
    # Its gradient still is a formula.
    assert "halved_kernel" not in files.get("aten/native/cuda/expr/Rounding.cu", "")
    assert "&halved_kernel" in files["aten/register/cuda/Rounding.cpp"]


ROWS = """\
    - func: shares(Tensor self, Tensor weight, int dim, *, float eps=0.1) -> Tensor
      structure: shaped
      dtypes: floating
      expr: exp(self - amax(self)) * weight / (sum(exp(self - amax(self))) + eps)
      non_differentiable: a test
      samples: unary
      doc: As softmax.
    - func: squares(Tensor self, int dim, bool keepdim=False) -> Tensor
      structure: reduction
      dtypes: floating
      expr: mean(self * self)
      non_differentiable: a test
      samples: unary
      doc: The mean of the squares.
"""


def test_formulas_over_rows(checkout: Path) -> None:
    """Several reductions are passes over a row, and nothing is kept. A single one is a reduction."""
    write(checkout, "native_functions.yaml", YAML.format(dispatch="") + ROWS)
    files = render(load(checkout / "native_functions.yaml"))
    text = files["aten/native/cuda/expr/Rounding-rows.cu"]
    assert "const FormulaRow<scalar_t, 2, Walk> row(operands, place, walk);" in text
    assert "row0_total.add(static_cast<opmath_t>(self));" in text
    assert "row1_total.add(static_cast<opmath_t>(at::vec::exp(self - row0)));" in text
    assert "return at::vec::exp(self - row0) * weight / row2;" in text
    assert "for_each_formula_row<scalar_t, scalar_t, 2>(" in text
    assert "reduce(iter, SquaresRow<scalar_t>{count_value});" in text
    assert "&shares_kernel" in files["aten/register/cuda/Rounding.cpp"]


def test_what_is_shown(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "halved"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "CUDA from expr build/generated/aten/native/cuda/expr/Rounding.cu, 2 dtypes" in shown

    assert main(["explain", "rounded"]) == 0
    assert "CUDA on the host the CPU's kernel, on copies" in " ".join(capsys.readouterr().out.split())

    (checkout / "docs").mkdir()
    assert main(["counts", "--write"]) == 0
    page = (checkout / "docs/cuda_fallbacks.md").read_text()
    assert "1 of 2 entries." in page and "| Rounding | `rounded` |" in page


def test_every_formula_of_the_tree_has_a_kernel(tree: Program) -> None:
    formulas = [o for o in expand(tree) if o.expr is not None]
    assert formulas and all(cuda_entry(o) is not None for o in formulas)


def test_files_of_formulas_are_small(tree: Program) -> None:
    instances: dict[str, int] = {}
    for operator in expand(tree):
        entry = cuda_entry(operator)
        if operator.expr is not None and entry is not None and entry.definition is not None:
            path = entry.definition.path
            instances[path] = instances.get(path, 0) + len(operator.dtypes)
    assert max(instances.values()) <= INSTANCES_PER_FILE


@pytest.mark.parametrize("page", ["docs/counts.md", "docs/cuda_fallbacks.md"])
def test_pages_are_up_to_date(page: str, tree: Program) -> None:
    assert (REPOSITORY / page).read_text() == pages(tree)[page], "run: python -m codegen counts --write"
