"""Pickles of tensors, storages and modules, also exchanged with PyTorch; files from before PyTorch 1.6."""

from __future__ import annotations

import copy
import io
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

ROOT = Path(__file__).resolve().parent.parent.parent


def again(value: Any, protocol: int = 2) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))


FUNCTIONS = """
    sum relu zeros einsum stack tensor save linalg.inv linalg.norm fft.fft special.erf
    nn.functional.linear nn.functional.relu nn.functional.gelu nn.functional.conv2d Tensor.add
    Tensor.backward is_grad_enabled Tensor nn.Linear
""".split()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_functions_by_reference(name: str, protocol: int) -> None:
    value: Any = torch
    for part in name.split("."):
        value = getattr(value, part)
    assert again(value, protocol) is value


def hook(*arguments: Any) -> None:
    pass


def test_modules_with_hooks() -> None:
    model = torch.nn.Linear(2, 2)
    handle = model.register_forward_hook(hook)
    model.register_forward_pre_hook(hook)
    model.register_full_backward_hook(hook)
    loaded, its_handle = again((model, handle))
    assert len(loaded._forward_hooks) == len(loaded._forward_pre_hooks) == len(loaded._backward_hooks) == 1
    its_handle.remove()
    assert not loaded._forward_hooks and model._forward_hooks
    assert loaded.register_forward_hook(hook).id != its_handle.id
    assert len(copy.deepcopy(model)._forward_hooks) == 1


class Named(torch.Tensor):
    pass


@pytest.mark.parametrize("protocol", [2, 5])
def test_tensors(protocol: int) -> None:
    base = torch.arange(6.0).view(2, 3)
    loaded = again(base.t()[1:], protocol)
    assert torch.equal(loaded, base.t()[1:]) and loaded.stride() == (1, 3)

    parameter = torch.nn.Parameter(torch.ones(2), requires_grad=False)
    parameter.tag = "x"
    loaded = again(parameter, protocol)
    assert type(loaded) is torch.nn.Parameter and not loaded.requires_grad and loaded.tag == "x"

    marked = torch.ones(2, requires_grad=True)
    marked.tag = [marked.detach()]
    loaded = again(marked, protocol)
    assert loaded.requires_grad and torch.equal(loaded.tag[0], torch.ones(2))

    loaded = again(torch.ones(3).as_subclass(Named), protocol)
    assert type(loaded) is Named and torch.equal(loaded.as_subclass(torch.Tensor), torch.ones(3))
    loaded = again(torch.ones(2, 3, device="meta"), protocol)
    assert loaded.is_meta and loaded.shape == (2, 3)

    for value in (
        torch.ones(0, 3),
        torch.tensor(2.5),
        torch.ones(2).bfloat16(),
        torch.tensor([True, False]),
        torch.ones(1, dtype=torch.complex64),
        torch.arange(3).to(torch.uint16)[1:],
    ):
        assert again(value, protocol).dtype == value.dtype and torch.equal(again(value, protocol), value)


@only_torch_py
def test_a_view_takes_only_its_part_along() -> None:
    column = torch.arange(100_000.0).view(1000, 100)[3]
    assert len(pickle.dumps(column)) < 1000 and again(column).storage_offset() == 0


def test_storages() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        storage = torch.arange(3).storage()
        assert again(storage).tolist() == [0, 1, 2] and again(storage).dtype == torch.int64


# -- values that both libraries read
# ------------------------------------------------------------

VALUES = """
import pickle, sys, torch, warnings
warnings.simplefilter("ignore")
tagged = torch.ones(2)
tagged.tag = 3
parameter = torch.nn.Parameter(torch.ones(2), False)
parameter.tag = "x"
values = [torch.ones(2, 3)[:, 1], tagged, parameter, torch.nn.Parameter(torch.zeros(1)),
          torch.ones(2, device="meta"), torch.arange(2).storage(),
          torch.sum, torch.nn.functional.linear, torch.linalg.inv, torch.fft.fft, torch.special.erf,
          torch.float16, torch.Size([1]), torch.device("cpu"), torch.strided, torch.nn.Linear(2, 2),
          torch.float32]
"""
CHECK = """
read = pickle.load(open(sys.argv[1], "rb"))
assert len(read) == len(values)
for ours, theirs in zip(values, read):
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(ours, torch.Tensor):
        assert ours.is_meta or torch.equal(ours, theirs)
        assert vars(ours) == vars(theirs) and ours.requires_grad == theirs.requires_grad
    elif not isinstance(ours, torch.nn.Module) and not hasattr(ours, "tolist"):
        assert ours == theirs, (ours, theirs)
"""


@only_torch_py
@pytest.mark.parametrize("way", ["to torch", "from torch"])
def test_pickles_of_both_libraries(way: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    file = str(tmp_path / "values.pickle")

    write = VALUES + 'pickle.dump(values, open(sys.argv[1], "wb"))'
    programs = [("torch_py.as_torch", write), ("torch", VALUES + CHECK)]
    if way == "from torch":
        programs = [("torch", write), ("torch_py.as_torch", VALUES + CHECK)]

    for library, program in programs:
        command = [sys.executable, *(["-m", library] if library != "torch" else []), "-c", program, file]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr


# -- files in the old format
# ------------------------------------------------------------


def old_file(library: Any) -> tuple[dict[str, Any], bytes]:
    weight = library.arange(6.0).view(2, 3)
    values = {
        "weight": weight,
        "row": weight[1],
        "numbers": library.arange(3),
        "list": [1, "two"],
        "empty": library.ones(0),
    }
    file = io.BytesIO()
    library.save(values, file, _use_new_zipfile_serialization=False)
    return values, file.getvalue()


@only_torch_py
@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("writer", ["torch", "torch_py"])
@pytest.mark.parametrize("reader", ["torch", "torch_py"])
def test_the_old_format(writer: str, reader: str, weights_only: bool) -> None:
    libraries = {"torch_py": torch, "torch": pytest.importorskip("torch")}
    values, data = old_file(libraries[writer])
    loaded = libraries[reader].load(io.BytesIO(data), weights_only=weights_only)
    assert loaded["list"] == [1, "two"]
    for name in ("weight", "row", "numbers", "empty"):
        assert loaded[name].tolist() == values[name].tolist()
        assert loaded[name].stride() == values[name].stride()
    loaded["weight"][1, 0] = -1
    assert loaded["row"][0] == -1


@only_torch_py
def test_the_old_format_cut_short() -> None:
    _, data = old_file(torch)
    for length in range(0, len(data), 5):
        with pytest.raises((RuntimeError, pickle.UnpicklingError, EOFError)):
            torch.load(io.BytesIO(data[:length]))


@only_torch_py
def test_the_old_format_promising_too_much(tmp_path: Path) -> None:
    _, data = old_file(torch)
    # Replaces both counts of 6 floats: in the reference to the storage and before the elements.
    grown = data.replace(b"K\x06N", b"J\xff\xff\xff\x7fN", 1)
    assert grown != data
    with pytest.raises(RuntimeError, match="ends before"):
        torch.load(io.BytesIO(grown))
    for name, message in ((b"os\nsystem", "blocked"), (b"shutil\nrmtree", "add_safe_globals")):
        with pytest.raises(pickle.UnpicklingError, match=message):
            torch.load(io.BytesIO(data.replace(b"torch\nFloatStorage", name)))
    path = tmp_path / "old.pt"
    path.write_bytes(data)
    with pytest.raises(RuntimeError, match="mmap"):
        torch.load(path, mmap=True)


@pytest.mark.parametrize("zipped", [True, False])
def test_another_pickle_module(zipped: bool) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    file = io.BytesIO()
    values = {"function": lambda x: x + 1, "x": torch.ones(2), "parameter": torch.nn.Parameter(torch.ones(1))}
    torch.save(values, file, pickle_module=cloudpickle, _use_new_zipfile_serialization=zipped)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    assert loaded["function"](loaded["x"]).tolist() == [2, 2]
    assert type(loaded["parameter"]) is torch.nn.Parameter
