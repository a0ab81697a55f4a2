"""Trees of containers: leaves, structure and paths."""

from __future__ import annotations

import pytest

from tests.subject import torch
from tests.torch_py.outcomes import outcome

CALLS = {
    "leaves": lambda t: (
        t.utils._pytree.arg_tree_leaves([1, 2], a=(3,)),
        t.utils._pytree.tree_is_leaf([1]),
        t.utils._pytree.tree_is_leaf(1),
    ),
    "structure": lambda t: t.utils._pytree.is_structseq_instance(t.ones(2).max(0)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_leaves_agree_with_pytorch(call):
    peer = pytest.importorskip("torch")
    assert outcome(call, torch) == outcome(call, peer)


def test_paths_in_trees_against_peer():
    peer = pytest.importorskip("torch.utils._pytree")
    import torch_py.utils._pytree as ours

    tree = {"a": [1, (2, 3)], "b": {"c": None}}
    for library in (ours, peer):
        keyed = [(library.keystr(path), leaf) for path, leaf in library.tree_leaves_with_path(tree)]
        assert keyed == [("['a'][0]", 1), ("['a'][1][0]", 2), ("['a'][1][1]", 3), ("['b']['c']", None)]
        assert library.tree_map_with_path(lambda path, leaf: len(path), tree) == {
            "a": [2, (3, 3)],
            "b": {"c": 2},
        }
        assert library.key_get(tree, library.tree_leaves_with_path(tree)[1][0]) == 2


def test_number_of_nodes():
    trees = [[1, 2], 3, {"a": [1, (2,)]}, None, []]
    assert [torch.utils._pytree.tree_structure(tree).num_nodes for tree in trees] == [3, 1, 5, 1, 1]


@pytest.mark.parametrize(
    "tree",
    [
        [1, {"b": (3,), "a": [7]}],
        [1, (2, 3)],
        (1, {"a": 1, "b": (3,)}),
        [1, {"a": 1, "b": (3, 4)}],
        5,
    ],
    ids=repr,
)
def test_flatten_up_to_agrees_with_pytorch(tree):
    peer = pytest.importorskip("torch")
    assert outcome(lambda t: flatten_up_to_sample(t, tree), torch) == outcome(
        lambda t: flatten_up_to_sample(t, tree), peer
    )


def flatten_up_to_sample(library, tree):
    spec = library.utils._pytree.tree_structure([1, {"a": 2, "b": (3,)}])
    return spec.flatten_up_to(tree)


def test_flatten_up_to_names_other_keys():
    spec = torch.utils._pytree.tree_structure({"a": 1})
    with pytest.raises(ValueError, match=r"Node keys mismatch; expected \['a'\], but got \['b'\]"):
        spec.flatten_up_to({"b": 1})


def test_children_of_a_structure():
    spec = torch.utils._pytree.tree_structure([1, (2, 3)])
    assert [child.num_leaves for child in spec.children()] == [1, 2]
    assert spec.child(1).type is tuple
    with pytest.raises(IndexError):
        spec.child(2)
