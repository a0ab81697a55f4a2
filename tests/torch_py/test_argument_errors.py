"""Wrong arguments: the type of the exception, and a message that names operator, argument and value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

WRONG_CALLS = [
    # positional arguments
    ("torch.add(x, 'a')", TypeError, r"add\(\): argument 'other' \(position 2\) must be Tensor, not str"),
    ("x.add('a')", TypeError, r"add\(\): argument 'other' \(position 1\) must be Tensor, not str"),
    ("torch.relu('a')", TypeError, r"relu\(\): argument 'input' \(position 1\) must be Tensor, not str"),
    ("torch.relu([1])", TypeError, r"relu\(\): argument 'input' \(position 1\) must be Tensor, not list"),
    ("torch.relu()", TypeError, r'relu\(\) missing 1 required positional arguments: "input"'),
    ("torch.relu(x, x)", TypeError, r"relu\(\) takes 1 positional argument but 2 were given"),
    (
        "torch.add(x, (y := x.sum(dtype=torch.float64)), out=y)",
        RuntimeError,
        r"output with shape \[\] doesn't match the broadcast shape \[3\]",
    ),
    ("torch.add(x, x, x)", TypeError, r"add\(\) takes 2 positional arguments but 3 were given"),
    ("x.transpose(0)", TypeError, r'transpose\(\) missing 1 required positional arguments: "dim1"'),
    ("x.transpose(0, 'a')", TypeError, r"transpose\(\): argument 'dim1' \(position 2\) must be int, not str"),
    (
        "x.transpose(0, 1.5)",
        TypeError,
        r"transpose\(\): argument 'dim1' \(position 2\) must be int, not float",
    ),
    (
        "torch.transpose(x, 0, None)",
        TypeError,
        r"transpose\(\): argument 'dim1' \(position 3\) must be int, not NoneType",
    ),
    # keywords
    ("torch.relu(x, foo=1)", TypeError, r"relu\(\) got an unexpected keyword argument 'foo'"),
    ("torch.add(x, x, beta=1)", TypeError, r"add\(\) got an unexpected keyword argument 'beta'"),
    ("torch.add(x, other=x, input=x)", TypeError, r"add\(\) got multiple values for argument 'input'"),
    ("torch.add(x, x, alpha='s')", TypeError, r"add\(\): argument 'alpha' must be Number, not str"),
    ("torch.zeros(2, dtype='float')", TypeError, r"zeros\(\): argument 'dtype' must be torch.dtype, not str"),
    (
        "torch.zeros(2, requires_grad=1)",
        TypeError,
        r"zeros\(\): argument 'requires_grad' must be bool, not int",
    ),
    ("torch.softmax(x, dim=1.5)", TypeError, r"softmax\(\): argument 'dim' must be int, not float"),
    # lists of ints
    (
        "torch.zeros('a')",
        TypeError,
        r"zeros\(\): argument 'size' \(position 1\) must be tuple of ints, not str",
    ),
    (
        "torch.zeros(True)",
        TypeError,
        r"zeros\(\): argument 'size' \(position 1\) must be tuple of ints, not bool",
    ),
    ("torch.zeros([2, 'a'])", TypeError, r"zeros\(\): argument 'size' failed to unpack the object at pos 2"),
    ("torch.zeros(2, 3.5)", TypeError, r"zeros\(\): argument 'size' failed to unpack the object at pos 2"),
    ("torch.zeros((2,), 3)", TypeError, r"zeros\(\) takes 1 positional argument but 2 were given"),
    ("x.reshape([1.0, 3])", TypeError, r"must be tuple of ints, but found element of type float at pos 0"),
    ("x.view(-1, 1.5)", TypeError, r"view\(\): argument 'size' failed to unpack the object at pos 2"),
    ("x.permute()", TypeError, r'permute\(\) missing 1 required positional arguments: "dims"'),
    ("x.sum('a')", TypeError, r"sum\(\)"),
    ("x.sum(dim=0, keepdim=1)", TypeError, r"sum\(\): argument 'keepdim' must be bool, not int"),
    # lists of tensors
    (
        "torch.cat(x)",
        TypeError,
        r"cat\(\): argument 'tensors' \(position 1\) must be tuple of Tensors, not Tensor",
    ),
    ("torch.cat([x, 1])", TypeError, "expected Tensor as element 1 in argument 0, but got int"),
    ("torch.cat(['a'])", TypeError, "expected Tensor as element 0 in argument 0, but got str"),
    # several overloads
    (
        "torch.clamp(x, 'a')",
        TypeError,
        r"clamp\(\) received an invalid combination of arguments - got \(Tensor, str\), but expected one of",
    ),
    ("x.fill_('a')", TypeError, r"invalid types: \(!str!\)"),
    ("x.to('a', 'b')", TypeError, r"to\(\) received an invalid combination of arguments - got \(str, str\)"),
    ("x.to(1, 2, 3, 4, 5)", TypeError, r"to\(\)"),
    # values
    ("x.sum(2**70)", ValueError, "Overflow when unpacking long long"),
    ("x + 2**70", OverflowError, "int too big to convert"),
    ("torch.full((2,), 2**70)", OverflowError, "int too big to convert"),
    ("torch.zeros(2, device='foo')", RuntimeError, "device type at start of device string: foo"),
    ("x.size(5)", IndexError, r"Dimension out of range \(expected to be in range of \[-1, 0\], but got 5\)"),
    ("x.sum(5)", IndexError, r"Dimension out of range"),
    ("torch.zeros(-1)", RuntimeError, ""),
    ("torch.zeros(2**62, 2**62)", RuntimeError, ""),
    (
        "torch.zeros(2, dtype=torch.int32, requires_grad=True)",
        RuntimeError,
        "Only Tensors of floating point and complex dtype can require gradients",
    ),
    (
        "x.requires_grad_(1)",
        TypeError,
        r"requires_grad_\(\): argument 'requires_grad' \(position 1\) must be bool, not int",
    ),
    ("x.is_contiguous('a')", TypeError, r"is_contiguous\(\) takes 0 positional arguments but 1 was given"),
    ("x.item(1)", TypeError, "takes no arguments"),
    ("x.type('torch.NoTensor')", ValueError, "invalid type"),
    (
        "torch.promote_types(1, torch.uint8)",
        TypeError,
        r"promote_types\(\): argument 'type1' \(position 1\) must be torch.dtype, not int",
    ),
    ("torch.set_num_threads(0)", RuntimeError, "expects a positive integer"),
    ("torch.set_num_threads('a')", RuntimeError, "expects an int, but got str"),
]


@pytest.mark.parametrize(("call", "error", "message"), WRONG_CALLS, ids=[call for call, _, _ in WRONG_CALLS])
def test_wrong_calls(torch: Any, call: str, error: type[Exception], message: str) -> None:
    x = torch.ones(3)
    with pytest.raises(error, match=message):
        eval(call, {"torch": torch, "x": x})
    assert x.tolist() == [1, 1, 1]


RIGHT_CALLS = [
    ("torch.add(x, other=x)", [2, 2, 2]),
    ("torch.add(input=x, other=x, alpha=2)", [3, 3, 3]),
    ("torch.add(x, x, alpha=torch.tensor(2))", [3, 3, 3]),
    ("torch.add(x, x, alpha=np.int64(2))", [3, 3, 3]),
    ("torch.sum(x, axis=0).item()", 3),
    ("x.sum(axis=0, keepdims=True)", [3]),
    ("x.view(3, 1).shape", (3, 1)),
    ("x.view((3, 1)).shape", (3, 1)),
    ("x.view([3, 1]).shape", (3, 1)),
    ("x.view(torch.Size([3, 1])).shape", (3, 1)),
    ("x.view(torch.tensor(3), np.int64(1)).shape", (3, 1)),
    ("x.view(size=(3, 1)).shape", (3, 1)),
    ("torch.zeros(2, 3).shape", (2, 3)),
    ("torch.zeros(()).shape", ()),
    ("torch.zeros(size=(2,)).shape", (2,)),
    ("torch.zeros(2, dtype=torch.int8, device='cpu').dtype is torch.int8", True),
    ("torch.zeros(2, dtype=None, device=None, layout=torch.strided).dtype is torch.float32", True),
    ("torch.zeros(2, device=torch.device('meta')).is_meta", True),
    ("torch.full((2,), True).dtype is torch.bool", True),
    ("torch.full((), 2.5).item()", 2.5),
    ("torch.cat((x, x)).shape", (6,)),
    ("torch.cat([x, x], dim=0).shape", (6,)),
    ("torch.cat(tensors=[x], dim=-1).shape", (3,)),
    ("x.to('cpu', torch.int8).dtype is torch.int8", True),
    ("x.to(None, torch.int8).dtype is torch.int8", True),
    ("x.to(torch.tensor(1)).dtype is torch.int64", True),
    ("x.to(dtype=torch.float64).dtype is torch.float64", True),
    ("x.to() is x and x.to('cpu') is x and x.to(torch.float32, copy=True) is not x", True),
    ("x.type(), x.type(torch.int32).dtype is torch.int32", ("torch.FloatTensor", True)),
    ("x.type('torch.IntTensor').dtype is torch.int32", True),
    ("torch.clamp(x, max=0.5)", [0.5, 0.5, 0.5]),
    ("torch.transpose(x[None], dim0=0, dim1=1).shape", (3, 1)),
    ("x.new_tensor([1, 2]).dtype is torch.float32", True),
]


@pytest.mark.parametrize(("call", "expected"), RIGHT_CALLS, ids=[call for call, _ in RIGHT_CALLS])
def test_right_calls(torch: Any, call: str, expected: Any) -> None:
    result = eval(call, {"torch": torch, "np": np, "x": torch.ones(3)})
    assert (result.tolist() if isinstance(result, torch.Tensor) else result) == expected


def test_out_gives_the_tensor_itself(torch: Any) -> None:
    x = torch.ones(3)
    out = torch.empty(3)
    assert torch.add(x, 1, out=out) is out and out.tolist() == [2, 2, 2]
    assert torch.add(x, 1, out=None).tolist() == [2, 2, 2]


def test_named_results(torch: Any) -> None:
    result = torch.tensor([3.0, 1.0]).max(0)
    assert type(result).__name__ == "max" and isinstance(result, tuple)
    assert result.values.item() == 3 and result.indices.item() == 0
    values, indices = result
    assert values is result[0] and indices is result[1]


class Awkward:
    """Raises an exception from every method."""

    def _fail(self, *arguments: object) -> Any:
        raise ZeroDivisionError("awkward")

    __index__ = __float__ = __len__ = __getitem__ = __iter__ = __bool__ = __array__ = _fail


class LyingSequence:
    def __len__(self) -> int:
        return 10**9

    def __getitem__(self, index: int) -> int:
        raise IndexError


ANYTHING = [
    None,
    True,
    0,
    -1,
    2**63,
    -(2**63) - 1,
    1.5,
    float("nan"),
    float("inf"),
    1j,
    "",
    "text",
    "\udcff",
    b"bytes",
    (),
    [],
    [[]],
    {},
    set(),
    object(),
    int,
    type,
    len,
    ...,
    slice(1, 2),
    range(3),
    [1, "a"],
    [None],
    [[1], [2, 3]],
    Awkward(),
    LyingSequence(),
    np.ones(2),
    np.array("a"),
    np.float32(1),
    np.datetime64("2020"),
    memoryview(b"ab"),
    ZeroDivisionError,
    NotImplemented,
    10**400,
    (1,) * 100,
]
CALLABLES = """
    torch.tensor torch.as_tensor torch.asarray torch.from_numpy torch.from_dlpack torch.zeros
    torch.add torch.cat torch.sum torch.device torch.Size torch.finfo torch.iinfo torch.Tensor
    torch.UntypedStorage torch.Generator torch.promote_types torch.result_type torch.stack
    torch.full x.add x.view x.reshape x.to x.type x.size x.stride x.sum x.fill_ x.copy_ x.set_
    x.permute x.expand x.__getitem__ x.new_tensor x.new_zeros x.register_hook x.requires_grad_
    x.as_subclass x.index_select x.__array__ x.__dlpack__ x.__add__ x.__pow__ x.__eq__
    x.is_contiguous x.numpy x.untyped_storage().resize_ x.untyped_storage().__getitem__
    torch.frombuffer
""".split()


@pytest.mark.parametrize("name", CALLABLES)
def test_any_argument_gives_a_result_or_an_exception(torch: Any, name: str) -> None:
    """Any argument gives a result or an exception, but never SystemError, which means a broken C function."""
    if torch.__name__ == "torch":
        pytest.skip("says nothing about PyTorch")

    for first in ANYTHING:
        for arguments in ((first,), (first, first), (1, first), (first, 0, first)):
            x = torch.ones(2)
            function = eval(name, {"torch": torch, "x": x})
            try:
                function(*arguments)
            except SystemError:
                raise
            except (Exception, UserWarning):
                pass
            assert x.numel() >= 0


@pytest.mark.parametrize("attribute", ["grad", "data", "requires_grad", "_backward_hooks", "real"])
def test_any_value_assigned_to_an_attribute(torch: Any, attribute: str) -> None:
    if torch.__name__ == "torch":
        pytest.skip("says nothing about PyTorch")
    for value in ANYTHING:
        x = torch.ones(2)
        try:
            setattr(x, attribute, value)
        except SystemError:
            raise
        except Exception:
            pass
        assert len(x.tolist()) >= 0
