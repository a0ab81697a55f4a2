"""uint16 to uint64, 8-bit floats and complex32: creation, conversion, promotion, exchange, as in PyTorch."""

from __future__ import annotations

import copy
import io
import itertools
import pickle
from typing import Any

import numpy as np
import pytest

import torch_py

peer = pytest.importorskip("torch")

UNSIGNED = ("uint16", "uint32", "uint64")
FLOAT8 = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
NEW = (*UNSIGNED, *FLOAT8, "complex32")
OLD = "uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128 bool".split()
BITS = {1: "uint8", 2: "int16", 4: "int32", 8: "int64", 16: "int64"}


def outcome(function: Any, library: Any, *arguments: Any) -> Any:
    """The result in a form in which two libraries can be compared, or the type of an exception."""
    try:
        return plain(function(library, *arguments))
    except Exception as error:
        return type(error).__name__


def plain(value: Any) -> Any:
    if isinstance(value, (torch_py.Tensor, peer.Tensor)):
        bits = BITS[value.element_size()]
        whole = value.detach().contiguous().reshape(-1)
        words = (
            whole.view(getattr(torch_py if isinstance(value, torch_py.Tensor) else peer, bits)).tolist()
            if whole.numel()
            else []
        )
        return str(value.dtype), tuple(value.shape), value.stride(), words

    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]

    return str(value) if type(value).__module__.startswith(("torch", "torch_py")) else value


def agree(function: Any, *arguments: Any) -> None:
    """function(torch, *arguments) returns or raises the same in both libraries."""
    assert outcome(function, torch_py, *arguments) == outcome(function, peer, *arguments)


def some(torch: Any, dtype: str, *shape: int) -> Any:
    """Distinct small numbers that every dtype holds exactly."""
    count = int(np.prod(shape))
    numbers = torch.tensor([2.0 ** (i % 5) for i in range(count)]).reshape(shape)
    return numbers.to(getattr(torch, dtype))


# Properties
# ------------------------------------------------------------


@pytest.mark.parametrize("name", NEW)
def test_properties(name: str) -> None:
    for attribute in ("is_floating_point", "is_complex", "is_signed", "itemsize"):
        assert getattr(getattr(torch_py, name), attribute) == getattr(getattr(peer, name), attribute), (
            attribute
        )

    agree(lambda torch: repr(getattr(torch, name)))
    agree(lambda torch: getattr(torch, name).to_real())
    agree(lambda torch: getattr(torch, name).to_complex())
    agree(lambda torch: torch.set_default_dtype(getattr(torch, name)))

    assert (
        copy.deepcopy(getattr(torch_py, name))
        is pickle.loads(pickle.dumps(getattr(torch_py, name)))
        is getattr(torch_py, name)
    )
    assert torch_py.chalf is torch_py.complex32


@pytest.mark.parametrize("name", (*NEW, "int32", "float16"))
def test_limits(name: str) -> None:
    agree(lambda torch: repr(torch.finfo(getattr(torch, name))))
    agree(lambda torch: repr(torch.iinfo(getattr(torch, name))))

    fields = (
        ("bits", "max", "min")
        if name in (*UNSIGNED, "int32")
        else ("bits", "max", "min", "eps", "tiny", "smallest_normal", "resolution")
    )

    for field in fields:
        agree(
            lambda torch, field: getattr(
                (torch.iinfo if len(fields) == 3 else torch.finfo)(getattr(torch, name)), field
            ),
            field,
        )


def test_promotion_of_all_pairs() -> None:
    for a, b in itertools.product((*NEW, *OLD), repeat=2):
        agree(lambda torch, a, b: torch.promote_types(getattr(torch, a), getattr(torch, b)), a, b)
        agree(lambda torch, a, b: torch.can_cast(getattr(torch, a), getattr(torch, b)), a, b)


def test_promotion_errors() -> None:
    for pair in (("float8_e5m2", "float32"), ("uint16", "int64"), ("uint32", "float8_e4m3fn")):
        messages = []
        for torch in (torch_py, peer):
            with pytest.raises(RuntimeError) as raised:
                torch.promote_types(*(getattr(torch, name) for name in pair))
            messages.append(str(raised.value).splitlines()[0])
        assert messages[0] == messages[1]


@pytest.mark.parametrize("name", (*NEW, "float16", "int64"))
@pytest.mark.parametrize("number", [1, 1.5, True, 1j])
def test_promotion_with_numbers(name: str, number: Any) -> None:
    agree(lambda torch: torch.result_type(some(torch, name, 2), number))


# Conversions
# ------------------------------------------------------------


def float32_samples() -> np.ndarray:
    """All exponents and signs, random bits, and fractions at and next to each format's halfway points."""
    high = np.arange(2**16, dtype=np.uint32) << 16
    near = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], dtype=np.uint32)
    random = np.random.default_rng(0).integers(0, 2**32, 200_000, dtype=np.uint32)
    return np.concatenate([(high[:, None] | near).ravel(), random]).view(np.float32)


@pytest.mark.parametrize("name", FLOAT8)
def test_float8_of_floats_is_exact_in_its_bits(name: str) -> None:
    numbers = float32_samples()
    own, other = (
        torch.from_numpy(numbers).to(getattr(torch, name)).view(torch.uint8).numpy()
        for torch in (torch_py, peer)
    )
    assert np.array_equal(own, other)
    strided = torch_py.from_numpy(numbers)[::3].to(getattr(torch_py, name)).view(torch_py.uint8).numpy()
    assert np.array_equal(strided, own[::3])


@pytest.mark.parametrize("name", FLOAT8)
def test_floats_of_float8_are_exact_in_their_bits(name: str) -> None:
    codes = np.arange(256, dtype=np.uint8)
    for target, bits in (("float32", np.int32), ("float64", np.int64), ("float16", np.int16)):
        own, other = (
            torch.from_numpy(codes).view(getattr(torch, name)).to(getattr(torch, target)).numpy()
            for torch in (torch_py, peer)
        )

        numbers = ~np.isnan(other)
        assert np.array_equal(np.isnan(own), ~numbers) and np.array_equal(
            own.view(bits)[numbers], other.view(bits)[numbers]
        )
        if target == "float32":
            assert np.array_equal(own.view(bits), other.view(bits))  # nan as well


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("other", (*NEW, *OLD))
def test_conversions_between_all_pairs(name: str, other: str) -> None:
    for first, second in ((name, other), (other, name)):

        def convert(torch: Any, first: str = first, second: str = second) -> Any:
            x = some(torch, first, 3, 4)
            target = torch.zeros(4, 3, dtype=getattr(torch, second)).t()
            return (
                x.to(getattr(torch, second)),
                target.copy_(x),
                x.t().to(getattr(torch, second)),
                x[0, 1].to(getattr(torch, second)),
            )

        agree(convert)


WIDE = {
    "uint16": [0, 1, 65535, 32768],
    "uint32": [0, 2**32 - 1, 2**31, 2**24 + 1],
    "uint64": [0, 2**64 - 1, 2**63, 2**63 + 1025, 2**53 + 1, 2**24 + 1, 2**63 + 2**39 + 1, 2**63 - 1],
}


@pytest.mark.parametrize("name", UNSIGNED)
@pytest.mark.parametrize("other", (*NEW, *OLD))
def test_large_unsigned_numbers_round_once(name: str, other: str) -> None:
    agree(lambda torch: torch.tensor(WIDE[name], dtype=getattr(torch, name)).to(getattr(torch, other)))


@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_of_signed_and_fractions(name: str) -> None:
    agree(
        lambda torch: torch.tensor([-1, -(2**31), 2**63 - 1, -(2**63), 70000, 2**33 + 1]).to(
            getattr(torch, name)
        )
    )
    agree(
        lambda torch: torch.tensor([-1.5, -1.0, 300.7, 70000.0, -70000.0, 0.9, -0.9]).to(getattr(torch, name))
    )
    if name != "uint16":
        agree(lambda torch: torch.tensor([2.0**31, 2.0**32 - 256]).to(getattr(torch, name)))
    agree(lambda torch: torch.tensor([2.0**62, 2.0**63, 1.5 * 2.0**63], dtype=torch.float64).to(torch.uint64))


def test_complex32_rounds_its_parts() -> None:
    values = [1.5 + 2j, -70000 - 3j, 1e-9 + 65504j, 1 / 3 - 2 / 3 * 1j]
    for dtype in ("complex128", "complex64"):
        agree(
            lambda torch, dtype: torch.tensor(values, dtype=getattr(torch, dtype)).to(torch.complex32), dtype
        )
        agree(
            lambda torch, dtype: (
                torch.tensor(values, dtype=getattr(torch, dtype)).chalf().to(getattr(torch, dtype))
            ),
            dtype,
        )


# Creation
# ------------------------------------------------------------

FACTORIES = {
    "zeros": lambda torch, d: torch.zeros(2, 3, dtype=d),
    "ones": lambda torch, d: torch.ones(2, 3, dtype=d),
    "full": lambda torch, d: torch.full((2,), 3, dtype=d),
    "full, negative": lambda torch, d: torch.full((2,), -1, dtype=d),
    "full, too large": lambda torch, d: torch.full((2,), 1e30, dtype=d),
    "full, large": lambda torch, d: torch.full((2,), 70000, dtype=d),
    "full, negative fraction": lambda torch, d: torch.full((2,), -1.5, dtype=d),
    "full, nan": lambda torch, d: torch.full((2,), float("nan"), dtype=d).isnan(),
    "ones_like": lambda torch, d: torch.ones_like(torch.zeros(2, 2), dtype=d),
    "new_zeros": lambda torch, d: torch.zeros(1, dtype=d).new_zeros(3),
    "scalar_tensor": lambda torch, d: torch.scalar_tensor(2, dtype=d),
    "tensor": lambda torch, d: torch.tensor([[1, 2], [4, 8]], dtype=d),
    "tensor of floats": lambda torch, d: torch.tensor([1.0, 1.7], dtype=d),
    "tensor, negative": lambda torch, d: torch.tensor([-1], dtype=d),
    "tensor, infinite": lambda torch, d: torch.tensor([float("inf")], dtype=d),
    "tensor, too large": lambda torch, d: torch.tensor([2**64], dtype=d),
    "fill_": lambda torch, d: torch.zeros(3, dtype=d).fill_(2),
    "fill_ with a tensor": lambda torch, d: torch.zeros(3, dtype=d).fill_(torch.tensor(2)),
    "zero_": lambda torch, d: torch.ones(3, dtype=d).zero_(),
    "frombuffer": lambda torch, d: torch.frombuffer(bytearray(range(16)), dtype=d),
    "empty_strided": lambda torch, d: torch.empty_strided((2, 2), (1, 2), dtype=d).zero_(),
}


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("case", FACTORIES)
def test_factories(name: str, case: str) -> None:
    agree(lambda torch: FACTORIES[case](torch, getattr(torch, name)))


def test_integers_that_only_uint64_holds() -> None:
    agree(lambda torch: torch.tensor([2**63 + 5, 2**64 - 1], dtype=torch.uint64).tolist())
    agree(lambda torch: torch.full((2,), 2**64 - 1, dtype=torch.uint64).tolist())
    agree(lambda torch: torch.full((2,), 2**63))
    agree(lambda torch: int(torch.tensor(2**64 - 1, dtype=torch.uint64)))
    agree(lambda torch: torch.zeros(2, dtype=torch.uint64) == 2**63)
    agree(lambda torch: torch.tensor(2**63))


# Moves
# ------------------------------------------------------------

MASK, PLACES = [[True, False, True], [False, True, False]], [1, 0]
MOVES = {
    "slice": lambda torch, x: x[1:, ::2],
    "list": lambda torch, x: x[PLACES],
    "mask": lambda torch, x: x[torch.tensor(MASK)],
    "setitem": lambda torch, x: x.clone().index_put((torch.tensor(0),), x[1]),
    "select": lambda torch, x: torch.index_select(x, 1, torch.tensor(PLACES)),
    "cat": lambda torch, x: torch.cat([x, x.t().contiguous().t()], 1),
    "stack": lambda torch, x: torch.stack([x, x], 1),
    "split": lambda torch, x: torch.split(x, 2, 1),
    "clone": lambda torch, x: x.t().clone(),
    "contiguous": lambda torch, x: x.t().contiguous(),
    "reshape": lambda torch, x: x.t().reshape(-1),
    "roll": lambda torch, x: x.roll(1, 1),
    "repeat": lambda torch, x: x.repeat(2, 1),
    "repeat_interleave": lambda torch, x: x.repeat_interleave(2),
    "expand": lambda torch, x: x[0].expand(2, 3).clone(),
    "unfold": lambda torch, x: x.unfold(1, 2, 1),
    "diag_embed": lambda torch, x: torch.diag_embed(x),
    "pad": lambda torch, x: torch.nn.functional.pad(x, (1, 1), value=1),
    "where": lambda torch, x: torch.where(torch.tensor(MASK), x, x.roll(1)),
    "where with a number": lambda torch, x: torch.where(torch.tensor(MASK), x, 1),
    "meshgrid": lambda torch, x: torch.meshgrid(x[0], x[1], indexing="ij"),
    "unbind": lambda torch, x: x.unbind(1),
    "select_scatter": lambda torch, x: torch.select_scatter(x, x[0], 0, 1),
    "view as bytes": lambda torch, x: x.view(torch.uint8),
    "bytes as it": lambda torch, x: x.view(torch.uint8).view(x.dtype),
    "embedding": lambda torch, x: torch.nn.functional.embedding(torch.tensor(PLACES), x),
    "deepcopy": lambda torch, x: copy.deepcopy(x),
    "tolist": lambda torch, x: x.tolist(),
    "item": lambda torch, x: x[1, 1].item(),
    "bool": lambda torch, x: bool(x[0, 0]),
    "print": lambda torch, x: repr(x),
    "print a number": lambda torch, x: repr(x[0, 0]),
    "print nothing": lambda torch, x: repr(x[:0]),
    "format": lambda torch, x: f"{x[0, 0]}",
    "type": lambda torch, x: x.type(),
    "is_signed": lambda torch, x: (x.is_signed(), x.is_floating_point(), x.is_complex()),
    "real": lambda torch, x: x.real,
    "conj": lambda torch, x: x.conj().resolve_conj(),
}


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("case", MOVES)
def test_moves(name: str, case: str) -> None:
    if case in ("setitem",) and name in (*UNSIGNED, "float8_e8m0fnu"):
        pytest.skip("PyTorch has none")
    if case == "mask" and name == "complex32":
        pytest.skip("PyTorch has none")
    agree(lambda torch: MOVES[case](torch, some(torch, name, 2, 3)))


# PyTorch has these for only some of the dtypes. They move bytes, so that every dtype has them here.
WRITES = {
    "masked_fill": lambda torch, x: x.masked_fill(torch.tensor(MASK), 4),
    "item by mask": lambda torch, x: (y := x.clone(), y.__setitem__(torch.tensor(MASK), 4))[0],
    "item by list": lambda torch, x: (y := x.clone(), y.__setitem__(PLACES, x))[0],
    "gather": lambda torch, x: torch.gather(x, 1, torch.tensor([PLACES])),
    "take": lambda torch, x: torch.take(x, torch.tensor(PLACES)),
    "scatter": lambda torch, x: torch.scatter(x, 1, torch.tensor([PLACES]), x),
    "scatter a number": lambda torch, x: torch.scatter(x, 1, torch.tensor([PLACES]), 4),
    "index_copy": lambda torch, x: torch.index_copy(x, 0, torch.tensor(PLACES), x),
    "index_fill": lambda torch, x: torch.index_fill(x, 0, torch.tensor([1]), 4),
    "masked_select": lambda torch, x: torch.masked_select(x, torch.tensor(MASK)),
    "masked_scatter": lambda torch, x: x.masked_scatter(torch.tensor(MASK), x),
    "flip": lambda torch, x: x.flip(1),
    "tril": lambda torch, x: x.tril(),
    "nonzero": lambda torch, x: torch.nonzero(x - x if x.dtype == torch.float32 else x[:, 1:]),
}


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("case", [case for case in WRITES if case != "nonzero"])
def test_writes_are_those_of_float32(name: str, case: str) -> None:
    result = WRITES[case](torch_py, some(torch_py, name, 2, 3))
    expected = WRITES[case](torch_py, some(torch_py, "float32", 2, 3)).to(result.dtype)
    assert result.dtype == getattr(torch_py, name)
    if name == "float8_e8m0fnu":  # it has no zero: tril fills with the least number
        assert result.tolist() == expected.tolist()
    assert plain(result) == plain(expected)


# Arithmetic
# ------------------------------------------------------------

UNSIGNED_OPERATIONS = {
    "mul": lambda torch, x: x * x,
    "mul by a number": lambda torch, x: x * 3,
    "mul by a fraction": lambda torch, x: x * 1.5,
    "div": lambda torch, x: x / x,
    "and": lambda torch, x: x & 3,
    "or": lambda torch, x: x | x,
    "xor": lambda torch, x: x ^ 5,
    "sum": lambda torch, x: x.sum(),
    "prod": lambda torch, x: x.prod(),
    "cumsum": lambda torch, x: x.cumsum(0),
    "any": lambda torch, x: x.any(),
    "all": lambda torch, x: x.all(0),
    "sort": lambda torch, x: x.sort(0, descending=True),
    "unique": lambda torch, x: x.unique(),
    "exp": lambda torch, x: (x.to(torch.float64).clamp(max=3)).to(x.dtype).exp(),
    "mean": lambda torch, x: x.mean(),
    "isnan": lambda torch, x: x.isnan(),
    "isfinite": lambda torch, x: x.isfinite(),
    "signbit": lambda torch, x: x.signbit(),
    "eq": lambda torch, x: x == x.flip(0) if False else x == x.roll(1, 0),
    "ne": lambda torch, x: x != 1,
    "eq to a fraction": lambda torch, x: x == 1.0,
    "equal": lambda torch, x: torch.equal(x, x),
    "max": lambda torch, x: x.max(),
    "with int64": lambda torch, x: x + torch.ones(4, dtype=torch.int64),
    "with float32": lambda torch, x: x + torch.ones(4),
    "requires_grad": lambda torch, x: x.requires_grad_(),
    "as index": lambda torch, x: torch.arange(9)[x],
    "mm": lambda torch, x: x.reshape(2, 2) @ x.reshape(2, 2),
    "pow": lambda torch, x: x**2,
    "mod": lambda torch, x: x % 2,
    "clamp": lambda torch, x: x.clamp(0, 2),
    "arange": lambda torch, x: torch.arange(3, dtype=x.dtype),
    "linspace": lambda torch, x: torch.linspace(0, 3, 4, dtype=x.dtype),
    "rand": lambda torch, x: torch.rand(3, dtype=x.dtype),
}


@pytest.mark.parametrize("name", UNSIGNED)
@pytest.mark.parametrize("case", UNSIGNED_OPERATIONS)
def test_unsigned_operations(name: str, case: str) -> None:
    values = {
        "uint16": [1, 65535, 0, 40000],
        "uint32": [1, 2**32 - 1, 0, 2**31 + 1],
        "uint64": [1, 2**64 - 1, 0, 2**63 + 1],
    }[name]
    agree(lambda torch: UNSIGNED_OPERATIONS[case](torch, torch.tensor(values, dtype=getattr(torch, name))))


@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_numbers_are_ordered(name: str) -> None:
    values = {
        "uint16": [1, 65535, 0, 40000],
        "uint32": [1, 2**32 - 1, 0, 2**31 + 1],
        "uint64": [1, 2**64 - 1, 0, 2**63 + 1],
    }[name]
    x = torch_py.tensor(values, dtype=getattr(torch_py, name))
    for name_of, relation in (("lt", int.__lt__), ("le", int.__le__), ("gt", int.__gt__), ("ge", int.__ge__)):
        assert getattr(x, name_of)(x.flip(0)).tolist() == [
            relation(a, b) for a, b in zip(values, reversed(values))
        ], name_of
        assert getattr(x, name_of)(1).tolist() == [relation(a, 1) for a in values], name_of


def test_random_unsigned_numbers_are_those_of_int64() -> None:
    for name in UNSIGNED:
        torch_py.manual_seed(3)
        own = torch_py.randint(0, 50, (20,), dtype=getattr(torch_py, name))
        torch_py.manual_seed(3)
        assert own.tolist() == torch_py.randint(0, 50, (20,)).tolist()
    for low, high in ((0, 70000), (-1, 7)):
        agree(lambda torch, low, high: torch.randint(low, high, (2,), dtype=torch.uint16), low, high)


FLOAT8_OPERATIONS = {
    "eq": lambda torch, x: x == x.roll(1),
    "ne": lambda torch, x: x != 1,
    "eq to another dtype": lambda torch, x: x == torch.ones(4),
    "isnan": lambda torch, x: x.isnan(),
    "any": lambda torch, x: x.any(),
    "all": lambda torch, x: x.all(),
    "add": lambda torch, x: x + x,
    "add a number": lambda torch, x: x + 1,
    "add float32": lambda torch, x: x + torch.ones(4),
    "sum": lambda torch, x: x.sum(),
    "mean": lambda torch, x: x.mean(),
    "max": lambda torch, x: x.max(),
    "exp": lambda torch, x: x.exp(),
    "sort": lambda torch, x: x.sort(),
    "neg": lambda torch, x: -x,
    "cat with float32": lambda torch, x: torch.cat([x, torch.ones(2)]),
    "where with float32": lambda torch, x: torch.where(torch.tensor([True]), x, torch.ones(4)),
    "tensor of mixed": lambda torch, x: torch.tensor([x[0], 1.5]),
    "arange": lambda torch, x: torch.arange(3, dtype=x.dtype),
    "rand": lambda torch, x: torch.rand(3, dtype=x.dtype),
    "randint": lambda torch, x: torch.randint(0, 3, (3,), dtype=x.dtype),
    "numpy": lambda torch, x: x.numpy(),
    "imag": lambda torch, x: x.imag,
    "cumsum": lambda torch, x: x.cumsum(0),
    "dot": lambda torch, x: x @ x,
    "floor_divide": lambda torch, x: x // x,
}


@pytest.mark.parametrize("name", FLOAT8)
@pytest.mark.parametrize("case", FLOAT8_OPERATIONS)
def test_float8_operations(name: str, case: str) -> None:
    agree(
        lambda torch: FLOAT8_OPERATIONS[case](
            torch, torch.tensor([1.0, 2.0, 3.0, 0.0]).to(getattr(torch, name))
        )
    )


COMPLEX_OPERATIONS = {
    "add": lambda torch, x: x + x,
    "add a number": lambda torch, x: x + 1.5,
    "add an int64": lambda torch, x: x + torch.ones(3, dtype=torch.int64),
    "sub": lambda torch, x: x - 1j,
    "mul": lambda torch, x: x * x,
    "mul in place": lambda torch, x: x.clone().mul_(2),
    "out": lambda torch, x: torch.mul(x, x, out=torch.empty(3, dtype=torch.complex32)),
    "neg": lambda torch, x: -x,
    "abs": lambda torch, x: x.abs(),
    "sgn": lambda torch, x: (x * 0 + 1).sgn(),
    "conj": lambda torch, x: x.conj().resolve_conj(),
    "eq": lambda torch, x: x == x.roll(1),
    "isnan": lambda torch, x: x.isnan(),
    "isfinite": lambda torch, x: x.isfinite(),
    "any": lambda torch, x: x.any(),
    "count_nonzero": lambda torch, x: torch.count_nonzero(x),
    "real": lambda torch, x: x.real,
    "imag": lambda torch, x: x.imag,
    "view_as_real": lambda torch, x: torch.view_as_real(x),
    "view_as_complex": lambda torch, x: torch.view_as_complex(torch.ones(2, 2, dtype=torch.float16)),
    "complex": lambda torch, x: torch.complex(torch.ones(2).half(), torch.zeros(2).half()),
    "half by a complex number": lambda torch, x: torch.ones(2, dtype=torch.float16) * 2j,
    "masked_fill": lambda torch, x: x.masked_fill(torch.tensor([True, False, True]), 1),
    "index_add": lambda torch, x: torch.index_add(x, 0, torch.tensor([0, 2]), x[:2]),
    "index_fill": lambda torch, x: torch.index_fill(x, 0, torch.tensor([0, 2]), 2),
    "nonzero": lambda torch, x: torch.nonzero(x),
    "tril": lambda torch, x: x.expand(3, 3).tril(),
    "diff": lambda torch, x: x.diff(),
    "numpy": lambda torch, x: x.numpy(),
    "sort": lambda torch, x: x.sort(),
}


@pytest.mark.parametrize("case", COMPLEX_OPERATIONS)
def test_complex32_operations(case: str) -> None:
    agree(
        lambda torch: COMPLEX_OPERATIONS[case](
            torch, torch.tensor([1 + 2j, 0j, -3.5 + 0.25j]).to(torch.complex32)
        )
    )


# Exchange
# ------------------------------------------------------------


@pytest.mark.parametrize("name", UNSIGNED)
def test_numpy_shares_memory(name: str) -> None:
    array = np.arange(6, dtype=name).reshape(2, 3)
    tensor = torch_py.from_numpy(array)
    assert tensor.dtype == getattr(torch_py, name) and tensor.data_ptr() == array.ctypes.data
    tensor[0, 0] = 7
    assert array[0, 0] == 7
    assert tensor.numpy().dtype == array.dtype
    assert torch_py.tensor(array).tolist() == array.tolist()
    assert torch_py.tensor(np.dtype(name).type(3)).dtype == getattr(torch_py, name)
    assert memoryview(tensor).format == memoryview(array).format


@pytest.mark.parametrize("name", NEW)
def test_dlpack_with_pytorch(name: str) -> None:
    own = some(torch_py, name, 3)
    theirs = peer.from_dlpack(own)
    assert theirs.dtype == getattr(peer, name)
    assert theirs.data_ptr() == own.data_ptr()
    assert plain(theirs)[3] == plain(own)[3]
    back = torch_py.from_dlpack(theirs)
    assert back.dtype == own.dtype and back.data_ptr() == own.data_ptr()


@pytest.mark.parametrize("name", NEW)
def test_files_with_pytorch(name: str) -> None:
    def contents(torch: Any) -> dict[str, Any]:
        x = some(torch, name, 3, 4)
        return {"x": x, "column": x[:, 1], "dtype": x.dtype, "plain": torch.ones(2)}

    for writer, reader in ((torch_py, peer), (peer, torch_py), (torch_py, torch_py)):
        file = io.BytesIO()
        writer.save(contents(writer), file)
        file.seek(0)
        loaded = reader.load(file)
        assert {key: plain(value) for key, value in loaded.items()} == {
            key: plain(value) for key, value in contents(reader).items()
        }
        assert loaded["column"].untyped_storage().data_ptr() == loaded["x"].untyped_storage().data_ptr()


@pytest.mark.parametrize("name", NEW)
def test_pickles_and_parameters(name: str) -> None:
    x = some(torch_py, name, 3)
    assert plain(pickle.loads(pickle.dumps(x))) == plain(x)
    if not x.dtype.is_floating_point:
        return
    file = io.BytesIO()
    torch_py.save(torch_py.nn.Parameter(x), file)
    file.seek(0)
    loaded = torch_py.load(file)
    assert isinstance(loaded, torch_py.nn.Parameter) and plain(loaded) == plain(x)


def test_meta_tensors_have_the_dtypes() -> None:
    for name in NEW:
        x = torch_py.empty(2, 3, dtype=getattr(torch_py, name), device="meta")
        assert x.t().contiguous().dtype == x.dtype
        assert torch_py.cat([x, x]).dtype == x.dtype
        assert (x == x).dtype == torch_py.bool


# Gradients
# ------------------------------------------------------------


def test_gradients_pass_through_conversions() -> None:
    def through(torch: Any, name: str) -> Any:
        x = torch.tensor([1.5, 2.0], requires_grad=True)
        y = x.to(getattr(torch, name))
        y.to(torch.complex64 if name == "complex32" else torch.float32).abs().sum().backward()
        return x.grad

    for name in (*FLOAT8, "complex32"):
        agree(through, name)


def test_float8_leaves_have_gradients_of_their_dtype() -> None:
    def once(torch: Any) -> Any:
        x = torch.tensor([1.5, 2.0]).to(torch.float8_e5m2).requires_grad_()
        x.float().sum().backward()
        return x.grad

    def twice(torch: Any) -> Any:  # the gradients would have to be added, which is impossible
        x = torch.tensor([1.5, 2.0]).to(torch.float8_e5m2).requires_grad_()
        (x.float() + x.float()).sum().backward()
        return x.grad

    agree(once)
    agree(twice)


def test_complex32_arithmetic_has_gradients() -> None:
    def of_product(torch: Any) -> Any:
        x = torch.tensor([1 + 2j, 3 - 1j]).chalf().requires_grad_()
        (x * x).abs().float().sum().backward()
        return x.grad

    agree(of_product)


def test_comparison_of_float8_in_tests() -> None:
    for torch in (torch_py, peer):
        x, y = (torch.tensor(values).to(torch.float8_e4m3fn) for values in ([1.0, 2.0], [1.0, 3.0]))
        torch.testing.assert_close(x, x.clone())
        for keywords in ({}, {"rtol": 0.1, "atol": 0.1}):
            with pytest.raises(
                AssertionError,
                match="not equal|not 'equal'|low dimensional" if not keywords else "low dimensional",
            ):
                torch.testing.assert_close(x, y, **keywords)


@pytest.mark.parametrize(
    "name", "float double half bfloat16 long int short char byte bool cfloat cdouble chalf".split()
)
def test_conversions_take_a_memory_format(name: str):
    x = torch_py.ones(2, 3, 4, 5, dtype=torch_py.int64 if name != "long" else torch_py.float32)
    assert getattr(x, name)(memory_format=torch_py.channels_last).is_contiguous(
        memory_format=torch_py.channels_last
    )
    same = getattr(x, name)()
    assert getattr(same, name)(memory_format=torch_py.preserve_format) is same
    assert getattr(same, name)(memory_format=torch_py.channels_last).stride() == (60, 1, 15, 3)
