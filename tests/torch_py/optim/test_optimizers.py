"""Optimizers and schedules: known numbers, parameter groups, state dicts and errors."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.subject import WITH_PEER, only_torch_py, torch

nn = torch.nn
optim = torch.optim
lr_scheduler = torch.optim.lr_scheduler


def trained(make: Any, steps: int = 4) -> list[float]:
    weight = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    optimizer = make([weight])
    for step in range(steps):
        optimizer.zero_grad()
        ((weight * weight).sum() * (step + 1) + weight.sum()).backward()
        optimizer.step()
    return weight.tolist()


@pytest.mark.parametrize(
    "make, expected",
    [
        (lambda p: optim.SGD(p, lr=0.1), [-0.0944, -0.2096, -0.0176]),
        (lambda p: optim.SGD(p, lr=0.01, momentum=0.9), [0.572657, -1.390881, 1.881682]),
        (
            lambda p: optim.SGD(p, lr=0.01, momentum=0.9, nesterov=True, weight_decay=0.1),
            [0.424092, -1.148542, 1.472515],
        ),
        (
            lambda p: optim.SGD(p, lr=0.01, momentum=0.9, dampening=0.5, maximize=True),
            [1.295451, -2.392693, 3.754213],
        ),
        (lambda p: optim.Adam(p, lr=0.1), [0.602622, -1.61337, 2.607891]),
        (lambda p: optim.Adam(p, lr=0.1, weight_decay=0.5, betas=(0.5, 0.9)), [0.580349, -1.57401, 2.575037]),
        (lambda p: optim.Adam(p, lr=0.1, amsgrad=True, maximize=True), [1.390072, -2.381131, 3.3891]),
        (lambda p: optim.AdamW(p, lr=0.1, weight_decay=0.5), [0.44467, -1.267867, 2.077916]),
    ],
)
def test_trajectories(make: Any, expected: list[float]) -> None:
    assert trained(make) == pytest.approx(expected, abs=3e-6)


def test_groups_have_settings_of_their_own() -> None:
    a, b, c = (torch.zeros(1, requires_grad=True) for _ in range(3))
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 0.5}], lr=0.1)
    optimizer.add_param_group({"params": [c], "lr": 2.0})
    (a + b + c).backward()
    optimizer.step()
    assert (a.item(), b.item(), c.item()) == pytest.approx((-0.1, -0.5, -2.0))
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.5, 2.0]


def test_parameters_without_gradient_stay() -> None:
    a, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    optimizer = optim.Adam([a, b])
    (a * 2).sum().backward()
    optimizer.step()
    assert b.item() == 1.0
    assert b not in optimizer.state
    assert set(optimizer.state[a]) == {"step", "exp_avg", "exp_avg_sq"}


def test_zero_grad() -> None:
    a = torch.ones(1, requires_grad=True)
    optimizer = optim.SGD([a], lr=1)
    (a * 2).sum().backward()
    optimizer.zero_grad(set_to_none=False)
    assert a.grad.tolist() == [0.0]
    optimizer.zero_grad()
    assert a.grad is None


def test_closure_is_evaluated_with_gradients() -> None:
    a = torch.ones(1, requires_grad=True)
    optimizer = optim.SGD([a], lr=0.5)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (a * a).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 1.0 and a.item() == 0.0


def test_step_is_not_recorded() -> None:
    a = torch.ones(1, requires_grad=True)
    a.grad = torch.ones(1)
    optim.SGD([a], lr=1).step()
    assert a.requires_grad and a.grad_fn is None


@pytest.mark.parametrize(
    "make", [lambda p: optim.SGD(p, lr=0.1, momentum=0.9), lambda p: optim.Adam(p, lr=0.1, amsgrad=True)]
)
def test_state_dict_continues_a_run(make: Any) -> None:
    def step(weight: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        (weight * weight).sum().backward()
        optimizer.step()

    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    optimizer = make([weight])
    step(weight, optimizer)
    twin = weight.detach().clone().requires_grad_()
    other = make([twin])
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for _ in range(3):
        step(weight, optimizer)
        step(twin, other)
    assert weight.tolist() == twin.tolist()
    state = optimizer.state_dict()
    assert state["param_groups"][0]["params"] == [0] and list(state["state"]) == [0]


def test_state_takes_the_dtype_of_its_parameter() -> None:
    single, double = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True, dtype=torch.float64)
    first, second = optim.Adam([single]), optim.Adam([double])
    single.grad = torch.ones(1)
    first.step()
    second.load_state_dict(first.state_dict())
    assert second.state[double]["exp_avg"].dtype == torch.float64
    assert second.state[double]["step"].dtype == torch.float32


def test_state_of_another_shape_is_an_error() -> None:
    a, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    state = optim.SGD([a], lr=1).state_dict()
    with pytest.raises(ValueError, match="doesn't match the size"):
        optim.SGD([a, b], lr=1).load_state_dict(state)
    with pytest.raises(ValueError, match="different number of parameter groups"):
        optim.SGD([{"params": [a]}, {"params": [b]}], lr=1).load_state_dict(state)


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda p: optim.SGD(p, lr=-1), ValueError, "Invalid learning rate: -1"),
        (lambda p: optim.SGD(p, lr=1, momentum=-1), ValueError, "Invalid momentum value: -1"),
        (
            lambda p: optim.SGD(p, lr=1, nesterov=True),
            ValueError,
            "Nesterov momentum requires a momentum and zero dampening",
        ),
        (lambda p: optim.Adam(p, betas=(1.0, 0.9)), ValueError, "Invalid beta parameter at index 0: 1.0"),
        (lambda p: optim.Adam(p, eps=-1), ValueError, "Invalid epsilon value: -1"),
        (lambda p: optim.SGD([], lr=1), ValueError, "empty parameter list"),
        (lambda p: optim.SGD(p[0], lr=1), TypeError, "should be an iterable of Tensors or dicts"),
        (lambda p: optim.SGD([1], lr=1), TypeError, "can only optimize Tensors"),
        (lambda p: optim.SGD([p[0] * 2], lr=1), ValueError, "can't optimize a non-leaf Tensor"),
        (
            lambda p: optim.SGD([{"params": p}, {"params": p}], lr=1),
            ValueError,
            "appear in more than one parameter group",
        ),
    ],
)
def test_errors(make: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        make([torch.ones(1, requires_grad=True)])


def test_step_hooks() -> None:
    calls = []
    a = torch.ones(1, requires_grad=True)
    optimizer = optim.SGD([a], lr=1)
    optimizer.register_step_pre_hook(lambda *arguments: calls.append("before"))
    handle = optimizer.register_step_post_hook(lambda *arguments: calls.append("after"))
    optimizer.step()
    handle.remove()
    optimizer.step()
    assert calls == ["before", "after", "before"]


def test_repr() -> None:
    text = repr(optim.SGD([torch.ones(1, requires_grad=True)], lr=0.5))
    assert text.startswith("SGD (\nParameter Group 0\n    dampening: 0\n") and "    lr: 0.5\n" in text


# Schedules
# ------------------------------------------------------------


def rates(make: Any, steps: int = 7) -> list[float]:
    weight = torch.zeros(1, requires_grad=True)
    optimizer = optim.SGD([weight], lr=1.0)
    schedule = make(optimizer)
    result = []
    for _ in range(steps):
        result.append(schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()
    return result


@pytest.mark.parametrize(
    "make, expected",
    [
        (lambda o: lr_scheduler.StepLR(o, 2, 0.5), [1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.125]),
        (
            lambda o: lr_scheduler.CosineAnnealingLR(o, 3, 0.1),
            [1.0, 0.775, 0.325, 0.1, 0.325, 0.775, 1.0, 0.775, 0.325],
        ),
        (lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 0.9**epoch), [1.0, 0.9, 0.81, 0.729]),
        (lambda o: lr_scheduler.MultiStepLR(o, [2, 2, 4], 0.1), [1.0, 1.0, 0.01, 0.01, 0.001, 0.001]),
        (lambda o: lr_scheduler.ExponentialLR(o, 0.5), [1.0, 0.5, 0.25, 0.125]),
        (lambda o: lr_scheduler.LinearLR(o, 0.5, 1.0, 4), [0.5, 0.625, 0.75, 0.875, 1.0, 1.0]),
        (lambda o: lr_scheduler.ConstantLR(o, 0.5, 2), [0.5, 0.5, 1.0, 1.0]),
    ],
)
def test_schedules(make: Any, expected: list[float]) -> None:
    assert rates(make, len(expected)) == pytest.approx(expected)


def test_schedule_state_continues() -> None:
    optimizer = optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    schedule = lr_scheduler.StepLR(optimizer, 2)
    optimizer.step()
    schedule.step()
    state = schedule.state_dict()
    assert "optimizer" not in state and state["last_epoch"] == 1
    other = lr_scheduler.StepLR(optimizer, 5)
    other.load_state_dict(state)
    assert other.step_size == 2 and other.last_epoch == 1


def test_plateau() -> None:
    optimizer = optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
    for metric in (1.0, 1.0, 1.0, 0.5):
        schedule.step(metric)
    assert optimizer.param_groups[0]["lr"] == 0.5


def test_wrong_order_warns() -> None:
    schedule = lr_scheduler.StepLR(optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0), 1)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        schedule.step()
    with pytest.raises(TypeError, match="is not an Optimizer"):
        lr_scheduler.StepLR(1, 1)


@pytest.mark.skipif(WITH_PEER, reason="compares the two libraries")
@pytest.mark.parametrize(
    "make",
    [
        lambda m, o: m.StepLR(o, 2),
        lambda m, o: m.MultiStepLR(o, [2, 4, 4]),
        lambda m, o: m.ExponentialLR(o, 0.9),
        lambda m, o: m.ConstantLR(o),
        lambda m, o: m.CosineAnnealingLR(o, 5),
        lambda m, o: m.ReduceLROnPlateau(o, patience=0),
    ],
)
def test_states_of_schedules_are_pytorchs(make: Any) -> None:
    peer = pytest.importorskip("torch")

    def start(library: Any) -> tuple[Any, Any]:
        optimizer = library.optim.SGD([library.ones(1, requires_grad=True)], lr=0.1)
        return optimizer, make(library.optim.lr_scheduler, optimizer)

    def advance(optimizer: Any, schedule: Any, count: int) -> list[float]:
        found = []
        for _ in range(count):
            optimizer.step()
            schedule.step(*([1.0] if type(schedule).__name__ == "ReduceLROnPlateau" else []))
            found.append(optimizer.param_groups[0]["lr"])
        return found

    for source, target in ((torch, peer), (peer, torch)):
        first, restored = start(source), start(target)
        advance(*first, 3)
        restored[0].load_state_dict(first[0].state_dict())
        restored[1].load_state_dict(first[1].state_dict())
        assert advance(*restored, 5) == pytest.approx(advance(*first, 5))


def test_milestones_are_counted() -> None:
    optimizer = optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    state = lr_scheduler.MultiStepLR(optimizer, [4, 2, 4]).state_dict()
    assert dict(state["milestones"]) == {2: 1, 4: 2} and type(state["milestones"]).__name__ == "Counter"


def test_plateau_takes_a_least_rate_per_group() -> None:
    optimizer = optim.SGD(
        [{"params": [torch.ones(1, requires_grad=True)]}, {"params": [torch.ones(1, requires_grad=True)]}],
        lr=1.0,
    )
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.1, patience=0, min_lr=[0.5, 0.0])
    for _ in range(3):
        schedule.step(1.0)
    assert [group["lr"] for group in optimizer.param_groups] == pytest.approx([0.5, 0.01])


def test_rates_out_of_range_are_named_whatever_their_type() -> None:
    with pytest.raises(ValueError, match="Invalid beta parameter at index 1: 1"):
        torch.optim.Adam([torch.ones(1, requires_grad=True)], betas=(0.5, 1))


def test_nan_rates_are_refused() -> None:
    x = [nn.Parameter(torch.ones(2, 2))]
    nan = float("nan")
    torch.optim.SGD(x, lr=nan, momentum=nan, weight_decay=nan)
    for kind in (torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adagrad, torch.optim.LBFGS):
        with pytest.raises(ValueError, match="Invalid learning rate: nan"):
            kind(x, lr=nan)
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        torch.optim.SGD(x, lr=-1)


@only_torch_py
@pytest.mark.parametrize("lists", [([], 1), ([], 0), (1, 2)])
def test_fused_loops_check_the_lengths_of_their_lists(lists: Any) -> None:
    parameters, gradients = (
        ([] if not count else [torch.ones(2)] * count) for count in ((lists[0] or 0), lists[1])
    )

    settings = {
        "lr": 0.1,
        "tensor_lr": None,
        "weight_decay": 0.0,
        "momentum": 0.0,
        "dampening": 0.0,
        "nesterov": False,
        "maximize": False,
        "is_first_step": True,
        "grad_scale": None,
        "found_inf": None,
    }

    loop = torch._C._ops._sgd_loop_
    if len(parameters) == len(gradients):
        loop(parameters, gradients, [], **settings)
    else:
        with pytest.raises(RuntimeError, match="expected lists of"):
            loop(parameters, gradients, [], **settings)


@only_torch_py
def test_a_first_step_that_is_skipped_leaves_no_momentum() -> None:
    parameter = nn.Parameter(torch.ones(3))
    sgd = optim.SGD([parameter], lr=0.5, momentum=0.9, fused=True)
    for found_inf in (1.0, 0.0):
        sgd.found_inf = torch.tensor(found_inf)
        sgd.grad_scale = torch.tensor(1.0)
        parameter.grad = torch.ones(3)
        sgd.step()
        assert parameter.tolist() == ([1.0] * 3 if found_inf else [0.5] * 3)
    assert sgd.state[parameter]["momentum_buffer"].tolist() == [1.0] * 3
    assert parameter.tolist() == [0.5] * 3


@pytest.mark.parametrize("truthy", [1, "yes"])
@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "Adagrad"])
def test_any_true_value_maximizes(kind: str, truthy: Any) -> None:
    parameter = nn.Parameter(torch.zeros(2))
    optimizer = getattr(optim, kind)([parameter], lr=0.1, maximize=truthy)
    parameter.grad = torch.ones(2)
    optimizer.step()
    assert (parameter > 0).all()
