"""`python -m torch_py.as_torch` runs programs that import torch, and their child processes, on torch_py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def run(*arguments, folder, stdin=None):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "torch_py.as_torch", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, input=stdin, timeout=120
    )


def output(code, folder):
    done = run("-c", code, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_modules_are_the_same_objects(tmp_path):
    code = """
import sys, torch, torch.nn.functional as F
from torch.utils.data.sampler import RandomSampler
import torch_py, torch_py.optim.adam, torch_py.nn.functional
print(torch is torch_py, F is torch_py.nn.functional)
print(sys.modules["torch.optim.adam"] is torch_py.optim.adam, torch.torch is torch)
print(RandomSampler is torch_py.utils.data.RandomSampler)
"""
    assert output(code, tmp_path) == ["True"] * 5


def test_names_and_pickles_say_torch(tmp_path):
    code = """
import pickle, pickletools, torch
values = [torch.float32, torch.Size([1]), torch.device("cpu"), torch.relu, torch.nn.functional.linear]
values += [torch.strided, torch.nn.Linear(1, 1), torch.ones(2)]

for value in values:
    data = pickle.dumps(value)
    names = [name for _, name, _ in pickletools.genops(data) if isinstance(name, str)]
    assert not any(name.startswith("torch_py") for name in names), value
    assert type(pickle.loads(data)) is type(value)
print(torch.nn.Linear.__module__, torch.Tensor.__module__, torch.dtype.__module__, torch.nn.__name__)
"""
    assert output(code, tmp_path) == ["torch.nn.modules.linear", "torch", "torch", "torch.nn"]


def test_version(tmp_path):
    code = """
import importlib.metadata, importlib.util, torch
print(importlib.metadata.version("torch"), torch.__version__.split("+")[0], torch.__version__ >= (2, 13))
print(importlib.util.find_spec("torch") is not None)
"""
    assert output(code, tmp_path) == ["2.13.0", "2.13.0", "True", "True"]


@pytest.mark.parametrize(
    "name",
    [
        "torch.no_such",
        "torch.nn.no_such",
        "torch.optim.no_such",
        "torch.nn.functional.no_such",
        "torch.cuda.no_such",
    ],
)
def test_missing_attributes_name_torch(name, tmp_path):
    done = run("-c", f"import torch.optim, torch.cuda\n{name}", folder=tmp_path)
    assert f"module '{name.rpartition('.')[0]}' has no attribute 'no_such'" in done.stderr
    assert done.returncode == 1


def test_missing_modules_are_not_found_elsewhere(tmp_path):
    done = run("-c", "import torch._inductor.no_such", folder=tmp_path)
    assert "ModuleNotFoundError: No module named 'torch._inductor" in done.stderr


def test_scripts_see_what_python_shows_them(tmp_path):
    (tmp_path / "neighbour.py").write_text("value = 3\n")
    (tmp_path / "script.py").write_text(
        "import sys, neighbour\nprint(sys.argv, __name__, __file__, neighbour.value, __spec__)\n"
    )
    done = run("script.py", "-x", "y", folder=tmp_path)
    assert done.stdout == f"['script.py', '-x', 'y'] __main__ {tmp_path / 'script.py'} 3 None\n", done.stderr


def test_traceback_begins_with_the_program(tmp_path):
    (tmp_path / "script.py").write_text("def f():\n    1 / 0\nf()\n")
    done = run("script.py", folder=tmp_path)
    assert done.returncode == 1
    assert "as_torch" not in done.stderr
    assert done.stderr.startswith(
        f'Traceback (most recent call last):\n  File "{tmp_path / "script.py"}", line 3'
    )


@pytest.mark.parametrize(
    "arguments, status, message",
    [
        (["missing.py"], 2, "can't open file"),
        (["-m", "no_such_module"], 1, "No module named no_such_module"),
        (["-c"], 2, "Argument expected for the -c option"),
        (["-m"], 2, "Argument expected for the -m option"),
        (["--what"], 2, "unknown option --what"),
    ],
)
def test_errors_of_the_command_line(arguments, status, message, tmp_path):
    done = run(*arguments, folder=tmp_path)
    assert done.returncode == status and message in done.stderr


def test_exit_status_is_the_programs(tmp_path):
    assert run("-c", "import sys; sys.exit(7)", folder=tmp_path).returncode == 7


def test_program_from_standard_input_and_module(tmp_path):
    assert (
        run(
            "-", "a", folder=tmp_path, stdin="import sys, torch_py, torch; print(sys.argv, torch is torch_py)"
        ).stdout
        == "['-', 'a'] True\n"
    )
    (tmp_path / "tool.py").write_text(
        "import sys, torch_py, torch\nprint(sys.argv[1:], torch is torch_py, __name__)\n"
    )
    assert run("-m", "tool", "b", folder=tmp_path).stdout == "['b'] True __main__\n"


def test_children_inherit(tmp_path):
    script = """
import multiprocessing, subprocess, sys, torch

def child(queue):
    import torch.nn, torch_py
    queue.put((torch is torch_py, torch.nn.Linear.__module__))

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    print(*queue.get(timeout=60))
    process.join()
    code = "import torch.nn as nn, importlib.metadata as m; import torch_py; "
    code += "print(nn is torch_py.nn, m.version('torch'))"
    print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/").stdout)
"""

    (tmp_path / "script.py").write_text(script)
    done = run("script.py", folder=tmp_path)
    assert done.stdout.split() == ["True", "torch.nn.modules.linear", "True", "2.13.0"], done.stderr


def test_install_refuses_when_torch_is_there(tmp_path):
    code = (
        "import sys, types; sys.modules['torch'] = types.ModuleType('torch'); import torch_py.as_torch "
        "as a; a.install()"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )

    assert "RuntimeError: torch_py.as_torch.install: torch was imported before" in done.stderr


def test_einops_prints_the_same_under_both(tmp_path):
    pytest.importorskip("einops")
    pytest.importorskip("torch")
    from tools.programs.comparison import first_difference
    from tools.programs.running import SCRIPTS
    from tools.programs.running import run as run_program

    theirs, ours = (
        run_program(SCRIPTS / "use_einops.py", as_torch=as_torch, torchvision=None)
        for as_torch in (False, True)
    )
    assert theirs.passed and ours.passed, theirs.problem + ours.problem
    assert first_difference(theirs.output, ours.output) is None


def test_modules_that_are_not_files_can_be_imported(tmp_path):
    code = """
from torch.distributions.relaxed_bernoulli import RelaxedBernoulli
import torch, torch.distributions.normal
print(RelaxedBernoulli is torch.distributions.RelaxedBernoulli)
print(torch.distributions.normal.Normal is torch.distributions.Normal)
"""
    assert output(code, tmp_path) == ["True"] * 2


def test_names_that_packages_ask_for(tmp_path):
    code = """
import torch, torch.distributed.tensor as spread
print(torch.nn.modules.module._EXTRA_STATE_KEY_SUFFIX)
print(torch.nn.init._calculate_correct_fan(torch.ones(3, 5, 2), "fan_in"))
print(torch.is_autocast_enabled("mps"), isinstance(torch.ones(1), spread.DTensor))

meshes = (torch.distributed.device_mesh.DeviceMesh, torch.distributed.init_device_mesh)
for make in meshes:
    try:
        make("cpu", (2,) if make is torch.distributed.init_device_mesh else (0, 1))
    except NotImplementedError as error:
        print("processes" if "worlds of one process only" in str(error) else error)

asked = torch._C._are_functorch_transforms_active
torch.vmap(lambda value: (print(asked()), value)[1])(torch.ones(2))
print(asked())
"""
    assert output(code, tmp_path) == [
        "_extra_state",
        "10",
        "False",
        "False",
        *["processes"] * 2,
        "True",
        "False",
    ]


def test_functions_are_compiled_without_breaks(tmp_path):
    code = """
import torch, torch.nn.functional as F
from torch.func import grad
graphs = []
def backend(module, inputs):
    graphs.append(module)
    return module.forward
@torch.compile(backend=backend, fullgraph=True)
def program(x, w):
    slope = grad(lambda v: v.sin().sum())(x)
    return F.linear(torch.relu(x), w) + torch.linalg.norm(slope) + torch.arange(x.size(0))[:, None]
print(program(torch.ones(3, 4), torch.ones(2, 4)).shape == (3, 2), len(graphs))
"""
    assert output(code, tmp_path) == ["True", "1"]
