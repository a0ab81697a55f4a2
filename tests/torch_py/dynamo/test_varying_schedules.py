"""Real numbers that a program computes from a step: schedules are compiled for all steps, not for each."""

import math
from typing import Any

import pytest

import torch_py as torch
from torch_py._dynamo.testing import CompileCounterWithBackend

# With the graphs for steps from 0 to 11: one each for 0 and 1, and one for each branch of later ones.
SCHEDULES: dict[str, tuple[Any, int]] = {
    "linear": (lambda x, step: x * (step / 10), 3),
    "warmup by min": (lambda x, step: x * min(step / 10, 1.0), 4),
    "warmup by a branch": (lambda x, step: x * (step / 10 if step / 10 < 0.5 else 1.0), 4),
    "warmup of integers": (lambda x, step: x * min(1.0, (step + 1) * 0.125), 4),
    "floor by max": (lambda x, step: x * max(0.1, 1 - step / 10), 4),
    "decay": (lambda x, step: x * 0.9**step, 3),
    "decay of a quotient": (lambda x, step: x * 0.5 ** (step / 5), 3),
    "inverse square root": (lambda x, step: x * (step + 1) ** -0.5, 3),
    "noam": (lambda x, step: x * 64**-0.5 * min((step + 1) ** -0.5, (step + 1) * 4**-1.5), 4),
    "cosine": (lambda x, step: x * (0.5 * (1 + math.cos(math.pi * step / 10))), 3),
    "exponential": (lambda x, step: x * math.exp(-step / 100), 3),
    "logarithm": (lambda x, step: x * math.log(step + 2), 3),
    "square root": (lambda x, step: x / math.sqrt(step + 1), 3),
    "bias": (lambda x, step: x / math.sqrt(1 - 0.999 ** (step + 1)), 3),
    "growth": (lambda x, step: x * 1.1**step, 3),
    "exponential growth": (lambda x, step: x * math.exp(-6.9 + 4.6 * step / 10), 3),
    "range": (lambda x, step: x * (1e-5 * 10 ** (step / 10)), 3),
    "triangle": (lambda x, step: x * abs(step / 4 - 1), 4),
    "polynomial": (lambda x, step: x * (1 - step / 20) ** 0.9, 3),
    "bias correction": (lambda x, step: x * (0.1 * step) - x.sign() * (0.1 * step / (1.1 - 0.9**step)), 3),
    "equality": (lambda x, step: x * 3 if step / 4 == 2.0 else x * (step / 4), 4),
    "truth": (lambda x, step: x * 3 if step / 4 - 2 else x * 2, 4),
}


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_are_compiled_for_all_steps(name: str, backend: str) -> None:
    schedule, expected = SCHEDULES[name]
    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(schedule, backend=counter)
    x = torch.linspace(0.5, 2, 5, dtype=torch.float64)
    for step in range(12):
        torch.testing.assert_close(compiled(x, step), schedule(x, step), rtol=1e-14, atol=0)
    assert counter.frame_count == expected

    for step in (9, 10, 100, 999, 20_000, 10**6):
        if name in ("growth", "exponential growth", "range", "polynomial") and step > 100:
            break  # too large, or complex
        torch.testing.assert_close(compiled(x, step), schedule(x, step), rtol=1e-14, atol=0)


class _Annealed(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)
        self.step = 0

    def forward(self, x: Any) -> Any:
        self.step += 1
        weight = min(1.0, self.step / 20) * 0.99**self.step * math.cos(self.step / 90)
        return (self.layer(x) * weight).sum(), weight


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_step_in_a_module_and_its_gradients(backend: str) -> None:
    found = []
    counter = CompileCounterWithBackend(backend)
    for compiles in (False, True):
        torch.manual_seed(0)
        module = _Annealed()
        call = torch.compile(module, backend=counter) if compiles else module
        results = []
        for _ in range(30):
            loss, weight = call(torch.ones(2, 3))
            loss.backward()
            results.append((loss, weight))
        found.append([results, module.layer.weight.grad])
    torch.testing.assert_close(*found)
    assert counter.frame_count <= 4


@pytest.mark.parametrize(
    "choose",
    [
        lambda n, m: max(n - m * m, 0.5),
        lambda n, m: min(n, 5.5),
        lambda n, m: sorted([n, 4.5, m, 7.0]),
        lambda n, m: sorted((n, 6.5), reverse=True),
        lambda n, m: max([m, n, 3.0], key=lambda one: -one),
        lambda n, m: min([m, n], key=lambda one: one if one > 5 else 5.5),
        lambda n, m: max([[n, 1.5], [m, 2.5], [6.5, 1.0]]),
        lambda n, m: (6.5 > n, 8.0 == m, m != 8.0),
        lambda n, m: (6.5, 1) < (n, m),
        lambda n, m: [n, m] == [8.0, 9],
        lambda n, m: {"n": 8.0} == {"n": n},
        lambda n, m: 8.0 in [n, m],
        lambda n, m: n in (8.0, 3),
        lambda n, m: [n, m].count(8.0),
        lambda n, m: (8.0, 9.0).count(n),
        lambda n, m: [8.0, 3.0, n].index(n),
        lambda n, m: {8.0: 1}.get(n),
        lambda n, m: {n, 8.0, m} == {8, 9},
        lambda n, m: max((n, m), default=2.5),
        lambda n, m: n if n > m / 2 else m / 2,
        lambda n, m: (n * 2j, 2j * n, n / 3 + 1j, 1j - m / 3, n == 1j, (n + 0j) == n, 1j**n),
        lambda n, m: (True + n, True * n, False - n, True < n, True / n, True // n, True & n, True**n),
        lambda n, m: (math.prod([n, 1j]), math.prod([n, 0.5]), math.prod([True, n]), sum([True, n, 0.5, 1j])),
        lambda n, m: (math.prod([n, [m]]), math.prod(iter([n, 2])), math.prod((m, n), start=0.5)),
        lambda n, m: (n == None, None != m / 2, n == "8", [n, "8"]),  # noqa: E711
        lambda n, m: (complex(n, m), divmod(n / 2, 3), 7.5 // n, n // 2.5, 7.5 % n, n % 2.5, True / n),
    ],
)
def test_integers_beside_real_numbers(choose: Any) -> None:
    def function(x: Any, n: int, m: int) -> Any:
        return x + 1, choose(n, m)

    compiled = torch.compile(function, backend="eager")
    pairs = (8, 9), (10, 3), (3, 8), (8, 3), (20, 7), (4, 6), (8, 8), (5, 8), (60, 2)
    for pair in pairs:
        assert compiled(torch.ones(1), *pair)[1] == choose(*pair)


def test_the_larger_number_is_compiled_for_each_branch() -> None:
    counter = CompileCounterWithBackend("eager")
    compiled = torch.compile(lambda x, n: x * min(n, 20.5), backend=counter)
    for n in range(2, 40):
        assert compiled(torch.ones(1), n).item() == min(n, 20.5)
    assert counter.frame_count == 3


def test_real_numbers_are_returned() -> None:
    def function(x: Any, n: int) -> Any:
        return (
            x + n,
            (n * 0.5) ** 2,
            (-1.5) ** n,
            -((n + 1) ** 0.5),
            math.exp(n / 7) - (1 - n / 3),
            2.0 ** (-n / 4),
        )

    compiled = torch.compile(function, backend="aot_eager")
    for n in range(2, 9):
        assert compiled(torch.ones(1), n)[1:] == function(torch.ones(1), n)[1:]


def test_parameters_with_the_names_of_what_code_uses() -> None:
    def function(graph: Any, math_: Any, math: Any) -> Any:
        return graph + 1, _root(graph.size(0)) * 2, math, math_

    compiled = torch.compile(function, backend="aot_eager", dynamic=True, fullgraph=True)
    arguments = torch.ones(5), torch.ones(2), torch.zeros(3)
    torch.testing.assert_close(compiled(*arguments), function(*arguments))


def _root(number: int) -> float:
    return math.sqrt(number)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: x * (n * (n % 2)),
        lambda x, n: (x, n * (n % 3), n),
        lambda x, n: (x, n - 1, (n // 2) * 2, n + n % 3),
        lambda x, n: x if n * (n % 2) > 10 else x * 2,
        lambda x, n: x * (n / 7) + x * (math.tanh(n / 10) * (n / 7)),
        lambda x, n: (x * (n / 7), x * (n / 7 + 0.5**n)),
        lambda x, n: (x.long() * (n - 1), x.long() * (n - 1.0), x.long() * (n - True)),
        lambda x, n: x * (-1.0) ** n + x * (-0.9) ** n,
        lambda x, n: x * 2 if math.sqrt(n * 5 - 10) > 4 else x * 3,
        lambda x, n: x * 2 if 1 / (n - 1) > 0.15 else x * 3,
        lambda x, n: x * 2 if n / 2 < 2**70 and n / 2 != 10**400 else x,
        lambda x, n: (x + n, n * math.inf, n - math.inf, n / math.inf),
        lambda x, n: torch.add(x, x, alpha=n / 4) + torch.addcmul(x, x, x, value=n / 3),
        lambda x, n: (x, n in {"a": 8.0}.values()),
    ],
)
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_formulas_that_are_easily_taken_for_others(function: Any, backend: str) -> None:
    compiled = torch.compile(function, backend=backend)
    x = torch.tensor([0.5, 1.5, -2.0])
    for n in (7, 9, 8, 12, 10, 3, 5, 2, 6, 30):
        torch.testing.assert_close(compiled(x, n), function(x, n))


def _tries(compute: Any, error: type[Exception]) -> Any:
    def function(x: Any, n: int) -> Any:
        try:
            value = compute(n)
        except error:
            return x * 2, -1.0
        return x * value, value

    return function


@pytest.mark.parametrize(
    "function",
    [
        _tries(lambda n: math.log(n - 3), ValueError),
        _tries(lambda n: math.sqrt(n - 3), ValueError),
        _tries(lambda n: 1 / (n - 3), ZeroDivisionError),
        _tries(lambda n: (n - 3) ** -1, ZeroDivisionError),
        _tries(lambda n: (n - 3) ** -0.5, (ZeroDivisionError, TypeError)),
        _tries(lambda n: math.exp(n * 100), OverflowError),
        _tries(lambda n: 10.0 ** (n * 60), OverflowError),
    ],
)
@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_errors_of_numbers_reach_the_handlers(function: Any, backend: str) -> None:
    compiled = torch.compile(function, backend=backend)
    x = torch.ones(2)
    for n in (0, 2, 8, 5, 6, 9, 3, 4, 20):
        torch.testing.assert_close(compiled(x, n), function(x, n))


def _squared(x: Any, n: int) -> Any:
    k = n * 0.1
    for _ in range(12):
        k = k * k * 0.1 + k * 0.5
    return x * k


def _decayed(x: Any, n: int) -> Any:
    k = n * 1.0
    for _ in range(150):
        k = k * 0.999 + 0.001
    return x * k


@pytest.mark.parametrize("function", [_squared, _decayed])
def test_long_formulas_do_not_vary(function: Any) -> None:
    compiled = torch.compile(function, backend="aot_eager")
    for n in (3, 4, 5):
        assert torch.equal(compiled(torch.ones(2), n), function(torch.ones(2), n))


def test_powers_that_are_too_large_or_complex_fix_their_step() -> None:
    for function in (lambda x, n: x * 1.5**n, lambda x, n: x * abs((-1.5) ** (n / 2))):
        compiled = torch.compile(function, backend="aot_eager")
        for step in range(2, 7):
            assert torch.equal(compiled(torch.ones(2), step), function(torch.ones(2), step))
    compiled = torch.compile(lambda x, n: x * 1.5**n, backend="aot_eager")
    for step in (3, 4):
        compiled(torch.ones(2), step)
    with pytest.raises(OverflowError):
        compiled(torch.ones(2), 5000)


def test_errors_of_functions_are_those_of_python() -> None:
    compiled = torch.compile(lambda x, n: x * math.log(n - 5), backend="aot_eager")
    for step in (7, 8, 9):
        assert torch.equal(compiled(torch.ones(2), step), torch.ones(2) * math.log(step - 5))
    for step in (5, 4):
        with pytest.raises(ValueError, match="math domain error|positive"):
            compiled(torch.ones(2), step)


def test_the_reason_shows_the_formula(capsys: pytest.CaptureFixture[str]) -> None:
    torch._logging.set_logs(recompiles=True)
    try:
        compiled = torch.compile(lambda x, n: x * min(n / 10, 1.0), backend="eager")
        for step in (2, 3, 12):
            compiled(torch.ones(2), step)
    finally:
        torch._logging.set_logs()
    assert "L['n']/10 <= 1.0 does not hold" in capsys.readouterr().err
