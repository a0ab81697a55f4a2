"""The layers of torch_py's modules: the lint sees imports upward, and imports inside functions."""

from __future__ import annotations

import pytest

from tools.lint import modules

KNOWN = frozenset({"torch_py", "torch_py.nn", "torch_py.nn.init", "torch_py._tensor", "torch_py.optim"})


def messages(path: str, text: str) -> list[str]:
    return [f"{finding.line}: {finding.message}" for finding in modules.check_module(path, text, KNOWN)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("torch_py/_tensor.py", "from torch_py.nn import init"),
        ("torch_py/_tensor.py", "import torch_py.nn.init"),
        (
            "torch_py/_tensor.py",
            "def f():\n    # Imported on first use: it is large.\n    import torch_py.nn",
        ),
        ("torch_py/nn/init.py", "from ..optim import Adam"),
        ("torch_py/_tensor.py", "from torch_py.linalg import inv"),
    ],
)
def test_upward_imports_are_found(path, text):
    (message,) = messages(path, text)
    assert "imports go downward" in message


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("torch_py/nn/init.py", "from torch_py._tensor import Tensor"),
        ("torch_py/nn/init.py", "from torch_py.nn.modules import Linear"),
        ("torch_py/nn/init.py", "from . import functional"),
        ("torch_py/_tensor.py", "if TYPE_CHECKING:\n    from torch_py.nn import Module"),
        ("torch_py/_tensor.py", "from torch_py import _C\nfrom torch_py._C import _torch"),
        ("torch_py/distributions/kl.py", "import torch_py"),
        ("torch_py/optim/sgd.py", "from torch_py.nn import init\nimport numpy"),
    ],
)
def test_imports_along_the_layers(path, text):
    assert messages(path, text) == []


def test_imports_in_functions_say_why():
    body = "    from torch_py import nn\n    from torch_py import _tensor\n"
    found = messages("torch_py/optim/sgd.py", f"def step():\n{body}")
    assert [message.partition(" is imported inside a function")[0] for message in found] == [
        "2: torch_py.nn",
        "3: torch_py._tensor",
    ]
    assert messages("torch_py/optim/sgd.py", f"def step():\n    # Imported on first use.\n{body}") == []
    assert messages("torch_py/optim/sgd.py", "def step():\n    import numpy\n") == []


def test_unknown_modules_need_a_layer():
    (message,) = messages("torch_py/new_room.py", "")
    assert "torch_py.new_room is in no layer; add it to LAYERS" in message


def test_the_package_itself_is_for_its_users():
    (message,) = messages("torch_py/nn/init.py", "import torch_py")
    assert "must not import torch_py itself" in message


def test_every_layer_names_modules_once():
    names = [name for layer in modules.LAYERS for name in layer]
    assert len(names) == len(set(names))
