"""The names of devices that packages bring; examples/backend_walled tests the devices themselves."""

from __future__ import annotations

import pytest

import torch_py as torch
from tests.python_process import run_python


@pytest.mark.parametrize("name", ["cpu", "cuda", "my device", "", 3])
def test_bad_names(name: object):
    with pytest.raises(RuntimeError, match="rename_privateuse1_backend"):
        torch.utils.rename_privateuse1_backend(name)


def test_renamed_once():
    script = """
import torch_py as torch

torch.utils.rename_privateuse1_backend("mydev")
torch.utils.rename_privateuse1_backend("mydev")
print(torch.device("mydev:1"), torch.device("mydev").type, torch._C._get_privateuse1_backend_name())
try:
    torch.utils.rename_privateuse1_backend("other")
except RuntimeError as error:
    print(error)

torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
print(torch.ones(2).is_mydev, torch.ones(2).untyped_storage().is_mydev, hasattr(torch.nn.Module, "mydev"))
for attempt in (
    lambda: torch.ones(2, device="mydev"),
    lambda: torch.utils.generate_methods_for_privateuse1_backend(),
):
    try:
        attempt()
    except (RuntimeError, ModuleNotFoundError) as error:
        print(error)
"""
    assert run_python("-c", script).splitlines() == [
        "mydev:1 mydev mydev",
        "rename_privateuse1_backend: the backend is already named 'mydev'",
        "False False True",
        "torch_py was built without mydev support, or its backend is not loaded: cannot allocate on 'mydev'",
        "generate_methods_for_privateuse1_backend: Tensor has 'is_mydev' already; choose another name for "
        "the device",
    ]


def test_register_device_module():
    script = """
import types
import torch_py as torch

torch.utils.rename_privateuse1_backend("mydev")
module = types.ModuleType("mydev")
torch._register_device_module("mydev", module)
assert torch.mydev is module and torch.get_device_module("mydev:0") is module
try:
    torch._register_device_module("mydev", types.ModuleType("another"))
except RuntimeError as error:
    print(error)
"""
    assert "has already been registered" in run_python("-c", script)
