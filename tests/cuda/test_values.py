"""What looks at the values of CUDA tensors: generators, anomaly mode, gradcheck, clipping, scaling."""

from __future__ import annotations

import pytest

from tests.subject import torch


def on_cuda(values, **options):
    return torch.tensor(values, device="cuda", **options)


@pytest.mark.parametrize(
    "draw",
    [
        lambda generator: torch.randperm(20, generator=generator, device="cuda"),
        lambda generator: torch.poisson(torch.full((20,), 30.0, device="cuda"), generator=generator),
        lambda generator: torch.multinomial(torch.ones(9, device="cuda"), 20, True, generator=generator),
        lambda generator: torch.empty(20, device="cuda").uniform_(generator=generator),
    ],
)
def test_the_generator_of_the_device_decides(draw):
    generator = torch.Generator(device="cuda")
    first, second, again = (draw(generator.manual_seed(seed)) for seed in (1, 2, 1))
    assert torch.equal(first, again) and not torch.equal(first, second)
    assert first.device.type == "cuda"

    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
        draw(torch.Generator())


def test_draws_go_on():
    torch.manual_seed(3)
    numbers = [torch.rand(8, device="cuda") for _ in range(2)]
    assert not torch.equal(*numbers)
    torch.manual_seed(3)
    assert torch.equal(torch.rand(8, device="cuda"), numbers[0])


def test_factors_without_exchanged_rows():
    matrix = on_cuda([[2.0, 1.0, 3.0], [4.0, 1.0, 1.0], [6.0, 5.0, 1.0]], dtype=torch.float64)
    factors, pivots = torch.linalg.lu_factor(matrix, pivot=False)
    assert pivots.tolist() == [1, 2, 3]
    torch.testing.assert_close(factors.tril(-1).add(torch.eye(3, device="cuda")) @ factors.triu(), matrix)

    with pytest.raises(RuntimeError, match=r"U\[1,1\] is zero"):
        torch.linalg.lu_factor(on_cuda([[0.0, 1.0], [1.0, 0.0]]), pivot=False)


def test_failed_factorisations_are_reported():
    with pytest.raises(torch.linalg.LinAlgError, match=r"Batch element 1.*order 2"):
        torch.linalg.cholesky(on_cuda([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]]))


def test_gradients_of_singular_matrices():
    matrix = on_cuda([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    torch.linalg.det(matrix).backward()
    torch.testing.assert_close(matrix.grad.cpu(), torch.tensor([[4.0, -2.0], [-2.0, 1.0]]))


def test_anomaly_mode_finds_nan():
    x = on_cuda([0.0], requires_grad=True)
    with pytest.warns(UserWarning), torch.autograd.detect_anomaly():
        with pytest.raises(RuntimeError, match="MulBackward0.*nan"):
            (x * 0).sqrt().sum().backward()


def test_gradcheck():
    x = torch.rand(3, dtype=torch.float64, device="cuda", requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: x.sin() * x, x)
    assert torch.autograd.gradcheck(lambda x: x.sin() * x, x, fast_mode=True)
    assert torch.autograd.gradgradcheck(lambda x: x.sin() * x, x)


def test_clips_gradients_of_several_devices(two_devices):
    weights = [torch.zeros(1, device=f"cuda:{k}", requires_grad=True) for k in range(2)]
    for weight, value in zip(weights, (3.0, 4.0)):
        weight.grad = torch.full_like(weight, value)

    norm = torch.nn.utils.clip_grad_norm_(weights, 1.0)
    assert norm.item() == 5.0
    assert [round(weight.grad.item(), 4) for weight in weights] == [0.6, 0.8]


def test_scales_losses():
    weight = on_cuda([1.0], requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)

    scaler.scale((weight * 3).sum()).backward()
    assert weight.grad.item() == 12.0
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [-0.5] and scaler.get_scale() == 4.0

    weight.grad = torch.full_like(weight, float("inf"))
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [-0.5] and scaler.get_scale() == 2.0


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "LBFGS"])
def test_optimizers_take_the_steps_of_the_cpu(name):
    torch.testing.assert_close(after_three_steps(name, "cuda").cpu(), after_three_steps(name, "cpu"))


def after_three_steps(name, device):
    weight = torch.linspace(-1, 1, 5, device=device).requires_grad_()
    optimizer = getattr(torch.optim, name)([weight], lr=0.1)

    def loss():
        optimizer.zero_grad()
        value = (weight.exp() - 2).square().sum()
        value.backward()
        return value

    for _ in range(3):
        optimizer.step(loss)
    return weight.detach()
