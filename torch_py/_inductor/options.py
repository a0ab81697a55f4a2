"""Settings for one call of `torch.compile`: `mode` names a set of them, `options` has single ones."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from torch_py._inductor import config

MODES: dict[str, dict[str, Any]] = {
    "default": {},
    "lite": {
        "fallback_by_default": True,
        "selective_decompose": True,
        **dict.fromkeys(
            "reorder_for_peak_memory reorder_for_compute_comm_overlap use_dce allow_buffer_reuse "
            "triton.reorder_for_reducing_graph_partitions "
            "use_pre_grad_passes use_joint_graph_passes use_post_grad_passes".split(),
            False,
        ),
    },
    "reduce-overhead": {"triton.cudagraphs": True},
    "max-autotune-no-cudagraphs": {"max_autotune": True, "coordinate_descent_tuning": True},
    "max-autotune": {"max_autotune": True, "triton.cudagraphs": True, "coordinate_descent_tuning": True},
}


def checks_stages() -> bool:
    """Whether the user asks for checks of every stage (spec.py)."""
    return os.environ.get("TORCH_PY_VERIFY") == "1"


def list_mode_options(mode: str | None = None, dynamic: bool | None = None) -> dict[str, Any]:
    """The settings that a mode of `torch.compile` stands for; without one, those of all modes by name.

    Raises RuntimeError for an unknown mode. `dynamic` makes no difference.

        torch._inductor.list_mode_options("max-autotune")
    """
    return dict(options_of_mode(mode)) if mode else {name: dict(settings) for name, settings in MODES.items()}


def list_options() -> list[str]:
    """The names that ``torch.compile(options={name: value})`` takes: the settings of
    `torch._inductor.config`."""
    return list(config.shallow_copy_dict())


def options_of_mode(mode: str | None) -> dict[str, Any]:
    """The settings of a mode. Raises RuntimeError for an unknown one."""
    if mode not in (None, *MODES):
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}")
    return MODES[mode] if mode else {}


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options by the names of settings, in which "_" may have been written as "-".

    Raises RuntimeError for those that do not exist, or have a value of another type than before.
    """
    found = {}
    known = config.shallow_copy_dict()
    for name, value in options.items():
        own = str(name).replace("-", "_")
        if own not in known:
            raise RuntimeError(f"Unexpected optimization option {name}, known options are {list(known)}")
        before = known[own]
        if before is not None and not isinstance(value, type(before)):
            given, expected = type(value).__name__, type(before).__name__
            raise RuntimeError(f"Unexpected type of attr {name}, got {given} should be {expected}")
        found[own] = value
    return found
