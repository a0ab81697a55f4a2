"""Averaged models, their batch normalization statistics, and SWALR, compared with PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import torch_py

peer = pytest.importorskip("torch")


def models(library: Any) -> Any:
    nn = library.nn
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    with library.no_grad():
        for number, tensor in enumerate(model.state_dict().values()):
            tensor.copy_(library.arange(tensor.numel()).reshape(tensor.shape) * 0.1 + number)
    return model


def averaged(library: Any, arguments: Any) -> dict[str, Any]:
    model = models(library)
    average = library.optim.swa_utils.AveragedModel(model, **arguments(library.optim.swa_utils))
    for step in range(4):
        with library.no_grad():
            for tensor in model.state_dict().values():
                tensor.add_(step)
        average.update_parameters(model)
    return {name: tensor.tolist() for name, tensor in average.state_dict().items()}


def custom(average: Any, current: Any, count: Any) -> Any:
    return 0.5 * (average + current)


@pytest.mark.parametrize(
    "arguments",
    [
        lambda s: {},
        lambda s: {"use_buffers": True},
        lambda s: {"avg_fn": custom},
        lambda s: {"avg_fn": s.get_ema_avg_fn(0.9)},
        lambda s: {"multi_avg_fn": s.get_ema_multi_avg_fn(0.8), "use_buffers": True},
        lambda s: {"multi_avg_fn": s.get_swa_multi_avg_fn()},
        lambda s: {"avg_fn": s.get_swa_avg_fn(), "use_buffers": True},
        lambda s: {"device": "cpu"},
    ],
)
def test_averages(arguments: Any) -> None:
    ours, theirs = averaged(torch_py, arguments), averaged(peer, arguments)
    assert list(ours) == list(theirs)
    for name, value in theirs.items():
        assert torch_py.tensor(ours[name]).flatten().tolist() == pytest.approx(
            peer.tensor(value).flatten().tolist(), rel=1e-6
        ), name


def test_averaged_model_is_a_model() -> None:
    model = models(torch_py).eval()
    average = torch_py.optim.swa_utils.AveragedModel(model)
    x = torch_py.ones(4, 2)
    assert average(x).tolist() == model(x).tolist() and average.module[0].weight is not model[0].weight
    other = torch_py.optim.swa_utils.AveragedModel(models(torch_py))
    average.update_parameters(model)
    other.load_state_dict(average.state_dict())
    assert other.n_averaged.item() == 1


def test_update_bn() -> None:
    found = []
    for library in (torch_py, peer):
        model = models(library).eval()
        batches = [library.arange(8.0).reshape(4, 2), (library.arange(6.0).reshape(3, 2) * 2, "label")]
        library.optim.swa_utils.update_bn(batches, model, device="cpu")

        bn = model[1]
        found.append(
            [
                *bn.running_mean.tolist(),
                *bn.running_var.tolist(),
                bn.num_batches_tracked.item(),
                bn.momentum,
                bn.training,
            ]
        )

    assert found[0] == pytest.approx(found[1], rel=1e-6)

    without = torch_py.nn.Linear(2, 2)
    torch_py.optim.swa_utils.update_bn([None], without)  # without batch norm, the batches are not used


@pytest.mark.parametrize(
    "options",
    [{}, {"anneal_epochs": 3}, {"anneal_epochs": 0}, {"anneal_epochs": 4, "anneal_strategy": "linear"}],
)
@pytest.mark.parametrize("goal", [0.05, [0.05, 2.0]])
def test_swalr(options: dict[str, Any], goal: Any) -> None:
    rates = []
    for library in (torch_py, peer):
        tensors = [library.ones(1, requires_grad=True) for _ in range(2)]
        optimizer = library.optim.SGD([{"params": [tensors[0]]}, {"params": [tensors[1]], "lr": 1.0}], lr=0.3)

        before = library.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        schedule = library.optim.swa_utils.SWALR(optimizer, goal, **options)

        rows = []
        for step in range(12):
            rows.append([group["lr"] for group in optimizer.param_groups])
            optimizer.step()
            (before if step < 4 else schedule).step()

        rates.append(rows)
    assert rates[0] == rates[1]


@pytest.mark.parametrize(
    "make",
    [
        lambda s, m, o: s.AveragedModel(m, avg_fn=custom, multi_avg_fn=s.get_swa_multi_avg_fn()),
        lambda s, m, o: s.get_ema_avg_fn(2),
        lambda s, m, o: s.get_ema_multi_avg_fn(-1),
        lambda s, m, o: s.SWALR(o, [1.0, 2.0]),
        lambda s, m, o: s.SWALR(o, 0.1, -1),
        lambda s, m, o: s.SWALR(o, 0.1, 1.5),
        lambda s, m, o: s.SWALR(o, 0.1, anneal_strategy="x"),
    ],
)
def test_errors(make: Any) -> None:
    raised = []
    for library in (torch_py, peer):
        model = models(library)
        with pytest.raises(Exception) as caught:
            make(library.optim.swa_utils, model, library.optim.SGD(model.parameters()))
        raised.append((caught.type, str(caught.value)))
    assert raised[0] == raised[1]


def test_swapped_in_parameters_are_stepped() -> None:
    results = []
    for library in (torch_py, peer):
        live = library.ones(2, requires_grad=True)
        live.grad = library.ones(2)
        optimizer = library.optim.SGD([live], lr=0.1, momentum=0.9)
        optimizer.step()

        state = {
            "state": {0: {"momentum_buffer": library.full((2,), 5.0)}},
            "param_groups": optimizer.state_dict()["param_groups"],
        }

        other = library.zeros(2, requires_grad=True)
        other.grad = library.ones(2)
        with library.optim.swap_in_optimizer_params_and_state(optimizer, {"weight": other}, state):
            optimizer.step()

        kept = optimizer.state[live]["momentum_buffer"].tolist()
        results.append(
            [
                live.tolist(),
                other.tolist(),
                kept,
                state["state"][0]["momentum_buffer"].tolist(),
                optimizer.param_groups[0]["params"][0] is live,
            ]
        )

    assert results[0] == results[1]

    with pytest.raises(ValueError, match="there are 2 tensors"):
        with torch_py.optim.swap_in_optimizer_params_and_state(
            torch_py.optim.SGD([torch_py.ones(1)]), {"a": torch_py.ones(1), "b": torch_py.ones(1)}, state
        ):
            pass
