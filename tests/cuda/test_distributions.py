"""Random numbers on CUDA: their generator's known values, moments, and the same ones for every layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.subject import WITH_PEER, torch

pytestmark = pytest.mark.skipif(WITH_PEER, reason="the numbers of a seed are ours")

N = 40_000
Draw = Callable[[Any], Any]


@pytest.fixture(autouse=True)
def on_the_device() -> Iterator[None]:
    torch.manual_seed(0)
    torch.cuda.reset_host_fallbacks()
    yield
    drawn = {name for name in torch.cuda.host_fallbacks() if name in ON_DEVICE}
    assert not drawn, f"ran on the host: {drawn}"


ON_DEVICE = {
    "uniform_",
    "normal_",
    "random_",
    "random_.from",
    "random_.to",
    "_shuffled_",
    "bernoulli_.float",
    "exponential_",
    "cauchy_",
    "log_normal_",
    "geometric_",
    "poisson",
    "binomial",
    "_standard_gamma",
    "_standard_gamma_grad",
    "_sample_with_replacement",
}


def test_the_generator_gives_the_published_numbers():
    """Philox 4x32-10 of key 0 and counter 0, from the authors' known-answer tests."""
    words = [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    generator = torch.Generator("cuda").manual_seed(0)
    drawn = torch.empty(2, dtype=torch.int64, device="cuda").random_(generator=generator)
    wide = [(words[0] << 32 | words[1]), (words[2] << 32 | words[3])]
    assert drawn.tolist() == [word % 2**63 for word in wide]


# The distribution, its mean and its variance.
MOMENTS: dict[str, tuple[Draw, float, float]] = {
    "uniform": (lambda x: x.uniform_(-1, 3), 1, 16 / 12),
    "normal": (lambda x: x.normal_(2, 3), 2, 9),
    "exponential": (lambda x: x.exponential_(0.5), 2, 4),
    "bernoulli": (lambda x: x.bernoulli_(0.3), 0.3, 0.21),
    "geometric": (lambda x: x.geometric_(0.25), 4, 12),
    "log_normal": (lambda x: x.log_normal_(0, 0.5).log_(), 0, 0.25),
    "random": (lambda x: x.random_(0, 10), 4.5, 8.25),
    "poisson small": (lambda x: torch.poisson(x.fill_(3)), 3, 3),
    "poisson": (lambda x: torch.poisson(x.fill_(30)), 30, 30),
    "binomial": (lambda x: torch.binomial(x.fill_(50), torch.full_like(x, 0.3)), 15, 10.5),
    "binomial small": (lambda x: torch.binomial(x.fill_(5), torch.full_like(x, 0.3)), 1.5, 1.05),
    "gamma": (lambda x: torch._standard_gamma(x.fill_(2.5)), 2.5, 2.5),
    "gamma small": (lambda x: torch._standard_gamma(x.fill_(0.4)), 0.4, 0.4),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", MOMENTS)
def test_moments(name: str, dtype: Any):
    draw, mean, variance = MOMENTS[name]
    numbers = draw(torch.empty(N, dtype=dtype, device="cuda")).cpu().double()
    # Five standard errors of the mean; the variance has a wider distribution.
    assert abs(numbers.mean().item() - mean) < 5 * (variance / N) ** 0.5
    assert abs(numbers.var().item() / variance - 1) < 0.1


def test_the_median_of_cauchy_numbers():
    numbers = torch.empty(N, device="cuda").cauchy_(1, 2).cpu()
    assert abs(numbers.median().item() - 1) < 0.1
    assert abs(((numbers > -1) & (numbers < 3)).float().mean().item() - 0.5) < 0.02


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_layouts_get_the_same_numbers(dtype: Any):
    def drawn(tensor: Any) -> Any:
        torch.cuda.manual_seed(5)
        return tensor.normal_().cpu()

    flat = drawn(torch.empty(77, dtype=dtype, device="cuda"))
    assert torch.equal(drawn(torch.empty(7, 11, dtype=dtype, device="cuda")).flatten(), flat)
    assert torch.equal(drawn(torch.empty(154, dtype=dtype, device="cuda")[::2]), flat)
    assert torch.equal(drawn(torch.empty(78, dtype=dtype, device="cuda")[1:]), flat)


def test_draws_continue():
    torch.cuda.manual_seed(1)
    first = torch.rand(10, device="cuda")
    second = torch.rand(10, device="cuda")
    assert not torch.equal(first, second)
    torch.cuda.manual_seed(1)
    assert torch.equal(torch.rand(10, device="cuda"), first)
    assert torch.equal(torch.rand(10, device="cuda"), second)


def test_uniform_stays_below_its_end():
    numbers = torch.empty(N, dtype=torch.bfloat16, device="cuda").uniform_().cpu()
    assert numbers.min() >= 0 and numbers.max() < 1


@pytest.mark.parametrize("n", [0, 1, 2, 1001])
def test_permutations(n: int):
    drawn = torch.randperm(n, device="cuda").cpu()
    assert torch.equal(drawn.sort().values, torch.arange(n))
    assert n < 1000 or not torch.equal(drawn, torch.randperm(n, device="cuda").cpu())


def test_a_generator_of_the_cpu_is_refused():
    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator"):
        torch.rand(3, device="cuda", generator=torch.Generator())


def test_poisson_rates_are_checked():
    with pytest.raises(RuntimeError, match="poisson"):
        torch.poisson(torch.tensor([-1.0], device="cuda"))
        torch.cuda.synchronize()
    assert torch.rand(3, device="cuda").shape == (3,)


def test_samples_with_replacement_have_the_given_frequencies():
    weights = torch.tensor([[0.0, 1.0, 3.0, 0.0], [2.0, 0.0, 2.0, 4.0]], device="cuda")
    drawn = torch.multinomial(weights, N, replacement=True)
    assert drawn.shape == (2, N) and drawn.is_cuda

    for row in range(2):
        counts = torch.bincount(drawn[row].cpu(), minlength=4)
        expected = weights[row].cpu() / weights[row].cpu().sum()
        assert counts[expected == 0].sum() == 0
        # Five standard deviations.
        assert ((counts / N - expected).abs() < 5 * (expected * (1 - expected) / N).sqrt() + 1e-9).all()
    assert not torch.equal(drawn[0, 1:], drawn[0, :-1]) and drawn[0, :50].unique().numel() == 2


def test_samples_with_replacement_follow_the_seed():
    weights = torch.rand(500, dtype=torch.float64, device="cuda")
    drawn = [
        torch.multinomial(weights, 64, True, generator=torch.Generator("cuda").manual_seed(seed))
        for seed in (5, 5, 6)
    ]
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])
