"""Names that programs import from PyTorch's inner modules, and what they do."""

from __future__ import annotations

import importlib
import io
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

aten = torch.ops.aten


def module(path: str) -> Any:
    return importlib.import_module(f"{torch.__name__}.{path}")


def test_names_in_two_places():
    graph, modes = module("autograd.graph"), module("utils._python_dispatch")
    assert graph.TorchDispatchMode is modes.TorchDispatchMode
    trees = module("utils._pytree")
    vmap = module("_functorch.vmap")
    assert vmap.Tensor is torch.Tensor and vmap.tree_flatten is trees.tree_flatten
    assert module("nn.functional").has_torch_function([3]) is False
    if torch.__name__ == "torch_py":
        assert module("library").OpOverload is type(aten.add.Tensor)


@only_torch_py
def test_every_name_elsewhere_exists():
    for path, names in module("_pytorch_names.elsewhere").ELSEWHERE.items():
        for name in names:
            assert getattr(module(path), name) is not None, (path, name)


def test_tags():
    assert torch.Tag.pointwise in aten.exp.default.tags and torch.Tag.pointwise not in aten.mm.default.tags
    assert torch.Tag.nondeterministic_seeded in aten.rand_like.default.tags
    assert torch.Tag.inplace_view in aten.t_.default.tags
    assert torch.Tag.core in aten.add.Tensor.tags and torch.Tag.core not in aten.add_.Tensor.tags


@only_torch_py
def test_core_operators_are_pytorchs():
    peer = pytest.importorskip("torch")
    for entry in torch._C._operator_schemas():
        packet, _, overload = entry.partition(".")
        theirs = getattr(getattr(peer.ops.aten, packet, None), overload or "default", None)
        ours = torch._ops.find_overload(entry)
        # PyTorch also tags atan2.out.
        if theirs is not None and entry != "atan2.out":
            assert (torch.Tag.core in ours.tags) is (peer.Tag.core in theirs.tags), entry


@only_torch_py
def test_tags_are_words():
    assert "pointwise" in aten.exp.default.tags and repr(torch.Tag.core) == "Tag.core"


def test_results_have_classes_before_they_exist():
    assert type(torch.ones(2).max(0)) is torch.return_types.max
    assert type(torch.ones(2).cummin(0)) is torch.return_types.cummin
    assert type(torch.ones(2).aminmax()) is torch.return_types.aminmax
    assert type(torch.linalg.qr(torch.eye(2))) is torch.return_types.linalg_qr
    assert type(torch.topk(torch.ones(2), 1)) is torch.return_types.topk
    with pytest.raises(AttributeError):
        torch.return_types.no_such  # noqa: B018
    with pytest.raises(AttributeError):
        torch.return_types.add  # noqa: B018


def test_locations():
    storage = torch.ones(2).untyped_storage()
    assert module("serialization").location_tag(storage) == "cpu"
    assert module("serialization").default_restore_location(storage, "cpu") is storage
    file = io.BytesIO()
    torch.save(torch.ones(2), file)
    for content, expected in ((file.getvalue(), True), (b"text", False), (b"", False)):
        assert module("serialization")._is_zipfile(io.BytesIO(content)) is expected


@pytest.mark.parametrize("kind", ["DEFAULT", "NO_OPMATH", "INT_TO_FLOAT", "ALWAYS_BOOL", "BOOL_TO_LONG"])
def test_promotion_is_that_of_operators(kind: str):
    common = module("_prims_common")
    kinds = common.ELEMENTWISE_TYPE_PROMOTION_KIND

    rows = [
        (torch.ones(2), 3),
        (torch.ones(2, dtype=torch.int64), 1.5),
        (torch.ones(2, dtype=torch.bfloat16), torch.ones(2, dtype=torch.int32)),
        (torch.ones(2, dtype=torch.bool), True),
        (torch.ones(2, dtype=torch.float16), torch.ones((), dtype=torch.float64)),
        (torch.ones((), dtype=torch.float64), torch.ones(2, dtype=torch.int64), 2),
        (torch.ones(2, dtype=torch.uint8), torch.ones(2, dtype=torch.int8), 1),
    ]

    if torch.__name__ == "torch_py":
        peer = pytest.importorskip("torch._prims_common")
        theirs = getattr(peer.ELEMENTWISE_TYPE_PROMOTION_KIND, kind)
        whole = importlib.import_module("torch")
    for row in rows:
        found = common.elementwise_dtypes(*row, type_promotion_kind=getattr(kinds, kind))
        if torch.__name__ == "torch_py":
            same = [
                whole.ones(v.shape, dtype=getattr(whole, str(v.dtype).removeprefix("torch.")))
                if isinstance(v, torch.Tensor)
                else v
                for v in row
            ]
            expected = peer.elementwise_dtypes(*same, type_promotion_kind=theirs)
            assert tuple(map(str, found)) == tuple(map(str, expected)), row


def test_shapes_and_dtypes():
    common = module("_prims_common")
    assert tuple(common.infer_size((2, -1), 6)) == (2, 3)
    with pytest.raises((RuntimeError, ValueError)):
        common.infer_size((4, -1), 6)
    assert common.corresponding_real_dtype(torch.complex64) == torch.float32
    assert common.corresponding_complex_dtype(torch.float64) == torch.complex128


def test_references_of_operators():
    refs = module("_refs")
    assert refs.tensor([1, 2]).tolist() == [1, 2]
    assert torch.equal(refs.add(torch.ones(2), 1), torch.full((2,), 2.0))
    one, two, three = refs._maybe_broadcast(torch.ones(2, 1), torch.ones(3), 5)
    assert one.shape == two.shape == (2, 3) and three == 5
    with pytest.raises(AttributeError):
        refs.no_such  # noqa: B018
