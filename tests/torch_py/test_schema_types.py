"""Types of schemas: classes and text are PyTorch's."""

from __future__ import annotations

import copy
import pickle

import pytest

from tests.subject import only_torch_py, torch

aten = torch.ops.aten
OPERATORS = [
    "add.Tensor",
    "add_.Tensor",
    "sum.dim_IntList",
    "cat.default",
    "clamp.default",
    "split.Tensor",
    "index.Tensor",
    "max_pool2d.default",
    "native_layer_norm.default",
    "nan_to_num.default",
    "dropout.default",
]


@only_torch_py
@pytest.mark.parametrize("name", OPERATORS)
def test_types_are_pytorchs(name: str):
    peer = pytest.importorskip("torch")
    packet, _, overload = name.partition(".")
    ours = getattr(getattr(aten, packet), overload, None)
    if ours is None:
        pytest.skip(f"torch_py has {packet} under another overload")
    theirs = getattr(getattr(peer.ops.aten, packet), overload)._schema

    for one, other in zip(ours._schema.arguments, theirs.arguments):
        assert (str(one.type), one.type.kind()) == (str(other.type), other.type.kind()), one.name
    assert [str(r.type) for r in ours._schema.returns] == [str(r.type) for r in theirs.returns]


def test_classes_of_types():
    self_, _, alpha = aten.add_.Tensor._schema.arguments
    assert isinstance(self_.type, torch.TensorType) and self_.type == torch.TensorType.get()
    assert str(alpha.type) == "number" and alpha.type.kind() == "NumberType"
    tensors = aten.cat.default._schema.arguments[0].type
    assert isinstance(tensors, torch.ListType) and isinstance(tensors.getElementType(), torch.TensorType)
    low = aten.clamp.default._schema.arguments[1].type
    assert isinstance(low, torch.OptionalType) and not isinstance(low, torch.TensorType)


def test_types_can_be_made():
    assert str(torch.OptionalType(torch.IntType.get())) == "Optional[int]"
    assert (
        str(torch.ListType.ofInts()) == "List[int]"
        and str(torch.OptionalType.ofTensor()) == "Optional[Tensor]"
    )
    assert str(torch.TupleType([torch.IntType.get(), torch.TensorType.get()])) == "Tuple[int, Tensor]"
    assert str(torch.DictType(torch.StringType.get(), torch.FloatType.get())) == "Dict[str, float]"
    assert torch.ListType(torch.FloatType.get()).annotation_str == "List[float]"
    with pytest.raises(TypeError):
        torch.OptionalType(3)


def test_subtypes():
    integer, tensor = torch.IntType.get(), torch.TensorType.get()
    optional = torch.OptionalType(integer)
    assert integer.isSubtypeOf(optional) and integer.isSubtypeOf(torch.AnyType.get())
    assert not optional.isSubtypeOf(integer) and not tensor.isSubtypeOf(integer)


@only_torch_py
def test_types_are_the_text_of_the_schema():
    found = aten.sum.default._schema.arguments[1].type
    assert found == "int[1]?" and pickle.loads(pickle.dumps(found)) == copy.copy(found) == found
