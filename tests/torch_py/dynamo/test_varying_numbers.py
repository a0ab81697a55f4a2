"""Integers of programs that vary: how often functions are compiled, and that results are right for each."""

import collections
import functools
import math

import pytest

import torch_py as torch
from torch_py._dynamo.exc import BackendCompilerFailed
from torch_py._dynamo.testing import CompileCounterWithBackend
from torch_py._shapes.arguments import NotFollowed

F = torch.nn.functional
NUMBERS = range(2, 14)


def calls_of(function, numbers, backend="eager", **options):
    """How often a function of a tensor and a number is compiled. Results, and gradients, must be those of
    eager mode."""
    torch._dynamo.reset()
    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(function, backend=counter, **options)
    for number in numbers:
        outcomes = []
        for called in (function, compiled):
            torch.manual_seed(number if isinstance(number, int) else 0)
            x = torch.randn(8, 24, requires_grad=True)
            result = called(x, number)
            (gradient,) = torch.autograd.grad(result.sum(), x, allow_unused=True)
            outcomes.append((result, gradient))
        torch.testing.assert_close(*outcomes)
    return counter.frame_count


PROGRAMS = {
    "operand": lambda x, n: (x * n).sin() + n,
    "alpha": lambda x, n: torch.add(x, x.cos(), alpha=n),
    "sizes": lambda x, n: x.sum(0).expand(n, 24) * torch.full((n, 1), n),
    "range": lambda x, n: (torch.arange(1, n * 2) * x.sum()).cumsum(0),
    "repeat": lambda x, n: x.repeat(n, 1)[::n] if n > 100 else x.repeat(1, n),
    "exponent": lambda x, n: x.relu() ** n,
    "integers": lambda x, n: x * (x.detach().long() * n // 3 + n),
    "comparison": lambda x, n: torch.where(x > n - 5, x, n).masked_fill(x < 0, n),
    "low precision": lambda x, n: x.bfloat16() * n,
    "product": lambda x, n: (x @ x.t() * n).softmax(-1) / n,
    "dropout": lambda x, n: F.dropout(x, 0.25, True) * n,
    "float on the left": lambda x, n: x * (0.1 * n) + (2.5 - n),
    "quotient": lambda x, n: x * (1 / n) - n / 7,
    "tensor": lambda x, n: x * torch.tensor(n) + torch.tensor([[n, 3], [5, n + 1]]).sum(),
    "as a float": lambda x, n: x * float(n) + x / float(x.shape[0]),
    "half as a bound": lambda x, n: torch.where(x * 4 > n / 2, x, 1.0) * (x != n / 4),
    "root": lambda x, n: x / math.sqrt(n) + x * n**-0.5,
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_twelve_numbers_are_compiled_twice(name, backend):
    assert calls_of(PROGRAMS[name], NUMBERS, backend) == 2


@pytest.mark.parametrize("name", ["operand", "sizes", "integers", "low precision", "float on the left"])
def test_kernels_for_any_number(name):
    assert calls_of(PROGRAMS[name], NUMBERS, "inductor") == 2


def test_branches_become_guards():
    assert calls_of(lambda x, n: x.sin() if n < 8 else x.cos(), NUMBERS) == 3
    assert calls_of(lambda x, n: x * n if n % 5 == 0 else x + n, NUMBERS) == 3
    assert calls_of(lambda x, n: x * n if n and n != 7 else x + n, NUMBERS) == 3


def test_what_code_is_for_one_number_of():
    """Dimensions and numbers of steps: operators treat a large number in other ways than a small one."""
    numbers = range(2, 6)
    assert calls_of(lambda x, n: x.roll(n, 1) * n, numbers) == 4
    assert calls_of(lambda x, n: x.sum(n - 2), range(2, 4)) == 2
    assert calls_of(lambda x, n: x.view(n, -1) + 1, (2, 4, 8)) == 3
    assert calls_of(lambda x, n: F.dropout(x, 0.1 * n, True), numbers) == 4
    assert calls_of(lambda x, n: sum(x * i for i in range(n)), numbers) == 4


def test_slices_that_reach_the_end_are_followed():
    assert calls_of(lambda x, n: x[:, :n] * n, [2, 50, 30, 90]) == 2


def test_numbers_that_are_read_natively():
    numbers = range(2, 6)
    assert calls_of(lambda x, n: x * len("a" * n) + len(f"{n}"), numbers) == 4
    assert calls_of(lambda x, n: x * (max(0.5, n) + sum([1.0, n]) + int(n / 2)), numbers) == 4
    assert calls_of(lambda x, n: x * [10, 20, 30][n % 3], numbers) == 4
    assert calls_of(lambda x, n: x * (3.5 < n), numbers) == 3


READ_NATIVELY = {
    "conversions": lambda x, n: x * int(n / 2) + float(n) - abs(-n) + hash(n) + round(n / 3),
    "texts": lambda x, n: x * len(f"{n}{n / 3:.3f}" + str(n) + f"{n}"),
    "formats": lambda x, n: x * len("%(n)d" % {"n": n * 90} + "%d" * 2 % (n * 9, n)),  # noqa: UP031
    "slices": lambda x, n: x * sum(slice(0, n * 10, 1).indices(35)),
    "methods": lambda x, n: x * n.bit_length() + n.real + (n / 2).is_integer(),
    "bits": lambda x, n: x * (n << 2) + (n | 1) + (n ^ 5) + 2**n + n**n + ~n,
    "functions": lambda x, n: x * math.ceil(n / 3) + math.log(n) + math.gcd(n, 4) + divmod(n, 3)[0],
    "keys": lambda x, n: x * {2: 1, 3: 2, 4: 3}[n] + {2: 1}.get(n, 7) + (n in {2, 3}) + (n in (4, 5)),
    "lists": lambda x, n: x * sum([1, 2, 3, 4, 5][n:]) + sum([7] * n) + sorted([5, n, 1])[1],
}


@pytest.mark.parametrize("name", READ_NATIVELY)
def test_functions_of_python_get_the_number_itself(name):
    assert calls_of(READ_NATIVELY[name], range(2, 5), fullgraph=True) == 3


def test_questions_that_do_not_fix_a_number():
    def function(x, n):
        return x * int(n) + (isinstance(n, int) and type(n) is int) + (n or 4) + (not n)

    assert calls_of(function, NUMBERS, fullgraph=True) == 2


def test_values_of_tensors_that_are_made_of_numbers():
    assert calls_of(lambda x, n: x * (torch.tensor(3) * n).item(), range(2, 6)) == 4
    assert calls_of(lambda x, n: x * torch.full((), n).item(), range(2, 6)) == 4


def test_zero_one_negative_and_huge_numbers():
    assert calls_of(lambda x, n: x * n, [2, 3, 0, 4, 1, 5]) == 4
    assert calls_of(lambda x, n: x * n, [2, -3, 3, -4, 4, 5]) == 4
    assert calls_of(lambda x, n: x * n, [2, 3, 2**31 + 5, 2**40, 6]) == 4
    assert calls_of(lambda x, n: x * n, [2, 3, True, 4]) == 3


def test_numbers_in_containers():
    assert calls_of(lambda x, numbers: x * numbers[0] + numbers[1], [[i, i + 3] for i in NUMBERS]) == 2
    pair = collections.namedtuple("pair", "first second")
    assert calls_of(lambda x, n: x * pair(n, n + 1).second, NUMBERS) == 2
    assert calls_of(lambda x, numbers: x * numbers["a"], [{"a": i} for i in NUMBERS]) == 2
    assert calls_of(lambda x, numbers: x.new_zeros(numbers) + x[:1, :1], [[i, 3] for i in NUMBERS]) == 2
    assert calls_of(lambda x, numbers: x.sum() + torch.zeros(*numbers), [[i, 1] for i in NUMBERS]) == 2


def test_numbers_that_functions_pass_on():
    def outer(*args, **kwargs):
        return inner(*args, **kwargs)

    def inner(x, number):
        return x * number

    assert calls_of(outer, NUMBERS) == 2
    assert calls_of(lambda x, n: outer(x, number=n), NUMBERS) == 2
    assert calls_of(torch.enable_grad()(inner), NUMBERS) == 2
    assert calls_of(functools.partial(outer), NUMBERS) == 2
    assert calls_of(lambda x, named: outer(x, **named), [{"number": i} for i in NUMBERS]) == 2
    assert calls_of(lambda x, numbers: sum([x * n for n in numbers]), [(2, i) for i in NUMBERS]) == 2


def test_equal_numbers():
    pairs = [(3, 3), (4, 4), (5, 5), (6, 7), (8, 7)]
    assert calls_of(lambda x, pair: x * pair[0] + pair[1], pairs) == 2

    def of_a_batch(x, size):
        return x.view(size, -1).sum(1) * size

    compiled = torch.compile(of_a_batch, backend="eager", fullgraph=True)
    for size in NUMBERS:
        x = torch.randn(size, 4)
        torch.testing.assert_close(compiled(x, size), of_a_batch(x, size))


def test_numbers_are_returned_and_kept():
    kept = []

    def function(x, n):
        kept.append(n + 1)
        return x * n, n // 2, n / 4, [n]

    compiled = torch.compile(function, backend="eager")
    for n in NUMBERS:
        result, *others = compiled(torch.ones(2), n)
        assert result.tolist() == [n, n]
        assert others == [n // 2, n / 4, [n]]
        assert all(type(value) is kind for value, kind in zip(others, (int, float, list)))
    assert kept == [n + 1 for n in NUMBERS]
    assert all(type(n) is int for n in kept)


def test_numbers_after_a_break():
    def function(x, n):
        y = x * n
        if y.sum() > 1e9:
            return y
        return y + n * 2

    assert calls_of(function, NUMBERS) == 4


def test_numbers_that_are_fixed_fix_no_others():
    """What the sizes of a slice are is not found for all numbers."""
    counts = {"runs": 0}

    def program(x, w, n):
        y = x.bfloat16().float() if w.shape[0] > 2 and n else x
        counts["runs"] += 1
        return y[:n] * x.sum().item()

    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(program, backend=counter, dynamic=True)
    found = []
    for _ in range(6):
        compiled(torch.ones(4, 6), torch.ones(6, 6), 4)
        found.append(counter.frame_count)

    assert counts["runs"] == 6
    assert found[2:] == [found[2]] * 4


def test_a_number_that_equals_a_size_which_is_fixed():
    counts = {"runs": 0}

    def program(x):
        length = len(f"{x.shape[0]:03d}")
        counts["runs"] += 1
        return x * length

    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(program, backend=counter)
    for size in (4, 4, 2, 2, 2, 2, 2, 2):
        compiled(torch.ones(size))

    assert counts["runs"] == 8
    assert counter.frame_count <= 5


def test_numbers_vary_after_calls_whose_backend_fails():
    """It fails for the numbers first, and then without any that vary."""
    counts = {"runs": 0}
    graphs = []

    def backend(module, inputs):
        if any(getattr(given, "requires_grad", False) for given in inputs):
            raise NotFollowed("a number") if len(inputs) > 1 else RuntimeError("a gradient")
        graphs.append(module)
        return module

    def program(x):
        counts["runs"] += 1
        return x * counts["runs"]

    compiled = torch.compile(program, backend=backend)
    x = torch.ones(4)
    for _ in range(3):
        compiled(x)
    counts["runs"] = 30
    with pytest.raises(BackendCompilerFailed, match="a gradient"):
        compiled(x.clone().requires_grad_())
    for _ in range(5):
        compiled(x.double())

    assert len(graphs) == 4  # for 0, 1, any number, and any with doubles


def test_settings():
    def function(x, n):
        return x * n

    assert calls_of(function, range(2, 6), dynamic=True) == 1
    assert calls_of(function, range(2, 6), dynamic=False) == 4
    with torch._dynamo.config.patch(specialize_int=True):
        assert calls_of(function, range(2, 6)) == 4
    with torch._dynamo.config.patch(automatic_dynamic_shapes=False):
        assert calls_of(function, range(2, 6)) == 4
    with torch._dynamo.config.patch(assume_static_by_default=False):
        assert calls_of(function, range(2, 6)) == 1


def test_real_numbers_of_sizes():
    def function(x):
        scale = 0.5 * x.size(0) / math.sqrt(x.size(1))
        return x * scale + x.size(1) ** 0.5, x.size(0) / 3, scale

    for backend in ("eager", "inductor"):
        counter = CompileCounterWithBackend(backend)
        compiled = torch.compile(function, backend=counter, dynamic=True)
        for sizes in ((3, 4), (5, 6), (7, 9)):
            x = torch.randn(sizes)
            torch.testing.assert_close(compiled(x), function(x))
        assert counter.frame_count == 1


def test_the_check_of_sizes_leaves_the_thread_as_it_is():
    def function(x, n):
        with torch.no_grad():
            y = x + n
            width = y.shape[-1]
        return (x * width).sum()

    counter = CompileCounterWithBackend("eager")
    compiled = torch.compile(function, backend=counter)
    for n in (2, 3, 4):
        x = torch.randn(n, 6, requires_grad=True)
        assert compiled(x, n).requires_grad
        assert torch.is_grad_enabled()
    assert counter.frame_count == 2


def test_slices_by_the_size_of_another_tensor():
    def function(x, y):
        part = x[: y.size(0)]
        return part * 2, part.shape[0]

    table = torch.randn(8, 4)
    torch._dynamo.mark_static(table)
    compiled = torch.compile(function, backend="eager", dynamic=True)
    for size in (3, 5, 7, 9, 12):
        y = torch.randn(size)
        torch.testing.assert_close(compiled(table, y), function(table, y))


NUMBER = 0


def _in_a_dictionary(x, box):
    box["number"] = 4
    return x + 1


def _in_a_dictionary_by_update(x, box):
    box.update(number=4)
    return x + 1


def _after_use(x, box):
    x = x * box["number"]
    box["number"] = 0.5
    return x


def _in_a_global(x, box):
    global NUMBER
    NUMBER = 4
    return x + box["number"] * 0


@pytest.mark.parametrize("program", [_in_a_dictionary, _in_a_dictionary_by_update, _after_use, _in_a_global])
def test_what_is_written_in_place_of_a_number_that_varies(program):
    """Also where it is what was there when the program was compiled."""
    global NUMBER
    compiled = torch.compile(program, backend="eager")
    for number in (5, 4, 9, 4, 0.1, 0.2, 0.3, 0.5, 0.7, 0.5, 0.8, 6):
        found = []
        for call in (program, compiled):
            NUMBER, box = number, {"number": number}
            found.append((call(torch.ones(2), box).tolist(), box, NUMBER))
        assert found[0] == found[1]
