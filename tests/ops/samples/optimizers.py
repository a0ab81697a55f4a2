"""Samples of fused optimizer steps: lists of parameters, gradients and state that belong together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_SGD = dict(
    weight_decay=0.1, momentum=0.9, lr=0.1, dampening=0.0, nesterov=True, maximize=False, is_first_step=False
)


_ADAM = dict(lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.1, eps=1e-3, amsgrad=False, maximize=False)


_ADAGRAD = dict(lr=0.1, lr_decay=0.1, weight_decay=0.1, eps=1e-3, maximize=False)


def _lists(make: Make, states: int, steps: bool) -> list[Any]:
    """Parameters and gradients of three shapes, positive states, and step counts."""
    columns = [
        [make(2, 3, requires_grad=False), make(requires_grad=False), make(17, requires_grad=False)]
        for _ in range(2)
    ]

    columns += [
        [make(*shape, low=0.5, requires_grad=False) for shape in ((2, 3), (), (17,))] for _ in range(states)
    ]

    count = (
        [[make.torch.tensor(3.0, dtype=make.torch.float32, device=make.device) for _ in range(3)]]
        if steps
        else []
    )

    return columns + count


def _calls(
    make: Make,
    states: int,
    steps: bool,
    options: dict[str, Any],
    *others: dict[str, Any],
    tensor_lr: bool = False,
) -> Iterator[SampleInput]:
    if not make.is_floating or make.requires_grad:
        return

    def call(lists: list[Any], **changes: Any) -> SampleInput:
        keywords = {**options, **changes}
        if tensor_lr:
            keywords["lr"] = make.torch.tensor(keywords["lr"], device=make.device)
        if keywords.get("momentum") == 0:
            lists[2] = []
        if keywords.get("amsgrad") is False:
            lists[4] = []
        return SampleInput(*lists, **keywords)

    for changes in ({}, *others):
        yield call(_lists(make, states, steps), **changes)


def _sgd(make: Make, tensor_lr: bool = False) -> Iterator[SampleInput]:
    others = (
        {"nesterov": False, "maximize": True},
        {"is_first_step": True},
        {"momentum": 0.0, "nesterov": False},
    )
    return _calls(make, 1, False, _SGD, *others, tensor_lr=tensor_lr)


def _adam(make: Make, tensor_lr: bool = False) -> Iterator[SampleInput]:
    return _calls(
        make, 3, True, _ADAM, {"amsgrad": True, "weight_decay": 0.0}, {"maximize": True}, tensor_lr=tensor_lr
    )


def _adagrad(make: Make, tensor_lr: bool = False) -> Iterator[SampleInput]:
    return _calls(make, 1, True, _ADAGRAD, {"weight_decay": 0.0, "maximize": True}, tensor_lr=tensor_lr)


@samples("fused_sgd")
def fused_sgd(make: Make) -> Iterator[SampleInput]:
    return _sgd(make)


@samples("fused_sgd_tensor_lr")
def fused_sgd_tensor_lr(make: Make) -> Iterator[SampleInput]:
    return _sgd(make, tensor_lr=True)


@samples("fused_adam")
def fused_adam(make: Make) -> Iterator[SampleInput]:
    return _adam(make)


@samples("fused_adam_tensor_lr")
def fused_adam_tensor_lr(make: Make) -> Iterator[SampleInput]:
    return _adam(make, tensor_lr=True)


@samples("fused_adagrad")
def fused_adagrad(make: Make) -> Iterator[SampleInput]:
    return _adagrad(make)


@samples("fused_adagrad_tensor_lr")
def fused_adagrad_tensor_lr(make: Make) -> Iterator[SampleInput]:
    return _adagrad(make, tensor_lr=True)


@error_samples("fused_sgd")
def fused_sgd_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput([make(3)], [], [make(3)], **_SGD), RuntimeError, "grads has 0 tensors for 1 parameters"
    )
    yield ErrorInput(SampleInput([make(3)], [make(4)], [make(3)], **_SGD), RuntimeError, "has sizes")


@error_samples("fused_adam")
def fused_adam_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput([make(3)], [make(3)], [make(3)], [make(3)], [], [], **_ADAM),
        RuntimeError,
        "state_steps has 0 tensors for 1",
    )


@samples("count_steps")
def count_steps(make: Make) -> Iterator[SampleInput]:
    if make.requires_grad or make.is_bool:
        return
    yield SampleInput([make(), make(), make()])
    yield SampleInput([make()], make.torch.tensor(0.0, device=make.device))
    yield SampleInput([make()], make.torch.tensor(1.0, device=make.device))


@error_samples("count_steps")
def count_steps_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput([make()], make.torch.zeros(2)), RuntimeError, "found_inf must have one element"
    )
