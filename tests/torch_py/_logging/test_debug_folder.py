"""`TORCH_COMPILE_DEBUG=1`: a folder for every graph, with a file for each stage."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.subject import only_torch_py, torch

pytestmark = only_torch_py

_PROGRAM = """
import torch_py as torch

def activation(x, bias):
    return torch.relu(x + bias) * 2

@torch.compile
def halves(x):
    x = x + 1
    print("between")
    return x * 2

if __name__ == "__main__":
    torch.compile(activation)(torch.ones(8, 16), torch.zeros(16, requires_grad=True)).sum().backward()
    halves(torch.ones(3))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of the program."""
    place = tmp_path_factory.mktemp("debug")
    (place / "program.py").write_text(_PROGRAM)
    environment = {**os.environ, "TORCH_COMPILE_DEBUG": "1", "TORCH_COMPILE_DEBUG_DIR": str(place)}
    subprocess.run([sys.executable, place / "program.py"], env=environment, check=True, capture_output=True)
    (found,) = (place / "torch_compile_debug").glob("run_*")
    return found


def test_every_graph_has_a_folder(run: Path) -> None:
    names = sorted(path.name.partition("_")[2] for path in run.iterdir())
    assert names[:2] == ["activation", "halves"] and len(names) == 3


def test_every_stage_has_a_file(run: Path) -> None:
    folder = run / "0_activation"
    assert "torch.relu(x + bias) * 2" in (folder / "function.py").read_text()
    assert "graph(x, bias)" in (folder / "compiled_function.py").read_text()
    assert "L['x']" in (folder / "guards.txt").read_text()
    assert "aten.relu" in (folder / "joint_graph_readable.py").read_text()
    for part in "forward", "backward":
        assert "for i < " in (folder / part / "loops.txt").read_text()
        assert "nest " in (folder / part / "nests.txt").read_text()
        assert 'extern "C"' in (folder / part / "kernels.cpp").read_text()
        assert "allocate" in (folder / part / "program.txt").read_text()


def test_times_of_stages(run: Path) -> None:
    rows = (run / "0_activation" / "timings.txt").read_text().splitlines()
    times = {row.split(" ms ")[1].strip(): float(row.split(" ms ")[0]) for row in rows}
    assert {"capture", "partition", "forward/lower", "backward/compile C++"} < set(times)
    total = times.pop("in all")
    assert total == pytest.approx(sum(times.values()), abs=0.2) and min(times.values()) >= 0


@pytest.mark.parametrize("graph", ["captured_graph", "joint_graph", "forward/graph", "backward/graph"])
def test_graphs_are_programs(run: Path, graph: str) -> None:
    script = run / "0_activation" / f"{graph}.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 0 and "tensor(" in done.stdout, done.stderr


def test_an_option_asks_for_a_folder(tmp_path: Path) -> None:
    options = {"trace.enabled": True, "trace.debug_dir": str(tmp_path)}
    torch.compile(lambda x: x * 3 + 1, options=options)(torch.ones(3))
    assert len(list(tmp_path.rglob("kernels.cpp"))) == 1


def test_a_folder_that_cannot_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from torch_py._logging import artifacts

    (tmp_path / "torch_compile_debug").write_text("a file")
    with artifacts.compilation("graph"):
        artifacts.switch_on(str(tmp_path))
        artifacts.write("one.txt", lambda: "text")
        artifacts.write("two.txt", lambda: "text")
    assert caplog.text.count("nothing is written") == 1


def test_scripts_keep_sizes_strides_and_ranges() -> None:
    from torch_py.fx._script import script

    module = torch.fx.symbolic_trace(lambda x, index, flags: torch.where(flags, x[index], 0))
    x = (torch.rand(4, 6) + 5).t()
    given = [x, torch.tensor([3, 5]), torch.ones(2, 4, dtype=torch.bool)]
    namespace: dict[str, object] = {"__name__": "script"}
    exec(script(module, given), namespace)
    made = namespace["inputs"]()  # type: ignore[operator]
    assert [t.stride() for t in made] == [t.stride() for t in given]
    assert [t.dtype for t in made] == [t.dtype for t in given]
    assert made[0].min() >= 5 and made[0].max() <= 6 and made[1].max() <= 5
    assert namespace["Graph"]()(*made).shape == (2, 4)  # type: ignore[operator]
