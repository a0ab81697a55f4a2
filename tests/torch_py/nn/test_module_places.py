"""Layers and their functions are in the modules in which PyTorch has them, which imports, pickles and
messages name."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
import typing
from types import FunctionType

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


def test_annotations_of_layers_can_be_read():
    for name in torch_py.nn.modules.__all__:
        typing.get_type_hints(getattr(torch_py.nn, name))


def test_functions_are_where_pytorch_has_them():
    own = torch_py.nn.functional
    written = [name for name in own.__all__ if isinstance(getattr(own, name), FunctionType)]
    assert len(written) > 90
    for name in written:
        function = getattr(own, name)
        assert function.__module__ == own.__name__, name
        assert pickle.loads(pickle.dumps(function)) is function


def test_grouped_products():
    torch = torch_py
    torch.manual_seed(0)
    ends = torch.tensor([2, 2, 5], dtype=torch.int32)
    groups = [(0, 2), (2, 2), (2, 5)]
    rows = torch.randn(6, 3)
    columns = rows.t()
    many = torch.randn(3, 3, 3)
    product = torch.nn.functional.grouped_mm

    got = product(rows, many, offs=ends)
    for i, (start, end) in enumerate(groups):
        assert torch.allclose(got[start:end], rows[start:end] @ many[i])
        assert torch.allclose(
            product(many, columns, offs=ends)[:, start:end], many[i] @ columns[:, start:end]
        )
        expected = columns[:, start:end] @ rows[start:end]
        assert torch.allclose(product(columns, rows, offs=ends)[i], expected)
    assert got[5:].eq(0).all() and torch.equal(product(many, many), many @ many)

    for call in (
        lambda: product(rows, many),
        lambda: product(many, many, offs=ends),
        lambda: product(ends, many),
        *(
            lambda wrong=wrong: product(rows, many, offs=torch.tensor(wrong))
            for wrong in ([1, 2], [2, 1, 3], [1, 2, 7])
        ),
        lambda: product(columns, rows, offs=torch.tensor([3, 7])),
    ):
        with pytest.raises(RuntimeError, match="grouped_mm"):
            call()


@pytest.mark.parametrize(
    "module, names",
    [
        ("rnn", "Module PackedSequence"),
        ("transformer", "Dropout F LayerNorm Linear Module ModuleList MultiheadAttention"),
        ("conv", "F LazyModuleMixin Module UninitializedParameter _reverse_repeat_tuple"),
        ("loss", "F Module PairwiseDistance"),
        ("activation", "F Module NonDynamicallyQuantizableLinear"),
        ("pooling", "F Module"),
    ],
)
def test_what_packages_import_from_the_modules(module: str, names: str):
    """Names that PyTorch's modules have because they use them."""
    own = importlib.import_module(f"torch_py.nn.modules.{module}")
    assert [name for name in names.split() if not hasattr(own, name)] == []
