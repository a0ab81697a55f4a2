"""The emulated cuDNN refuses wrong descriptors: a description is right, then one thing of it is changed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from tests.cuda.emulated import emulated_library
from tests.subject import only_torch_py, torch

pytestmark = [only_torch_py]

# Kinds of descriptors, types of elements and attributes, as in c10/cuda/libraries/Cudnn.h.
POINTWISE = 0
CONVOLUTION = 1
CONFIGURATION = 3
HEURISTIC = 4
PLAN = 5
FORWARD = 10
ADDITION = 13
GRAPH = 15
PACK = 16
TENSOR = 17

HANDLE = 0
DATA_TYPE = 1
BOOLEAN = 2
INT64 = 3
FLOAT = 4
DOUBLE = 5
POINTER = 6
CONV_MODE = 7
HEUR_MODE = 8
POINTWISE_MODE = 14
DESCRIPTOR = 15

_C_TYPES: dict[int, Any] = {
    **dict.fromkeys((HANDLE, POINTER, DESCRIPTOR), ctypes.c_void_p),
    **dict.fromkeys((DATA_TYPE, CONV_MODE, HEUR_MODE, POINTWISE_MODE), ctypes.c_int),
    BOOLEAN: ctypes.c_bool,
    INT64: ctypes.c_int64,
    FLOAT: ctypes.c_float,
    DOUBLE: ctypes.c_double,
}
EXACT_ENGINE = 7

Parts = dict[str, dict[int, tuple[int, list[Any]]]]  # name: attribute: type and elements


class Refused(Exception):
    pass


class Library:
    """The calls of the emulated library."""

    def __init__(self) -> None:
        self.find = emulated_library().torch_py_emulation_library_function
        self.find.restype = ctypes.c_void_p
        handle = ctypes.c_void_p()
        self.call("cudnnCreate", ctypes.byref(handle))
        self.handle = handle.value

    def call(self, name: str, *arguments: Any) -> None:
        function = ctypes.CFUNCTYPE(ctypes.c_int)(self.find(name.encode()))
        function.argtypes = None
        if function(*arguments) != 0:
            message = ctypes.create_string_buffer(200)
            ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_size_t)(self.find(b"cudnnGetLastErrorString"))(
                message, 200
            )
            raise Refused(message.value.decode())

    def made(self, kind: int) -> ctypes.c_void_p:
        found = ctypes.c_void_p()
        self.call("cudnnBackendCreateDescriptor", kind, ctypes.byref(found))
        return found

    def set(self, descriptor: Any, attribute: int, type: int, elements: list[Any]) -> None:
        array = (_C_TYPES[type] * len(elements))(*elements)
        self.call(
            "cudnnBackendSetAttribute", descriptor, attribute, type, ctypes.c_int64(len(elements)), array
        )

    def finalized(self, kind: int, attributes: dict[int, tuple[int, list[Any]]]) -> int:
        descriptor = self.made(kind)
        for attribute, (type, elements) in attributes.items():
            self.set(descriptor, attribute, type, elements)
        self.call("cudnnBackendFinalize", descriptor)
        return int(descriptor.value or 0)

    def configuration(self, heuristic: int, engine: int) -> ctypes.c_void_p:
        found = [self.made(CONFIGURATION) for _ in range(engine + 1)]
        array = (ctypes.c_void_p * len(found))(*found)
        count = ctypes.c_int64()
        self.call(
            "cudnnBackendGetAttribute",
            ctypes.c_void_p(heuristic),
            202,
            DESCRIPTOR,
            ctypes.c_int64(len(found)),
            ctypes.byref(count),
            array,
        )
        return found[engine]


def tensor(id: int, sizes: list[int], strides: list[int]) -> dict[int, tuple[int, list[Any]]]:
    return {
        901: (DATA_TYPE, [0]),
        900: (INT64, [16]),
        906: (INT64, [id]),
        902: (INT64, sizes),
        903: (INT64, strides),
    }


def description() -> Parts:
    """Two images of 4 channels by 6 filters in 2 groups."""
    return {
        "x": tensor(1, [2, 4, 5, 6], [120, 30, 6, 1]),
        "w": tensor(2, [6, 2, 3, 3], [18, 9, 3, 1]),
        "y": tensor(3, [2, 6, 5, 6], [180, 30, 6, 1]),
        "convolution": {
            106: (INT64, [2]),
            100: (DATA_TYPE, [0]),
            101: (CONV_MODE, [1]),
            102: (INT64, [1, 1]),
            103: (INT64, [1, 1]),
            104: (INT64, [1, 1]),
            105: (INT64, [1, 1]),
        },
        "operation": {700: (FLOAT, [1.0]), 701: (FLOAT, [0.0])},
        "pack": {1000: (INT64, [1, 2, 3])},
    }


def with_bias() -> Parts:
    """The same, to whose sums, which are nowhere in memory, a bias is added."""
    parts = description()
    parts["sums"] = tensor(5, [2, 6, 5, 6], [180, 30, 6, 1]) | {907: (BOOLEAN, [True])}
    parts["bias"] = tensor(4, [1, 6, 1, 1], [6, 1, 1, 1])
    parts["addition"] = {0: (POINTWISE_MODE, [0]), 1: (DATA_TYPE, [0])}
    parts["pack"] = {1000: (INT64, [1, 2, 3, 4])}
    return parts


def operations(lib: Library, parts: Parts) -> list[int]:
    """The operations of the graph: a convolution, and the addition of a bias if the parts have one."""
    x, w, y = (lib.finalized(TENSOR, parts[name]) for name in "xwy")
    convolution = lib.finalized(CONVOLUTION, parts["convolution"])
    sums = lib.finalized(TENSOR, parts["sums"]) if "sums" in parts else y
    links = {702: convolution, 703: w, 704: x, 705: sums}
    found = [lib.finalized(FORWARD, parts["operation"] | {a: (DESCRIPTOR, [d]) for a, d in links.items()})]
    if "addition" in parts:
        addition = lib.finalized(POINTWISE, parts["addition"])
        bias = lib.finalized(TENSOR, parts["bias"])
        links = {750: addition, 751: sums, 752: bias, 753: y}
        found.append(lib.finalized(ADDITION, {a: (DESCRIPTOR, [d]) for a, d in links.items()}))
    return found


def run(parts: Parts, tensors: list[Any], offset: int = 0, has_workspace: bool = True) -> None:
    """Describes the convolution and computes it."""
    lib = Library()
    graph = lib.finalized(GRAPH, {800: (HANDLE, [lib.handle]), 801: (DESCRIPTOR, operations(lib, parts))})
    heuristic = lib.finalized(HEURISTIC, {201: (DESCRIPTOR, [graph]), 200: (HEUR_MODE, [3])})
    configuration = lib.configuration(heuristic, EXACT_ENGINE)
    plan = lib.finalized(PLAN, {400: (HANDLE, [lib.handle]), 401: (DESCRIPTOR, [configuration.value])})

    workspace = torch.empty(4096, dtype=torch.uint8, device="cuda")
    pointers = [t.data_ptr() + offset for t in tensors]
    pack = lib.finalized(
        PACK,
        parts["pack"]
        | {1001: (POINTER, pointers), 1003: (POINTER, [workspace.data_ptr() if has_workspace else None])},
    )
    lib.call("cudnnBackendExecute", ctypes.c_void_p(lib.handle), ctypes.c_void_p(plan), ctypes.c_void_p(pack))
    torch.cuda.synchronize()


def operands() -> list[Any]:
    return [torch.randn(sizes, device="cuda") for sizes in ((2, 4, 5, 6), (6, 2, 3, 3), (2, 6, 5, 6))]


def test_a_right_description():
    x, w, y = operands()
    run(description(), [x, w, y])
    expected = torch.nn.functional.conv2d(x.cpu(), w.cpu(), padding=1, groups=2)
    torch.testing.assert_close(y.cpu(), expected)


def test_a_right_description_with_bias():
    x, w, y = operands()
    bias = torch.randn(6, device="cuda")
    run(with_bias(), [x, w, y, bias])
    expected = torch.nn.functional.conv2d(x.cpu(), w.cpu(), bias.cpu(), padding=1, groups=2)
    torch.testing.assert_close(y.cpu(), expected)


def changed(part: str, attribute: int, type: int, elements: list[Any]) -> Callable[[Parts], None]:
    return lambda parts: parts[part].__setitem__(attribute, (type, elements))


_CHANGES = {
    "a size of the result": (changed("y", 902, INT64, [2, 6, 4, 6]), "dense"),
    "sizes that do not fit": (
        lambda parts: parts.update(y=tensor(3, [2, 6, 4, 6], [144, 24, 6, 1])),
        "another size",
    ),
    "a stride": (changed("x", 903, INT64, [120, 30, 7, 1]), "dense"),
    "another format": (changed("x", 903, INT64, [120, 1, 24, 4]), "formats differ"),
    "a missing stride": (changed("x", 903, INT64, [120, 30, 6]), "stride for each"),
    "groups": (
        lambda parts: parts.update(w=tensor(2, [6, 3, 3, 3], [27, 9, 3, 1])),
        "not whole groups",
    ),
    "outputs": (lambda parts: parts.update(w=tensor(2, [5, 2, 3, 3], [18, 9, 3, 1])), "outputs differ"),
    "a batch": (lambda parts: parts.update(x=tensor(1, [1, 4, 5, 6], [120, 30, 6, 1])), "batches differ"),
    "an alignment": (changed("x", 900, INT64, [12]), "powers of two"),
    "an identifier": (changed("w", 906, INT64, [1]), "unique"),
    "a dtype": (changed("w", 901, DATA_TYPE, [2]), "dtypes differ"),
    "sums": (changed("convolution", 100, DATA_TYPE, [2]), "sums are float"),
    "a scale": (changed("operation", 701, FLOAT, [1.0]), "never asked for"),
    "the type of a scale": (changed("operation", 700, DOUBLE, [1.0]), "type of sums"),
    "a missing attribute": (lambda parts: parts["operation"].pop(701), "not set"),
    "the type of an attribute": (changed("x", 906, DATA_TYPE, [1]), "another type"),
    "another descriptor's attribute": (changed("x", 106, INT64, [2]), "another descriptor"),
    "spatial dimensions": (changed("convolution", 106, INT64, [3]), "number for each"),
    "a negative padding": (changed("convolution", 105, INT64, [-1, 1]), "low"),
    "uneven padding": (changed("convolution", 104, INT64, [1, 2]), "symmetric"),
    "a repeated tensor": (changed("pack", 1000, INT64, [1, 2, 2]), "unique"),
    "a foreign tensor": (changed("pack", 1000, INT64, [1, 2, 4]), "other tensors"),
    "a missing tensor": (changed("pack", 1000, INT64, [1, 2]), "pointer for each"),
}


@pytest.mark.parametrize("what", _CHANGES)
def test_a_wrong_description(what: str):
    change, message = _CHANGES[what]
    parts = description()
    change(parts)
    with pytest.raises(Refused, match=message):
        run(parts, operands())


_CHANGES_WITH_BIAS = {
    "sums in memory": (lambda parts: parts["sums"].pop(907), "sums of forward passes"),
    "a result that is nowhere": (
        lambda parts: parts["y"].update({907: (BOOLEAN, [True])}),
        "sums of forward passes",
    ),
    "the dtype of sums": (changed("sums", 901, DATA_TYPE, [2]), "dtypes differ"),
    "the precision": (changed("addition", 1, DATA_TYPE, [2]), "as they were summed"),
    "another function": (changed("addition", 0, POINTWISE_MODE, [1]), "only additions"),
    "the size of the bias": (
        lambda parts: parts.update(bias=tensor(4, [1, 5, 1, 1], [5, 1, 1, 1])),
        "element for each channel",
    ),
    "the dtype of the bias": (changed("bias", 901, DATA_TYPE, [2]), "result's dtype"),
    "an identifier": (changed("bias", 906, INT64, [2]), "not those of the convolution"),
    "a missing bias": (changed("pack", 1000, INT64, [1, 2, 3]), "pointer for each"),
    "no addition": (lambda parts: parts.pop("addition"), "nowhere"),
}


@pytest.mark.parametrize("what", _CHANGES_WITH_BIAS)
def test_a_wrong_description_with_bias(what: str):
    change, message = _CHANGES_WITH_BIAS[what]
    parts = with_bias()
    change(parts)
    with pytest.raises(Refused, match=message):
        run(parts, [*operands(), torch.randn(6, device="cuda")])


def test_wrong_addresses():
    with pytest.raises(Refused, match="aligned"):
        run(description(), operands(), offset=4)
    with pytest.raises(Refused, match="no workspace"):
        run(description(), operands(), has_workspace=False)


def test_order_of_calls():
    lib = Library()
    unfinished = lib.made(TENSOR)
    with pytest.raises(Refused, match="not finalized"):
        lib.finalized(
            FORWARD,
            description()["operation"]
            | {
                702: (DESCRIPTOR, [lib.finalized(CONVOLUTION, description()["convolution"])]),
                704: (DESCRIPTOR, [unfinished.value]),
            },
        )

    finished = ctypes.c_void_p(lib.finalized(TENSOR, description()["x"]))
    with pytest.raises(Refused, match="after finalizing"):
        lib.set(finished, 906, INT64, [5])
    with pytest.raises(Refused, match="twice"):
        lib.call("cudnnBackendFinalize", finished)
