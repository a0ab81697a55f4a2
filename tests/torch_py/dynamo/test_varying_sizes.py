"""Sizes that vary: how often functions are compiled, and that results are right for every size."""

import operator
import resource

import pytest

import torch_py as torch
from torch_py import nn
from torch_py._dynamo.testing import CompileCounter, CompileCounterWithBackend

F = nn.functional


def compiled(function, **options):
    counter = CompileCounter()
    return torch.compile(function, backend=counter, **options), counter


def check(function, calls, compilations, **options):
    """Compares calls with those of the function, and how often it was compiled."""
    fast, counter = compiled(function, **options)
    for arguments in calls:
        expected = function(*arguments)
        torch.testing.assert_close(fast(*arguments), expected)
    assert counter.frame_count == compilations


def tensors(*shapes):
    return [(torch.randn(shape),) for shape in shapes]


def test_the_second_size_makes_a_size_variable():
    check(lambda x: x.sin().sum(-1), tensors((4, 6), (3, 6), (7, 6), (99, 6)), 2)
    check(lambda x: x.sin().sum(-1), tensors((4, 6), (3, 7), (7, 2), (99, 64)), 2)


def test_sizes_in_arithmetic():
    def merged(x):
        batch, length, width = x.shape
        return x.reshape(batch * length, width).cumsum(0) * length + x.size(0) // 2, x[:, : length // 2]

    check(merged, tensors((4, 6, 3), (5, 7, 3), (8, 100, 3), (2, 2, 3)), 2)


def test_sizes_that_are_returned():
    check(lambda x: (x * 2, x.shape[0] + 1, [x.size(-1)]), tensors((4, 6), (5, 7), (8, 9)), 1, dynamic=True)


def test_sizes_are_returned_as_they_were_before_a_change_of_shape():
    def turned(x):
        rows = x.shape[0]
        return x.t_().sin(), rows, x.shape[0]

    fast, _ = compiled(turned, dynamic=True)
    for shape in ((4, 6), (6, 5)):
        x = torch.randn(shape)
        torch.testing.assert_close(fast(x.clone()), turned(x.clone()))


def test_decisions_about_sizes_are_guards():
    def long_or_short(x):
        return x.sin() if x.shape[0] > 5 else x.cos()

    check(long_or_short, tensors((4,), (3,), (9,), (100,), (2,)), 3)


def test_loops_over_sizes_fix_them():
    def steps(x):
        total = x[0]
        for i in range(x.shape[0]):
            total = total + x[i] * i
        return total

    check(steps, tensors((3, 4), (4, 4), (5, 4), (5, 9), (5, 3)), 3, dynamic=True)


def test_a_size_of_one_is_compiled_for_itself():
    check(lambda x, y: x + y, [(torch.randn(n, 3), torch.randn(n, 3)) for n in (4, 5, 1, 6)], 3)
    check(lambda x, y: x + y, [(torch.randn(n, 3), torch.randn(1, 3)) for n in (4, 5, 6)], 2)


def test_sizes_that_are_equal_have_to_stay_equal():
    def product(x, y):
        return x @ y

    sizes = ((4, 4, 4), (5, 5, 5), (6, 7, 8), (9, 10, 11))
    check(product, [(torch.randn(n, k), torch.randn(k, m)) for n, k, m in sizes], 2, dynamic=True)


def test_marks_and_settings():
    def function(x):
        return x * x.shape[0]

    check(function, tensors((3,), (4,), (5,)), 3, dynamic=False)
    marked = torch.randn(3, 2)
    torch._dynamo.mark_dynamic(marked, 0)
    check(function, [(marked,), *tensors((4, 2), (5, 2))], 1, dynamic=False)
    static = [(torch.randn(n),) for n in (3, 4, 5)]
    for (x,) in static:
        torch._dynamo.mark_static(x)
    check(function, static, 3)


def test_layers_of_networks():
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3, 2, 1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(16, 3),
    ).eval()
    check(model, tensors((2, 3, 16, 16), (3, 3, 20, 24), (5, 3, 9, 31)), 2)
    block = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
    check(block, tensors((2, 5, 16), (3, 7, 16), (4, 30, 16)), 2)


def test_tensors_of_modules_keep_their_sizes():
    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.BatchNorm1d(8))
    check(model, tensors((3, 4), (5, 4), (7, 4)), 1, dynamic=True)
    check(
        lambda x: F.layer_norm(model[0](x), (8,), model[1].weight), tensors((3, 4), (5, 4)), 1, dynamic=True
    )


def test_a_program_that_fails_for_primes_is_compiled_for_each_size():
    check(lambda x: x.view(3, -1) + 1, tensors((9,), (15,), (21,)), 3)


def test_breaks_keep_sizes_variable():
    def function(x):
        y = x * x.shape[0]
        if y.sum() > 1e9:
            return y
        return y.view(-1, x.shape[0]) + 1

    fast, counter = compiled(function)
    for n in (3, 4, 5, 6, 7):
        x = torch.randn(n, 2)
        torch.testing.assert_close(fast(x), function(x))
    assert counter.frame_count == 4


@pytest.mark.parametrize("dynamic", [None, True])
def test_views_of_other_tensors(dynamic):
    base = torch.randn(10, 8)
    compilations = 2 if dynamic is None else 1
    check(lambda x: x + 1, [(base[:n],) for n in (3, 4, 5)], compilations, dynamic=dynamic)
    check(lambda x: x + 1, [(base[:n, ::2],) for n in (3, 4, 5)], compilations, dynamic=dynamic)


@pytest.mark.parametrize("dynamic", [None, True])
def test_views_of_views_that_require_gradients(dynamic):
    x = torch.randn(10, 8)[1:].requires_grad_()
    torch.compile(lambda x: x * 2, backend="aot_eager", dynamic=dynamic)(x[:4]).sum().backward()
    assert torch.equal(x.grad[:4], torch.full((4, 8), 2.0))


def test_loops_over_tensors():
    def rows(x):
        return [row * len(x) for row in x]

    check(rows, tensors((3, 4), (4, 4), (4, 9), (4, 7)), 2, dynamic=True)
    check(lambda x: x * len(x), tensors((3, 4), (4, 4), (5, 9)), 1, dynamic=True)


SIZES = {
    "returned": lambda x: (x.shape, x.size()[1:], [x.shape[:1] * 2], {"shape": x.shape + (2,)}),
    "made": lambda x: (torch.Size([x.shape[0], 2]), torch.Size(x.shape[::-1]), (1,) + x.shape),
    "asked": lambda x: (
        isinstance(x.shape, torch.Size),
        isinstance(x.shape, (list, torch.Size)),
        isinstance(x.shape, list),
        type(x.shape) is torch.Size,
        x.shape == x.shape[:],
    ),
    "used": lambda x: (
        x.new_zeros(x.shape + (2,)),
        x.reshape(torch.Size([-1, x.size(0)])),
        x * x.shape.numel(),
    ),
    "joined": lambda x: (
        x.shape[:0] + (x.shape[1],) + x.shape[:1],
        x.new_zeros(x.shape[:1] + (x.size(1) * 2,)),
        x.new_zeros(4, 2).shape + (x.size(0),),
        (x.size(0),) + x.new_zeros(4, 2).shape,
    ),
    "plain": lambda x: (tuple(x.shape), list(x.shape), x.stride(), (*x.shape, 1), tuple(reversed(x.shape))),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_stay_objects_of_torch(name):
    function = SIZES[name]
    fast, counter = compiled(function, dynamic=True, fullgraph=True)
    for shape in ((3, 4), (5, 6), (7, 9)):
        x = torch.randn(shape)
        assert repr(fast(x)) == repr(function(x))
    assert counter.frame_count == (0 if name in ("returned", "made", "asked", "plain") else 1)


def test_texts_of_guards_name_arguments():
    """Also arguments that have the names of symbols."""

    def function(s1, s0):
        return s1 + 1 if s1.size(0) > s0.size(0) * 2 else s1

    fast, _ = compiled(function, dynamic=True)
    fast(torch.ones(9), torch.ones(3))
    reason = fast.entries[0].guards.check((torch.ones(3), torch.ones(9)))
    assert reason == "L['s1'].size(0) > 2*L['s0'].size(0) does not hold"


@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_images_of_the_size_of_others(backend):
    def function(x, y):
        return F.interpolate(x, size=y.shape[-2:]) + y

    counter = CompileCounterWithBackend(backend)
    fast = torch.compile(function, backend=counter)
    for height, width in ((6, 8), (10, 12), (14, 9), (33, 34)):
        x, y = torch.randn(2, 3, height // 2, width // 2), torch.randn(2, 3, height, width)
        torch.testing.assert_close(fast(x, y), function(x, y))
    assert counter.frame_count == 2


def test_products_of_sums_of_sizes():
    def function(x, y):
        both = torch.cat([x, y[:, :1].expand(-1, x.shape[1])])
        return both / both.numel(), both.numel(), both.stride(0), both.flatten().shape[0]

    fast, counter = compiled(function)
    for rows, columns in ((9, 7), (7, 4), (5, 6), (4, 9)):
        x, y = torch.randn(rows, columns), torch.randn(3, columns)
        torch.testing.assert_close(fast(x, y), function(x, y))
    assert counter.frame_count == 2


def test_sums_of_two_sizes():
    def function(x, y):
        rows = torch.cat([x, y]).shape[0]
        return torch.cat([x, y]) * torch.full((rows, 1), 2.0)

    fast, counter = compiled(function)
    for first, second in ((3, 5), (4, 7), (9, 2), (5, 6)):
        x, y = torch.randn(first, 4), torch.randn(second, 4)
        torch.testing.assert_close(fast(x, y), function(x, y))
    assert counter.frame_count == 2


def test_programs_do_not_see_exceptions_of_stand_ins():
    def function(x, y):
        try:
            return x + y
        except RuntimeError as error:
            return str(error)

    fast, _ = compiled(function, dynamic=True)
    weight = nn.Parameter(torch.randn(4, 6))  # its sizes do not vary
    for rows in (3, 4, 1):
        x = torch.randn(rows, 6)
        expected = function(x, weight)
        assert type(fast(x, weight)) is type(expected) and (
            fast(x, weight) == expected if rows == 3 else torch.equal(fast(x, weight), expected)
        )


def test_views_with_sizes_that_vary_are_views():
    def function(x, y):
        y.exp_()
        return x.t_() * y

    fast, counter = compiled(function, dynamic=True)
    for rows in (3, 4):
        parts = (torch.randn(2, rows, rows, requires_grad=True) * 1).unbind()
        with pytest.raises(RuntimeError, match="the output of a function that returns multiple views"):
            fast(parts[0], torch.zeros(rows, rows))
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            fast(torch.randn(rows, rows, requires_grad=True)[:], torch.zeros(rows, rows))
    assert counter.frame_count == 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("part", [lambda x: x[:, 1:-1], lambda x: x[1:, ::2], lambda x: x[1:, 1:-1]])
def test_parts_of_intermediates_are_compiled(part):
    def function(x):
        return part(x * 2).sum(-1)

    fast = torch.compile(function, backend="aot_eager", dynamic=True)
    for shape in ((5, 6), (7, 9)):
        x = torch.randn(shape)
        torch.testing.assert_close(fast(x), function(x))


def test_the_index_of_a_size():
    check(lambda x: x * operator.index(x.shape[0]), tensors((3, 2), (4, 2), (5, 2)), 3)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize(
    "program",
    [
        lambda x: x.trace() * 2,
        lambda x: (x * 2).fill_diagonal_(3.0),
        lambda x: x.diagonal().exp(),
        lambda x: x.tril(-2).sum(0),
    ],
)
def test_matrices_that_become_wider_than_long(program, backend):
    """Lengths of diagonals are the smaller one of a size that varies and one that does not."""
    fast = torch.compile(program, backend=backend)
    for rows in (9, 8, 7, 2, 4, 6, 12):
        x = torch.randn(rows, 6, requires_grad=True)
        y = x.detach().clone().requires_grad_()
        one, other = fast(x), program(y)
        torch.testing.assert_close(one, other)
        one.sum().backward()
        other.sum().backward()
        torch.testing.assert_close(x.grad, y.grad)


def test_views_of_what_was_changed_have_sizes_that_vary():
    def function(x):
        y = x * 2
        part = y[1:]
        y.mul_(2)
        return y, part

    compiled = torch.compile(
        function, backend=(counter := CompileCounterWithBackend("aot_eager")), dynamic=True
    )
    for n in (4, 7, 9):
        x = torch.randn(n, 3).requires_grad_() * 1
        assert all(map(torch.equal, compiled(x), function(x)))
    assert counter.frame_count == 1


@pytest.mark.parametrize("dynamic", [True, None])
def test_a_size_that_equals_one_which_the_program_needs_as_a_number(dynamic):
    def function(x, y):
        return x.sum() + y * 2 + len(f"{x.shape[0]:{x.shape[0]}}")

    calls = [(torch.rand(5), torch.rand(size)) for size in (5, 6, 7, 5, 9)]
    check(function, calls, 2, dynamic=dynamic)


TENSORS_OF_SIZES = {
    "shape": lambda x: torch.tensor(x.shape),
    "the size": lambda x: torch.as_tensor(x.size()[1:] + (3,)),
    "shapes": lambda x: torch.tensor([x.shape, x.shape[::-1]]),
    "by keyword": lambda x: torch.tensor(data=[x.shape[0]]),
    "without gradient": lambda x: torch.tensor([x.shape[0]], requires_grad=False),
    "with a truth": lambda x: torch.tensor([x.shape[0], True]),
    "with a real number": lambda x: torch.tensor([x.shape[0], 0.5]),
    "with nan": lambda x: x.new_tensor([x.shape[0], float("nan")]),
}


@pytest.mark.parametrize("name", TENSORS_OF_SIZES)
@pytest.mark.parametrize("dynamic", [None, True])
def test_tensors_of_sizes(name, dynamic):
    program = TENSORS_OF_SIZES[name]
    fast = torch.compile(program, backend="aot_eager", dynamic=dynamic)
    for rows in (3, 4, 5):
        x = torch.ones(rows, 2)
        torch.testing.assert_close(fast(x), program(x), equal_nan=True)


def test_a_list_of_sizes_that_is_used_twice():
    fast = torch.compile(lambda x, sizes: (x.view(sizes), torch.tensor(sizes)), backend="aot_eager")
    for columns in (3, 4, 5):
        assert fast(torch.ones(2 * columns), [2, columns])[1].tolist() == [2, columns]


def test_constants_of_programs_whose_sizes_vary():
    """Sizes stay variable where tensors are the same for all of them, whatever numbers these have."""
    constant = torch.tensor([1.0, float("nan")])
    counter = CompileCounterWithBackend("aot_eager")
    fast = torch.compile(lambda x: (x + constant, x + torch.tensor([2.0, -float("nan")])), backend=counter)
    for rows in range(3, 9):
        fast(torch.ones(rows, 2))
    assert counter.frame_count == 2


def test_captures_make_no_large_tensors():
    """What has no tensor among its arguments is tried without memory, too."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fast = torch.compile(lambda x: x + torch.eye(x.size(0)), backend="eager", dynamic=True)
    fast(torch.ones(8, 8))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # KiB
