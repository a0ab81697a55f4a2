"""Modules that PyTorch has and torch_py does not: they import like files, and say so when they are used."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

from tests.subject import only_torch_py, torch

pytestmark = only_torch_py


def table() -> dict[str, object]:
    return importlib.import_module("torch_py._pytorch_names.table").TABLE


def test_every_module_of_the_table_imports():
    for path in table():
        module = importlib.import_module(f"torch_py.{path}")
        assert isinstance(module, ModuleType) and module.__name__ == f"torch_py.{path}" and module.__doc__
        assert sys.modules[module.__name__] is module and module.__file__.endswith(".py")


def test_modules_are_attributes_of_their_packages():
    assert torch.xpu is importlib.import_module("torch_py.xpu")
    assert torch.fx.experimental is importlib.import_module("torch_py.fx.experimental")
    assert {"xpu", "fx", "jit"} <= set(dir(torch))
    with pytest.raises(AttributeError, match="no_such_module"):
        torch.no_such_module  # noqa: B018
    with pytest.raises(ModuleNotFoundError, match=r"torch_py\.fx\.no_such_module"):
        importlib.import_module("torch_py.fx.no_such_module")


def test_pkgutil_lists_them_with_the_files():
    found = {name: is_package for _, name, is_package in pkgutil.iter_modules(torch.__path__)}
    assert found["fx"] and not found["xpu"] and found["nn"] and not found["hub"]
    inside = {name for _, name, _ in pkgutil.iter_modules(torch.fx.__path__, "fx.")}
    assert {"fx.graph", "fx.node", "fx.experimental"} <= inside


def test_functions_of_the_table_have_names_signatures_and_pickles():
    for function in (torch.xpu.synchronize, torch.mps.is_available):
        assert pickle.loads(pickle.dumps(function)) is function
    with pytest.raises(TypeError, match=r"get_proxy_mode\(\) takes 0 positional arguments but 1 was given"):
        torch.fx.experimental.proxy_tensor.get_proxy_mode(1)


def test_reloading_keeps_the_module():
    module = importlib.import_module("torch_py.mtia")
    assert importlib.reload(module) is module and module.device_count() == 0


@pytest.mark.parametrize(
    "program",
    [
        "from torch_py.ao.quantization import QuantStub",
        "import torch_py.fx.experimental.proxy_tensor as p; assert p.get_proxy_mode() is None",
        "from torch_py import xpu; assert not xpu.is_available()",
        "import torch_py; assert torch_py.jit.annotations",
        "from torch_py.as_torch import install; install(); import torch; torch.nested.Anything; "
        "import torch.xpu; assert torch.xpu.__name__ == 'torch.xpu' == torch.xpu.synchronize.__module__",
    ],
)
def test_in_a_fresh_process(program):
    subprocess.run([sys.executable, "-c", program], check=True)
