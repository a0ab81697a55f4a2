"""The functions of torch_py.masked: values, dtypes and errors of PyTorch, and gradients."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import numpy as np
import pytest

import torch_py as torch
from torch_py import masked

peer = pytest.importorskip("torch")

REDUCTIONS = ["sum", "prod", "amax", "amin", "mean", "logsumexp", "var", "std", "norm"]
ALONG_ONE = ["argmax", "argmin", "median"]
KEEPING_SHAPE = ["softmax", "log_softmax", "softmin", "cumsum", "cumprod", "normalize"]
DTYPES = ["float32", "float64", "int64", "int32", "uint8", "bool"]
VALUES = np.array(
    [[[-3.0, 2, 1, 4], [0, 1, 2, 5], [7, -1, 3, 3]], [[1, 1, 2, -2], [3, 0, 0, 1], [2, 2, 9, 4]]]
)
MASKS = {
    "none": None,
    "whole": np.arange(24).reshape(2, 3, 4) % 3 != 0,
    "row": np.array([True, False, True, False]),
    "column": np.array([[True], [False], [True]]),
    "nothing": np.zeros((2, 3, 4), dtype=bool),
}


def both(name: str, *args: Any, dtype: str = "float32", mask: Any = None, **kwargs: Any) -> tuple[Any, Any]:
    """The result of each library: a tensor, or the type of the exception."""
    results = []
    for library in (torch, peer):
        tensor = library.tensor(VALUES.tolist()).to(getattr(library, dtype))
        valid = None if mask is None else library.from_numpy(mask)
        if isinstance(kwargs.get("dtype"), str):
            kwargs_here = {**kwargs, "dtype": getattr(library, kwargs["dtype"])}
        else:
            kwargs_here = kwargs
        try:
            results.append(getattr(library.masked, name)(tensor, *args, mask=valid, **kwargs_here))
        except Exception as problem:  # noqa: BLE001
            results.append(type(problem))
    return results[0], results[1]


def check(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, type):
        assert ours is theirs
        return
    assert isinstance(ours, torch.Tensor), ours
    assert str(ours.dtype) == str(theirs.dtype) and tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, dtype: str, mask: Any):
    for dim, keepdim in itertools.product([None, 0, -1, (0, 2), ()], [False, True]):
        check(*both(name, dim=dim, keepdim=keepdim, dtype=dtype, mask=mask))


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ALONG_ONE)
def test_reductions_along_one_dimension(name: str, dtype: str, mask: Any):
    for dim, keepdim in itertools.product([0, 1, -1], [False, True]):
        check(*both(name, dim=dim, keepdim=keepdim, dtype=dtype, mask=mask))


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32"])
@pytest.mark.parametrize("name", KEEPING_SHAPE)
def test_functions_that_keep_the_shape(name: str, dtype: str, mask: Any):
    for dim in (0, 1, -1):
        check(*both(name, *([2.0] if name == "normalize" else []), dim, dtype=dtype, mask=mask))


@pytest.mark.parametrize("order", [0, 1, 2.0, 3, float("inf"), float("-inf")])
def test_orders_of_norms(order: float):
    check(*both("norm", order, 1, mask=MASKS["whole"]))
    check(*both("normalize", order, 1, mask=MASKS["whole"]))


@pytest.mark.parametrize(
    "keywords",
    [{"unbiased": False}, {"unbiased": True}, {"correction": 2}, {"correction": 0, "unbiased": True}],
)
def test_corrections_of_variances(keywords: dict[str, Any]):
    check(*both("var", dim=1, mask=MASKS["whole"], **keywords))
    check(*both("std", dim=1, mask=MASKS["whole"], **keywords))


# PyTorch's median leaves the dtype as it is where there is a mask.
@pytest.mark.parametrize("name", [*REDUCTIONS, "argmax", "argmin"])
def test_dtype_converts_the_input(name: str):
    found: dict[str, Any] = {}
    for library in (torch, peer):
        tensor, valid = library.tensor(VALUES.tolist()), library.from_numpy(MASKS["row"])
        function = getattr(library.masked, name)
        found[library.__name__] = function(tensor, dim=2, dtype=library.float64, mask=valid)
    check(found["torch_py"], found["torch"])


def test_logaddexp():
    for library in (torch, peer):
        x, y = library.arange(3.0), library.ones(3)
        first, second = library.tensor([True, True, False]), library.tensor([True, False, False])
        result = library.masked.logaddexp(x, y, input_mask=first, other_mask=second)
        np.testing.assert_allclose(result.numpy(), [np.logaddexp(0, 1), 1, -np.inf], rtol=1e-6)


@pytest.mark.parametrize("name", sorted(set(peer.masked.__all__) - {"MaskedTensor", "is_masked_tensor"}))
def test_parameters_are_those_of_pytorch(name: str):
    ours, theirs = getattr(masked, name), getattr(peer.masked, name)
    expected = [(p.name, p.kind, p.default) for p in inspect.signature(theirs).parameters.values()]
    assert [(p.name, p.kind, p.default) for p in inspect.signature(ours).parameters.values()] == expected


def test_every_public_name_is_here():
    assert sorted(masked.__all__) == sorted(peer.masked.__all__)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "logsumexp", "var", "norm", "amax", "median"])
def test_gradients_are_zero_where_elements_are_masked(name: str):
    x = torch.tensor([3.0, -1.0, 2.0, 5.0], dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([True, False, True, True])
    getattr(masked, name)(x, dim=0, mask=mask).backward()
    kept = x.detach()[mask].requires_grad_()
    getattr(masked, name)(kept, dim=0).backward()
    assert x.grad[1].item() == 0 and torch.allclose(x.grad[mask], kept.grad)


def test_bad_arguments():
    x = torch.ones(2, 3)
    with pytest.raises(IndexError, match="broadcastable mask"):
        masked.sum(x, 1, mask=torch.ones(2, 1, 3, dtype=torch.bool))
    with pytest.raises(RuntimeError):
        masked.sum(x, 1, mask=torch.ones(3, 3, dtype=torch.bool))
    with pytest.raises(TypeError, match=r"masked\.sum\(\): expected a Tensor as mask, but got list"):
        masked.sum(x, 1, mask=[True])
    with pytest.raises(TypeError, match="expected a Tensor as input, but got int"):
        masked.mean(3, 1)

    with pytest.raises(IndexError, match=r"Dimension out of range .*but got 5"):
        masked.sum(x, 5)
    with pytest.raises(RuntimeError, match="dim=0 appears multiple times"):
        masked.amax(x, (0, 0))
    with pytest.raises(ValueError, match="Could not infer output dtype"):
        masked.mean(x.long(), 1)
    with pytest.raises(NotImplementedError, match="identity of amax on torch.bool input"):
        masked.amax(x.bool(), 1, mask=x.bool())


def test_masks_of_results():
    x, mask = torch.ones(2, 3), torch.tensor([[True, False, True], [False, False, False]])
    assert masked._output_mask(masked.sum, x, 1, mask=mask).tolist() == [True, False]
    assert masked._output_mask(masked.norm, x, 2.0, 1, mask=mask, keepdim=True).shape == (2, 1)
    assert torch.equal(masked._output_mask(masked.softmax, x, 1, mask=mask), mask)
    with pytest.raises(ValueError, match="expected masked operation"):
        masked._output_mask(torch.exp, x, mask=mask)
