"""Every schedule compared with PyTorch: rates to the last bit, states, warnings and errors."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import torch_py

peer = pytest.importorskip("torch")

Make = Callable[[Any, Any], Any]


class Scale:
    """A callable with attributes, which are saved in the state."""

    def __init__(self, base: float) -> None:
        self.base = base

    def __call__(self, epoch: float) -> float:
        return self.base**epoch


def _sequence(s: Any, o: Any) -> Any:
    return s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=3), s.CosineAnnealingLR(o, 5), s.ExponentialLR(o, 0.9)], [3, 9]
    )


CASES: dict[str, Make] = {
    "lambda": lambda s, o: s.LambdaLR(o, lambda epoch: 0.95**epoch),
    "lambdas": lambda s, o: s.LambdaLR(o, [Scale(0.9), lambda epoch: 1 / (1 + epoch)]),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda epoch: 1 - 1 / (epoch + 2)),
    "step": lambda s, o: s.StepLR(o, 3, 0.3),
    "milestones": lambda s, o: s.MultiStepLR(o, [2, 5, 5, 8], 0.7),
    "constant": lambda s, o: s.ConstantLR(o, 0.3, 4),
    "linear": lambda s, o: s.LinearLR(o, 0.3, 0.9, 7),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.87),
    "polynomial": lambda s, o: s.PolynomialLR(o, 9, 1.7),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 4, 0.01),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3),
    "longer restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, 2, 0.01),
    "triangular": lambda s, o: s.CyclicLR(o, 0.01, [0.5, 0.6], 3, 5),
    "triangular2": lambda s, o: s.CyclicLR(o, 0.01, 0.5, 3, mode="triangular2"),
    "exp_range": lambda s, o: s.CyclicLR(
        o, [0.01, 0.02], 0.5, 3, mode="exp_range", gamma=0.9, cycle_momentum=False
    ),
    "cyclic function": lambda s, o: s.CyclicLR(o, 0.01, 0.5, 3, scale_fn=Scale(0.5), scale_mode="iterations"),
    "one cycle": lambda s, o: s.OneCycleLR(o, 0.5, 20),
    "one linear cycle": lambda s, o: s.OneCycleLR(
        o, [0.5, 0.6], epochs=5, steps_per_epoch=5, anneal_strategy="linear", pct_start=0.4
    ),
    "three phases": lambda s, o: s.OneCycleLR(o, 0.5, 30, three_phase=True, cycle_momentum=False),
    "chained": lambda s, o: s.ChainedScheduler(
        [s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9), s.CosineAnnealingLR(o, 6)]
    ),
    "sequential": _sequence,
    "restarts after": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.1, 4), s.CosineAnnealingWarmRestarts(o, 3, 2)], [4]
    ),
    "nested": lambda s, o: s.SequentialLR(
        o, [s.ChainedScheduler([s.StepLR(o, 2), s.ConstantLR(o)]), s.LambdaLR(o, lambda e: 0.9**e)], [5]
    ),
    "plateau": lambda s, o: s.ReduceLROnPlateau(o, factor=0.5, patience=1, cooldown=1),
    "plateau max": lambda s, o: s.ReduceLROnPlateau(o, "max", 0.5, 0, 0.05, "abs", min_lr=[0.05, 0.0]),
}
BETAS = ("one cycle", "triangular")
METRICS = [1.0, 0.9, 0.9, 0.95, 0.9, 0.5, 0.5, 0.5, 0.52, 0.6, 0.4, 0.4]


def start(library: Any, make: Make, kind: str = "SGD", tensor_lr: bool = False) -> tuple[Any, Any]:
    first, second = (library.ones(1, requires_grad=True) for _ in range(2))
    rate = library.tensor(0.1, dtype=library.float64) if tensor_lr else 0.1
    options = {"momentum": 0.9} if kind == "SGD" else {}
    optimizer = getattr(library.optim, kind)(
        [{"params": [first]}, {"params": [second], "lr": 0.3}], lr=rate, **options
    )
    return optimizer, make(library.optim.lr_scheduler, optimizer)


def settings(optimizer: Any) -> list[Any]:
    names = ("lr", "momentum", "betas", "initial_lr")
    return [
        [float(value) if name == "lr" else value for name in names if (value := group.get(name)) is not None]
        for group in optimizer.param_groups
    ]


def advance(optimizer: Any, schedule: Any, count: int = 12, offset: int = 0) -> list[Any]:
    """The settings after construction and after each step."""
    found = [settings(optimizer)]
    for number in range(count):
        optimizer.step()
        schedule.step(
            *([METRICS[(number + offset) % 12]] if type(schedule).__name__ == "ReduceLROnPlateau" else [])
        )
        assert [float(rate) for rate in schedule.get_last_lr()] == [
            float(group["lr"]) for group in optimizer.param_groups
        ]
        found.append(settings(optimizer))
    return found


@pytest.mark.parametrize("name", CASES)
def test_rates_are_pytorchs(name: str) -> None:
    assert advance(*start(torch_py, CASES[name])) == advance(*start(peer, CASES[name]))


@pytest.mark.parametrize("name", BETAS)
def test_first_beta_is_a_momentum(name: str) -> None:
    assert advance(*start(torch_py, CASES[name], "Adam")) == advance(*start(peer, CASES[name], "Adam"))


@pytest.mark.parametrize("name", ["step", "cosine", "linear", "polynomial", "plateau"])
def test_rate_that_is_a_tensor_stays_the_same_tensor(name: str) -> None:
    optimizer, schedule = start(torch_py, CASES[name], tensor_lr=True)
    rate = optimizer.param_groups[0]["lr"]
    found = [row[0][0] for row in advance(optimizer, schedule)]
    assert optimizer.param_groups[0]["lr"] is rate
    theirs = [row[0][0] for row in advance(*start(peer, CASES[name], tensor_lr=True))]
    assert found == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_states_cross(name: str) -> None:
    for source, target in ((torch_py, peer), (peer, torch_py)):
        first, restored = start(source, CASES[name]), start(target, CASES[name])
        advance(*first, 4)
        state = first[1].state_dict()
        # PyTorch stores additional functions in the state of CyclicLR.
        assert {key for key in state if key != "_scale_fn_ref"} == {
            key for key in restored[1].state_dict() if key != "_scale_fn_ref"
        }
        restored[0].load_state_dict(first[0].state_dict())
        restored[1].load_state_dict(copy.deepcopy(state))
        assert advance(*restored, 5, 4) == advance(*first, 5, 4)


@pytest.mark.parametrize(
    "name",
    [
        "step",
        "milestones",
        "constant",
        "linear",
        "exponential",
        "polynomial",
        "cosine",
        "lambda",
        "restarts",
        "longer restarts",
    ],
)
def test_jumps_to_an_epoch(name: str) -> None:
    found = []
    for library in (torch_py, peer):
        optimizer, schedule = start(library, CASES[name])
        optimizer.step()

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = []
            for epoch in (7, 2, 3, 11):
                schedule.step(epoch)
                rows.append(settings(optimizer))
        found.append(rows)

    assert found[0] == found[1]


CONTINUED: dict[str, Make] = {
    "step": lambda s, o: s.StepLR(o, 3, last_epoch=4),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 4, last_epoch=5),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, last_epoch=1),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.9, last_epoch=2),
    "polynomial": lambda s, o: s.PolynomialLR(o, 9, last_epoch=3),
    "lambda": lambda s, o: s.LambdaLR(o, lambda epoch: 0.9**epoch, last_epoch=6),
    "one cycle": lambda s, o: s.OneCycleLR(o, 0.5, 20, last_epoch=3),
}


@pytest.mark.parametrize("name", CONTINUED)
def test_continues_from_an_epoch(name: str) -> None:
    found = []
    for library in (torch_py, peer):
        optimizer, _ = start(library, CASES["one cycle"])
        schedules = library.optim.lr_scheduler
        made = CONTINUED[name](schedules, optimizer)
        found.append(advance(optimizer, made))
    assert found[0] == found[1]


def _warnings_of(library: Any, action: Callable[[Any, Any], None]) -> list[str]:
    optimizer, schedule = start(library, CASES["step"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action(optimizer, schedule)
    return [str(warning.message)[:50] for warning in caught]


def _replaced(optimizer: Any, schedule: Any) -> None:
    optimizer.step = lambda: None
    optimizer.step()
    schedule.step()


@pytest.mark.parametrize(
    "action, count",
    [
        (lambda o, s: s.step(), 1),
        (lambda o, s: (o.step(), s.step(), s.step()), 0),
        (lambda o, s: s.get_lr(), 1),
        (lambda o, s: (o.step(), s.step(3)), 1),
        (_replaced, 1),
    ],
)
def test_warnings(action: Callable[[Any, Any], None], count: int) -> None:
    assert _warnings_of(torch_py, action) == _warnings_of(peer, action)
    assert len(_warnings_of(torch_py, action)) == count


_BAD: list[tuple[Make, str]] = [
    (lambda s, o: s.LinearLR(o, 0), "start_factor=0"),
    (lambda s, o: s.LinearLR(o, 0.5, 2), "end_factor=2"),
    (lambda s, o: s.ConstantLR(o, 2), "factor=2"),
    (lambda s, o: s.LambdaLR(o, [abs]), "Expected 2 lr_lambdas, but got 1"),
    (lambda s, o: s.MultiplicativeLR(o, [abs]), "Expected 2"),
    (lambda s, o: s.CosineAnnealingWarmRestarts(o, 0), "T_0, but got 0"),
    (lambda s, o: s.CosineAnnealingWarmRestarts(o, 1.5), "T_0, but got 1.5"),
    (lambda s, o: s.CosineAnnealingWarmRestarts(o, 1, 0), "T_mult >= 1, but got 0"),
    (lambda s, o: s.CosineAnnealingWarmRestarts(o, 1, eta_min="x"), "eta_min"),
    (lambda s, o: s.CosineAnnealingWarmRestarts(o, 1).step(-1), "epoch, but got -1"),
    (lambda s, o: s.CyclicLR(o, 0.1, 1.0, mode="x"), "mode is invalid"),
    (lambda s, o: s.CyclicLR(o, [0.1], 1.0), "base_lr has 1 values, param_groups has 2"),
    (lambda s, o: s.OneCycleLR(o, 0.1), "You must define either"),
    (lambda s, o: s.OneCycleLR(o, 0.1, 0), "total_steps, but got 0"),
    (lambda s, o: s.OneCycleLR(o, 0.1, epochs=0, steps_per_epoch=1), "epochs, but got 0"),
    (lambda s, o: s.OneCycleLR(o, 0.1, epochs=1, steps_per_epoch=-1), "steps_per_epoch, but got -1"),
    (lambda s, o: s.OneCycleLR(o, 0.1, 9, pct_start=2), "pct_start, but got 2"),
    (lambda s, o: s.OneCycleLR(o, 0.1, 9, anneal_strategy="x"), "instead got x"),
    (lambda s, o: s.OneCycleLR(o, [0.1], 9), "max_lr has 1 values"),
    (
        lambda s, o: advance(o, s.OneCycleLR(o, 0.1, 2), 4),
        "Tried to step 3 times. The specified number of total steps is 2",
    ),
    (lambda s, o: s.SequentialLR(o, [], []), "at least one scheduler"),
    (lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], [1]), "number of schedulers 1"),
    (lambda s, o: s.SequentialLR(o, [1], []), "index 0 should have `optimizer`"),
    (lambda s, o: s.ChainedScheduler([]), "at least one scheduler"),
    (
        lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1), s.ReduceLROnPlateau(o)], [1]),
        "does not support `ReduceLROnPlateau`",
    ),
    (lambda s, o: s.ChainedScheduler([s.StepLR(o, 1), s.StepLR(copy.deepcopy(o), 1)]), "same optimizer"),
    (lambda s, o: s.StepLR(1, 1), "int is not an Optimizer"),
    (lambda s, o: s.ReduceLROnPlateau(o, factor=1.0), "Factor should be < 1.0"),
    (lambda s, o: s.ReduceLROnPlateau(o, "x"), "mode x is unknown"),
    (lambda s, o: s.ReduceLROnPlateau(o, threshold_mode="x"), "threshold mode x"),
    (lambda s, o: s.ReduceLROnPlateau(o, min_lr=[1]), "expected 2 min_lrs, got 1"),
    (lambda s, o: s.ReduceLROnPlateau(1), "int is not an Optimizer"),
    (lambda s, o: s.StepLR(o, 1, last_epoch=1), "param_groups\\[0\\] when resuming"),
    (lambda s, o: (o.defaults.pop("momentum"), s.CyclicLR(o, 0.1, 1.0)), "must support momentum or beta1"),
]


@pytest.mark.parametrize("make, message", _BAD)
def test_errors(make: Make, message: str) -> None:
    raised = []
    for library in (torch_py, peer):
        optimizer, _ = start(library, lambda schedules, optimizer: None)
        with pytest.raises(Exception) as caught:
            make(library.optim.lr_scheduler, optimizer)
        raised.append(caught)
    assert raised[0].type is raised[1].type and re.search(message, str(raised[0].value))


def test_plateau_after_a_group_was_added() -> None:
    optimizer, schedule = start(torch_py, lambda s, o: s.ReduceLROnPlateau(o, patience=0, factor=0.5))
    optimizer.add_param_group({"params": [torch_py.ones(1, requires_grad=True)], "lr": 8.0})
    schedule.step(1.0)
    schedule.step(1.0)
    assert [group["lr"] for group in optimizer.param_groups] == [0.05, 0.15, 4.0]
    optimizer, schedule = start(torch_py, lambda s, o: s.ReduceLROnPlateau(o, patience=0, min_lr=[0.0, 0.0]))
    optimizer.add_param_group({"params": [torch_py.ones(1, requires_grad=True)]})
    schedule.step(1.0)
    with pytest.raises(RuntimeError, match="number of param groups in the `optimizer` \\(3\\) differs"):
        schedule.step(1.0)
