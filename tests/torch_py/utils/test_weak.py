"""Weak dictionaries with tensors as keys."""

from __future__ import annotations

import copy
import gc
import importlib

import pytest

from tests.subject import torch

weak = importlib.import_module(f"{torch.__name__}.utils.weak")


@pytest.mark.parametrize("kind", ["WeakIdKeyDictionary", "WeakTensorKeyDictionary"])
def test_keys_are_compared_by_identity_and_forgotten(kind: str):
    x, y = torch.ones(2), torch.ones(2)
    notes = getattr(weak, kind)({x: "x"})
    notes[y] = "y"
    assert notes[x] == "x" and notes[y] == "y" and len(notes) == 2
    assert torch.ones(2) not in notes and x in notes and set(map(id, notes)) == {id(x), id(y)}

    del y
    gc.collect()
    assert len(notes) == 1 and list(notes.values()) == ["x"]
    del notes[x]
    assert not notes and notes.get(x) is None
    with pytest.raises(KeyError):
        notes[x]  # noqa: B018


def test_copies_and_unions():
    x, y = torch.ones(1), torch.ones(1)
    first, second = weak.WeakIdKeyDictionary({x: [1]}), weak.WeakIdKeyDictionary({y: [2]})
    assert dict((first | second).items()) == {x: [1], y: [2]}
    assert first.copy()[x] is first[x] and copy.deepcopy(first)[x] is not first[x]
    first |= second
    assert first[y] == [2] and first == weak.WeakIdKeyDictionary({y: [2], x: [1]}) and first != second
    assert first.pop(x) == [1] and first.setdefault(x, 5) == 5


def test_references():
    x = torch.ones(1)
    assert weak.WeakIdRef(x) == weak.WeakIdRef(x)
    assert not weak.WeakIdRef(x) == weak.WeakIdRef(torch.ones(1))
    reference = weak.TensorWeakRef(x)
    assert reference() is x and reference == weak.TensorWeakRef(x) and hash(reference) is not None
    del x
    gc.collect()
    assert reference() is None


def test_the_dictionary_does_not_live_because_of_its_keys():
    x = torch.ones(1)
    value = torch.ones(1)
    notes = weak.WeakIdKeyDictionary({x: value})
    inside = weak.WeakIdRef(value)
    del value, notes
    gc.collect()
    assert inside() is None
