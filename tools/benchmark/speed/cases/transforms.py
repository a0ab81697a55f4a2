"""Function transforms: gradients of single samples, batches of functions, Jacobians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..case import Case, Group


def gradients_of_samples(t: Any, network: Any, inputs: Any) -> Callable[[], Any]:
    """The gradient of the loss of each of 64 samples, with respect to every parameter."""
    parameters = {name: value.detach() for name, value in network.named_parameters()}
    labels = t.arange(len(inputs)) % 10

    def loss(parameters: Any, sample: Any, label: Any) -> Any:
        found = t.func.functional_call(network, parameters, (sample.unsqueeze(0),))
        return t.nn.functional.cross_entropy(found, label.unsqueeze(0))

    gradients = t.func.vmap(t.func.grad(loss), (None, 0, 0))
    return lambda: gradients(parameters, inputs, labels)


def of_layers(t: Any, x: Any) -> Callable[[], Any]:
    nn = t.nn
    network = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
    return gradients_of_samples(t, network, x(64, 64))


def of_images(t: Any, x: Any) -> Callable[[], Any]:
    nn = t.nn
    network = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 64, 10),
    )  # fmt: skip
    return gradients_of_samples(t, network, x(64, 3, 16, 16))


def batch_of_layers(t: Any, x: Any) -> Callable[[], Any]:
    first, second, third = (x(*shape) for shape in ((64, 128), (128, 128), (128, 10)))
    rows = x(64, 64)
    function = t.vmap(lambda row: t.tanh(t.tanh(row @ first) @ second) @ third)
    return lambda: function(rows)


def derivative(t: Any, x: Any, transform: str) -> Callable[[], Any]:
    """Of a function of 100 numbers."""
    matrix = x(100, 100)
    point = x(100)
    sums = transform == "hessian"

    def function(v: Any) -> Any:
        result = t.tanh(matrix @ v)
        return result.pow(2).sum() if sums else result

    transformed = getattr(t.func, transform)(function)
    return lambda: transformed(point)


GROUP = Group(
    "transforms",
    mean_goal=0.8,
    worst_goal=0.8,
    cases=(
        Case("gradients of 64 samples, 3 layers", of_layers),
        Case("gradients of 64 samples, small images", of_images),
        Case("vmap of 3 layers", batch_of_layers),
        Case("jacrev, 100 numbers", lambda t, x: derivative(t, x, "jacrev")),
        Case("jacfwd, 100 numbers", lambda t, x: derivative(t, x, "jacfwd")),
        Case("hessian, 100 numbers", lambda t, x: derivative(t, x, "hessian")),
    ),
)
