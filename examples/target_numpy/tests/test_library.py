"""The library of the example: generated, tested by the tests that are generated with it, and trained with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

PROJECT = Path(__file__).resolve().parents[1]
DECLARATIONS = PROJECT / "library/operators.yaml"


def codegen(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "codegen", *arguments, "--target", "numpy"]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("generated")
    result = codegen("generate", "--yaml", str(DECLARATIONS), "--output", str(found / "arrays"))
    assert result.returncode == 0, result.stderr
    return found


@pytest.fixture(scope="module")
def arrays(folder: Path) -> ModuleType:
    sys.path.insert(0, str(folder))
    try:
        return __import__("arrays")
    finally:
        sys.path.pop(0)


def test_generated_tests_pass(folder: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder / "arrays")]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    assert result.returncode == 0 and "passed" in result.stdout, result.stdout


def test_second_derivative(arrays: ModuleType) -> None:
    x = arrays.array(np.array([0.3, 1.2]))
    (first,) = arrays.grad(arrays.sin(x) * x, [x])
    (second,) = arrays.grad(first, [x])
    np.testing.assert_allclose(second.values, 2 * np.cos(x.values) - x.values * np.sin(x.values))


def test_network_learns(arrays: ModuleType) -> None:
    """Two layers learn the exclusive or."""
    random = np.random.default_rng(0)
    inputs, wanted = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), np.array([[0], [1], [1], [0.0]])
    weights = [arrays.array(random.normal(size=size)) for size in ((2, 8), (8,), (8, 1), (1,))]

    def loss() -> object:
        hidden = arrays.tanh(arrays.matmul(inputs, weights[0]) + weights[1])
        difference = arrays.matmul(hidden, weights[2]) + weights[3] - wanted
        return arrays.mean(difference * difference)

    before = loss().values
    for _ in range(400):
        for weight, slope in zip(weights, arrays.grad(loss(), weights)):
            weight.values = weight.values - 0.3 * slope.values
    assert loss().values < 0.01 < before


def test_requirements(arrays: ModuleType) -> None:
    with pytest.raises(ValueError, match="matmul: the rows of one matrix"):
        arrays.matmul(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(RuntimeError, match="transpose: expected dim"):
        arrays.array(np.ones(3)).transpose()


def test_documentation(folder: Path, arrays: ModuleType) -> None:
    assert "Gradient of `self`: `grad / self`" in (folder / "arrays/docs/Functions.md").read_text()
    assert arrays.matmul.__doc__ == "The product of two matrices."


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("matmul(grad, transpose(other))", "matmul(grad)", "'matmul' takes 2 arguments"),
        ("mean(Tensor self)", "mode(Tensor self)", "write def mode(self) in kernels.py"),
        ("expr: tanh(self)", "expr: digamma(self)", "NumPy has no function 'digamma'"),
        ("samples: 2x3, 3x4", "samples: matrices", "samples are a shape"),
        ("func: ge(", "func: greater_equal(", "unknown operator 'ge'"),
    ],
)
def test_mistakes(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = DECLARATIONS.read_text()
    assert old in text
    (tmp_path / "operators.yaml").write_text(text.replace(old, new))
    (tmp_path / "kernels.py").write_bytes((PROJECT / "library/kernels.py").read_bytes())

    result = codegen("check", "--yaml", str(tmp_path / "operators.yaml"))
    assert result.returncode == 1 and message in result.stderr, result.stderr
