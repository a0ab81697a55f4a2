"""The commands of ``python -m codegen`` (generate: tests of the emitters)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.diagnostics import Diagnostics
from codegen.model import read_program
from codegen.targets.torch_py.cli.insertion import with_entry
from codegen.targets.torch_py.cli.lookup import operators_called

REPOSITORY = Path(__file__).parents[2]

YAML = """\
dtype_sets:
  floating: [float32, float64]
topics:
  PointwiseMath:
    - func: softcap(Tensor self, float cap) -> Tensor
      variants: function, method, inplace, out
      structure: pointwise
      dtypes: floating
      expr: cap * tanh(self / cap)
      samples: unary
      doc: Caps.
  Shape:
    - func: again(Tensor(a) self) -> Tensor(a)
      structure: view
      samples: unary
      reference: self
      doc: Returns self.
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "native_functions.yaml").write_text(YAML)
    (tmp_path / "aten" / "native").mkdir(parents=True)
    (tmp_path / "aten" / "native" / "Shape.cpp").write_text(
        "namespace at::native {\nTensor again(const Tensor& self) {\n  return self;\n}\n}\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_check(checkout: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["check"]) == 0
    assert capsys.readouterr().out == "native_functions.yaml: 2 operators in 2 topics, no problems\n"


def test_check_as_a_program(checkout: Path):
    (checkout / "native_functions.yaml").write_text(YAML.replace("view", "vieww"))
    command = [sys.executable, "-m", "codegen", "check"]
    done = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(REPOSITORY)})
    assert done.returncode == 1
    assert (
        done.stderr
        == "native_functions.yaml:14:18: again: unknown structure 'vieww'; did you mean view?\n1 problem\n"
    )


def test_counts(checkout: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["counts"]) == 0

    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    for line in (
        "2  entries, one for each overload",
        "1  entries with a formula (expr)",
        "1  view",
        "4  functions of the dispatcher, all forms",
        "2  functions",
        "2  methods of Tensor",
        "1  that follow from a formula",
        "1  views, reversed",
        "2  together, in backward and in forward mode",
        "0  without a gradient",
    ):
        assert line in lines, lines

    (checkout / "docs").mkdir()
    assert main(["counts", "--write"]) == 0
    assert capsys.readouterr().out == "docs/counts.md\ndocs/cuda_fallbacks.md\n"
    assert "| in-place forms | 1 |\n" in (checkout / "docs/counts.md").read_text()


def test_counts_of_checks(checkout: Path, capsys: pytest.CaptureFixture[str]):
    path = checkout / "native_functions.yaml"
    path.write_text(YAML.replace("structure: view", "structure: view\n      requires: dim(self) > 0"))
    source = checkout / "aten" / "native" / "Shape.cpp"
    source.write_text(source.read_text() + "// TORCH_CHECK_INDEX(a); TORCH_CHECK(b); MY_TORCH_CHECK(c);\n")
    (source.parent / "Helpers.cpp").write_text("TORCH_CHECK(d);\n")

    assert main(["counts"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    for row in (
        ["1", "2", "33%", "all", "topics"],
        ["0", "1", "0%", "files", "of", "no", "topic"],
        ["1", "2", "33%", "Shape"],
    ):
        assert row in lines, lines


def test_explain(checkout: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["explain", "softcap"]) == 0
    out = capsys.readouterr().out
    for line in (
        "native_functions.yaml:5:13",
        "Tensor softcap_out(const Tensor& out, const Tensor& self, double cap)",
        "torch.softcap(input: Tensor, cap: float, *, out=None) -> Tensor",
        "Tensor.softcap_(cap: float) -> Tensor",
        "from expr",
        "self: softcap_backward(grad, result, cap)",
        "softcap_backward = grad_output * (1 - (output / cap) ** 2)",
        "grad_output: softcap_backward(grad, output, cap)",
        "float32, float64",
    ):
        assert line in out, out


def test_explain_shows_where_the_kernel_is(checkout: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["explain", "again"]) == 0
    assert "All  again  aten/native/Shape.cpp:2" in capsys.readouterr().out


def test_explain_names_the_function_that_a_user_calls(checkout: Path, capsys: pytest.CaptureFixture[str]):
    text = YAML.replace("      variants: function, method, inplace, out\n", "      python_module: nn\n")
    (checkout / "native_functions.yaml").write_text(text)
    functional = checkout / "torch_py" / "nn" / "functional" / "_caps.py"
    functional.parent.mkdir(parents=True)

    for source, expected in (
        (
            "softcap = _nn.softcap\n",
            "torch.nn.functional.softcap(input: Tensor, cap: float) -> Tensor\n",
        ),
        (
            "_a, _cap = _nn.a, _nn.softcap\ndef capped(input, cap=30.0):\n    return _cap(input, "
            "cap)\ndef other(x):\n    return capped(x)\n",
            "torch.nn.functional.capped(input, cap=30.0)  # torch_py/nn/functional/_caps.py:2\n",
        ),
        ("", "torch._C._nn.softcap(input: Tensor, cap: float) -> Tensor\n"),
    ):
        functional.write_text(source)
        assert main(["explain", "softcap"]) == 0
        assert f"\nPython\n  {expected}\n" in capsys.readouterr().out


def test_explain_names_the_function_of_the_tree(capsys: pytest.CaptureFixture[str]):
    assert main(["explain", "cross_entropy_loss"]) == 0
    assert "torch.nn.functional.cross_entropy(input: Tensor, target: Tensor" in capsys.readouterr().out


def test_explain_works_despite_problems(checkout: Path, capsys: pytest.CaptureFixture[str]):
    (checkout / "native_functions.yaml").write_text(
        YAML.replace("structure: view", "structure: view\n      dispatch:\n        All: agian")
    )
    assert main(["explain", "again"]) == 0
    captured = capsys.readouterr()
    assert "All  agian  not written yet" in captured.out
    assert captured.err == "\nnative_functions.yaml has problems (1): python -m codegen check\n"


def test_explain_an_unknown_operator(checkout: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["explain", "softcup"]) == 1
    assert capsys.readouterr().err == "native_functions.yaml: no operator 'softcup'; did you mean softcap?\n"


def test_explain_suggests_only_names_that_are_alike(capsys: pytest.CaptureFixture[str]):
    assert main(["explain", "nosuch", "--yaml", str(REPOSITORY / "native_functions.yaml")]) == 1
    assert "did you mean" not in capsys.readouterr().err
    assert main(["explain", "logsoftmx", "--yaml", str(REPOSITORY / "native_functions.yaml")]) == 1
    assert "did you mean log_softmax?" in capsys.readouterr().err


def test_one_broken_entry_hides_no_finding_of_others(checkout: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["lock"]) == 0
    capsys.readouterr()
    text = YAML.replace("cap * tanh", "cup * tanh").replace("float cap", "int cap")
    text = text.replace("view\n", "view\n      aliases: more\n      autocast: none\n")
    (checkout / "native_functions.yaml").write_text(text)
    assert main(["check"]) == 1
    told = capsys.readouterr().err
    assert "softcap: unknown name 'cup'" in told
    assert "again: 'autocast: none' follows without being written" in told
    assert "again: compared with native_functions.lock" in told
    assert "softcap: compared with" not in told  # what is wrong with it may change


def test_select_names_what_it_cannot_run_or_write(checkout: Path, capsys: pytest.CaptureFixture[str]):
    for arguments, message in (
        (["--from-run", "nofile.py"], "nofile.py: there is no such script"),
        (["--from-run"], "--from-run: write the script"),
        (["--to", "no/list.txt", "--from-run", "native_functions.yaml"], "no/list.txt: not a file that can"),
    ):
        assert main(["select", *arguments]) == 1
        told = capsys.readouterr().err
        assert told.startswith(message) and told.count("\n") == 1


def test_new_leaves_files_of_others_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "cube"]) == 1
    assert "name the file: --yaml PATH" in capsys.readouterr().err

    (tmp_path / "native_functions.yaml").write_text("- func: add(Tensor self) -> Tensor\n")  # as PyTorch's
    assert main(["new", "cube", "--write"]) == 1
    assert "name the file: --yaml PATH" in capsys.readouterr().err
    assert main(["new", "cube", "--write", "--yaml", "native_functions.yaml"]) == 1
    assert "the file is not a map" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["native_functions.yaml"]


@pytest.mark.parametrize(
    "command", [["check"], ["explain", "add"], ["new", "cube"], ["lock"], ["counts"], ["generate"]]
)
@pytest.mark.parametrize("content", [b"\xff\xfe", b"- a", b"word", b"topics: [", b"\0"])
def test_files_that_are_no_declarations(
    content: bytes, command: list[str], checkout: Path, capsys: pytest.CaptureFixture[str]
):
    (checkout / "native_functions.yaml").write_bytes(content)
    assert main(command) == 1
    told = capsys.readouterr().err
    assert told.startswith("native_functions.yaml:1:") and told.endswith("\n1 problem\n")


def test_new_prints_an_entry_and_a_stub(checkout: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["new", "cube"]) == 0
    out = capsys.readouterr().out
    assert "    - func: cube(Tensor self) -> Tensor\n" in out
    assert (
        "// aten/native/cpu/PointwiseMathKernel.isa.cpp\nvoid cube_kernel(TensorIteratorBase& iter) {\n"
        in out
    )
    assert (checkout / "native_functions.yaml").read_text() == YAML


@pytest.mark.parametrize(
    "arguments",
    [
        ["cube"],
        ["cube", "--expr", "self * self * self"],
        ["twice(Tensor self, Tensor other, *, int n=2) -> Tensor", "--structure", "pointwise"],
        ["cube", "--cuda"],
        ["total", "--structure", "reduction"],
        ["total", "--structure", "reduction", "--cuda"],
        ["folded(Tensor self, int n) -> (Tensor, Tensor)", "--structure", "shaped"],
        ["mirror", "--structure", "view"],
        ["both", "--structure", "composite", "--topic", "Fresh"],
        ["found", "--structure", "dynamic"],
        ["shake", "--structure", "mutation"],
    ],
)
def test_what_new_writes_passes_the_check(
    arguments: list[str], checkout: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["new", *arguments, "--write"]) == 0
    assert check_with_docs(checkout) == 0, capsys.readouterr().err
    assert "3 operators" in capsys.readouterr().out


def check_with_docs(checkout: Path) -> int:
    """``check``, which refuses drafts, once their author has written what they compute."""
    assert main(["check"]) == 1
    file = checkout / "native_functions.yaml"
    file.write_text(file.read_text().replace("TODO: what", "What"))
    return main(["check"])


def test_check_refuses_the_doc_of_a_draft(checkout: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["new", "cube", "--write"]) == 0
    assert main(["generate"]) == 0
    assert main(["check"]) == 1
    problem = "native_functions.yaml:20:12: cube: the doc is that of the draft; write a sentence"
    assert problem in capsys.readouterr().err

    file = checkout / "native_functions.yaml"
    file.write_text(file.read_text().replace("TODO: what", "TODO"))
    assert main(["check"]) == 1
    assert problem in capsys.readouterr().err


def test_new_takes_the_structure_from_the_schema(checkout: Path, capsys: pytest.CaptureFixture[str]):
    for schema, structure, stub in (
        (
            "rms(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor",
            "reduction",
            "void rms_kernel(TensorIteratorBase& iter)",
        ),
        (
            "centred(Tensor self, int dim) -> Tensor",
            "composite",
            "Tensor centred(const Tensor& self, int64_t dim)",
        ),
        (
            "cube(Tensor self, int times=1) -> Tensor",
            "pointwise",
            "void cube_kernel(TensorIteratorBase& iter, int64_t times)",
        ),
    ):
        assert main(["new", schema, "--topic", "Fresh", "--write"]) == 0, capsys.readouterr().err
        assert (
            f"      structure: {structure}\n"
            in (checkout / "native_functions.yaml").read_text().split("  Fresh:")[1]
        )
        assert any(stub in path.read_text() for path in checkout.glob("aten/native/**/*.cpp")), stub

    kernel = (checkout / "aten/native/cpu/FreshKernel.isa.cpp").read_text()
    assert '#include "aten/iteration/ReductionLoops.h"' in kernel

    assert main(["new", "scaled(Tensor self, float dim) -> Tensor", "--expr", "self * dim"]) == 0
    assert "structure: pointwise" in capsys.readouterr().out


SAMPLES = """\
\"\"\"Single tensors.\"\"\"

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples


@samples("unary")
def unary(make):
    yield
"""


@pytest.fixture
def samples_folder(checkout: Path) -> Path:
    folder = checkout / "tests" / "ops" / "samples"
    folder.mkdir(parents=True)
    (folder / "unary.py").write_text(SAMPLES)
    return folder


def test_new_uses_samples_that_fit_the_arguments(
    checkout: Path, samples_folder: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["new", "cube", "--write"]) == 0
    entry = "      samples: unary\n      doc: |\n        TODO: what"
    assert entry in (checkout / "native_functions.yaml").read_text()

    assert check_with_docs(checkout) == 0, capsys.readouterr().err
    assert [path.name for path in samples_folder.iterdir()] == ["unary.py"]


def test_new_drafts_samples_in_the_file_of_the_topic(
    checkout: Path, samples_folder: Path, capsys: pytest.CaptureFixture[str]
):
    schema = "thrice(Tensor self, float[] n, *, str mode='a', Tensor? w=None) -> Tensor"
    for arguments, above in (
        ([schema, "--structure", "composite"], "composite\n"),
        (["softcup(Tensor self, float c) -> Tensor", "--expr", "c * self"], 'expr: "c * self"\n'),
    ):
        assert main(["new", *arguments, "--write"]) == 0
        assert f"{above}      doc: |\n        TODO: what" in (checkout / "native_functions.yaml").read_text()
        assert check_with_docs(checkout) == 0, capsys.readouterr().err

    text = (samples_folder / "pointwise_math.py").read_text()
    assert text.startswith(
        '"""Arguments of the topic PointwiseMath."""\n\nfrom __future__ import annotations\n'
    )
    assert '\n\n\n@samples("thrice")\ndef thrice(make: Make) -> Iterator[SampleInput]:\n' in text
    assert '\n\n\n@samples("softcup")\ndef softcup(make: Make) -> Iterator[SampleInput]:\n' in text
    assert "SampleInput(make(*shape), [0.5])" in text
    assert 'SampleInput(make(*shape), [0.5], mode="a", w=make(*shape))' in text


def test_new_adds_samples_to_an_existing_file(checkout: Path, samples_folder: Path):
    schema = "thrice(Tensor self, float[] n) -> Tensor"
    assert main(["new", schema, "--topic", "Unary", "--write"]) == 0

    text = (samples_folder / "unary.py").read_text()
    before = SAMPLES.replace("SampleInput, error_samples", "SampleInput, error_samples, samples")
    assert text.startswith(before + '\n\n@samples("thrice")\n')
    compile(text, "unary.py", "exec")

    # Imports that are missing altogether are added at the top.
    (samples_folder / "other.py").write_text("from __future__ import annotations\n\nSHAPES = ()\n")
    assert main(["new", schema.replace("thrice", "twice"), "--topic", "Other", "--write"]) == 0
    text = (samples_folder / "other.py").read_text()
    assert "\nfrom tests.ops.samples.registry import SampleInput, samples\n" in text
    compile(text, "other.py", "exec")


def test_new_prints_samples_with_their_file(
    checkout: Path, samples_folder: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["new", "thrice(Tensor self, float[] n) -> Tensor", "--topic", "Unary"]) == 0
    out = capsys.readouterr().out
    assert '\n# tests/ops/samples/unary.py\n@samples("thrice")\ndef thrice(' in out
    assert (samples_folder / "unary.py").read_text() == SAMPLES


def test_drafted_samples_fit_tensors_without_dimensions(checkout: Path, samples_folder: Path):
    schema = "centred(Tensor self, int dim, int[] more) -> Tensor"
    assert main(["new", schema, "--topic", "Centring", "--write"]) == 0
    assert "SampleInput(make(*shape), -1, [1])" in (samples_folder / "centring.py").read_text()


def test_a_drafted_derivative_refuses_until_someone_writes_it(
    checkout: Path, capsys: pytest.CaptureFixture[str]
):
    """A guessed formula could be wrong without anybody noticing."""
    assert main(["new", "cube"]) == 0
    assert (
        "derivatives:  # TODO: formulas such as grad * other, or non_differentiable\n        self: "
        "non_differentiable\n" in capsys.readouterr().out
    )

    refusal = "_refuse_gradient(Tensor grad, str operation, str argument) -> Tensor"
    assert main(["new", refusal, "--structure", "composite", "--write"]) == 0
    assert main(["new", "cube", "--write"]) == 0
    text = (checkout / "native_functions.yaml").read_text()
    assert 'self: _refuse_gradient(grad, "cube", "self")\n' in text
    assert check_with_docs(checkout) == 0


def test_new_says_where_the_entry_goes(checkout: Path, capsys: pytest.CaptureFixture[str]):
    cases = (
        (["again_too", "--structure", "view"], "Shape", ""),
        (["softcap2"], "PointwiseMath", ""),
        (
            ["cube", "--topic", "Shapes"],
            "Shapes",
            "Shapes is a new topic, at the end of native_functions.yaml; did you mean Shape?\n",
        ),
        (
            ["cube", "--topic", "Fresh"],
            "Fresh",
            "Fresh is a new topic, at the end of native_functions.yaml\n",
        ),
    )

    for arguments, topic, said in cases:
        assert main(["new", *arguments]) == 0
        captured = capsys.readouterr()
        assert captured.out.startswith(f"# native_functions.yaml, topic {topic}\n") and captured.err == said


def test_new_writes_the_functions_that_an_entry_lacks(checkout: Path, capsys: pytest.CaptureFixture[str]):
    path = checkout / "native_functions.yaml"
    entry = "    - func: fold(Tensor self) -> Tensor\n      structure: shaped\n"
    path.write_text(
        YAML + entry + "      non_differentiable: a test\n      samples: unary\n      doc: Folds.\n"
    )
    before = path.read_text()

    assert main(["new", "fold", "--write"]) == 0
    assert path.read_text() == before
    assert (
        "void fold_kernel(const Tensor& self, const Tensor& out0)"
        in (checkout / "aten/native/cpu/ShapeKernel.isa.cpp").read_text()
    )
    assert "TensorSpec fold_shape(const Tensor& self)" in (checkout / "aten/native/Shape.cpp").read_text()
    assert main(["check"]) == 0, capsys.readouterr().err

    assert main(["new", "fold"]) == 1
    assert "it exists already, with all functions that it names" in capsys.readouterr().err


def test_new_drafts_a_kernel_for_cuda(checkout: Path, capsys: pytest.CaptureFixture[str]):
    path = checkout / "aten/native/cuda/PointwiseMathKernel.cu"
    assert main(["new", "cube", "--cuda", "--write"]) == 0
    assert (
        "      dispatch:\n        CPU, CUDA: cube_kernel\n"
        in (checkout / "native_functions.yaml").read_text()
    )
    written = path.read_text()
    assert '#include "aten/native/cuda/Elementwise.cuh"\n\nnamespace at::native::cuda {\n' in written
    assert "\nvoid cube_kernel(TensorIteratorBase& iter) {\n" in written

    # Of an entry with a kernel for the CPU, only the other one is drafted.
    path.unlink()
    capsys.readouterr()
    assert main(["new", "cube"]) == 0
    assert capsys.readouterr().out.startswith("// aten/native/cuda/PointwiseMathKernel.cu\nvoid cube_kernel(")


def test_new_drafts_no_kernel_for_cuda_where_none_is_needed(
    checkout: Path, capsys: pytest.CaptureFixture[str]
):
    for arguments in (["cube", "--expr", "self * self * self"], ["both", "--structure", "composite"]):
        assert main(["new", *arguments, "--cuda"]) == 1
        assert "--cuda" in capsys.readouterr().err


def test_kernels_are_written_into_the_namespace_of_their_instruction_set(checkout: Path):
    path = checkout / "aten/native/cpu/FreshKernel.isa.cpp"
    for name in ("cube", "fourth"):
        assert main(["new", name, "--topic", "Fresh", "--write"]) == 0
        before, found, after = path.read_text().partition("}  // namespace CPU_CAPABILITY\n")
        assert found and after == "}  // namespace at::native\n"
        assert (
            "inline namespace CPU_CAPABILITY {\n\nvoid cube_kernel(" in before
            and f"void {name}_kernel(" in before
        )


def test_new_drafts_dtypes_that_have_derivatives(checkout: Path, capsys: pytest.CaptureFixture[str]):
    path = checkout / "native_functions.yaml"
    path.write_text(YAML.replace("dtype_sets:\n", "dtype_sets:\n  integral: [int32, int64]\n"))
    assert main(["new", "cube"]) == 0
    assert "dtypes: floating\n" in capsys.readouterr().out


def test_new_refuses_what_exists_and_what_is_wrong(checkout: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["new", "softcap"]) == 1
    assert "it exists already" in capsys.readouterr().err
    assert main(["new", "f(tensor self) -> Tensor"]) == 1
    assert (
        capsys.readouterr().err
        == "f(tensor self) -> Tensor\n  ^ unknown type 'tensor'; did you mean Tensor?\n"
    )


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["foo", "--expr", "self +"], "the expression ends where a value should follow"),
        (["foo", "--expr", "self * capp"], "unknown name 'capp'; arguments: self"),
        (
            ["foo(float x) -> Tensor", "--structure", "pointwise"],
            "a pointwise operator has no Tensor argument",
        ),
        (["foo", "--topic", "bad topic"], "bad topic: a topic is the stem of source files"),
        (["foo(Tensor self, int in) -> Tensor"], "'in' is a keyword of Python"),
    ],
)
def test_new_drafts_nothing_that_check_refuses(
    arguments: list[str], message: str, checkout: Path, capsys: pytest.CaptureFixture[str]
):
    before = {path: path.read_text() for path in checkout.rglob("*") if path.is_file()}
    for write in ([], ["--write"]):
        assert main(["new", *arguments, *write]) == 1
        captured = capsys.readouterr()
        assert message in captured.err and captured.out == "", captured.err
    assert {path: path.read_text() for path in checkout.rglob("*") if path.is_file()} == before


def test_an_expr_with_quotes_is_quoted(checkout: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["new", "foo", "--expr", 'self * "a"']) == 1
    assert (
        'expr: "self * \\"a\\""' in (error := capsys.readouterr().err)
        and "expr is a formula over numbers" in error
    )


def test_paths_that_cannot_be_used(checkout: Path, capsys: pytest.CaptureFixture[str]):
    (checkout / "file").write_text("mine")
    assert main(["generate", "--output", "file"]) == 1
    assert capsys.readouterr().err == "file: it is a file; pass a folder: --output DIR\n"
    assert main(["generate", "--output", "file/below"]) == 1
    assert capsys.readouterr().err.endswith(": Not a directory\n")
    assert main(["new", "cube", "--yaml", "missing/native_functions.yaml", "--write"]) == 1
    assert capsys.readouterr().err == "missing/native_functions.yaml: No such file or directory\n"
    assert (checkout / "file").read_text() == "mine"


def test_entries_go_to_the_end_of_their_topic():
    text = "topics:\n  A:\n    - func: a\n      doc: x\n\n  # about B\n  B:\n    - func: b\n"
    assert with_entry(text, "B", "    - func: n\n").endswith("    - func: b\n\n    - func: n\n")
    assert with_entry(text, "C", "    - func: n\n").endswith("\n\n  C:\n    - func: n\n")
    in_library = with_entry("library: mine\n", "A", "    - func: n\n")
    assert in_library == "library: mine\ntopics:\n  A:\n    - func: n\n"
    inside = with_entry(text, "A", "    - func: n\n")
    assert (
        inside
        == "topics:\n  A:\n    - func: a\n      doc: x\n\n    - func: n\n\n  # about B\n  B:\n    - func: b\n"
    )


@pytest.mark.parametrize(
    ("spoken", "name"),
    [
        ("clip", "clamp"),
        ("torch.add", "add.Tensor"),
        ("Tensor.add_", "add.Tensor"),
        ("special.expit", "sigmoid"),
        ("torch.linalg.det", "linalg_det"),
        ("F.gelu", "gelu"),
        ("torch.nn.functional.relu", "relu"),
        ("at::mm", "mm"),
    ],
)
def test_operators_are_found_by_the_names_that_people_use(spoken, name):
    program = read_program(REPOSITORY / "native_functions.yaml", Diagnostics())
    assert name in [o.name for o in operators_called(program, spoken)]


def test_an_overload_of_pytorch_shows_those_there_are(capsys):
    assert main(["explain", "sum.dim_IntList"]) == 0
    captured = capsys.readouterr()
    assert captured.err == "native_functions.yaml: no overload 'sum.dim_IntList'; there is sum\n"
    assert captured.out.startswith("sum(Tensor self, ")


def test_new_takes_the_name_that_python_has(capsys):
    assert main(["new", "nn.foo(Tensor self) -> Tensor"]) == 0
    drafted = capsys.readouterr().out
    assert "- func: foo(Tensor self) -> Tensor\n      python_module: nn\n" in drafted
    assert main(["new", "torch.linalg.foo(Tensor A) -> Tensor", "--structure", "composite"]) == 0
    assert "- func: linalg_foo(Tensor A) -> Tensor\n      structure: composite\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name, message",
    [
        ("clip", "'clip' is an alias of clamp; choose another name"),
        (
            "special.expit(Tensor self) -> Tensor",
            "'special_expit' is an alias of sigmoid; choose another name",
        ),
        ("torch.add", "add.Tensor: it exists already"),
        ("nn.functional.relu", "relu: it exists already"),
        ("linalg.det", "linalg_det: it exists already"),
    ],
)
def test_new_knows_the_names_that_python_has(name: str, message: str, capsys):
    assert main(["new", name]) == 1
    assert message in capsys.readouterr().err


def test_new_drafts_a_method_without_a_function(capsys):
    assert main(["new", "Tensor.foo_of_tests(Tensor self) -> Tensor"]) == 0
    printed = capsys.readouterr().out
    assert "func: foo_of_tests(Tensor self) -> Tensor\n      variants: method\n" in printed
