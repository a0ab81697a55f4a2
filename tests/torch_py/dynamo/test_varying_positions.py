"""Integers that are positions in tensors: bounds of slices, indices and counts; how often functions are
compiled, and that results are right for each."""

import pytest

import torch_py as torch
from torch_py import nn
from torch_py._dynamo.testing import CompileCounterWithBackend

BACKENDS = ["eager", "aot_eager", "inductor"]


def compilations(function, calls, backend="eager", **options):
    """How often a function is compiled. Results, and changes of arguments, must be those of eager mode."""
    torch._dynamo.reset()
    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(function, backend=counter, fullgraph=True, **options)
    for arguments in calls:
        copies = [value.clone() if isinstance(value, torch.Tensor) else value for value in arguments]
        torch.testing.assert_close(compiled(*arguments), function(*copies))
        torch.testing.assert_close(arguments, tuple(copies))
    return counter.frame_count


def of_each(*numbers):
    x = torch.randn(16, 24)
    return [(x, number) for number in numbers]


PROGRAMS = {
    "row": lambda x, n: x[n] * 2,
    "row from the end": lambda x, n: x[-n] * 2,
    "element": lambda x, n: x[n, n + 1] * 2,
    "first rows": lambda x, n: x[:n].exp(),
    "rows after": lambda x, n: x[n:].sum(0),
    "last rows": lambda x, n: x[-n:].exp(),
    "one row": lambda x, n: x[n : n + 1] + n,
    "columns": lambda x, n: x[..., None, :n].sin() @ x[:, :n, None].cos(),
    "size of a part": lambda x, n: x[:, n:] * x[:, n:].shape[1] + x[:n].numel(),
    "window": lambda x, n: x[:, n - 2 : n + 2].softmax(-1),
    "narrow": lambda x, n: x.narrow(0, n, 2) * 2,
    "length of narrow": lambda x, n: x.narrow(0, 1, n) * 2,
    "select": lambda x, n: x.select(1, n) * 2,
    "topk": lambda x, n: x.topk(n, 1)[0],
    "kthvalue": lambda x, n: x.kthvalue(n, 1)[0],
    "triangle": lambda x, n: x[:n, :n].softmax(-1) @ x[:n],
    "joined": lambda x, n: torch.cat([x[:n], x[n:]]) * n,
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_positions_are_compiled_twice(name, backend):
    assert compilations(PROGRAMS[name], of_each(*range(2, 14)), backend) == 2


@pytest.mark.parametrize("backend", BACKENDS)
def test_positions_in_a_table(backend):
    class Embedding(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Parameter(torch.randn(64, 8))
            self.register_buffer("mask", torch.ones(64, 64).tril())

        def forward(self, x, n):
            return (x + self.table[n : n + x.size(1)]) * self.mask[n, :n].sum() + self.table[:n].sum(0)

    module = Embedding()
    calls = [(torch.randn(2, 3, 8), n) for n in range(60)]
    assert compilations(module, calls, backend) == 3


class Attention(nn.Module):
    """Self-attention to a cache of fixed size."""

    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.register_buffer("keys", torch.zeros(1, heads, length, width // heads))
        self.register_buffer("values", torch.zeros(1, heads, length, width // heads))

    def forward(self, x, position):
        batch, length, width = x.shape
        split = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        query, key, value = split.unbind(0)
        self.keys[:, :, position : position + length] = key
        self.values[:, :, position : position + length] = value
        keys = self.keys[:, :, : position + length]
        values = self.values[:, :, : position + length]
        weights = (query @ keys.transpose(-1, -2) * keys.shape[-1] ** -0.5).softmax(-1)
        return self.out((weights @ values).transpose(1, 2).reshape(batch, length, width))


class Decoder(nn.Module):
    def __init__(self, layers=2, width=16, length=64):
        super().__init__()
        self.tokens = nn.Embedding(11, width)
        self.positions = nn.Parameter(torch.randn(length, width))
        self.layers = nn.ModuleList(Attention(width, 2, length) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens, position):
        x = self.tokens(tokens) + self.positions[position : position + tokens.shape[1]]
        for layer in self.layers:
            x = x + layer(self.norm(x), position)
        return x @ self.tokens.weight.t()


def generated(step, model, count):
    """The tokens and scores that a model gives, beginning with one token."""
    for layer in model.layers:
        layer.keys.zero_()
        layer.values.zero_()
    tokens = torch.zeros(1, 1, dtype=torch.int64)
    found = []
    with torch.no_grad():
        for position in range(count):
            scores = step(tokens, position)[:, -1]
            tokens = scores.argmax(-1, keepdim=True)
            found.append((tokens, scores))
    return found, [layer.keys.clone() for layer in model.layers]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("count", [50, 64])  # some of the cache, and all of it
def test_generation_with_a_cache(count, backend):
    torch.manual_seed(0)
    torch._dynamo.reset()
    model = Decoder()
    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(model, backend=counter, fullgraph=True)
    torch.testing.assert_close(generated(compiled, model, count), generated(model, model, count))
    assert counter.frame_count <= 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_prompts_and_then_one_token_at_a_time(backend):
    torch._dynamo.reset()
    model = Decoder()
    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(model, backend=counter, fullgraph=True)
    tokens = torch.randint(11, (1, 40))
    with torch.no_grad():
        for begin, end in ((0, 10), *((n, n + 1) for n in range(10, 40))):
            torch.testing.assert_close(
                compiled(tokens[:, begin:end], begin), model(tokens[:, begin:end], begin)
            )
    assert counter.frame_count <= 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_writes_to_a_cache(backend):
    def write(cache, row, n):
        cache[:, n] = row
        cache[0, n + 1 :].mul_(2)
        cache.index_copy_(1, torch.arange(n, n + 1), row[:, None] + 1)
        cache.index_copy_(1, torch.tensor([n + 1]), row[:, None] + 2)
        return cache[:, : n + 1].sum(1)

    calls = [(torch.randn(2, 40, 4), torch.randn(2, 4), n) for n in range(38)]
    assert compilations(write, calls, backend) <= 3


# Bounds are guards
# ------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_positions_behind_the_end(backend):
    """They clamp in slices."""
    calls = of_each(2, 3, 15, 16, 17, 20, 300, 4)
    assert compilations(lambda x, n: x[:n] * 2, calls, backend) <= 3
    assert compilations(lambda x, n: x[n:].sum(0), calls, backend) <= 3
    assert compilations(lambda x, n: x[-n:] * 2, calls, backend) <= 3


def _assert_same_outcome(compiled, function, *arguments):
    """Results are close, or both calls raise the same kind of error."""
    try:
        expected = function(*arguments)
    except (IndexError, RuntimeError) as error:
        with pytest.raises(type(error)):
            compiled(*arguments)
    else:
        torch.testing.assert_close(compiled(*arguments), expected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: x[n] * 2,
        lambda x, n: x[-n] * 2,
        lambda x, n: x.select(0, n) * 2,
        lambda x, n: x.narrow(0, n, 3) * 2,
        lambda x, n: x.topk(n, 0)[0] * 2,
    ],
)
def test_indices_behind_the_end_raise(function, backend):
    compiled = torch.compile(function, backend=backend)
    x = torch.randn(16, 3)
    for n in (2, 3, 9, 13, 15, 16, 17, 5):
        _assert_same_outcome(compiled, function, x, n)


@pytest.mark.parametrize("backend", BACKENDS)
def test_positions_in_tensors_of_other_sizes(backend):
    """The sizes vary as well, and get smaller than positions that were seen before."""

    def check(function, shapes):
        compiled = torch.compile(function, backend=backend)
        for rows, n in shapes:
            x = torch.randn(rows, 4)
            _assert_same_outcome(compiled, function, x, n)

    shapes = [(20, 2), (30, 5), (25, 7), (6, 5), (6, 9), (12, 11), (12, 12), (50, 40), (9, 2)]
    check(lambda x, n: x[n] * 2, shapes)
    check(lambda x, n: x[:n] * 2, shapes)
    check(lambda x, n: x[n:].sum(0) + n, shapes)
    check(lambda x, n: x.select(0, n) * 2, shapes)
    check(lambda x, n: x.narrow(0, 1, n) * 2, shapes)
    check(lambda x, n: x.topk(n, 0)[0], shapes)


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_positions(backend):
    def function(x, start, stop):
        return x[start:stop] * 2, x[start:stop].shape[0], x.narrow(0, start, 3)

    pairs = [(2, 5), (3, 9), (4, 6), (10, 30), (30, 35), (5, 4), (7, 7), (36, 39)]
    x = torch.randn(40, 3)
    compilations(function, [(x, *pair) for pair in pairs], backend)


# Attributes
# ------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_counter_in_a_module(backend):
    class Steps(nn.Module):
        def __init__(self):
            super().__init__()
            self.step = 0

        def forward(self, x):
            self.step += 1
            return x * self.step

    torch._dynamo.reset()
    module = Steps()
    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(module, backend=counter, fullgraph=True)
    for step in range(1, 30):
        assert compiled(torch.ones(1)).item() == step
        assert module.step == step
        assert type(module.step) is int
    assert counter.frame_count <= 3
    module.step = 2
    assert compiled(torch.ones(1)).item() == 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_position_in_an_object(backend):
    class Cache:
        def __init__(self):
            self.memory = torch.zeros(2, 40)
            self.position = 0

        def append(self, column):
            self.memory[:, self.position] = column
            self.position += 1
            return self.memory[:, : self.position]

    torch._dynamo.reset()
    caches = Cache(), Cache()
    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(lambda cache, x: cache.append(x).sum(1) * 2, backend=counter, fullgraph=True)
    for step in range(30):
        x = torch.randn(2)
        found, expected = compiled(caches[0], x), caches[1].append(x).sum(1) * 2
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(caches[0].memory, caches[1].memory)
        assert caches[0].position == step + 1
    assert counter.frame_count <= 3


def test_counters_of_many_layers():
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.position = 0
            self.register_buffer("memory", torch.zeros(32))

        def forward(self, x):
            self.memory[self.position] = x.sum()
            self.position += 1
            return x + self.memory[: self.position].sum()

    torch._dynamo.reset()
    model, same = (nn.Sequential(*(Layer() for _ in range(12))) for _ in range(2))
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(model, backend=counter, fullgraph=True)
    for step in range(20):
        x = torch.randn(3) * 1e-3
        torch.testing.assert_close(compiled(x), same(x))
        assert [layer.position for layer in model] == [step + 1] * 12
    assert counter.frame_count <= 3


def test_numbers_of_classes_and_globals():
    class Settings:
        scale = 2

    def function(x):
        return x * Settings.scale + OFFSETS["first"]

    counter = CompileCounterWithBackend("eager")
    compiled = torch.compile(function, backend=counter)
    for scale in range(2, 12):
        Settings.scale = scale
        OFFSETS["first"] = 100 * scale
        assert compiled(torch.ones(1)).item() == 101 * scale
    assert counter.frame_count == 2


OFFSETS = {"first": 0}


def test_attributes_that_python_needs_as_numbers():
    """Such as the position in a list: code is for each of them, as long as there are few."""

    class Layer(nn.Module):
        def __init__(self, position):
            super().__init__()
            self.position = position

        def forward(self, x, factors):
            return x * factors[self.position]

    counter = CompileCounterWithBackend("eager")
    compiled = torch.compile(lambda layer, x, factors: layer(x, factors), backend=counter)
    for position in range(6):
        found = compiled(Layer(position), torch.ones(1), [10.0, 11.0, 12.0, 13.0, 14.0, 15.0])
        assert found.item() == 10.0 + position
    assert counter.frame_count == 6


# Gradients
# ------------------------------------------------------------


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("name", ["row", "first rows", "last rows", "one row", "narrow", "joined", "topk"])
def test_gradients_of_positions(name, backend):
    torch._dynamo.reset()
    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(PROGRAMS[name], backend=counter, fullgraph=True)
    for n in range(2, 14):
        x = torch.randn(16, 24, requires_grad=True)
        (found,) = torch.autograd.grad(compiled(x, n).square().sum(), x)
        (expected,) = torch.autograd.grad(PROGRAMS[name](x, n).square().sum(), x)
        torch.testing.assert_close(found, expected)
    assert counter.frame_count == 2


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "draw",
    [
        lambda n, generator: torch.randperm(n),
        lambda n, generator: torch.randint(n, (3,)),
        lambda n, generator: torch.randperm(n, generator=generator),
        lambda n, generator: torch.rand(n),
    ],
)
def test_random_numbers_of_a_number_that_varies(draw, backend):
    """They are drawn once, also where the call is tried with other numbers."""
    generator = torch.Generator()
    compiled = torch.compile(draw, backend=backend)
    for n in (5, 6, 7, 9):
        outcomes = []
        for function in (draw, compiled):
            torch.manual_seed(n)
            generator.manual_seed(n)
            outcomes.append([function(n, generator), torch.rand(1), torch.rand(1, generator=generator)])
        torch.testing.assert_close(outcomes[1], outcomes[0], rtol=0, atol=0)


def test_positions_in_a_table_that_was_small_once():
    """A position with few possible values is a constant while the table is small, and nothing else is."""
    counter = CompileCounterWithBackend("eager")
    compiled = torch.compile(lambda x, table, n: x + table[n : n + 1], backend=counter)
    calls = [(4, 6, 2), (4, 6, 3), *((5 + n, 60, 7 + n) for n in range(6))]
    for size, rows, position in calls:
        x, table = torch.ones(size), torch.arange(float(rows))
        assert torch.equal(compiled(x, table, position), x + position)
    assert counter.frame_count == 3
