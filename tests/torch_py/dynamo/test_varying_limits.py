"""Where large sizes and numbers behave in another way than small ones: code may be for fewer of them, but its
results are right for each."""

import warnings

import pytest

import torch_py as torch
from torch_py._dynamo.testing import CompileCounterWithBackend

BACKENDS = ["eager", "inductor"]


def compilations(function, calls, backend, **options):
    """How often a function is compiled. Results must be those of eager mode."""
    torch._dynamo.reset()
    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(function, backend=counter, **options)
    for arguments in calls:
        torch.testing.assert_close(compiled(*arguments), function(*arguments))
    return counter.frame_count


def numbers(*found):
    x = torch.randn(8, 24)
    return [(x, number) for number in found]


def rows(*sizes):
    return [(torch.randn(size, 4),) for size in sizes]


# Ranges of one element for all steps that are as large as the range.
STEPS = {
    "step": lambda x, n: torch.arange(0, 100, n) * x[0, 0],
    "length": lambda x, n: x * torch.arange(0, 100, n).shape[0],
    "backwards": lambda x, n: x * torch.arange(100, 0, -n).shape[0],
    "keyword": lambda x, n: x * torch.arange(0, 100, step=n).numel(),
    "with the end": lambda x, n: x * torch.range(0, 100, n).shape[0],
    "fraction": lambda x, n: x * torch.arange(0, n, 0.3).shape[0],
    "some numbers": lambda x, n: x * torch.arange(0, n, 7).shape[0],
    "quotient": lambda x, n: torch.arange(0, 10, n / 4) * x[0, 0],
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", STEPS)
def test_steps_of_ranges(name, backend):
    calls = numbers(200, 300, 2, 3, 5, 150)
    assert compilations(STEPS[name], calls, backend) == 6


def test_ranges_with_a_step_may_have_other_limits():
    calls = numbers(2, 3, 4, 5, 9)
    assert compilations(lambda x, n: torch.arange(n, 0, -1) * x[0, 0], calls, "eager") == 2
    assert compilations(lambda x, n: torch.arange(0, n, 0.5) * x[0, 0], calls, "eager") == 2


COUNTS = {
    "split": lambda x: x * len(x.split(2)),
    "function": lambda x: x * len(torch.split(x, 2)),
    "new tensor": lambda x: x * len(torch.ones(x.size(0), 3).split(2)),
    "unbind": lambda x: sum(x.unbind()),
    "all elements": lambda x: x * len(x.flatten().unbind()),
    "chunk": lambda x: sum(part.sum() for part in x.chunk(3)),
    "tensor_split": lambda x: x * len(torch.ones(9).tensor_split(x.size(0))),
    "split by a size": lambda x: x * len(torch.ones(20).split(x.size(0))),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", COUNTS)
def test_the_number_of_results_is_a_constant(name, backend):
    assert compilations(COUNTS[name], rows(10, 7, 4, 3, 6), backend) == 5


def test_a_number_of_results_that_does_not_depend_on_what_varies():
    assert compilations(lambda x: x.chunk(2)[0], rows(10, 7, 4, 3, 2), "eager") == 2
    assert compilations(lambda x: x.chunk(2, 1)[1] + x.split(3, 1)[1], rows(10, 7, 4, 3, 2), "eager") == 2
    assert compilations(lambda x, n: x * len(torch.ones(n, 4).split(2)), numbers(2, 3, 4, 5), "eager") == 4

    calls = [(torch.randn(batch, 6),) for batch in (2, 3, 4, 5)]
    assert compilations(lambda x: x[:, :5].split(2, 1)[2], calls, "eager", dynamic=True) == 1
    assert compilations(lambda x: torch.where(x > 0, x, -x), rows(10, 7, 4, 3, 2), "eager") == 2


# What needs some rows, and what 3 rows give.
AT_LEAST_FIVE = {
    "slice": lambda x: x[:5] * 2,
    "length of a slice": lambda x: x * x[:5].shape[0],
    "last rows": lambda x: x[-5:] * 2,
    "rows that are left": lambda x: x[4:].sum(0),
    "row": lambda x: x[4] * 2,
    "last row but four": lambda x: x[-5] * 2,
    "select": lambda x: x.select(0, 4) * 2,
    "narrow": lambda x: x.narrow(0, 1, 4) * 2,
    "largest": lambda x: x.topk(5, 0)[0] * 2,
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", AT_LEAST_FIVE)
def test_small_sizes_have_code_of_their_own(name, backend):
    function = AT_LEAST_FIVE[name]
    assert compilations(function, rows(10, 7, 5, 50), backend) == 2

    compiled = torch.compile(function, backend=backend, dynamic=True)
    torch.testing.assert_close(compiled(x := torch.randn(9, 4)), function(x))
    small = torch.randn(3, 4)
    try:
        expected = function(small)
    except (RuntimeError, IndexError) as error:
        with pytest.raises(type(error)):
            compiled(small)
    else:
        torch.testing.assert_close(compiled(small), expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_smaller_of_two_sizes(backend):
    calls = [(torch.randn(shape),) for shape in ((3, 100), (5, 90), (200, 7), (4, 5))]
    compilations(lambda x: x.diagonal() * 2, calls, backend)
    compilations(lambda x: x * x.diagonal().shape[0], calls, backend)


def test_the_smaller_of_a_size_and_a_product_in_an_opaque_call():
    def function(x):
        return (x * 1).view(-1, x.size(2)).fill_diagonal_(2.0) * 1

    compiled = torch.compile(function, dynamic=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as of a graph that runs eagerly after an error
        for shape in ((2, 3, 4), (2, 3, 7)):
            x = torch.randn(shape)
            assert torch.equal(compiled(x), function(x))


def test_sizes_of_an_argument_that_the_program_transposes():
    def function(x, y):
        y.t_()
        return x * y.shape[0] + x.shape[0]

    compiled = torch.compile(function, backend="eager")
    for size in (3, 4, 5):
        x = torch.randn(size)
        y = torch.randn(2, 7)
        expected = function(x, y.clone())
        torch.testing.assert_close(compiled(x, y), expected)
        assert y.shape == (7, 2)


ROLLS = {
    "far": lambda x: x.roll(6, 0) * 2,
    "back": lambda x: x.roll((-3, 2), (0, 1)) + 1,
    "keywords": lambda x: torch.roll(x, dims=(0,), shifts=[3]) * 2,
    "by a size": lambda x: x.roll(x.size(0) + 1, 0) * 2,
    "by one": lambda x: x[1:].roll(1, 0) * 2,
    "a part": lambda x: x[1:].roll(4, 0) * 2,
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ROLLS)
def test_rolls_around_small_sizes(name, backend):
    compilations(ROLLS[name], rows(9, 8, 4, 5, 2, 7), backend)


@pytest.mark.parametrize("shapes", [((7, 8), (6, 12), (9, 2), (30, 4)), ((3, 4), (9, 4), (6, 4), (3, 4))])
def test_the_smaller_of_two_computed_sizes(shapes):
    calls = [(torch.randn(shape), 9 - number) for number, shape in enumerate(shapes)]
    compilations(lambda x, n: x[1:].diagonal()[:n] * 2, calls, "inductor")
    compilations(lambda x, n: x * x.diagonal()[:n].shape[0], calls, "inductor")
    compilations(lambda x, n: x.select(0, 2) * n, calls, "inductor")
