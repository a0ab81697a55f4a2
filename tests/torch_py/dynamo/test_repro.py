"""Graphs that a backend fails on are written as programs, and reduced to what fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

pytestmark = only_torch_py


# The module of this file is found in both.
_PATH = os.pathsep.join([str(Path(__file__).parents[3]), str(Path(__file__).parents[1])])


def failing_on_relu(gm: Any, inputs: Any) -> Any:
    """A backend that does not know an operator."""
    if any(node.target is torch.relu for node in gm.graph.nodes):
        raise NotImplementedError("relu")
    return gm.forward


def wrong_sine(gm: Any, inputs: Any) -> Any:
    """A backend that computes another function than sin."""
    for node in gm.graph.find_nodes(op="call_function", target=torch.sin):
        node.target = torch.cos
    gm.recompile()
    return gm.forward


def model(x: Any, w: Any) -> Any:
    y = torch.tanh(x @ w) + x
    y, z = (y * 2).split(4, 1)
    y = torch.relu(torch.sin(y) + z)
    return torch.exp(y - y.amax(-1, keepdim=True)), z.sum()


def operators(program: Path) -> list[str]:
    """The operators that the graph of a program calls."""
    text = program.read_text()
    body = text[text.index("def forward") : text.index("def inputs")]
    return re.findall(r"= (.*?)\(", body)


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": _PATH}
    command = [sys.executable, str(program), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=program.parent)


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Compiles and calls `model`, and returns the only program that was written."""
    monkeypatch.setenv("TORCH_COMPILE_DEBUG_DIR", str(tmp_path))

    def call(backend: Any, after: str = "dynamo", level: int = 2) -> Path:
        torch.manual_seed(0)
        args = torch.randn(6, 8), torch.randn(8, 8, requires_grad=True)
        with torch._dynamo.config.patch(repro_after=after, repro_level=level):
            warned = pytest.warns(UserWarning, match="was written as a program")
            with warned, pytest.raises(torch._dynamo.exc.BackendCompilerFailed):
                torch.compile(model, backend=backend)(*args)
        (path,) = tmp_path.rglob("*.py")
        return path

    return call


def test_a_backend_that_raises(written: Any) -> None:
    launcher = written(failing_on_relu)
    assert launcher.name == "minifier_launcher.py" and len(operators(launcher)) > 6
    done = run(launcher)
    assert done.returncode == 0, done.stderr
    assert "1 operators fail" in done.stdout

    repro = launcher.with_name("repro.py")
    assert operators(repro) == ["torch.relu"]
    assert "strided((6, 4), (4, 1), torch.float32" in repro.read_text()
    again = run(repro)
    assert again.returncode == 1 and "NotImplementedError: relu" in again.stderr


def test_level_1_writes_the_whole_graph(written: Any) -> None:
    repro = written(failing_on_relu, level=1)
    assert repro.name == "repro.py" and len(operators(repro)) > 6
    assert "NotImplementedError: relu" in run(repro).stderr


def test_level_3_writes_before_compiling(tmp_path: Path) -> None:
    """For a backend that ends the process; parts of the graph run in processes of their own."""
    (tmp_path / "program.py").write_text(
        "import os\nimport torch_py as torch\n"
        "def ending(gm, inputs):\n"
        "    if any(node.target is torch.relu for node in gm.graph.nodes):\n"
        "        import os\n"
        "        os.abort()\n"
        "    return gm.forward\n"
        "torch.compile(lambda x: torch.relu(torch.sin(x) + 1), backend=ending)(torch.ones(2))\n"
    )
    environment = {
        **os.environ,
        "TORCHDYNAMO_REPRO_AFTER": "dynamo",
        "TORCHDYNAMO_REPRO_LEVEL": "3",
        "PYTHONPATH": _PATH,
    }
    done = subprocess.run([sys.executable, "program.py"], env=environment, cwd=tmp_path, check=False)
    (launcher,) = tmp_path.rglob("minifier_launcher.py")
    assert done.returncode == -6

    result = run(launcher)
    assert result.returncode == 0, result.stderr
    assert operators(launcher.with_name("repro.py")) == ["torch.relu"]
    assert run(launcher.with_name("repro.py")).returncode == -6


def test_a_backend_with_other_results(written: Any) -> None:
    launcher = written(wrong_sine, level=4)
    done = run(launcher)
    assert done.returncode == 0, done.stderr
    repro = launcher.with_name("repro.py")
    assert (
        operators(repro) in (["torch.sin"], ["torch.Tensor.sin"], ["add.sin"]) or len(operators(repro)) == 1
    )
    assert "AccuracyError: result 0" in run(repro).stderr


def test_a_backend_without_failure_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_COMPILE_DEBUG_DIR", str(tmp_path))
    x, w = torch.randn(6, 8), torch.randn(8, 8, requires_grad=True)
    for after in "dynamo", "aot":
        with torch._dynamo.config.patch(repro_after=after, repro_level=4):
            results = torch.compile(model)(x, w)
            sum(result.sum() for result in results).backward()
        torch.testing.assert_close(results, model(x, w))
    assert not list(tmp_path.rglob("*.py"))


def test_graphs_of_inductor(written: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch_py._inductor import config
    from torch_py._inductor.lower import RULES

    def failing(*arguments: Any, **keywords: Any) -> Any:
        raise KeyError("no rule for exp")

    monkeypatch.setitem(RULES, "exp", failing)
    monkeypatch.setattr(config, "fx_graph_cache", False)
    launcher = written("inductor", after="aot")
    assert "torch.ops.aten.exp.default" in operators(launcher)

    # The compiler of another process is not broken.
    done = run(launcher)
    assert done.returncode == 1 and "the graph does not fail" in done.stderr
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(launcher.read_text(), namespace)
    monkeypatch.setattr(sys, "argv", [str(launcher)])
    repro = namespace["minify"](namespace["Graph"](), namespace["inputs"](), "inductor", after="aot")
    assert operators(repro) == ["torch.ops.aten.exp.default"]


def test_wrong_kernels_of_inductor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch_py._inductor.lower.families import POINTWISE

    monkeypatch.setenv("TORCH_COMPILE_DEBUG_DIR", str(tmp_path))
    monkeypatch.setitem(POINTWISE, "sin", POINTWISE["cos"])
    x = torch.randn(6, 8)
    with (
        torch._dynamo.config.patch(repro_after="aot", repro_level=4, suppress_errors=False),
        pytest.warns(UserWarning, match="was written"),
        pytest.raises(Exception, match="Bad accuracy detected: result 0"),
    ):
        torch.compile(lambda x: torch.sin(x) + 1)(x)
    (launcher,) = tmp_path.rglob("minifier_launcher.py")
    assert "check='differs'" in launcher.read_text()


def test_what_fails_in_backward_only(written: Any) -> None:
    def failing_backward(gm: Any, inputs: Any) -> Any:
        def compiled(*args: Any) -> Any:
            results = gm.forward(*args)
            if any(node.target is torch.tanh for node in gm.graph.nodes):
                for result in results:
                    if result.requires_grad:
                        result.register_hook(lambda grad: 1 / 0)
            return results

        return compiled

    from torch_py._dynamo.checking import problem_of
    from torch_py.fx import symbolic_trace
    from torch_py.fx.passes.minifier import minified

    module = symbolic_trace(model)
    inputs = [torch.randn(6, 8), torch.randn(8, 8, requires_grad=True)]
    found, given = minified(
        module, inputs, lambda m, i: isinstance(problem_of(m, i, failing_backward), ZeroDivisionError)
    )
    assert [n.target for n in found.graph.nodes if n.op == "call_function"] == [torch.tanh]
    assert given[0].requires_grad


def test_a_graph_that_does_not_fail_is_not_reduced() -> None:
    from torch_py.fx import symbolic_trace
    from torch_py.fx.passes.minifier import minified

    with pytest.raises(ValueError, match="does not fail"):
        minified(symbolic_trace(lambda x: x + 1), [torch.ones(2)], lambda module, inputs: False)


def test_two_operators_that_fail_together() -> None:
    from torch_py.fx import symbolic_trace
    from torch_py.fx.passes.minifier import minified

    def fails(module: Any, inputs: Any) -> bool:
        targets = {node.target for node in module.graph.nodes}
        return {torch.tanh, torch.relu} <= targets

    smaller: list[int] = []
    found, given = minified(
        symbolic_trace(model),
        [torch.randn(6, 8), torch.randn(8, 8)],
        fails,
        lambda module, inputs: smaller.append(len(module.graph.nodes)),
    )
    calls = [node.target for node in found.graph.nodes if node.op.startswith("call")]
    assert {torch.tanh, torch.relu} <= set(calls) and len(calls) < 9 and smaller
    found(*given)


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.complex64, torch.float16])
def test_results_are_compared(dtype: Any) -> None:
    from torch_py._dynamo.checking import difference_of
    from torch_py.fx import symbolic_trace

    module = symbolic_trace(lambda x: [x.clone()])
    x = torch.tensor([1, 0, 1]).to(dtype)
    assert difference_of(module, [x], lambda module, inputs: module.forward) is None
    wrong = difference_of(module, [x], lambda module, inputs: lambda x: [x * 0])
    assert wrong is not None and "result 0" in str(wrong)
    other = difference_of(module, [x], lambda module, inputs: lambda x: [x.to(torch.float64)])
    assert other is not None and "dtype" in str(other)


def test_functions_around_operators_are_part_of_programs() -> None:
    """Backward of a layer norm calls its operator for the gradients that are wanted."""
    from torch_py._dynamo.repro.minifier import Case
    from torch_py._inductor.debug import compiled_graphs
    from torch_py.fx import symbolic_trace

    x = torch.randn(4, 8, requires_grad=True)
    _, backward = compiled_graphs(lambda x: torch.nn.functional.layer_norm(x, (8,)), x)
    values = [node.meta["val"] for node in backward.module.graph.find_nodes(op="placeholder")]
    case = Case(backward.module, values, "inductor", "aot", {})
    text = case.text("repro.py")
    assert "requiring(torch.ops.aten." in text

    namespace: dict[str, Any] = {"__name__": "program"}
    exec(text, namespace)
    inputs = namespace["inputs"]()
    module = symbolic_trace(namespace["Graph"]())
    expected = namespace["Graph"]()(*inputs)
    actual = case.compile(module, inputs)(*inputs)
    torch.testing.assert_close(actual, expected)
