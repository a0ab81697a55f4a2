"""Runs a layer, function, optimizer or scheduler of either library and returns comparable results."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tests.ops.comparison import to_numpy

_RANDOM = ("dropout", "rrelu", "fractional", "gumbel", "transformer")
_STEPS = 5


def is_random(name: str) -> bool:
    return any(part in name.lower() for part in _RANDOM)


def layer(module: Any, name: str, values: dict[str, Any]) -> Any:
    own = {key: value for key, value in values.items() if not key.startswith("forward.")}
    made = getattr(module.nn, name)(**own)

    if is_random(name):
        made.eval()
    if name.startswith("Lazy"):
        made(**_forward(values))

    state = _same_parameters(module, made)
    inputs = [
        value.requires_grad_() if _can_have_gradient(value) else value for value in _forward(values).values()
    ]

    result = made(**dict(zip(_forward(values), inputs)))
    return [
        repr(made),
        sorted(state),
        result,
        *_gradients(module, result, [*inputs, *made.parameters()]),
        *made.buffers(),
    ]


def _forward(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key.removeprefix("forward."): value for key, value in values.items() if key.startswith("forward.")
    }


def _can_have_gradient(value: Any) -> bool:
    return (
        hasattr(value, "requires_grad_")
        and (value.is_floating_point() or value.is_complex())
        and value.is_leaf
    )


def _same_parameters(module: Any, made: Any) -> dict[str, Any]:
    """The state, in which parameters have numbers that do not depend on their initialisation."""
    with module.no_grad():
        for parameter in made.parameters():
            values = module.from_numpy((np.cos(np.arange(parameter.numel()) * 0.7) * 0.5).astype("float32"))
            parameter.copy_(values.reshape(parameter.shape))
    return made.state_dict()  # type: ignore[no-any-return]


def _gradients(module: Any, result: Any, inputs: list[Any]) -> list[Any]:
    wanted = [value for value in inputs if hasattr(value, "requires_grad") and value.requires_grad]
    outputs = [value for value in _tensors(result) if value.requires_grad]
    if not wanted or not outputs:
        return []
    total = sum(
        (value * value).real.sum() if value.is_complex() else (value * value).sum() for value in outputs
    )
    return list(module.autograd.grad(total, wanted, allow_unused=True))


def _tensors(result: Any) -> list[Any]:
    if isinstance(result, (list, tuple)):
        return [tensor for item in result for tensor in _tensors(item)]
    return [result] if hasattr(result, "requires_grad") else []


def function(module: Any, name: str, values: dict[str, Any]) -> Any:
    words = dict(values)
    positional = [words.pop("input")] if "input" in words else []
    return getattr(module.nn.functional, name)(*positional, **words)


def initialisation(module: Any, name: str, values: dict[str, Any]) -> Any:
    words = dict(values)
    tensor = words.pop("tensor")
    result = getattr(module.nn.init, name)(tensor, **words)
    return [result is tensor, result]


def optimizer(module: Any, name: str, values: dict[str, Any]) -> Any:
    parameters = [
        module.nn.Parameter(module.from_numpy(np.linspace(-1, 1, 6, dtype="float32").reshape(2, 3)))
        for _ in range(2)
    ]

    made = getattr(module.optim, name)(parameters, **values)

    for step in range(_STEPS):
        for number, parameter in enumerate(parameters):
            parameter.grad = module.from_numpy(
                np.sin(np.arange(6, dtype="float32").reshape(2, 3) + step + number)
            )
        made.step()
    return [*parameters, _plain(made.state_dict())]


def scheduler(module: Any, name: str, values: dict[str, Any]) -> Any:
    parameters = [module.nn.Parameter(module.ones(2)) for _ in range(2)]
    optimizer = module.optim.SGD(
        [{"params": parameters[:1]}, {"params": parameters[1:], "lr": 0.3}], lr=0.1, momentum=0.9
    )
    made = getattr(module.optim.lr_scheduler, name)(optimizer, **_with_lambda(name, values))
    rates = []
    for step in range(_STEPS):
        rates.append([[float(group["lr"]), float(group["momentum"])] for group in optimizer.param_groups])
        optimizer.step()
        made.step(*([1.0 / (step % 3 + 1)] if name == "ReduceLROnPlateau" else []))
    return [np.array(rates), sorted(made.state_dict()), made.last_epoch]


def _with_lambda(name: str, values: dict[str, Any]) -> dict[str, Any]:
    return (
        {**values, "lr_lambda": lambda epoch: 0.9**epoch}
        if name in ("LambdaLR", "MultiplicativeLR")
        else values
    )


def _plain(value: Any) -> Any:
    """Dictionaries as sorted lists of pairs."""
    if isinstance(value, dict):
        return [
            [str(key), _plain(item)] for key, item in sorted(value.items(), key=lambda pair: str(pair[0]))
        ]
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def difference(name: str, ours: Any, theirs: Any, path: str = "result") -> str | None:
    """The first difference of what two runs gave, as "kind: where and what"."""

    if isinstance(theirs, (list, tuple)):
        if not isinstance(ours, (list, tuple)) or len(ours) != len(theirs):
            return f"form: {path}: {ours!r}, PyTorch {theirs!r}"
        found = (difference(name, a, b, f"{path}[{index}]") for index, (a, b) in enumerate(zip(ours, theirs)))
        return next((text for text in found if text is not None), None)

    if isinstance(theirs, torch.Tensor):
        return _tensor_difference(name, ours, theirs, path)
    if isinstance(theirs, np.ndarray):
        return (
            None
            if np.allclose(ours, theirs, rtol=1e-6, equal_nan=True)
            else f"values: {path}: {ours.tolist()}, PyTorch {theirs.tolist()}"
        )

    if type(ours).__name__ != type(theirs).__name__ and str(ours) != str(theirs):
        return f"form: {path}: {ours!r}, PyTorch {theirs!r}"
    return (
        None
        if str(ours).replace("torch_py.", "torch.") == str(theirs)
        else f"text: {path}: {ours!r}, PyTorch {theirs!r}"
    )


def _tensor_difference(name: str, ours: Any, theirs: torch.Tensor, path: str) -> str | None:
    if not hasattr(ours, "shape"):
        return f"form: {path}: {ours!r}, PyTorch gives a tensor"

    dtypes = [str(tensor.dtype).split(".")[-1] for tensor in (ours, theirs)]
    if tuple(ours.shape) != tuple(theirs.shape) or dtypes[0] != dtypes[1]:
        return f"form: {path}: {dtypes[0]} {tuple(ours.shape)}, PyTorch {dtypes[1]} {tuple(theirs.shape)}"
    if is_random(name) or name.endswith(("uniform_", "normal_", "orthogonal_", "sparse_")):
        return None

    found, expected = to_numpy(ours), to_numpy(theirs)
    tolerance = {"float16": 4e-3, "bfloat16": 3e-2, "float64": 1e-6}.get(dtypes[1], 2e-4)
    with np.errstate(all="ignore"):
        close = np.isclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)

    if np.all(close):
        return None
    where = tuple(int(index) for index in np.argwhere(~np.asarray(close))[0])
    return f"values: {path}{list(where)}: {found[where]!r}, PyTorch {expected[where]!r}"
