"""torch.load(weights_only=True) of malicious files raises UnpicklingError or RuntimeError, nothing else."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from collections import OrderedDict

import pytest

from tests.subject import only_torch_py, torch

PROTOCOL = b"\x80\x02"
HUGE = b"\x8a\x06" + (2**40).to_bytes(6, "little")


def named(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def called(function: bytes, *arguments: bytes) -> bytes:
    return function + b"(" + b"".join(arguments) + b"tR"


def number(value: int) -> bytes:
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return (
        b"\x8a" + struct.pack("<B", len(data)) if len(data) < 256 else b"\x8b" + struct.pack("<I", len(data))
    ) + data


def numbers(values: tuple[int, ...]) -> bytes:
    return b"(" + b"".join(number(value) for value in values) + b"t"


STORAGE = b"(" + text("storage") + named("torch", "FloatStorage") + text("0") + text("cpu") + b"K\x04tQ"
ORDERED = named("collections", "OrderedDict")
LAYOUT = named("torch.serialization", "_get_layout")
DOUBLED, DEEP = b")" + b"2\x86" * 40, b")" + b"\x85" * 300_000


def tensor(offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> bytes:
    rebuild = named("torch._utils", "_rebuild_tensor_v2")
    return called(rebuild, STORAGE, number(offset), numbers(size), numbers(stride), b"\x89", called(ORDERED))


def archive(program: bytes) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as opened:
        opened.writestr("a/data.pkl", program)
        opened.writestr("a/version", "3\n")
        opened.writestr("a/byteorder", "little")
        opened.writestr("a/data/0", bytes(16))
    file.seek(0)
    return file


def load(program: bytes):
    return torch.load(archive(PROTOCOL + program + b"."), weights_only=True)


HOSTILE = {
    "any attribute by the function for layouts": called(
        called(LAYOUT, text("torch._set_grad_enabled")), b"\x89"
    ),
    "state of what that gives": called(LAYOUT, text("torch._set_grad_enabled"))
    + b"}"
    + text("x")
    + b"K\x01sb",
    "a module by the function for layouts": called(LAYOUT, text("torch._torch")),
    "memory for bytes that are not there": called(named("builtins", "bytearray"), HUGE),
    "a set of everything": called(named("builtins", "set"), called(named("builtins", "range"), HUGE)),
    "memory for a tensor": called(named("torch", "Tensor"), HUGE),
    "memory for a tensor of a type": called(
        named("torch._tensor", "_rebuild_from_type_v2"),
        named("torch", "Tensor"),
        named("torch", "Tensor"),
        b"(" + HUGE + b"t",
        b"}",
    ),
    "bytes that are not there": b"\x8e" + struct.pack("<Q", 2**40),
    "state of a function": named("torch._utils", "_rebuild_tensor_v2") + b"}" + text("x") + b"K\x01sb",
    "state of a type": named("torch", "Size") + b"}" + text("x") + b"K\x01sb",
    "state of a function in a list": b"]"
    + named("torch._utils", "_rebuild_parameter")
    + b"}"
    + text("x")
    + b"K\x01sba",
    "items of a type": named("collections", "OrderedDict") + text("x") + b"K\x01s",
    "memory for a storage": called(named("torch", "FloatStorage"), HUGE),
    "memory for an untyped storage": called(named("torch", "UntypedStorage"), HUGE),
    "a storage as an instance": named("torch", "UntypedStorage") + b"(" + HUGE + b"t\x81",
    "call of a result": called(called(LAYOUT, text("torch.strided"))),
    "state of a dtype": named("torch", "float32") + b"}b",
    "call of a dtype": called(named("torch", "float32")),
    "call without a tuple": named("torch", "device") + b"NR",
    "an old-style instance": b"(ios\nsystem\n",
    "an old-style object": b"(" + named("torch", "device") + text("cpu") + b"o",
    "an extension": b"\x82\x01",
    "a tensor out of nothing": named("torch", "Tensor") + b")\x81",
    "a number of too many digits": b"I" + b"9" * 100_000 + b"\n",
    "a key nested deeply": b"})" + b"\x85" * 1_000_000 + b"K\x01s",
    "append by an attribute": called(ORDERED)
    + b"}"
    + text("append")
    + named("torch", "device")
    + b"sb"
    + text("cpu")
    + b"a",
    "bytes in another encoding": called(named("_codecs", "encode"), text("abc"), text("rot13")),
    "a size of text": called(named("torch", "Size"), text("abc")),
    "an empty stack": b"",
    "too many dimensions": tensor(0, (1,) * 1000, (0,) * 1000),
    "more elements than can be counted": tensor(0, (2**30,) * 8, (0,) * 8),
    "a size beyond all memory": tensor(0, (2**3000,), (0,)),
    "a negative size": tensor(0, (-1,), (1,)),
    "outside of the storage": tensor(1, (4,), (1,)),
    "another function": named("os", "system"),
    # Tuples that each hold the previous one twice: 40 bytes describe 2**40 parts.
    "a key of many parts": b"}" + DOUBLED + b"K\x01s",
    "keys of many parts at once": b"(" + DOUBLED + b"K\x01d",
    "a set of many parts": b"\x8f(" + DOUBLED + b"\x90",
    "a frozen set of many parts": b"(" + DOUBLED + b"\x91",
    "a call of many parts": DOUBLED + b")R",
    "an instance of many parts": DOUBLED + b")\x81",
    "a storage of many parts": DOUBLED + b"Q",
    "attributes of many parts": called(ORDERED) + b"}" + DOUBLED + b"K\x01sb",
    "an encoding of many parts": called(named("_codecs", "encode"), text("a"), DOUBLED),
    "metadata of many parts": called(
        named("torch._utils", "_rebuild_tensor_v2"),
        STORAGE,
        b"K\x00",
        numbers((1,)),
        numbers((1,)),
        b"\x89",
        called(ORDERED),
        DOUBLED,
    ),
    "a tensor of a type of many parts": called(
        named("torch._tensor", "_rebuild_from_type_v2"),
        named("torch._utils", "_rebuild_meta_tensor_no_storage"),
        DOUBLED,
        b"(" + named("torch", "float32") + b"))\x89t",
        b"}",
    ),
    "a key nested deeply in a list": called(ORDERED, b"]]" + DEEP + b"aK\x01aa"),
    "a layout nested deeply": called(LAYOUT, DEEP),
    "a location nested deeply": b"("
    + text("storage")
    + named("torch", "FloatStorage")
    + text("0")
    + DEEP
    + b"K\x04tQ",
    "a size of everything": called(named("torch", "Size"), called(named("builtins", "range"), HUGE)),
    "a bytearray that is not there": b"\x96" + struct.pack("<Q", 2**40),
    "a parameter of nothing": called(named("torch._utils", "_rebuild_parameter"), b"N\x89", called(ORDERED)),
    "copies of copies": b"B"
    + struct.pack("<I", 10**5)
    + bytes(10**5)
    + b"q\x000"
    + named("builtins", "bytearray")
    + b"q\x010("
    + b"h\x01h\x00\x85R" * 1000
    + b"l",
    "a number of a megabyte": b"\x8b" + struct.pack("<i", 10**6) + bytes(10**6),
    "a tensor of another layout": named("torch._utils", "_rebuild_sparse_tensor"),
}


@only_torch_py
@pytest.mark.parametrize("program", HOSTILE.values(), ids=HOSTILE)
def test_refused(program):
    recording = torch.is_grad_enabled()
    with pytest.raises((pickle.UnpicklingError, RuntimeError)) as error:
        load(program)
    assert not isinstance(error.value, RecursionError)
    assert torch.is_grad_enabled() == recording


def test_legitimate_uses_of_the_same_functions():
    assert load(called(LAYOUT, text("torch.strided"))) is torch.strided
    assert load(tensor(1, (3,), (1,))).tolist() == [0, 0, 0]
    assert load(called(named("builtins", "set"), b"]" + b"K\x01a")) == {1}
    assert load(called(named("collections", "Counter"), b"}" + text("a") + b"K\x03s")) == {"a": 3}


def test_attributes_of_an_ordered_dict():
    loaded = load(called(ORDERED) + b"}" + text("_metadata") + b"K\x01sb")
    assert type(loaded) is OrderedDict and loaded._metadata == 1


@only_torch_py
def test_errors_of_map_location_are_the_callers():
    def broken(storage, location):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        torch.load(archive(PROTOCOL + tensor(0, (4,), (1,)) + b"."), map_location=broken)
