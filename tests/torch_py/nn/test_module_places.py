"""Layers are defined in the modules in which PyTorch has them, which imports, pickles and messages name."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest

import torch_py
from tests.subject import only_torch_py

pytestmark = only_torch_py


def test_every_layer_is_where_pytorch_has_it():
    pytorch = pytest.importorskip("torch")
    checked = 0
    for module in pkgutil.iter_modules(pytorch.nn.modules.__path__):
        theirs = importlib.import_module(f"torch.nn.modules.{module.name}")
        for name, layer in inspect.getmembers(theirs, inspect.isclass):
            if name.startswith("_") or layer.__module__ != theirs.__name__ or module.name.startswith("_"):
                continue
            ours = getattr(importlib.import_module(f"torch_py.nn.modules.{module.name}"), name)
            assert ours.__module__ == f"torch_py.nn.modules.{module.name}", name
            checked += 1
    assert checked > 150


def test_the_public_names_are_the_same_objects():
    for name in torch_py.nn.modules.__all__:
        layer = getattr(torch_py.nn.modules, name)
        assert getattr(torch_py.nn, name) is layer is getattr(importlib.import_module(layer.__module__), name)
