"""Mistakes in the files around the declarations are reported at their place in those files."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.diagnostics import Diagnostics
from codegen.model import Program, read_program

_ENTRIES = """\
topics:
  Mistakes:
    - func: halved(Tensor self) -> Tensor
      structure: pointwise
      dtypes: floating
      derivatives:
        self: grad / 2
      reference: self / 2
      samples: halved
      doc: Half of ``self``.
"""
_KERNEL = """\
namespace at::native {
inline namespace CPU_CAPABILITY {
template <class T>
void loop(TensorIteratorBase& iter) {
  AT_DISPATCH_FLOATING(iter.dtype(), "add", [&] {});
}
void halved_kernel(TensorIteratorBase& iter) {
  // AT_DISPATCH_HALVES(a comment, "mul")
  AT_DISPATCH_FLOATING(iter.common_dtype(), "halved_cpu", [&] {
    loop<scalar_t>(iter);
  });
}
} // namespace CPU_CAPABILITY
} // namespace at::native
"""
_SAMPLES = '@samples("halved")\ndef halved(make): ...\n'
_KERNEL_FILE = "aten/native/cpu/MistakesKernel.isa.cpp"
_SAMPLES_FILE = "tests/ops/samples/halved.py"


def _problems(folder: Path, tree: Program, kernel: str = _KERNEL, samples: str = _SAMPLES) -> list[str]:
    for path, text in ((_KERNEL_FILE, kernel), (_SAMPLES_FILE, samples)):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    problems = Diagnostics()
    read_program(folder / "mistakes.yaml", problems, tree, text=_ENTRIES)
    return [str(problem) for problem in problems.sorted()]


def test_the_files_are_right(tmp_path: Path, tree: Program):
    assert not _problems(tmp_path, tree)


@pytest.mark.parametrize(
    "right, wrong, problem",
    [
        (
            "AT_DISPATCH_FLOATING(iter.common",
            "AT_DISPATCH_FLOATING_TYPES(iter.common",
            "9:3: halved_kernel: no set of dtypes has the macro AT_DISPATCH_FLOATING_TYPES; "
            "did you mean AT_DISPATCH_FLOATING?",
        ),
        (
            "AT_DISPATCH_FLOATING(iter.dtype",
            "AT_DISPATCH_FLOATNG(iter.dtype",
            "5:3: AT_DISPATCH_FLOATNG: no set of dtypes has the macro AT_DISPATCH_FLOATNG; "
            "did you mean AT_DISPATCH_FLOATING?",
        ),
        (
            '"halved_cpu"',
            '"add_cpu"',
            "9:46: halved_kernel: the error of a dtype without code would name another operator, 'add'; "
            'write "halved"',
        ),
    ],
)
def test_macros_that_choose_types(right: str, wrong: str, problem: str, tmp_path: Path, tree: Program):
    assert _KERNEL.count(right) == 1
    found = _problems(tmp_path, tree, _KERNEL.replace(right, wrong))
    assert f"{_KERNEL_FILE}:{problem}" in found, found


def test_macros_that_the_file_defines(tmp_path: Path, tree: Program):
    own = "#define AT_DISPATCH_HALVES(...) AT_DISPATCH_FLOATING(__VA_ARGS__)\n"
    kernel = own + _KERNEL.replace("AT_DISPATCH_FLOATING(iter.common", "AT_DISPATCH_HALVES(iter.common")
    assert not _problems(tmp_path, tree, kernel)


def test_two_generators_of_samples_with_one_name(tmp_path: Path, tree: Program):
    assert _problems(tmp_path, tree, samples=_SAMPLES + "\n\n" + _SAMPLES) == [
        f"{_SAMPLES_FILE}:5:1: halved: two generators of samples are called 'halved'; "
        f"rename this one, or that at {_SAMPLES_FILE}:1"
    ]
