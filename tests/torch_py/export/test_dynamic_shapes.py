"""Dimensions that vary: formulas of sizes, ranges, and refusals."""

import math

import pytest

import torch_py as torch
from torch_py import nn
from torch_py.export import Dim, ShapesCollection, dims, export

F = nn.functional


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, y=None):
        return self.function(x) if y is None else self.function(x, y)


PROGRAMS = {
    "scaled by the size": lambda x: x * x.shape[0] + x.shape[1] ** -0.5 + math.sqrt(x.shape[0]),
    "variance": lambda x: x.sum() / (x.shape[0] * x.shape[1] - 1),
    "halves": lambda x: x[: x.shape[0] // 2].sum() + x[:, x.shape[1] // 3 :].sum(),
    "joined": lambda x: torch.cat([x.flatten(), torch.ones(x.shape[0] + 2 * x.shape[1])]).view(-1, 1),
    "position": lambda x: x + torch.arange(x.shape[1]) - torch.arange(x.shape[0] - 1, -1, -1)[:, None],
    "pooled": lambda x: F.avg_pool1d(F.max_pool1d(x[None], 3, 2, 1), 2)[0].reshape(-1),
    "padded": lambda x: F.pad(x, (1, (-x.shape[1]) % 1 + 2)).flatten(),
    "upsampled": lambda x: F.interpolate(x[None, None], size=(2 * x.shape[0], x.shape[1] // 2))[0, 0],
    "squares": lambda x: torch.zeros(x.shape[0], x.shape[0], x.shape[1]).view(x.shape[0] ** 2, -1) + 1,
    "outer": lambda x: (x[:, None] * x[None]).reshape(-1, x.shape[1]),
    "chunked": lambda x: torch.stack(x.unfold(1, 2, 1).unbind(-1)).flatten(1),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_for_all_sizes(name):
    function = PROGRAMS[name]
    shapes = ({0: Dim("rows"), 1: Dim("columns")},)
    program = export(Function(function), (torch.randn(4, 6),), dynamic_shapes=shapes)
    module = program.module()
    for rows in (2, 3, 5, 16, 33):
        for columns in (4, 7, 12, 31):
            x = torch.randn(rows, columns)
            torch.testing.assert_close(module(x), function(x))


def test_shapes_are_printed_as_formulas():
    program = export(
        nn.Conv2d(3, 4, 3, 2, 1), (torch.ones(2, 3, 8, 8),), dynamic_shapes=({0: Dim("n"), 2: Dim("h")},)
    )
    assert '"f32[n, 4, (h + 1)//2, 4]"' in str(program)
    assert str(program.range_constraints) == "{n: VR[0, int_oo], h: VR[0, int_oo]}"


def test_sizes_are_related():
    length = Dim("length", min=2, max=20)
    shapes = {"x": {0: length}, "y": {0: 2 * length + 1}}
    program = export(
        Function(lambda x, y: x.sum() + y.sum()), (torch.ones(3), torch.ones(7)), dynamic_shapes=shapes
    )
    module = program.module()
    assert module(torch.ones(5), torch.ones(11)) == 16
    with pytest.raises(AssertionError, match=r"y\.size\(\)\[0\] == \(?2\*length\)? \+ 1, got 10"):
        module(torch.ones(5), torch.ones(10))
    with pytest.raises(AssertionError, match="2 <= length <= 20"):
        module(torch.ones(21), torch.ones(43))


def test_equal_dimensions_have_one_name():
    n = Dim("n")
    module = export(
        Function(torch.add), (torch.ones(3), torch.ones(3)), dynamic_shapes=({0: n}, {0: n})
    ).module()
    with pytest.raises(AssertionError, match=r"y\.size\(\)\[0\] == n, got 5"):
        module(torch.ones(4), torch.ones(5))


def test_automatic_dimensions_are_dynamic_where_they_can_be():
    shapes = ({0: Dim.AUTO, 1: Dim.AUTO}, {0: Dim.AUTO})
    function = lambda x, y: F.linear(x, torch.ones(3, 4)) + y[:, None]  # noqa: E731
    program = export(Function(function), (torch.ones(2, 4), torch.ones(2)), dynamic_shapes=shapes)
    assert len(program.range_constraints) == 1
    x, y = torch.randn(7, 4), torch.randn(7)
    torch.testing.assert_close(program.module()(x, y), function(x, y))


def test_a_collection_names_tensors():
    x = torch.ones(2, 3)
    shapes = ShapesCollection()
    shapes[x] = {0: Dim("n")}
    assert export(nn.Linear(3, 1), (x,), dynamic_shapes=shapes).module()(torch.ones(9, 3)).shape == (9, 1)


@pytest.mark.parametrize(
    "function, shapes, message",
    [
        (
            lambda x: x * 2 if x.shape[0] > 5 else x + 1,
            ({0: Dim("n")},),
            r"`aten\.mul\.Tensor` for.*dynamic_shapes\.py",
        ),
        (
            lambda x: F.linear(x, torch.ones(2, 4)),
            ({1: Dim("n")},),
            r"fails for n = \d+ in `aten\.linear\.default`",
        ),
        (
            lambda x: sum(x.unbind(0)),
            ({0: Dim("n")},),
            r"lists of different lengths|number of operators|calls",
        ),
        (lambda x: x + x.shape[0] ** 3.5, ({0: Dim("n")},), r"`aten\.add\.Tensor` an argument.*no formula"),
        (lambda x: x, ({0: Dim("n", min=5)},), r"3 not in range \[5, int_oo\]"),
        (lambda x: x, {"z": {0: Dim("n")}}, r"top-level keys must be the arg names \['x'\]"),
        (lambda x: x, ({4: Dim("n")},), "Unexpected dimension 4"),
        (lambda x: x, ({0: "n"},), "Unexpected dimension 'n'"),
        (lambda x: x, ({0: 7},), "does not match input size of 3"),
        (lambda x: x, ({0: 2 * Dim("n")},), r"Constraints violated \(n\)"),
    ],
)
def test_what_cannot_be_dynamic_is_refused(function, shapes, message):
    with pytest.raises(RuntimeError, match=f"(?s){message}"):
        export(Function(function), (torch.ones(3, 4),), dynamic_shapes=shapes)


def test_small_sizes_that_are_special_are_excluded():
    def single(x):
        return x * 2 if x.shape[0] == 1 else x + 1

    program = export(Function(single), (torch.ones(4),), dynamic_shapes=({0: Dim("n")},))
    assert str(program.range_constraints) == "{n: VR[2, int_oo]}"
    with pytest.raises(AssertionError, match="2 <= n, where"):
        program.module()(torch.ones(1))

    def few(x):
        return x * 2 if x.shape[0] < 4 else x + 1

    with pytest.raises(RuntimeError, match="For n = 3 .* min=4"):
        export(Function(few), (torch.ones(5),), dynamic_shapes=({0: Dim("n")},))
    assert (
        export(Function(few), (torch.ones(5),), dynamic_shapes=({0: Dim("n", min=4)},)).module()(
            torch.ones(4)
        )[0]
        == 2
    )
    automatic = export(Function(few), (torch.ones(5),), dynamic_shapes=({0: Dim.AUTO},))
    assert str(automatic.range_constraints) == "{s0: VR[4, int_oo]}"


def test_dims():
    height, width = dims("height", "width", min=2)
    assert height.__name__ == "height" and width.min == 2 and (2 * height - 1).__name__ == "2*height - 1"
    with pytest.raises(AssertionError, match="valid identifier"):
        Dim("2a")
    with pytest.raises(AssertionError, match="inconsistent"):
        Dim("a", min=3, max=2)
    with pytest.raises(NotImplementedError, match="positive integer"):
        -1 * height
