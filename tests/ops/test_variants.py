"""The forms of an operator agree: function, method, in place, with ``out=``; views share memory."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from tests.ops.calling import call, function_of, inplace, method, method_parts, tensors_of
from tests.ops.comparison import assert_same, dtype_name, outcome, to_numpy
from tests.ops.known_differences import RESIZES_QUIETLY, WITHOUT_VALUES
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import SampleInput
from tests.subject import WITH_PEER, torch

_LIMIT = 8  # samples per operator and form


def results(operator: Operator, limit: int = _LIMIT) -> list[tuple[SampleInput, Any]]:
    """Samples with the result of the plain call, which must not change them."""
    found = []
    for sample in operator.typical_samples(torch)[:limit]:
        expected = outcome(call, operator, torch, sample)
        if expected.error is None:
            found.append((sample, expected.result))
    assert found or WITH_PEER, f"no sample of {operator} can be called"
    return found


def copied(sample: SampleInput) -> SampleInput:
    return sample.map(lambda tensor: tensor.detach().clone())


def has(operator: Operator, *variants: str) -> bool:
    return all(variant in operator.variants for variant in variants)


@enrolled(
    lambda operator: (
        has(operator, "function", "method") and not operator.is_random and str(operator) not in WITHOUT_VALUES
    )
)
def test_method_equals_function(operator: Operator):
    for sample, expected in results(operator):
        if method_parts(operator, sample) is not None and hasattr(torch.Tensor, operator.base_name):
            assert_same(method(operator, torch, sample), expected, f"Tensor.{operator}{sample}", strides=True)


# In place


def fits_in_place(sample: SampleInput, expected: Any) -> bool:
    """Whether the result can be stored in self.

    Its shape must be that of self, its dtype convertible to self's, and the elements of self must not
    overlap.
    """
    own = sample.input
    if not hasattr(own, "stride") or 0 in [
        stride for stride, size in zip(own.stride(), own.shape) if size > 1
    ]:
        return False
    return tuple(own.shape) == tuple(expected.shape) and bool(torch.can_cast(expected.dtype, own.dtype))


@enrolled(lambda operator: has(operator, "inplace"))
def test_in_place_equals_function(operator: Operator):
    tried = 0
    for sample, expected in results(operator):
        if not fits_in_place(sample, expected):
            continue

        sample = copied(sample)
        own, version = sample.input, sample.input._version
        result = inplace(operator, torch, sample)
        assert result is own, f"{operator}{sample}: the in-place form returns another object"
        assert own._version == version + 1, f"{operator}{sample}: version {version} became {own._version}"
        assert_same(own, expected.to(own.dtype), f"in place: {operator}{sample}")
        tried += 1

    assert tried > 0 or WITH_PEER, f"no sample of {operator} suits its in-place form"


@enrolled(lambda operator: has(operator, "inplace"))
def test_in_place_on_a_view(operator: Operator):
    """Only the elements of the view change, and the version of its base counts up."""
    for sample, expected in results(operator):
        if not fits_in_place(sample, expected) or sample.input.dim() == 0:
            continue

        sample = copied(sample)
        shape = tuple(sample.input.shape)
        base = torch.full((*shape[:-1], 2 * shape[-1]), 1, dtype=sample.input.dtype)
        sample.input = base[..., ::2].copy_(sample.input)
        version = base._version

        inplace(operator, torch, sample)
        assert_same(base[..., ::2], expected.to(base.dtype), f"in place on a view: {operator}{sample}")
        assert bool((base[..., 1::2] == 1).all()), (
            f"{operator}{sample} changed elements between those of the view"
        )
        assert base._version == version + 1
        return

    assert WITH_PEER or all(sample.input.dim() == 0 for sample, _ in results(operator)), (
        f"no sample of {operator} suits a view"
    )


@enrolled(lambda operator: has(operator, "inplace"))
def test_in_place_refuses_what_does_not_fit(operator: Operator):
    """A result whose dtype self cannot store is an error and leaves self unchanged."""
    if not operator.takes("int64"):
        pytest.skip("it takes no integers")

    for sample in operator.samples(torch, "int64"):
        expected = outcome(call, operator, torch, sample)
        if (
            expected.error is not None
            or torch.can_cast(expected.result.dtype, torch.int64)
            or not hasattr(sample.input, "stride")
        ):
            continue

        sample = copied(sample)
        before = to_numpy(sample.input).copy()
        if sample.input.dtype is not torch.int64 or tuple(sample.input.shape) != tuple(expected.result.shape):
            continue

        with pytest.raises(RuntimeError, match="(?i)can't be cast|cannot be cast"):
            inplace(operator, torch, sample)
        assert (to_numpy(sample.input) == before).all()
        return

    pytest.skip("integers can store every result")


@enrolled(lambda operator: has(operator, "inplace"))
def test_in_place_keeps_its_shape(operator: Operator):
    """Self is not broadcast to a larger result."""
    for sample in operator.typical_samples(torch):
        expected = outcome(call, operator, torch, sample)
        if (
            expected.error is not None
            or not hasattr(sample.input, "stride")
            or tuple(sample.input.shape) == tuple(expected.result.shape)
        ):
            continue

        sample = copied(sample)
        before = to_numpy(sample.input).copy()
        with pytest.raises(RuntimeError):
            inplace(operator, torch, sample)
        assert (to_numpy(sample.input) == before).all()
        return

    pytest.skip("no sample has a result of another shape than self")


# out=


def with_out(operator: Operator, sample: SampleInput, out: Any) -> Any:
    function = function_of(operator, torch)
    assert function is not None
    return function(*sample.positional, **sample.kwargs, out=out)


def outs_of(expected: Any, make: Any) -> Any:
    """``make`` applied to the result, or to each of several."""
    return (
        tuple(make(tensor) for tensor in expected) if isinstance(expected, (list, tuple)) else make(expected)
    )


def peer_lacks_out(operator: Operator) -> bool:
    if not WITH_PEER:
        return False
    sample, expected = results(operator)[0]
    return isinstance(
        outcome(with_out, operator, sample, outs_of(expected, torch.empty_like)).error, TypeError
    )


def assert_same_out(operator: Operator, outs: Any, expected: Any, context: str) -> None:
    values = str(operator) not in WITHOUT_VALUES and not operator.is_random
    assert_same(outs, tuple(expected) if isinstance(outs, tuple) else expected, context, values)


_WITH_OUT = enrolled(lambda operator: has(operator, "out", "function"))


@_WITH_OUT
def test_out_of_the_right_size(operator: Operator):
    if peer_lacks_out(operator):
        pytest.skip("PyTorch has no out= here")

    for sample, expected in results(operator):
        outs = outs_of(expected, torch.zeros_like)
        pointers = [tensor.data_ptr() for tensor in tensors_of(outs)]

        with warnings.catch_warnings():
            # PyTorch resizes within some of its composites.
            warnings.simplefilter("error" if not WITH_PEER else "ignore")
            result = with_out(operator, sample, outs)

        for returned, given, pointer in zip(tensors_of(result), tensors_of(outs), pointers, strict=True):
            assert returned is given, f"{operator}{sample}: out= returns another object"
            assert given.data_ptr() == pointer, f"{operator}{sample}: out= got other memory"
        assert_same_out(operator, outs, expected, f"out=: {operator}{sample}")


@_WITH_OUT
def test_out_of_the_wrong_size(operator: Operator):
    """An empty tensor is resized quietly, another with a warning."""
    if peer_lacks_out(operator):
        pytest.skip("PyTorch has no out= here")

    sample, expected = next(
        pair for pair in results(operator) if all(tensor.numel() > 0 for tensor in tensors_of(pair[1]))
    )

    outs = outs_of(expected, lambda tensor: torch.empty(0, dtype=tensor.dtype))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with_out(operator, sample, outs)
    assert_same_out(operator, outs, expected, f"out= of no elements: {operator}{sample}")

    outs = outs_of(expected, lambda tensor: torch.ones(tensor.numel() + 3, dtype=tensor.dtype))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with_out(operator, sample, outs)
    assert any("resized" in str(warning.message) for warning in caught) or str(operator) in RESIZES_QUIETLY
    assert_same_out(operator, outs, expected, f"out= of another size: {operator}{sample}")


@_WITH_OUT
def test_out_without_memory(operator: Operator):
    """A fake tensor gets the size of the result, too."""
    if WITH_PEER:
        pytest.skip("for fake tensors of ours")
    from torch_py._subclasses.errors import FakeTensorError
    from torch_py._subclasses.fake_tensor import FakeTensorMode

    mode = FakeTensorMode()
    sample, expected = results(operator)[0]
    outs = outs_of(expected, lambda tensor: mode.from_tensor(torch.empty(0, dtype=tensor.dtype)))
    try:
        with mode:
            with_out(operator, sample.map(mode.from_tensor), outs)
    except FakeTensorError:
        pytest.skip("follows from elements")
    assert [t.shape for t in tensors_of(outs)] == [t.shape for t in tensors_of(expected)]


@enrolled(
    lambda operator: has(operator, "out", "function") and operator.schema.arguments.find("dtype") is None
)
def test_out_of_the_wrong_dtype(operator: Operator):
    """An ``out`` whose dtype cannot store the result is refused, except by operators with a ``dtype``."""
    if peer_lacks_out(operator):
        pytest.skip("PyTorch has no out= here")
    sample, expected = results(operator)[0]
    if all(dtype_name(tensor) == "bool" for tensor in tensors_of(expected)):
        return  # every dtype can store booleans
    outs = outs_of(expected, lambda tensor: torch.ones_like(tensor, dtype=torch.bool))
    with pytest.raises((RuntimeError, TypeError), match="(?i)dtype|cast|type"):  # a TypeError for ``cat``
        with_out(operator, sample, outs)
    assert all(bool(out.all()) for out in tensors_of(outs)), f"{operator}: a refused out= was written to"


_OTHER_DTYPES = {"float32": "float64", "float64": "float32", "int64": "int32", "complex64": "complex128"}


@enrolled(lambda operator: has(operator, "out", "function") and operator.structure != "reduction")
def test_out_of_another_dtype(operator: Operator):
    """An ``out`` of a wider or narrower dtype of the same kind, as the entry's ``out_dtype`` says."""
    if peer_lacks_out(operator) or operator.schema.arguments.find("dtype") is not None:
        pytest.skip("a dtype argument decides, or PyTorch has no out= here")

    sample, expected = results(operator)[0]
    for place, result in enumerate(tensors_of(expected)):
        other = _OTHER_DTYPES.get(dtype_name(result))
        if other is None:
            continue

        outs = [torch.zeros_like(tensor) for tensor in tensors_of(expected)]
        outs[place] = torch.zeros_like(result, dtype=getattr(torch, other))
        given = tuple(outs) if isinstance(expected, (list, tuple)) else outs[0]
        refused = outcome(with_out, operator, sample, given).error
        if operator.out_dtype == "exact":
            assert isinstance(refused, (RuntimeError, TypeError)), f"{operator}{sample}: out= took {other}"
            assert not any(bool(out.any()) for out in outs), f"{operator}: a refused out= was written to"
        else:
            assert refused is None, f"{operator}{sample}: out= of {other}: {refused}"


@_WITH_OUT
def test_out_with_strides(operator: Operator):
    """Other strides of the right shape are kept."""
    if peer_lacks_out(operator):
        pytest.skip("PyTorch has no out= here")

    for sample, expected in results(operator):
        if any(tensor.dim() == 0 for tensor in tensors_of(expected)):
            continue

        outs = outs_of(
            expected, lambda tensor: torch.zeros((*tensor.shape, 2), dtype=tensor.dtype).select(-1, 0)
        )
        strides = [tensor.stride() for tensor in tensors_of(outs)]

        with_out(operator, sample, outs)
        assert WITH_PEER or [tensor.stride() for tensor in tensors_of(outs)] == strides
        assert_same_out(operator, outs, expected, f"out= with strides: {operator}{sample}")


@_WITH_OUT
def test_out_does_not_record_gradients(operator: Operator):
    if peer_lacks_out(operator) or not operator.is_differentiable:
        return
    sample, expected = results(operator)[0]
    if not all(tensor.is_floating_point() for tensor in tensors_of(expected)[:1]):
        return
    if any(tensor.is_complex() for tensor in sample.tensors()):
        return

    differentiable = sample.map(
        lambda tensor: tensor.detach().clone().requires_grad_() if tensor.is_floating_point() else tensor
    )

    with pytest.raises(RuntimeError, match="out"):
        with_out(operator, differentiable, outs_of(expected, torch.zeros_like))


# Views


@enrolled(lambda operator: operator.structure == "view")
def test_views_share_memory(operator: Operator):
    for sample, result in results(operator):
        for view in tensors_of(result):
            assert view.untyped_storage().data_ptr() == sample.input.untyped_storage().data_ptr(), (
                f"{operator}{sample} copied"
            )
            assert view._base is not None, f"{operator}{sample}: the result does not know that it is a view"
            if view.numel() > 0 and 0 not in sample.input.stride() and 0 not in view.stride():
                version = sample.input._version
                view.zero_()
                assert sample.input._version == version + 1
