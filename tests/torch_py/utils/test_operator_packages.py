"""Packages of operators and backends: pip builds and installs them, and they pass their own tests."""

from __future__ import annotations

import functools
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.python_process import REPOSITORY
from torch_py.utils.cpp_extension._called_operators import operators_called

EXAMPLES = {
    "smooth_ops": "operators_formulas",
    "power_ops": "operators_kernels",
    "walled": "backend_walled",
}

pytestmark = pytest.mark.slow


def run(*arguments: str, sites: tuple[Path, ...] = (), folder: Path = REPOSITORY) -> str:
    """Runs Python with this checkout and what is installed in `sites`; returns what it prints."""
    search_path = os.pathsep.join(map(str, (REPOSITORY, *sites)))
    environment = {**os.environ, "PYTHONPATH": search_path, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    command = [sys.executable, *arguments]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, timeout=600)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return result.stdout


# Without a network.
OPTIONS = ("--no-build-isolation", "--no-deps", "--no-index", "--quiet")


def install(project: Path, site: Path) -> None:
    run("-m", "pip", "install", *OPTIONS, "--target", str(site), str(project))


def run_tests(project: Path, site: Path) -> str:
    return run("-m", "pytest", "-q", "-p", "no:cacheprovider", sites=(site,), folder=project)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project that `new-package` writes."""
    project = tmp_path_factory.mktemp("generated") / "softcap_ops"
    run("-m", "codegen", "new-package", "softcap_ops", "--to", str(project))
    return project


@pytest.fixture(scope="module")
def site(generated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which it is installed."""
    folder = tmp_path_factory.mktemp("site")
    install(generated, folder)
    return folder


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Path]]:
    """A copy of an example, and the folder in which it is installed."""

    @functools.cache
    def get(name: str) -> tuple[Path, Path]:
        project = tmp_path_factory.mktemp("examples") / name
        shutil.copytree(REPOSITORY / "examples" / EXAMPLES[name], project)
        folder = tmp_path_factory.mktemp(f"{name}_site")
        install(project, folder)
        return project, folder

    return get


def test_torch_py_of_the_environment_meets_the_requirement(generated: Path) -> None:
    """With dependencies, as the README of the package says, and without an index."""
    try:
        importlib.metadata.version("torch_py")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("neither make nor pip has installed torch_py here")
    run("-m", "pip", "install", "--no-build-isolation", "--no-index", "--dry-run", str(generated))


def test_generated_package_passes_its_tests(generated: Path, site: Path) -> None:
    assert "passed" in run_tests(generated, site)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_pass_their_tests(name: str, examples: Callable[[str], tuple[Path, Path]]) -> None:
    assert "passed" in run_tests(*examples(name))


def test_wheel_can_be_moved(generated: Path, tmp_path: Path) -> None:
    """It is for one platform and one Python, and names no folder of this machine."""
    run("-m", "pip", "wheel", *OPTIONS, "--wheel-dir", str(tmp_path), str(generated))

    (wheel,) = tmp_path.glob("*.whl")
    assert f"-cp3{sys.version_info.minor}-" in wheel.name and "any" not in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        (library,) = [name for name in archive.namelist() if name.endswith(".so")]
        code = archive.read(library)
        names = {name.partition("/")[2] for name in archive.namelist() if name.startswith("softcap_ops/")}

    assert str(REPOSITORY).encode() not in code
    assert {
        "operators.json",
        "contract.json",
        "lowerings.py",
        "__init__.pyi",
        "operators.md",
        "build.json",
    } <= names


@pytest.mark.parametrize("order", ["softcap_ops, torch_py", "torch_py, softcap_ops"])
def test_imported_in_any_order(order: str, site: Path) -> None:
    script = f"""
import {order}
import torch_py as torch

x = torch.ones(2)
assert torch.equal(x.softcap(2.0), softcap_ops.softcap(x, 2.0))
assert torch.equal(torch.ops.softcap_ops.softcap(x, 2.0), softcap_ops.softcap(x, 2.0))
assert torch.ops.softcap_ops.softcap.default.name() == "softcap_ops::softcap"
assert softcap_ops.__all__ == ["softcap"], softcap_ops.__all__
assert not hasattr(softcap_ops, "softcap_backward")
assert torch.ops.softcap_ops.softcap_backward.default is not None
import pickle
assert pickle.loads(pickle.dumps(softcap_ops.softcap)) is softcap_ops.softcap
"""
    run("-c", script, sites=(site,))


def changed(site: Path, folder: Path, **values: Any) -> Path:
    """A copy of an installation that says it was built for something else."""
    shutil.copytree(site, folder)
    path = folder / "softcap_ops" / "build.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
    return folder


def refusal(*sites: Path, script: str = "import softcap_ops") -> str:
    """The message of the ImportError that a script raises."""
    lines = ("try:", f"    {script}", "except ImportError as error:", "    print(error)")
    text = "\n".join((*lines, "else:", "    raise SystemExit('no error')"))
    return run("-c", text, sites=sites).strip()


@pytest.mark.parametrize(
    "values, expected",
    [
        ({"abi": "0123456789abcdef"}, "was built for torch_py 0.1.0 (ABI 0123456789abcdef), this is"),
        ({"torch_py": "9.9"}, "was built for torch_py 9.9"),
        (
            {"contract": "0123", "operators": {"mul.Tensor": [["Tensor", "Tensor", "Scalar"], ["Tensor"]]}},
            "calls mul.Tensor as it was declared in contract 0123; this torch_py",
        ),
        ({"contract": "0123", "operators": {"gone": [[], []]}}, "calls gone as it was declared"),
        ({"python": ".cpython-39-x86_64-linux-gnu.so"}, "was built for another Python"),
    ],
)
def test_another_build_is_refused_in_one_line(
    values: dict[str, Any], expected: str, site: Path, tmp_path: Path
) -> None:
    message = refusal(changed(site, tmp_path / "site", **values))
    assert message.startswith(f"softcap_ops {expected}") and "pip install" in message
    assert len(message.splitlines()) == 1


def test_another_contract_matters_only_for_operators_that_are_called(site: Path, tmp_path: Path) -> None:
    run("-c", "import softcap_ops", sites=(changed(site, tmp_path / "site", contract="0123"),))


def test_operators_that_sources_call(tmp_path: Path) -> None:
    (tmp_path / "aten").mkdir()
    (tmp_path / "aten" / "Sum.cpp").write_text('#include "aten/ops/mul.h"\n#include "my_ops/ops/add.h"\n')
    called = operators_called([tmp_path])
    assert called["mul.Tensor"] == [["Tensor", "Tensor"], ["Tensor"]]
    assert {name.partition(".")[0] for name in called} == {"mul", "mul_"}


def test_methods_of_two_packages_do_not_collide(
    site: Path, examples: Callable[[str], tuple[Path, Path]]
) -> None:
    message = refusal(site, examples("smooth_ops")[1], script="import softcap_ops, smooth_ops")
    assert message == "smooth_ops: Tensor has a method 'softcap' already, of torch_py or another package"


def test_second_backend_is_refused(examples: Callable[[str], tuple[Path, Path]]) -> None:
    script = "import torch_py; torch_py.utils.rename_privateuse1_backend('mine'); import walled"
    message = refusal(examples("walled")[1], script=script)
    assert message == "walled: this process has the backend 'mine' already, and can have one"


def test_every_operator_runs_on_a_device_of_a_package(
    examples: Callable[[str], tuple[Path, Path]],
) -> None:
    """The memory of this device is out of the host's reach: who reads it there ends the process."""
    printed = run("-m", "tests.ops.on_backend", "walled", sites=(examples("walled")[1],))
    tested, _, differences = printed.strip().splitlines()[-1].partition(" operators, ")
    assert int(tested) > 700 and differences == "0 differences", printed
