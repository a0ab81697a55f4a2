"""Names, parameters and defaults of the public packages, compared with PyTorch's."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import pytest

from tests.subject import only_torch_py

pytestmark = only_torch_py
MODULES = """
    nn nn.functional nn.init nn.utils nn.utils.rnn nn.utils.parametrize
    nn.utils.parametrizations nn.utils.prune nn.utils.fusion nn.parameter nn.attention optim
    optim.lr_scheduler optim.swa_utils utils.data distributions distributions.transforms
    distributions.constraints autograd autograd.function autograd.functional autograd.forward_ad
    autograd.graph autograd.grad_mode utils.checkpoint utils.hooks utils.dlpack
    utils.flop_counter overrides func random testing
""".split()

# Names that torch_py lacks, by reason.
_ABSENT = {
    "not public, only visible": (
        r"nn\.factory_kwargs|nn\.functional\.(Broadcasting|Scaling|Swizzle|Tensor|"
        r"assert_int|boolean_dispatch|handle_|has_)"
    ),
    "kernels for accelerators": (
        r"nn\.functional\.(scaled_|grouped_)|nn\.attention\..*flash_attention_impl|"
        r"autograd\.graph\.set_.*stream"
    ),
    "data pipes": (
        r"utils\.data\.(DFIterDataPipe|DataChunk|IterDataPipe|MapDataPipe|argument_|"
        r"guaranteed_|non_det|runtime_)"
    ),
    "below autograd": (
        r"overrides\.(redispatch_function)|utils\.checkpoint\.(SelectiveCheckpointContext|"
        r"GraphExecGroup)|autograd\.graph\.region_"
    ),
    "functionalisation": r"func\.(functionalize|debug_unwrap|rearrange|replace_all_batch_norm)",
    "not written yet": (
        r"nn\.functional\.native_channel_shuffle|autograd\.(function\.)?NestedIOFunction|"
        r"autograd\.(grad_mode\.)?enforce_grad_layout_policy|"
        r"autograd\.variable|utils\.checkpoint\.DefaultDeviceType|utils\.hooks\.(unserializable_hook|"
        r"BackwardHook)|random\.thread_safe_generator|"
        r"testing\.FileCheck|nn\.parameter\.UninitializedTensorMixin"
    ),
}
# Names with other parameters, by reason.
_OTHER = {
    "(*args, **kwargs) there, spelled out here": (
        r"nn\.(GRU|LSTM|RNN)$|nn\.functional\.(adaptive_|fractional_)?max_pool\dd|"
        r"nn\.init\.(uniform|normal|constant|eye|dirac|xavier_\w+?m?al?|"
        r"xavier_uniform|kaiming_uniform|kaiming_normal|orthogonal|sparse)$|overrides\.get_testing"
    ),
    "defaults that are objects": r"utils\.data\.random_split|utils\.checkpoint\.checkpoint$|nn\.Transformer",
    "hidden by a decorator there, or taken and ignored here": r"nn\.Container|utils\.data\.Sampler$",
    "names of variable arguments or metaclass": (
        r"autograd\.function\.FunctionMeta|nn\.Identity|utils\.checkpoint\.CheckpointFunction"
    ),
    "not written yet": r"autograd\.graph\.GradientEdge|autograd\.(grad_mode\.)?(enable_grad|no_grad)$",
}


def matches(name: str, reasons: dict[str, str]) -> bool:
    return any(re.match(pattern, name) for pattern in reasons.values())


def public(library: str, module: str) -> dict[str, Any]:
    loaded = importlib.import_module(f"{library}.{module}")
    names = getattr(loaded, "__all__", None) or [name for name in dir(loaded) if not name.startswith("_")]
    values = {name: getattr(loaded, name, None) for name in names if not name.startswith("_")}
    own = {
        name: value
        for name, value in values.items()
        if str(getattr(value, "__module__", "")).partition(".")[0] == library
    }
    return {name: value for name, value in own.items() if not inspect.ismodule(value)}


def parameters(value: Any) -> list[tuple[str, str]] | None:
    """Names and defaults of parameters; objects and variable arguments by their kind only."""
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    kinds = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [
        (kinds.get(each.kind, each.name), re.sub(r" at 0x\w+|torch_py", "torch", repr(each.default)))
        for each in found
    ]


@pytest.mark.parametrize("module", MODULES)
def test_names_and_parameters(module: str) -> None:
    pytest.importorskip("torch")
    theirs = public("torch", module)
    missing = []
    different = []
    ours = importlib.import_module(f"torch_py.{module}")

    for name, value in theirs.items():
        full = f"{module}.{name}"
        if not hasattr(ours, name):
            if not matches(full, _ABSENT):
                missing.append(full)
            continue

        found = getattr(ours, name)
        if getattr(found, "__refuses__", False):
            continue

        own, other = parameters(found), parameters(value)
        if own is not None and other is not None and own != other and not matches(full, _OTHER):
            different.append(f"{full}: {own} instead of {other}")

    assert not missing, missing
    assert not different, "\n".join(different)
