"""Packages of operators and backends: pip builds and installs them, and they pass their own tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.python_process import REPOSITORY, run_python

EXAMPLES = {
    "smooth_ops": "operators_formulas",
    "power_ops": "operators_kernels",
    "walled": "backend_walled",
}

pytestmark = pytest.mark.slow


def pip(*arguments: str) -> None:
    """Runs pip without a network."""
    command = [sys.executable, "-m", "pip", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]


def install(project: Path, site: Path) -> None:
    options = ("--no-build-isolation", "--no-deps", "--no-index", "--quiet")
    pip("install", *options, "--target", str(site), str(project))


def copied(name: str, folder: Path) -> Path:
    """A copy of an example, in which pip may write."""
    project = folder / name
    shutil.copytree(REPOSITORY / "examples" / EXAMPLES[name], project)
    return project


def run_tests(project: Path, site: Path) -> str:
    return run_python("-m", "pytest", "-q", "-p", "no:cacheprovider", folder=project, PYTHONPATH=str(site))


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project that `new-package` writes."""
    project = tmp_path_factory.mktemp("generated") / "softcap_ops"
    run_python("-m", "codegen", "new-package", "softcap_ops", "--to", str(project))
    return project


@pytest.fixture(scope="module")
def site(generated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which it is installed."""
    folder = tmp_path_factory.mktemp("site")
    install(generated, folder)
    return folder


def test_generated_package_passes_its_tests(generated: Path, site: Path) -> None:
    assert "passed" in run_tests(generated, site)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_pass_their_tests(name: str, tmp_path: Path) -> None:
    project = copied(name, tmp_path)
    install(project, tmp_path / "site")
    assert "passed" in run_tests(project, tmp_path / "site")


def test_wheel_can_be_moved(generated: Path, tmp_path: Path) -> None:
    """It is for one platform and one Python, and names no folder of this machine."""
    options = ("--no-build-isolation", "--no-deps", "--no-index", "--quiet")
    pip("wheel", *options, "--wheel-dir", str(tmp_path), str(generated))

    (wheel,) = tmp_path.glob("*.whl")
    assert f"-cp3{sys.version_info.minor}-" in wheel.name and "any" not in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        (library,) = [name for name in archive.namelist() if name.endswith(".so")]
        code = archive.read(library)
        names = {name.partition("/")[2] for name in archive.namelist() if name.startswith("softcap_ops/")}

    assert str(REPOSITORY).encode() not in code
    assert {"operators.json", "lowerings.py", "__init__.pyi", "operators.md", "build.json"} <= names


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
    run_python("-c", script, PYTHONPATH=str(site))


def changed(site: Path, folder: Path, **values: str) -> Path:
    """A copy of an installation that says it was built for something else."""
    shutil.copytree(site, folder)
    path = folder / "softcap_ops" / "build.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
    return folder


def refusal(site: Path, script: str = "import softcap_ops") -> str:
    """The message of the ImportError that a script raises."""
    lines = ("try:", f"    {script}", "except ImportError as error:", "    print(error)")
    text = "\n".join((*lines, "else:", "    raise SystemExit('no error')"))
    return run_python("-c", text, PYTHONPATH=str(site)).strip()


@pytest.mark.parametrize(
    "values, expected",
    [
        ({"abi": "0123456789abcdef"}, "was built for torch_py 0.1.0 (ABI 0123456789abcdef), this is"),
        ({"torch_py": "9.9"}, "was built for torch_py 9.9"),
        ({"python": ".cpython-39-x86_64-linux-gnu.so"}, "was built for another Python"),
    ],
)
def test_another_build_is_refused_in_one_line(
    values: dict[str, str], expected: str, site: Path, tmp_path: Path
) -> None:
    message = refusal(changed(site, tmp_path / "site", **values))
    assert message.startswith(f"softcap_ops {expected}") and "pip install" in message
    assert len(message.splitlines()) == 1


def test_methods_of_two_packages_do_not_collide(site: Path, tmp_path: Path) -> None:
    project = copied("smooth_ops", tmp_path)
    install(project, tmp_path / "site")
    both = os.pathsep.join(map(str, (site, tmp_path / "site")))
    message = refusal(Path(both), "import softcap_ops, smooth_ops")
    assert message == "smooth_ops: Tensor has a method 'softcap' already, of torch_py or another package"


def test_second_backend_is_refused(tmp_path: Path) -> None:
    project = copied("walled", tmp_path)
    install(project, tmp_path / "site")
    script = "import torch_py; torch_py.utils.rename_privateuse1_backend('mine'); import walled"
    message = refusal(tmp_path / "site", script)
    assert message == "walled: this process has the backend 'mine' already, and can have one"
