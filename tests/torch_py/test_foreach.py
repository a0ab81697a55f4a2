"""Operators on lists of tensors: results, versions, gradients and errors that tests/ops does not compare."""

from __future__ import annotations

import re

import pytest

from tests.subject import WITH_PEER, only_torch_py, torch

pytestmark = pytest.mark.filterwarnings("ignore")


def lists(*shapes: tuple[int, ...]) -> list:
    return [torch.arange(1.0, 1.0 + torch.Size(shape).numel()).reshape(shape) for shape in shapes]


def test_functions_return_a_tuple_and_in_place_forms_their_list():
    given = lists((2,), (3,))
    assert isinstance(torch._foreach_add(given, 1), tuple)
    assert torch._foreach_add_(given, 1) is given
    assert torch._foreach_sqrt_(given) is given
    assert torch._foreach_zero_(tuple(given)) == tuple(given)


def test_self_is_called_self():
    assert torch._foreach_mul(self=lists((2,)), scalar=3)[0].tolist() == [3.0, 6.0]
    if not WITH_PEER:
        assert "self: Sequence[Tensor]" in torch._foreach_mul.__doc__


def test_every_tensor_changes_its_version_once():
    given = lists((2,), (3,))
    before = [tensor._version for tensor in given]

    for call in (
        lambda: torch._foreach_add_(given, 1),
        lambda: torch._foreach_mul_(given, [1, 2]),
        lambda: torch._foreach_maximum_(given, given),
        lambda: torch._foreach_addcdiv_(given, given, given, torch.tensor([1.0, 2.0])),
        lambda: torch._foreach_copy_(given, lists((2,), (3,))),
        lambda: torch._foreach_zero_(given),
    ):
        call()
        after = [tensor._version for tensor in given]
        assert after == [version + 1 for version in before]
        before = after


def test_a_list_of_other_length_changes_nothing():
    given = lists((2,), (3,))
    message = "" if WITH_PEER else "_foreach_add_: self has 2 elements, but other has 1"
    with pytest.raises(RuntimeError, match=message):
        torch._foreach_add_(given, lists((2,)))
    assert given[0].tolist() == [1.0, 2.0] and given[0]._version == 0


@only_torch_py  # PyTorch fails in backward
def test_tensors_of_no_dimension_keep_their_gradient():
    factor = torch.tensor(2.0, requires_grad=True)
    sum(tensor.sum() for tensor in torch._foreach_mul(lists((2,), (3,)), factor)).backward()
    assert factor.grad.item() == 9.0
    factors = [torch.tensor(0.5, requires_grad=True), torch.tensor(0.25, requires_grad=True)]
    sum(
        torch._foreach_lerp([torch.tensor(1.0), torch.tensor(2.0)], [torch.tensor(4.0)] * 2, factors)
    ).backward()
    assert [each.grad.item() for each in factors] == [3.0, 2.0]


@only_torch_py
def test_gradients_pass_through_in_place_forms():
    leaves = [torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)]
    values = list(torch._foreach_mul(leaves, 2))
    torch._foreach_maximum_(values, 3.0)
    torch._foreach_pow_(values, [2, 3])
    sum(value.sum() for value in values).backward()
    assert leaves[0].grad.tolist() == [0.0, 16.0] and leaves[1].grad.tolist() == [216.0]


def test_leaves_are_not_changed():
    before = torch.ones(2)
    with pytest.raises(RuntimeError, match="leaf"):
        torch._foreach_add_([before, torch.ones(2, requires_grad=True)], 1)
    assert before.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch._foreach_addcmul(x, x, x, torch.tensor(1.0)),
        lambda x: torch._foreach_addcmul(x, x, x, torch.ones(2, 1)),
        lambda x: torch._foreach_addcmul(x, x, x, torch.ones(3)),
        lambda x: torch._foreach_add(x, torch.ones(1)),
        lambda x: torch._foreach_add([], 1),
        lambda x: torch._foreach_norm([torch.empty(0)], float("inf")),
        lambda x: torch._foreach_max([torch.empty(0)]),
    ],
)
def test_what_is_refused(call):
    with pytest.raises(RuntimeError):
        call(lists((2,), (3,)))


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch._foreach_add(torch.ones(2), 1),
        lambda: torch._foreach_add([1], 1),
        lambda: torch._foreach_sub(lists((2,))),
    ],
)
def test_what_has_the_wrong_type(call):
    with pytest.raises(TypeError):
        call()


def test_support_is_told():
    from importlib import import_module

    helpers = import_module(f"{torch.__name__}.utils._foreach_utils")
    cpu, meta = torch.device("cpu"), torch.device("meta")
    assert helpers._device_has_foreach_support(cpu) and not helpers._device_has_foreach_support(meta)
    parameter = torch.nn.Parameter(torch.ones(2))

    class Other(torch.Tensor):
        pass

    assert helpers._has_foreach_support([parameter, torch.ones(2)], cpu)
    assert not helpers._has_foreach_support([torch.ones(2).as_subclass(Other)], cpu)


def test_lists_are_sorted_by_device_and_dtype():
    from importlib import import_module

    group = import_module(f"{torch.__name__}.utils._foreach_utils")._group_tensors_by_device_and_dtype
    first = [torch.ones(1), torch.ones(2, dtype=torch.float64), torch.ones(3)]
    found = group([first, [None] * 3, [], [torch.tensor(1.0)] * 3], with_indices=True)
    cpu = torch.device("cpu")
    columns, indices = found[cpu, torch.float32]
    assert [[None if t is None else t.numel() for t in column] for column in columns] == [
        [1, 3],
        [None, None],
        [],
        [1, 1],
    ]
    assert list(indices) == [0, 2] and set(found) == {(cpu, torch.float32), (cpu, torch.float64)}
    assert group([first])[cpu, torch.float64][1] == []
    for wrong in ([], [[]], [first, first[:2]], [[None, first[0]]]):
        with pytest.raises(RuntimeError):
            group(wrong)


def test_clipping_with_lists():
    parameters = [torch.nn.Parameter(torch.ones(size)) for size in (2, 3)]
    for foreach in (None, True, False):
        for parameter in parameters:
            parameter.grad = torch.full_like(parameter, 2.0)
        total = torch.nn.utils.clip_grad_norm_(parameters, 1.0, foreach=foreach)
        assert total.item() == pytest.approx(20**0.5)
        assert parameters[0].grad.tolist() == pytest.approx([0.4472135, 0.4472135])

    meta = torch.nn.Parameter(torch.ones(2, device="meta"))
    meta.grad = torch.ones(2, device="meta")
    for clip in (torch.nn.utils.clip_grad_norm_, torch.nn.utils.clip_grad_value_):
        with pytest.raises(RuntimeError, match=re.escape("foreach=True was passed")):
            clip([meta], 1.0, foreach=True)


def test_in_place_minimum_of_a_constant_and_a_leaf():
    """Its gradient needs the elements of self from before."""
    constant = torch.tensor([1.0, -1.0])
    leaf = torch.tensor([0.0, 0.0], requires_grad=True)
    torch._foreach_minimum_([constant], [leaf])
    constant.sum().backward()
    assert leaf.grad.tolist() == [1.0, 0.0]


def test_in_place_abs_of_complex_numbers_is_refused():
    number = torch.tensor([3 + 4j])
    for change in (number.abs_, lambda: torch.abs_(number), lambda: torch._foreach_abs_([number])):
        with pytest.raises(RuntimeError, match="In-place abs is not supported for complex tensors"):
            change()
    assert number.tolist() == [3 + 4j]
