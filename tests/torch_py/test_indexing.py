"""tensor[...] and tensor[...] = value, compared with NumPy; indices that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.subject import only_torch_py, torch

READABLE = [
    "0",
    "-1",
    "1, 2",
    "-1, -2, -3",
    "slice(None)",
    "slice(1, None)",
    "slice(None, 2), 0",
    "slice(0, 100, 2)",
    "slice(-2, -1)",
    "slice(3, 1)",
    "...",
    "..., 0",
    "0, ...",
    "None",
    "None, 0",
    "..., None",
    "0, None, slice(1, 2)",
    "(), ",
    "True",
    "False",
    "[0, 1]",
    "[0, 1], [1, 0]",
    "slice(None), [2, 0, 2]",
    "..., [1, 0]",
    "[0], slice(None), [1]",
    "[[0, 1], [1, 0]], [0, 1]",
    "0, [1, 2]",
    "[True, False]",
    "np.array([1, 0])",
    "np.int64(1)",
    "None, [1, 0]",
    "[1, 0], None, slice(1)",
    "slice(None), slice(None), slice(0, 4, 3)",
]


def evaluate(index: str) -> Any:
    return eval(f"({index})", {"np": np})


@pytest.mark.parametrize("text", READABLE)
def test_reading_is_numpys(torch: Any, text: str) -> None:
    array = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    index = evaluate(text)
    expected = array[index]
    result = torch.from_numpy(array)[index]
    assert tuple(result.shape) == expected.shape
    np.testing.assert_array_equal(np.asarray(result), expected)


@pytest.mark.parametrize("text", [text for text in READABLE if text != "False"])
def test_writing_is_numpys(torch: Any, text: str) -> None:
    array = np.zeros((2, 3, 4), dtype=np.float32)
    index = evaluate(text)
    tensor = torch.from_numpy(array.copy())
    array[index] = 5
    tensor[index] = 5
    np.testing.assert_array_equal(tensor.numpy(), array)


def test_tensors_as_indices(torch: Any) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    assert x[torch.tensor(1)].tolist() == [3, 4, 5]
    assert x[torch.tensor([1, 0])].tolist() == [[3, 4, 5], [0, 1, 2]]
    assert x[torch.tensor([0, 1]), 1].tolist() == [1, 4]
    assert x[torch.tensor([1, 0], dtype=torch.int32)].tolist() == [[3, 4, 5], [0, 1, 2]]
    assert x[x > 2].tolist() == [3, 4, 5]
    assert x[torch.tensor([True, False])].tolist() == [[0, 1, 2]]
    assert x[torch.tensor(0) : torch.tensor(1)].tolist() == [[0, 1, 2]]
    assert x[torch.tensor([], dtype=torch.int64)].shape == (0, 3)
    assert x[[]].shape == (0, 3)


def test_basic_indices_give_views_and_others_copies(torch: Any) -> None:
    x = torch.zeros(2, 3)
    x[0][1:2][...] = 1
    assert x.tolist() == [[0, 1, 0], [0, 0, 0]]
    assert x[:].data_ptr() == x.data_ptr() and x[:] is not x and x[...]._base is x
    x[[0]].fill_(7)
    assert x[0].tolist() == [0, 1, 0]


def test_a_mask_of_several_dimensions_and_what_follows_it(torch: Any) -> None:
    x = torch.arange(24).reshape(2, 3, 4)
    mask = torch.tensor([[True, False, True], [False, True, False]])
    expected = np.arange(24).reshape(2, 3, 4)[mask.numpy()]
    assert x[mask].tolist() == expected.tolist()
    assert x[mask, ...].tolist() == expected.tolist()
    assert x[mask, 1:3].tolist() == expected[:, 1:3].tolist()


def test_iteration_and_length(torch: Any) -> None:
    x = torch.arange(6).reshape(2, 3)
    assert len(x) == 2 and [row.tolist() for row in x] == [[0, 1, 2], [3, 4, 5]]
    first, second = x
    assert first.tolist() == [0, 1, 2] and second._base is not None
    with pytest.raises(TypeError, match=r"len\(\) of a 0-d tensor"):
        len(torch.ones(()))
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(torch.ones(()))


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        ("5", IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        ("0, 5", IndexError, "index 5 is out of bounds for dimension 1 with size 3"),
        ("-3", IndexError, "index -3 is out of bounds for dimension 0 with size 2"),
        ("0, 0, 0", IndexError, "too many indices for tensor of dimension 2"),
        ("slice(None, None, -1)", ValueError, "step must be greater than zero"),
        ("slice(None, None, 0)", ValueError, "slice step cannot be zero"),
        ("slice('a', None)", TypeError, "slice indices must be integers"),
        ("slice(1.5, None)", TypeError, "slice indices must be integers"),
        ("'a'", TypeError, "invalid data type 'str'"),
        ("1.5", IndexError, "only integers, slices"),
        ("object()", IndexError, "only integers, slices"),
        ("{1: 2}", IndexError, "only integers, slices"),
        ("2**70", ValueError, "Overflow when unpacking"),
        ("[0, 5]", IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        ("[True, False, True]", IndexError, "The shape of the mask"),
    ],
)
def test_wrong_indices(torch: Any, index: str, error: type[Exception], message: str) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    with pytest.raises(error, match=message):
        x[evaluate(index)]
    if torch.__name__ == "torch":
        return  # PyTorch writes some elements before the error
    with pytest.raises(error, match=message):
        x[evaluate(index)] = 1
    assert x.flatten().tolist() == [0, 1, 2, 3, 4, 5]


def test_indices_of_other_dtypes(torch: Any) -> None:
    for dtype in (torch.float32, torch.int8, torch.int16, torch.complex64):
        message = "tensors used as indices must be long, int, byte or bool tensors"
        with pytest.raises(IndexError, match=message):
            torch.ones(3)[torch.ones(2).to(dtype)]


def test_tensors_without_dimensions(torch: Any) -> None:
    x = torch.ones(())
    assert x[...].shape == ()
    assert x[()].shape == ()
    assert x[None].shape == (1,)
    assert x[True].shape == (1,)
    assert x[False].shape == (0,)

    x[...] = 2
    x[()] = 3
    assert x.item() == 3

    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        x[0]


def test_assigned_tensors_are_broadcast(torch: Any) -> None:
    x = torch.zeros(2, 3)
    x[0] = torch.tensor([1.0, 2.0, 3.0])
    x[:, 0] = torch.tensor(7)
    x[0:1] = torch.ones(1, 1, 3) * 4
    assert x.tolist() == [[4, 4, 4], [7, 0, 0]]
    x[x > 5] = torch.tensor([9.0])
    x[[0, 1], [1, 2]] = torch.tensor([-1.0, -2.0])
    assert x.tolist() == [[4, -1, 4], [9, 0, -2]]
    integers = torch.arange(3)
    integers[0] = 1.5
    assert integers.tolist() == [1, 1, 2]


@pytest.mark.parametrize("value", ["a", None, [1, 2, 3], object()])
def test_values_that_cannot_be_assigned(torch: Any, value: object) -> None:
    x = torch.zeros(3)
    with pytest.raises(TypeError, match="can't assign a"):
        x[0] = value


def test_shapes_and_values_that_do_not_fit(torch: Any) -> None:
    x = torch.zeros(2, 3)
    with pytest.raises(RuntimeError, match="must match the existing size"):
        x[0] = torch.ones(2)
    with pytest.raises(RuntimeError):
        x[0] = torch.ones(2, 3)
    with pytest.raises(RuntimeError):
        x[x == 0] = torch.ones(2)
    with pytest.raises(RuntimeError, match="without overflow"):
        x[0] = 1j
    with pytest.raises(TypeError, match="does not support deleting items"):
        del x[0]

    assert x.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_assignment_is_differentiated(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y[0] = 5
    y[1:] *= 3
    y.sum().backward()
    assert x.grad.tolist() == [0, 6, 6]
    with pytest.raises(
        RuntimeError,
        match="a view of a leaf Variable that requires grad is being used in an in-place operation",
    ):
        x[0] = 1


@only_torch_py  # PyTorch crashes
def test_a_list_that_changes_while_it_is_read(torch: Any) -> None:
    items: list[Any] = []

    class Shrinks:
        def __index__(self) -> int:
            items.clear()
            return 0

    for use in (
        lambda: torch.ones(3)[items],
        lambda: torch.tensor(items, dtype=torch.int64),
        lambda: torch.zeros(items),
    ):
        items[:] = [Shrinks(), 1, 2]
        try:
            use()
        except (TypeError, ValueError, IndexError, RuntimeError):
            pass  # any exception is fine; a crash would end the process


def test_masks_of_bytes_and_reversed_shapes_warn(torch: Any) -> None:
    with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now deprecated"):
        assert torch.arange(3)[torch.tensor([1, 0, 1], dtype=torch.uint8)].tolist() == [0, 2]
    with pytest.warns(UserWarning, match="torch.meshgrid"):
        assert [t.tolist() for t in torch.meshgrid(torch.arange(2), torch.arange(1))] == [
            [[0], [1]],
            [[0], [0]],
        ]


def test_taken_elements_are_contiguous() -> None:
    assert torch.take(torch.arange(12.0), torch.tensor([[1, 2], [3, 4]]).t()).stride() == (2, 1)
