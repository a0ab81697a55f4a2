"""Structures of trees: their text and JSON are PyTorch's; classes of programs as nodes."""

from __future__ import annotations

import dataclasses
import importlib
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

pytree = importlib.import_module(f"{torch.__name__}.utils._pytree")

Pair = namedtuple("Pair", "first second")
TREES = [
    1,
    None,
    [],
    (),
    {},
    {"a": 1},
    Pair(1, [2]),
    OrderedDict(a=1),
    deque([1], 3),
    defaultdict(int, {"k": 2}),
    [[1], [2, 3]],
    [1, [2, [3]], 4],
    {"x": {}, "y": (1,)},
]


@pytest.mark.parametrize("tree", TREES, ids=repr)
@only_torch_py
def test_text_and_json_are_pytorchs(tree: Any):
    peer = pytest.importorskip("torch.utils._pytree")
    ours, theirs = pytree.tree_structure(tree), peer.tree_structure(tree)
    assert repr(ours) == repr(theirs) and str(ours.type) == str(theirs.type)
    assert (ours.num_nodes, ours.num_leaves, ours.num_children) == (
        theirs.num_nodes,
        theirs.num_leaves,
        theirs.num_children,
    )
    assert pytree.treespec_pprint(ours) == peer.treespec_pprint(theirs)
    if not isinstance(tree, Pair):
        assert pytree.treespec_dumps(ours) == peer.treespec_dumps(theirs)
        assert pytree.treespec_loads(peer.treespec_dumps(theirs)) == ours


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_json_and_back(tree: Any):
    if isinstance(tree, Pair):
        with pytest.raises(NotImplementedError):
            pytree.treespec_dumps(pytree.tree_structure(tree))
        return
    spec = pytree.tree_structure(tree)
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec


def test_named_tuples_have_a_name_in_json():
    Named = namedtuple("Named", "a b")
    pytree._register_namedtuple(Named, serialized_type_name="tests.Named")
    spec = pytree.tree_structure(Named(1, 2))
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec
    assert spec.type is namedtuple and spec.context is Named
    with pytest.raises(ValueError):
        spec.flatten_up_to(Pair(1, 2))


@pytest.mark.parametrize(
    "text", ["[2, {}]", "x", "3", "[1, 3]", '[1, {"type": "no.Such", "context": "null"}]']
)
@only_torch_py
def test_bad_json(text: str):
    with pytest.raises((ValueError, NotImplementedError)):
        pytree.treespec_loads(text)


def test_structures_from_structures():
    leaf = pytree.treespec_leaf()
    assert pytree.treespec_tuple([leaf, leaf]) == pytree.tree_structure((1, 2))
    assert pytree.treespec_dict({"a": leaf}, b=leaf) == pytree.tree_structure({"a": 1, "b": 2})


def test_dataclasses_are_nodes():
    @dataclasses.dataclass
    class Point:
        x: Any
        y: Any = 3
        tag: str = "t"

    pytree.register_dataclass(Point, field_names=["x", "y"], drop_field_names=["tag"])
    leaves, spec = pytree.tree_flatten(Point(1, [2]))
    assert leaves == [1, 2] and spec.type is Point
    assert pytree.tree_map(lambda leaf: leaf + 1, Point(1, [2], "other")) == Point(2, [3])
    paths = [pytree.keystr(path) for path, _ in pytree.tree_flatten_with_path(Point(1, [2]))[0]]
    assert paths == [".x", ".y[0]"]

    pytree._deregister_pytree_node(Point)
    assert pytree.tree_leaves(Point(1)) == [Point(1)]


def test_wrong_dataclasses():
    class Plain:
        pass

    @dataclasses.dataclass
    class Two:
        a: int
        b: int

    with pytest.raises(ValueError, match="field_names must be specified"):
        pytree.register_dataclass(Plain)
    with pytest.raises(ValueError):
        pytree.register_dataclass(Two, field_names=["a", "c"])
    with pytest.raises(ValueError, match="already registered"):
        pytree.register_pytree_node(list, lambda x: (x, None), lambda x, _: x)


def test_constants_are_part_of_the_structure():
    class Config:
        def __init__(self, value: int) -> None:
            self.value = value

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Config) and self.value == other.value

        def __hash__(self) -> int:
            return hash(self.value)

    class Unequal:
        pass

    pytree.register_constant(Config)
    leaves, spec = pytree.tree_flatten([Config(1), 2])
    assert leaves == [2] and pytree.tree_unflatten([5], spec) == [Config(1), 5]
    assert spec == pytree.tree_structure([Config(1), 0]) and spec != pytree.tree_structure([Config(2), 0])
    assert pytree.is_constant_class(Config) and not pytree.is_constant_class(Unequal)
    with pytest.raises(TypeError, match="non-default"):
        pytree.register_constant(Unequal)


def test_broadcasting_leaves():
    spec = pytree.tree_structure([1, (2, 3)])
    for tree, expected in [(7, [7, 7, 7]), ([1, 2], [1, 2, 2]), ([1, (2, 3)], [1, 2, 3]), ([1, 2, 3], None)]:
        assert pytree._broadcast_to_and_flatten(tree, spec) == expected


def test_leaves_of_a_type():
    tree = [1, "a", (2.0, 3)]
    assert pytree.tree_all_only(int, lambda leaf: leaf > 0, tree)
    assert pytree.tree_any_only(str, lambda leaf: leaf == "a", tree)
    seen: list[int] = []
    assert pytree.tree_map_only_(int, seen.append, tree) is tree and seen == [1, 3]
    assert pytree.tree_map_only((int, float), lambda leaf: -leaf, tree) == [-1, "a", (-2.0, -3)]


def test_kinds_of_tuples():
    found = torch.ones(2).max(0)
    assert (
        pytree.is_namedtuple(Pair(1, 2)) and pytree.is_namedtuple(Pair) and not pytree.is_namedtuple((1, 2))
    )
    assert (
        pytree.is_structseq(found) and pytree.is_structseq_class(type(found)) and not pytree.is_structseq(1)
    )
