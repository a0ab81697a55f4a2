"""The layers, functions, initialisations, optimizers and schedulers that `tools.fuzz --layers` calls.

The parameters come from the signatures, values that work from a search over candidates by name
(`layer_values.BY_NAME`).
"""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch

import torch_py
from codegen.schema import FunctionSchema

from . import layer_runs, layer_values

_LIMIT = 4000  # combinations tried for one target


@dataclass(frozen=True)
class Parameter:
    name: str
    default: Any
    required: bool
    of_call: bool = False  # of a layer: of forward, not of the constructor


@dataclass(frozen=True)
class Target:
    group: str
    name: str
    parameters: tuple[Parameter, ...] = field(compare=False, hash=False)

    def run(self, module: Any, values: dict[str, Any]) -> Any:
        """The result of the target in the library ``module`` for ``values``, by parameter name.

        The names of arguments of a layer's forward() start with "forward.".
        """
        given = {name: layer_values.built(value, module) for name, value in values.items()}
        return RUNS[self.group](module, self.name, given)

    def __str__(self) -> str:
        return f"{self.group}.{self.name}"


RUNS: dict[str, Callable[[Any, str, dict[str, Any]], Any]] = {
    "nn": layer_runs.layer,
    "nn.functional": layer_runs.function,
    "nn.init": layer_runs.initialisation,
    "optim": layer_runs.optimizer,
    "lr_scheduler": layer_runs.scheduler,
}
# They take other modules, callables, lists of tensors, or three shapes that must meet; tests of their own
# call them.
_LEFT_ALONE = {
    "nn": (
        "Module",
        "Sequential",
        "ModuleList",
        "ModuleDict",
        "ParameterList",
        "ParameterDict",
        "TransformerEncoder",
        "TransformerDecoder",
        "DataParallel",
        "Parameter",
        "UninitializedParameter",
        "UninitializedBuffer",
        "Buffer",
        "Container",
        "TripletMarginWithDistanceLoss",
        "RNNBase",
        "RNNCellBase",
    ),
    "nn.functional": (
        "grouped_mm",
        "triplet_margin_with_distance_loss",
        "multi_head_attention_forward",
        "linear_cross_entropy",
    ),
    "nn.init": ("calculate_gain",),
    "optim": ("Optimizer", "LBFGS", "SparseAdam"),
    "lr_scheduler": ("LRScheduler", "ChainedScheduler", "SequentialLR"),
}
_IGNORED = """
    device args kwargs _weight _freeze params optimizer generator out size_average reduce
    custom_encoder custom_decoder _stacklevel foreach fused capturable differentiable inplace
    distance_function _random_samples scale_fn lr_lambda
""".split()
# Parameters behind *args and **kwargs, and defaults that alone do not work.
_RECURRENT = {
    "input_size": 4,
    "hidden_size": 3,
    "num_layers": 1,
    "bias": True,
    "batch_first": False,
    "dropout": 0.0,
    "bidirectional": False,
}
_MORE: dict[str, dict[str, Any]] = {
    "nn.RNN": {**_RECURRENT, "nonlinearity": "tanh"},
    "nn.GRU": _RECURRENT,
    "nn.LSTM": {**_RECURRENT, "proj_size": 0},
    "nn.Transformer": {
        "d_model": 4,
        "nhead": 2,
        "num_encoder_layers": 1,
        "num_decoder_layers": 1,
        "dim_feedforward": 8,
    },
    **dict.fromkeys(
        ("nn.Upsample", "nn.UpsamplingBilinear2d", "nn.UpsamplingNearest2d"), {"scale_factor": 2}
    ),
    **dict.fromkeys(
        (
            f"nn.functional.{name}"
            for name in ("interpolate", "upsample", "upsample_bilinear", "upsample_nearest")
        ),
        {"scale_factor": 2},
    ),
    **dict.fromkeys(("nn.FractionalMaxPool2d", "nn.FractionalMaxPool3d"), {"output_size": 2}),
    **dict.fromkeys(
        (f"nn.functional.fractional_max_pool{count}d_with_indices" for count in (2, 3)), {"output_size": 2}
    ),
    "lr_scheduler.OneCycleLR": {"total_steps": 8},
}


@cache
def targets() -> tuple[Target, ...]:
    return tuple(
        [*_layers(), *_functions(), *_of_module("nn.init"), *_of_module("optim"), *_of_module("lr_scheduler")]
    )


def _layers() -> Iterator[Target]:
    for name, kind in _public("nn"):
        if inspect.isclass(kind) and issubclass(kind, torch_py.nn.Module):
            made = _parameters(getattr(torch.nn, name).__init__, False)
            named = {parameter.name for parameter in made}
            made += tuple(
                Parameter(more, value, False)
                for more, value in _MORE.get(f"nn.{name}", {}).items()
                if more not in named
            )
            yield Target("nn", name, (*made, *_parameters(getattr(torch.nn, name).forward, True)))


def _functions() -> Iterator[Target]:
    for name, function in _public("nn.functional"):
        if (
            inspect.isclass(function)
            or name.startswith("has_torch")
            or not hasattr(torch.nn.functional, name)
        ):
            continue
        try:
            parameters = _parameters(getattr(torch.nn.functional, name), False)
        except ValueError:  # written in C++
            parameters = _by_schema(name)
        if parameters:
            yield Target("nn.functional", name, parameters)


def _of_module(group: str) -> Iterator[Target]:
    module = torch.optim.lr_scheduler if group == "lr_scheduler" else getattr(torch, group.split(".")[0])
    module = module.init if group == "nn.init" else module
    for name, value in _public(group):
        if (inspect.isclass(value) or group == "nn.init") and (group != "nn.init" or name.endswith("_")):
            yield Target(group, name, _parameters(getattr(module, name), False))


def _public(group: str) -> list[tuple[str, Any]]:
    module: Any = torch_py
    for part in ("optim.lr_scheduler" if group == "lr_scheduler" else group).split("."):
        module = getattr(module, part)

    here = [
        (name, getattr(module, name))
        for name in sorted(dir(module))
        if not name.startswith("_") and name not in _LEFT_ALONE[group]
    ]

    foreign = ("typing", "collections")
    return [
        (name, value)
        for name, value in here
        if callable(value) and getattr(value, "__module__", "").split(".")[0] not in foreign
    ]


def _parameters(function: Any, of_call: bool) -> tuple[Parameter, ...]:
    prefix = "forward." if of_call else ""
    return tuple(
        Parameter(
            prefix + name,
            None if found.default is found.empty else found.default,
            found.default is found.empty,
            of_call,
        )
        for name, found in inspect.signature(function).parameters.items()
        if name not in ("self", *_IGNORED) and found.kind not in (found.VAR_POSITIONAL, found.VAR_KEYWORD)
    )


def _by_schema(name: str) -> tuple[Parameter, ...]:
    for text in torch_py._C._operator_schemas().values():
        if text.split("(")[0].split(".")[0] in (name, f"nn_{name}"):
            arguments = FunctionSchema.parse(text).arguments
            found = [*arguments.positional, *arguments.kwarg_only]
            return tuple(
                Parameter(
                    "input" if argument.name == "self" else argument.name,
                    _number(argument.default),
                    argument.default is None,
                )
                for argument in found
                if argument.name not in _IGNORED
            )
    return ()


def _number(default: Any) -> Any:
    text = "None" if default is None else str(default)
    try:
        return {"True": True, "False": False, "None": None}[text]
    except KeyError:
        try:
            return float(text) if "." in text or "e" in text else int(text)
        except ValueError:
            return text.strip("'\"")


@cache
def working(target: Target) -> dict[str, Any] | None:
    """Values of the required parameters that PyTorch takes, None where no candidates are such."""
    more = _MORE.get(str(target), {})
    required = [
        parameter for parameter in target.parameters if parameter.required and parameter.name not in more
    ]

    candidates = [_candidates(parameter.name) for parameter in required]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for values in itertools.islice(itertools.product(*candidates), _LIMIT):
            found = {**more, **{parameter.name: value for parameter, value in zip(required, values)}}
            try:
                target.run(torch, found)
            except Exception:
                continue
            return found
    return None


def _candidates(name: str) -> tuple[Any, ...]:

    plain = name.removeprefix("forward.").removesuffix("_")
    if plain in layer_values.BY_NAME and not (name != plain and plain == "value"):
        return layer_values.BY_NAME[plain]

    if name != plain or plain in (
        "input1",
        "input2",
        "x1",
        "x2",
        "anchor",
        "positive",
        "negative",
        "query",
        "key",
        "logits",
    ):
        return layer_values.BY_NAME["input"] if plain != "target" else layer_values.BY_NAME["target"]
    return (4,)
