"""What compiled code assumes about a tensor."""

from __future__ import annotations

from typing import Any

import pytest

import torch_py as torch

TensorFacts = torch._C._compiler.TensorFacts


class Subclass(torch.Tensor):
    pass


def difference(facts: Any, tensor: Any) -> str | None:
    program = torch._C._compiler.GuardProgram([("tensor", 0, facts, "x")], 1)
    said = facts.check(tensor, "x")
    assert program.check((tensor,)) == said
    return said


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: torch.ones(2, 3), None),
        (lambda: torch.zeros(4, 3)[1:3], None),
        (lambda: 5, "x was of type Tensor, is of type int"),
        (lambda: torch.nn.Parameter(torch.ones(2, 3)), "x was of type Tensor, is of type Parameter"),
        (lambda: torch.ones(2, 3).as_subclass(Subclass), "x was of type Tensor, is of type Subclass"),
        (lambda: torch.ones(2, 3).double(), "x.dtype was torch.float32, is torch.float64"),
        (lambda: torch.ones(2, 3, device="meta"), "x.device was cpu, is meta"),
        (lambda: torch.ones(2, 3).to_mkldnn(), "x.layout was torch.strided, is torch._mkldnn"),
        (lambda: torch.ones(2, 3, 1), "x.dim() was 2, is 3"),
        (lambda: torch.ones(2, 3, requires_grad=True), "x.requires_grad was False, is True"),
        (lambda: torch.ones(2, 4), "x.size(1) was 3, is 4"),
        (lambda: torch.ones(3, 2).t(), "x.stride(0) was 3, is 1"),
        (lambda: torch.ones(1, 3).expand(2, 3), "x.stride(0) was 3, is 0"),
    ],
)
def test_differences(make: Any, said: str | None) -> None:
    assert difference(TensorFacts(torch.ones(2, 3)), make()) == said


def test_the_place_in_memory_counts_if_that_is_asked_for() -> None:
    memory = torch.ones(4, 3)
    for facts in (TensorFacts(memory[1:3], offset=3), TensorFacts(memory[1:3], (None, 3), offset=3)):
        assert difference(facts, memory[1:3]) is None
        assert difference(facts, memory[2:]) == "x.storage_offset() was 3, is 6"


def test_views_of_what_requires_grad_require_it() -> None:
    base = torch.ones(2, 3)
    view = base[:]
    facts = TensorFacts(view)
    base.requires_grad_()
    assert difference(facts, base[:]) == "x.requires_grad was False, is True"


def test_values_and_versions_do_not_count() -> None:
    x = torch.ones(2, 3)
    facts = TensorFacts(x)
    x.add_(1)
    x.data = torch.zeros(2, 3)
    assert difference(facts, x) is None


def test_changes_of_one_tensor() -> None:
    x = torch.ones(2, 3)
    facts = TensorFacts(x)
    x.data = torch.ones(3, 3)
    assert difference(facts, x) == "x.size(0) was 2, is 3"
    x.data = torch.ones(2, 3)
    assert difference(facts, x) is None
    x.resize_(1, 3)
    assert difference(facts, x) == "x.size(0) was 2, is 1"


def test_tensors_that_are_bound() -> None:
    weight = torch.nn.Parameter(torch.ones(2, 3))
    row = ("bound", weight, TensorFacts(weight), "weight")
    program = torch._C._compiler.GuardProgram([row], 0)
    changes: list[tuple[Any, str | None]] = [
        (lambda: weight.requires_grad_(False), "weight.requires_grad was True, is False"),
        (lambda: weight.requires_grad_(True), None),
        (
            lambda: setattr(weight, "data", torch.ones(2, 3).double()),
            "weight.dtype was torch.float32, is torch.float64",
        ),
        (lambda: setattr(weight, "data", torch.ones(3, 3)), "weight.size(0) was 2, is 3"),
        (lambda: setattr(weight, "data", torch.ones(3, 2).t()), "weight.stride(0) was 3, is 1"),
        (lambda: setattr(weight, "data", torch.ones(2, 3)), None),
    ]
    for change, said in changes:
        change()
        assert program.check(()) == said

    with pytest.raises(TypeError, match="expected a Tensor, got int"):
        torch._C._compiler.GuardProgram([("bound", 5, TensorFacts(weight), "weight")], 0)


def test_more_dimensions_than_are_kept_inline() -> None:
    facts = TensorFacts(torch.ones(1, 2, 1, 2, 1, 2, 3))
    assert difference(facts, torch.ones(1, 2, 1, 2, 1, 2, 3)) is None
    assert difference(facts, torch.ones(1, 2, 1, 2, 1, 2, 4)) == "x.size(6) was 3, is 4"


@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 5), (4, 3, 5, 6)])
def test_open_sizes_of_contiguous_tensors(shape: tuple[int, ...]) -> None:
    for dim in range(len(shape)):
        facts = TensorFacts(
            torch.ones(shape), sizes=tuple(None if i == dim else s for i, s in enumerate(shape))
        )
        for size in (2, 7):
            other = torch.ones(*shape[:dim], size, *shape[dim + 1 :])
            assert difference(facts, other) is None
        assert (
            difference(facts, torch.ones(*shape[:dim], 1, *shape[dim + 1 :]))
            == f"x.size({dim}) was 2 or more, is 1"
        )
        strided = torch.ones(*shape, 2)[..., 0]
        assert str(difference(facts, strided)).startswith("x.stride(")


def test_open_sizes_of_other_formats() -> None:
    image = torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last)
    facts = TensorFacts(image, sizes=(None, 3, None, None))
    other = torch.ones(5, 3, 7, 2)
    assert difference(facts, other.to(memory_format=torch.channels_last)) is None
    assert str(difference(facts, other)).startswith("x.stride(")

    column = TensorFacts(torch.ones(3, 4).t(), sizes=(None, 3))
    assert difference(column, torch.ones(3, 9).t()) is None
    assert difference(column, torch.ones(9, 3)) is not None


def test_gaps_after_open_sizes() -> None:
    facts = TensorFacts(torch.ones(4, 6)[:, :-1], sizes=(None, None))
    assert difference(facts, torch.ones(3, 9)[:, :-1]) is None
    assert difference(facts, torch.ones(3, 9)[:, 1:]) is None
    assert difference(facts, torch.ones(3, 9)) == "x.stride(0) was 10, is 9"
    assert difference(facts, torch.ones(3, 9)[:, :-2]) == "x.stride(0) was 8, is 9"

    columns = TensorFacts(torch.ones(4, 6)[:, :3], sizes=(None, 3))
    assert difference(columns, torch.ones(9, 6)[:, 1:4]) is None
    assert difference(columns, torch.ones(9, 7)[:, 1:4]) == "x.stride(0) was 6, is 7"


def test_given_strides() -> None:
    facts = TensorFacts(torch.ones(2, 3), sizes=(None, 3), strides=(None, 1))
    assert difference(facts, torch.ones(4, 6)[:, :3]) is None
    assert difference(facts, torch.ones(4, 6)[:, ::2]) == "x.stride(1) was 1, is 2"


def test_repr() -> None:
    assert repr(TensorFacts(torch.ones(2, 3), sizes=(None, 3))) == "TensorFacts(Tensor float32[?, 3] on cpu)"
    assert "requires grad" in repr(TensorFacts(torch.ones((), requires_grad=True)))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((5,), TypeError),
        ((torch.ones(2), 5), TypeError),
        ((torch.ones(2), (1, 2)), ValueError),
        ((torch.ones(2), ("a",)), TypeError),
        ((torch.ones(2), (-1,)), ValueError),
        ((torch.ones(2), (10**30,)), Exception),
        ((torch.ones(2), (2,), [1]), TypeError),
    ],
)
def test_wrong_arguments(arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        TensorFacts(*arguments)
