"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor


@contextmanager
def _replaced(module: Any, tensors: Mapping[str, Tensor], tie_weights: bool, strict: bool) -> Iterator[None]:
    """Parameters and buffers of `module` replaced by name, and back at the end."""
    places: dict[str, tuple[dict[str, Any], str]] = {}
    by_identity: dict[int, list[str]] = {}
    for prefix, owner in module.named_modules(remove_duplicate=False):
        for table in (owner._parameters, owner._buffers):
            for name, value in table.items():
                full = f"{prefix}.{name}" if prefix else name
                places[full] = (table, name)
                if value is not None:
                    by_identity.setdefault(id(value), []).append(full)

    unknown = [name for name in tensors if name not in places]
    if strict and (unknown or set(places) - set(tensors)):
        raise RuntimeError(
            f"functional_call: missing key(s): {sorted(set(places) - set(tensors))}, unexpected key(s): "
            f"{unknown}"
        )

    wanted = {name: tensor for name, tensor in tensors.items() if name in places}
    if tie_weights:
        for names in by_identity.values():
            several = {id(tensors[name]) for name in names if name in tensors}
            if len(several) > 1:
                tied = [name for name in names if name in tensors]
                raise ValueError(
                    f"functional_call got multiple values for keys {tied}, which are tied. Consider using "
                    "tie_weights=False"
                )
            given = next((tensors[name] for name in names if name in tensors), None)
            wanted.update({name: given for name in names if given is not None and name not in tensors})

    before = {name: places[name][0][places[name][1]] for name in wanted}
    try:
        for name, value in wanted.items():
            places[name][0][places[name][1]] = value
        yield
    finally:
        for name, value in before.items():
            places[name][0][places[name][1]] = value


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`module(*args, **kwargs)` with parameters and buffers replaced by name; the module is as before
    afterwards.

    Args:
        module: the module to call
        parameter_and_buffer_dicts: tensors by full name, or several such dicts with different names
        args: the positional arguments of the call: a tuple, or a single argument
        kwargs: the keyword arguments of the call, a dict; default None
        tie_weights: whether names that mean one tensor in the module are replaced together; default True
        strict: whether each parameter and buffer must be given, and nothing else; otherwise those that are
            missing keep their values, and other names are ignored; default False

    Example:
        >>> layer = nn.Linear(2, 1, bias=False)
        >>> torch.func.functional_call(layer, {"weight": torch.ones(1, 2)}, (torch.ones(1, 2),))
        tensor([[2.]])
    """
    dicts = (
        [parameter_and_buffer_dicts]
        if isinstance(parameter_and_buffer_dicts, Mapping)
        else parameter_and_buffer_dicts
    )

    if not isinstance(dicts, (list, tuple)) or not all(isinstance(one, Mapping) for one in dicts):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, "
            f"but got {type(parameter_and_buffer_dicts)}"
        )

    tensors: dict[str, Tensor] = {}
    for one in dicts:
        repeated = sorted(set(tensors) & set(one))
        if repeated:
            raise ValueError(
                f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
            )
        tensors.update(one)

    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, tensors, tie_weights, strict):
        return module(*positional, **(kwargs or {}))


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Parameters and buffers of modules of one architecture, each stacked over the models; for `vmap` over an
    ensemble.

    Raises RuntimeError for no models, models in different modes, or of different classes.

    Args:
        models: the modules

    Example:
        >>> parameters, buffers = torch.func.stack_module_state([nn.Linear(2, 1) for _ in range(3)])
        >>> parameters["weight"].shape
        torch.Size([3, 1, 2])
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(tables: list[dict[str, Tensor]], differentiable: bool) -> dict[str, Tensor]:
        result = {}
        for name, first in tables[0].items():
            joined = _C._torch.stack([table[name].detach() for table in tables])
            result[name] = joined.requires_grad_(first.requires_grad) if differentiable else joined
        return result

    parameters = stacked([dict(model.named_parameters()) for model in models], True)
    return parameters, stacked([dict(model.named_buffers()) for model in models], False)


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Batch normalizations in `root`, and `root` itself, use the statistics of the batch alone: vmap cannot
    write running ones. Returns `root`.

    Changes the module in place: running statistics are dropped.

    Args:
        root: the module

    Example:
        >>> model = torch.func.replace_all_batch_norm_modules_(nn.BatchNorm1d(3))
        >>> model.running_mean is None
        True
    """
    # Imported on first use: the transforms do without torch.nn.
    from torch_py.nn.modules.batchnorm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
