"""The C++ of a topic is in the files that are named after it, in the folder of its chapter."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.model import Operator, Program, load

REPOSITORY = Path(__file__).parents[2]
NATIVE = REPOSITORY / "aten" / "native"

YAML = """\
dtype_sets:
  floating: [float32, float64]
topics:
  # ------------------------------
  # Chapter elementwise: one number from one number
  # ------------------------------

  Rounding:
    - func: rounded(Tensor self) -> Tensor
      structure: pointwise
      dtypes: floating
      non_differentiable: a step function
      samples: unary
      doc: Rounds.

  # ------------------------------
  # Chapter shape: other arrangements
  # ------------------------------

  Folding:
    - func: folded(Tensor self) -> Tensor
      structure: shaped
      dtypes: floating
      non_differentiable: not written
      samples: unary
      doc: Folds.
"""
LOOP = "void rounded_kernel(TensorIteratorBase& iter) {\n}\n"
SHAPE = "TensorSpec folded_shape(const Tensor& self) {\n}\n"
COPY = "void folded_kernel(const Tensor& self, const Tensor& out0) {\n}\n"
NATIVE_NAMESPACE = "namespace at::native {{\n{}}}\n"
ISA_NAMESPACE = "namespace at::native {{ inline namespace CPU_CAPABILITY {{\n{}}}  // CPU_CAPABILITY\n}}\n"
FILES = {
    "aten/native/cpu/elementwise/RoundingKernel.isa.cpp": ISA_NAMESPACE.format(LOOP),
    "aten/native/shape/Folding.cpp": NATIVE_NAMESPACE.format(SHAPE),
    "aten/native/cpu/shape/FoldingKernel.cpp": NATIVE_NAMESPACE.format(COPY),
}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "native_functions.yaml").write_text(YAML)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def move(folder: Path, source: str, target: str) -> None:
    (folder / target).parent.mkdir(parents=True, exist_ok=True)
    (folder / source).rename(folder / target)


def test_every_function_is_in_its_room(checkout: Path):
    assert main(["check"]) == 0


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (
            "aten/native/cpu/elementwise/RoundingKernel.isa.cpp",
            "aten/native/cpu/elementwise/OtherKernel.isa.cpp",
            "aten/native/cpu/elementwise/OtherKernel.isa.cpp:2:1: rounded: 'rounded_kernel' is outside the "
            "files of its topic Rounding; move it to aten/native/cpu/elementwise/RoundingKernel.isa.cpp\n",
        ),
        (
            "aten/native/cpu/shape/FoldingKernel.cpp",
            "aten/native/cpu/elementwise/FoldingKernel.cpp",
            "aten/native/cpu/elementwise/FoldingKernel.cpp:2:1: folded: 'folded_kernel' is outside the files "
            "of its topic Folding; move it to aten/native/cpu/shape/FoldingKernel.cpp\n",
        ),
        (
            "aten/native/shape/Folding.cpp",
            "aten/native/Folding.cpp",
            "aten/native/Folding.cpp:2:1: folded: 'folded_shape' is outside the files of its topic Folding; "
            "move it to aten/native/shape/Folding.cpp\n",
        ),
    ],
)
def test_a_function_outside_of_its_room(
    source: str, target: str, message: str, checkout: Path, capsys: pytest.CaptureFixture[str]
):
    move(checkout, source, target)
    assert main(["check"]) == 1
    assert capsys.readouterr().err.startswith(message)


def test_loops_may_be_compiled_once_or_per_instruction_set(checkout: Path):
    move(
        checkout,
        "aten/native/cpu/elementwise/RoundingKernel.isa.cpp",
        "aten/native/cpu/elementwise/RoundingKernel.cpp",
    )
    once = NATIVE_NAMESPACE.format(LOOP)
    (checkout / "aten/native/cpu/elementwise/RoundingKernel.cpp").write_text(once)
    assert main(["check"]) == 0


def test_without_chapters_there_are_no_rooms(checkout: Path):
    move(checkout, "aten/native/shape/Folding.cpp", "aten/native/Anything.cpp")
    (checkout / "native_functions.yaml").write_text(re.sub(r"  # Chapter.*\n", "", YAML))
    assert main(["check"]) == 0


def test_new_writes_into_the_folder_of_the_chapter(checkout: Path):
    assert main(["new", "cube", "--topic", "Rounding", "--write"]) == 0
    kernels = checkout / "aten/native/cpu/elementwise/RoundingKernel.isa.cpp"
    assert "void cube_kernel(TensorIteratorBase& iter)" in kernels.read_text()
    assert main(["new", "bent", "--structure", "shaped", "--topic", "Bending", "--write"]) == 0
    assert "TensorSpec bent_shape(" in (checkout / "aten/native/shape/Bending.cpp").read_text()
    assert (
        (checkout / "aten/native/cpu/shape/BendingKernel.isa.cpp")
        .read_text()
        .startswith('#include "aten/native/declarations/cpu/shape/BendingKernel.isa.h"\n')
    )
    entries = checkout / "native_functions.yaml"
    entries.write_text(entries.read_text().replace("TODO:", "Written:"))
    assert main(["check"]) == 0


def test_a_new_topic_is_the_last_of_its_chapter(checkout: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["new", "halved", "--topic", "Halving", "--write"]) == 0
    assert "at the end of the chapter elementwise" in capsys.readouterr().err
    text = (checkout / "native_functions.yaml").read_text()
    before, _, behind = text.partition("  Halving:\n")
    assert "Chapter shape" not in before and "Chapter shape" in behind
    assert [o.chapter for o in load(checkout / "native_functions.yaml")] == ["elementwise"] * 2 + ["shape"]


# The repository's own files.


@pytest.fixture(scope="module")
def program() -> Program:
    return load(REPOSITORY / "native_functions.yaml")


def chapters(program: Program) -> dict[str, list[str]]:
    """Chapter -> topics, in the order of the file."""
    found: dict[str, list[str]] = {}
    for name, topic in program.topics.items():
        found.setdefault(topic.operators[0].chapter, []).append(name)
    return found


def test_table_of_contents(program: Program):
    head, _, _ = (REPOSITORY / "native_functions.yaml").read_text().partition("dtype_sets:")
    contents = " ".join(line.lstrip("# ") for line in head.partition("# Contents\n")[2].splitlines())
    listed = re.findall(r"(\w+): +([^:]+?)(?= \w+:|$)", contents.strip())
    assert [(chapter, topics.split(", ")) for chapter, topics in listed] == list(chapters(program).items())


def test_cpp_is_in_the_folder_of_its_chapter(program: Program):
    """Every source below aten/native is a topic's, or in a folder `shared`."""
    folders = {topic: chapter for chapter, topics in chapters(program).items() for topic in topics}
    for path in NATIVE.rglob("*.cpp"):
        *place, name = path.relative_to(NATIVE).parts
        if place[-1] == "shared" or place == ["cuda"]:
            continue

        topic = name.removesuffix(".cpp")
        if place[0] == "cpu":
            topic = topic.removesuffix(".isa")
            assert topic.endswith("Kernel"), path
            topic = topic.removesuffix("Kernel")
        if place == ["mkldnn"] and name == "Elements.cpp":  # what all topics of the folder share
            continue

        assert topic in folders, f"{path}: no topic is called {topic}"
        if place == ["mkldnn"]:  # kernels of one layout, by topic
            continue
        assert place == ["cpu"] * (place[0] == "cpu") + [folders[topic]], path


def test_cuda_kernels_are_in_the_folder_of_their_chapter(program: Program):
    """Engines and what calls libraries, which several topics share, are directly below aten/native/cuda.

    A file of a chapter whose name does not end in Kernel is a part of a kernel, compiled apart.
    """
    folders = {topic: chapter for chapter, topics in chapters(program).items() for topic in topics}
    for path in (NATIVE / "cuda").rglob("*.cu"):
        *place, name = path.relative_to(NATIVE / "cuda").parts
        if name.endswith("Kernel.cu") and place:
            assert place == [folders.get(name.removesuffix("Kernel.cu"))], path
        else:
            assert not place or place[0] in folders.values(), path


def test_kernels_are_in_the_files_of_their_topics(program: Program):
    def definitions(operator: Operator) -> list[str]:
        kernels = [entry.definition for entry in operator.dispatch] + [operator.shape_definition]
        return [kernel.path for kernel in kernels if kernel is not None and operator.each is None]

    found = [(operator, path) for operator in program for path in definitions(operator)]
    assert len(found) > 800
    for operator, path in found:
        assert path in {
            f"aten/native/{operator.chapter}/{operator.topic}.cpp",
            f"aten/native/cpu/{operator.chapter}/{operator.topic}Kernel.cpp",
            f"aten/native/cpu/{operator.chapter}/{operator.topic}Kernel.isa.cpp",
            f"aten/native/cuda/{operator.chapter}/{operator.topic}Kernel.cu",
            f"aten/native/mkldnn/{operator.topic}.cpp",
        }, operator.name
