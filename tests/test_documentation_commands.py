"""The commands and examples of README and CONTRIBUTING work.

Most `make` commands are only looked up, with their files: `make` compiles. CI (DOCUMENTED=run) runs them.
"""

from __future__ import annotations

import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.python_process import REPOSITORY, run_python
from tools.build.configuration import Configuration
from tools.build.cuda import make_cuda_plan
from tools.build.plan import Plan

DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/compile.md",
    "docs/compiler.md",
    "docs/cuda.md",
    "docs/dispatch.md",
    "docs/editors.md",
    "docs/export.md",
    "docs/fx.md",
    "docs/packages.md",
    "docs/targets.md",
)
EMULATED = REPOSITORY / "build/emulation/libtorch_py_cuda.so"
# What .gitignore names appears when a command has made it: a clean clone has none of it.
IGNORED = (REPOSITORY / ".gitignore").read_text().splitlines()
MADE_BY_COMMANDS = tuple(line.removeprefix("/") for line in IGNORED if line.startswith("/"))
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def blocks(document: str, language: str) -> Iterator[str]:
    for indent, found, text in BLOCK.findall((REPOSITORY / document).read_text()):
        if found == language:
            yield "\n".join(line[len(indent) :] for line in text.splitlines())


def commands() -> list[tuple[str, str]]:
    return [
        (document, line)
        for document in DOCUMENTS
        for block in blocks(document, "sh")
        for line in block.splitlines()
        if line.strip()
    ]


def run(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, **environment}
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=900, env=variables)


def split(command: str) -> tuple[dict[str, str], list[str]]:
    """The assignments in front of a command, and its words."""
    words = shlex.split(command)
    count = next(index for index, word in enumerate(words) if not re.match(r"^[A-Z_]+=", word))
    return dict(word.split("=", 1) for word in words[:count]), words[count:]


@pytest.mark.parametrize("document, command", commands())
def test_command(document: str, command: str) -> None:
    environment, words = split(command)
    if words[0] == "make":
        check_make(words, environment)
    elif words[0] == "python":
        check_python(words, environment)
    else:
        pytest.fail(
            f"{document}: no way to check '{command}'; start it with make or python, or teach "
            f"{Path(__file__).name}"
        )


# Commands that .ci/run runs itself.
CALLED_BY_CI = (
    "make",
    "make emulation",
    "make test",
    "make lint",
    "make demo",
    "make docs",
    "make sanitize CORE=1",
)


def check_make(words: list[str], environment: dict[str, str]) -> None:
    if shutil.which("make") is None:
        pytest.skip("no make")
    if words[1:2] == ["cuda"] and shutil.which("nvcc") is None:
        pytest.skip("no nvcc")
    runs = os.environ.get("DOCUMENTED") == "run" and shlex.join(words) not in CALLED_BY_CI
    result = run(words if runs else [*words, "--dry-run"], **environment)
    assert result.returncode == 0 and result.stdout.strip(), result.stdout + result.stderr
    check_paths(word.split("=", 1)[1] for word in words if "=" in word)


def check_python(words: list[str], environment: dict[str, str]) -> None:
    if words[1:3] == ["-m", "pytest"]:  # it is enough that the tests can be collected
        check_paths(words)
        words = [*words, "--collect-only"]
        if environment.get("TEST_WITH") == "torch":
            pytest.importorskip("torch", reason="PyTorch is not installed")
    if {"--layers", "--peer", "--gradients", "--meta"} & set(words):
        pytest.importorskip("torch", reason="PyTorch is not installed")
    result = run([sys.executable, *words[1:]], **environment)
    assert result.returncode == 0, f"{result.stdout[-2000:]}{result.stderr[-2000:]}"
    assert result.stdout.strip()


def check_paths(texts: Iterator[str] | list[str]) -> None:
    for text in texts:
        for word in shlex.split(text):
            if re.match(r"^(tests|aten|c10|torch_py|tools)/", word):
                assert (REPOSITORY / word).exists(), word


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_and_folders_exist(document: str) -> None:
    text = (REPOSITORY / document).read_text()
    for name in re.findall(r"\]\(([\w./-]+)\)", text):
        assert (REPOSITORY / document).parent.joinpath(name).exists(), (
            f"{document} links to {name}, which does not exist"
        )
    for name in re.findall(r"`((?:[\w.]+/)+)`", text):
        assert name.startswith(MADE_BY_COMMANDS) or (REPOSITORY / name).exists(), (
            f"{document} names {name}, which does not exist"
        )


def test_operator_of_the_readme_is_accepted(tmp_path: Path) -> None:
    (declaration,) = blocks("README.md", "yaml")
    path = tmp_path / "softcap.yaml"
    path.write_text(declaration)

    result = run(
        [
            sys.executable,
            "-m",
            "codegen",
            "check",
            "--yaml",
            str(path),
            "--library-of",
            "native_functions.yaml",
        ]
    )

    assert result.returncode == 0, result.stdout + result.stderr


def has_compiler() -> bool:
    """Whether torch.compile finds a C++ compiler."""
    wanted = os.environ.get("CXX")
    return any(map(shutil.which, [wanted] if wanted else ["clang++", "g++", "c++"]))


def run_script(script: str, folder: Path, **variables: str) -> str:
    return run_python("-c", script, folder=folder, **variables)


@pytest.mark.slow
def test_example_of_the_readme_runs(tmp_path: Path) -> None:
    (declaration,) = blocks("README.md", "yaml")
    (tmp_path / "softcap.yaml").write_text(declaration)
    (script,) = blocks("README.md", "python")
    # d/dx 30 tanh(x / 30) at 20
    assert "0.6604" in run_script(f"{script}\nprint(x.grad)", tmp_path)


@pytest.mark.parametrize("document", ["docs/dispatch.md", "docs/export.md", "docs/fx.md"])
def test_examples_of_a_page_print_what_it_says(document: str, tmp_path: Path) -> None:
    check_examples(document, tmp_path)
    if document == "docs/fx.md":
        assert (tmp_path / "fx.svg").read_text() == (REPOSITORY / "docs/fx.svg").read_text()


@pytest.mark.skipif(not has_compiler(), reason="needs a C++ compiler")
@pytest.mark.parametrize("document", ["docs/compile.md", "docs/compiler.md"])
def test_examples_of_pages_about_compilation_print_what_they_say(document: str, tmp_path: Path) -> None:
    check_examples(document, tmp_path)


def test_target_of_the_page_about_targets(tmp_path: Path) -> None:
    target, check = blocks("docs/targets.md", "python")
    checks = "from codegen.dialect import Checks, Dialect\nDIALECT = Dialect(checks=lambda: Checks(check))"
    strict = 'TARGET = Target(name="strict", files=files, dialect=DIALECT)'
    (tmp_path / "list_target.py").write_text(target)
    (tmp_path / "strict.py").write_text("\n".join(["from list_target import *", check, checks, strict]))
    (tmp_path / "operators.yaml").write_text(
        "topics:\n"
        "  A:\n"
        "    - func: twice(Tensor self) -> Tensor\n"
        "      structure: composite\n"
        "      doc: Two.\n"
    )

    variables = {"PYTHONPATH": f"{REPOSITORY}{os.pathsep}{tmp_path}"}
    options = ["--yaml", str(tmp_path / "operators.yaml"), "--output", str(tmp_path / "out")]
    command = [sys.executable, "-m", "codegen", "generate", *options, "--target"]
    assert run([*command, "list_target:TARGET"], **variables).returncode == 0
    assert (tmp_path / "out/A.txt").read_text() == "twice: Two.\n"
    refused = run([*command, "strict:TARGET"], **variables)
    assert "operators.yaml:4:18: twice: a function comes from a formula" in refused.stderr


def check_examples(document: str, tmp_path: Path) -> None:
    printed = run_script("\n".join(blocks(document, "python")), tmp_path)
    assert printed.splitlines() == "\n".join(blocks(document, "text")).splitlines()


@pytest.mark.slow
def test_kernel_of_contributing_runs(tmp_path: Path) -> None:
    declaration, _ = blocks("CONTRIBUTING.md", "yaml")
    kernel, *_ = blocks("CONTRIBUTING.md", "cpp")
    write_cube(tmp_path, declaration, {"cpu/CubeKernel.isa.cpp": kernel_file(kernel)})

    script = """
import torch_py as torch
from torch_py.utils.cpp_extension import build_operators
cube = build_operators("cube.yaml").cube
x = torch.tensor([2.0, -3.0], dtype=torch.float64, requires_grad=True)
torch.autograd.gradgradcheck(cube, (x,))
cube(x).sum().backward()
print(cube(x).tolist(), x.grad.tolist())
"""
    assert "[8.0, -27.0] [12.0, 27.0]" in run_script(script, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not EMULATED.exists(), reason="needs the emulated CUDA library: make emulation")
def test_cuda_kernel_of_contributing_runs(tmp_path: Path) -> None:
    declaration, dispatch = blocks("CONTRIBUTING.md", "yaml")
    kernel, functor, cuda_kernel = blocks("CONTRIBUTING.md", "cpp")
    shared = re.sub(r"\[\]\(scalar_t x\).*?\}", "Cube<scalar_t>()", kernel)
    assert "Cube<scalar_t>()" in shared
    files = {
        "cpu/CubeKernel.isa.cpp": kernel_file(shared, "aten/native/functors/Cube.h"),
        "cuda/CubeKernel.cu": cuda_kernel,
        "functors/Cube.h": functor,
    }
    write_cube(tmp_path, f"{declaration}\n{dispatch}", files)
    script = """
import torch_py as torch
from torch_py.utils.cpp_extension import build_operators
module = build_operators("cube.yaml")
print(module.__file__)
"""
    library = Path(run_script(script, tmp_path).splitlines()[-1])

    # With the kernel in the CUDA library, cube does not go to the host.
    script += """
x = torch.tensor([2.0, -3.0], device="cuda", requires_grad=True)
y = module.cube(x)
y.sum().backward()
print(y.tolist(), x.grad.tolist(), "cube_ops::cube" in torch.cuda.host_fallbacks())
"""
    expected = "[8.0, -27.0] [12.0, 27.0]"
    assert f"{expected} True" in run_script(script, tmp_path, TORCH_PY_CUDA_LIBRARY=str(EMULATED))
    with_cube = link_emulated(tmp_path, library)
    assert f"{expected} False" in run_script(script, tmp_path, TORCH_PY_CUDA_LIBRARY=str(with_cube))


def test_kernel_of_the_cuda_page_compiles(tmp_path: Path) -> None:
    if not (REPOSITORY / "build/generated/aten").is_dir() or shutil.which("g++") is None:
        pytest.skip("needs the generated headers and g++")
    (kernel,) = blocks("docs/cuda.md", "cpp")
    (tmp_path / "RowSumsKernel.cu").write_text(kernel)
    compile_emulated(tmp_path / "RowSumsKernel.cu", tmp_path / "RowSumsKernel.o")


def write_cube(folder: Path, declaration: str, kernels: dict[str, str]) -> None:
    (folder / "cube.yaml").write_text(f"library: cube_ops\ntopics:\n  Cube:\n{declaration}\n")
    for name, text in kernels.items():
        path = folder / "aten/native" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def kernel_file(kernel: str, *includes: str) -> str:
    lines = [f'#include "{header}"' for header in ("aten/Dispatch.h", "aten/iteration/Loops.h", *includes)]
    return "\n".join(lines) + KERNEL_FILE.format(kernel=kernel)


KERNEL_FILE = """

namespace at::native {{
inline namespace CPU_CAPABILITY {{

{kernel}
}}  // namespace CPU_CAPABILITY
}}  // namespace at::native
"""


def emulation_plan() -> Plan:
    return make_cuda_plan(Configuration.from_environment(), "emulation")


def compile_emulated(source: Path, target: Path, *folders: Path) -> str:
    """Compiles a file of the CUDA library for the emulation."""
    plan = emulation_plan()
    flags = " ".join((*plan.compile_flags, *(f"-I{folder}" for folder in folders)))
    shell(f"{plan.compiler} {flags} -c {source} -o {target}")
    return str(target)


def link_emulated(folder: Path, operators: Path) -> Path:
    """The emulated CUDA library with one kernel more, of a library of operators in `folder`."""
    generated = operators.parent / "generated"
    added = [
        compile_emulated(folder / "aten/native/cuda/CubeKernel.cu", folder / "kernel.o", folder),
        compile_emulated(generated / "aten/register/cuda/Cube.cpp", folder / "register.o", generated),
    ]

    plan = emulation_plan()
    (shared,) = plan.objects
    objects = " ".join(unit.object for unit in shared.units)
    (folder / "objects.rsp").write_text(objects)
    target = folder / EMULATED.name
    flags = " ".join((*plan.link_flags, *shared.link_flags, f"-Wl,-rpath,{REPOSITORY / 'torch_py/lib'}"))
    shell(f"{plan.compiler} @{folder}/objects.rsp {' '.join(added)} {operators} -o {target} {flags}")
    return target


def shell(command: str) -> None:
    result = subprocess.run(command, shell=True, cwd=REPOSITORY, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-3000:]


def test_samples_of_contributing_are_a_generator() -> None:
    import torch_py
    from tests.ops.samples import make, registry

    (block,) = blocks("CONTRIBUTING.md", "python")
    names: dict[str, Any] = {
        **vars(registry),
        **vars(make),
        "Iterator": Iterator,
        "samples": lambda name: lambda function: function,
    }
    names["tensors"] = importlib.import_module("tests.ops.samples.unary").tensors
    exec(block, names)
    assert list(names["softcap"](make.Make(torch_py, "float32", "cpu", False, "")))


def test_configuration_table_is_complete() -> None:
    from tools.build.configuration import VARIABLES

    text = (REPOSITORY / "CONTRIBUTING.md").read_text()
    listed = re.findall(r"^\| `([A-Z_]+)` \|", text, re.MULTILINE)
    assert listed == [variable.name for variable in VARIABLES]


def test_readme_fits_on_a_screen() -> None:
    assert len((REPOSITORY / "README.md").read_text().splitlines()) <= 70


def test_every_file_of_tests_is_explained() -> None:
    page = (REPOSITORY / "docs/tested.md").read_text()
    files = sorted(path.stem for path in (REPOSITORY / "tests/ops").glob("test_*.py"))
    assert files and [name for name in files if f"`{name}`" not in page] == []
