"""Calls layers, functions, optimizers and schedules with unusual arguments, in torch_py and in PyTorch.

The command line is `python -m tools.fuzz.layers LOG SEED START SECONDS [COUNT [NAME]]`.

Run by `python -m tools.fuzz --layers`, in a process of its own, because a call may end it. Each call is one
that PyTorch takes, with one or two arguments changed. The libraries must give the same results, or exceptions
of the same type; and ours must say which argument it is about, by its name or its value.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

import torch_py
from tests.ops.comparison import Outcome, outcome

from . import layer_runs, layer_values
from .comparing import compare_calls, is_accident
from .known_layer_differences import LAYERS_MAY_DIFFER
from .layer_targets import Target, targets, working
from .peer import Spec


@dataclass(frozen=True)
class Call:
    target: Target
    values: dict[str, Any]
    changed: tuple[str, ...]

    def __str__(self) -> str:
        given = (f"{name}={layer_values.text_of(value)}" for name, value in self.values.items())
        return f"{self.target}({', '.join(given)})"


def make_call(dice: random.Random, known: Sequence[Target]) -> Call | None:
    target = dice.choice(known)
    values = working(target)
    if values is None or not target.parameters:
        return None
    values = dict(values)
    chosen = dice.sample(target.parameters, min(dice.choice((1, 1, 1, 2)), len(target.parameters)))
    for parameter in chosen:
        plain = parameter.name.removeprefix("forward.")
        values[parameter.name] = layer_values.bad(dice, plain, values.get(parameter.name, parameter.default))
    return Call(target, values, tuple(parameter.name for parameter in chosen))


def difference(made: Call) -> str | None:
    """What differs between the libraries, as "kind: details"."""
    found = outcome(made.target.run, torch_py, made.values)
    expected = outcome(made.target.run, torch, made.values)

    if found.error is None and expected.error is None:
        if any("dropout" in name or _is_number_beside_the_range(made.values[name]) for name in made.changed):
            return None
        return layer_runs.difference(made.target.name, found.result, expected.result)

    if is_accident(found.error, expected.error):
        return f"accident: {_text(found)}; PyTorch: {_text(expected)}"

    if any(
        words in str(expected.error)
        for words in ("not implemented for", "INTERNAL ASSERT", "view size is not compatible")
    ):
        return None
    if type(expected.error) is RuntimeError and isinstance(found.error, NotImplementedError):
        return None  # caught alike

    if any(_is_number_beside_the_range(made.values[name]) for name in made.changed):
        return None
    if expected.error is None and _is_of_wrong_type(made):
        return None  # PyTorch never looks at it
    if (
        found.error is not None
        and expected.error is not None
        and (len(made.changed) > 1 or _is_of_wrong_type(made))
    ):
        return None  # which of several mistakes is met first, and how Python calls a wrong type, is open

    if all(isinstance(done.error, (AttributeError, TypeError)) for done in (found, expected)):
        return None

    if type(found.error).__name__ != type(expected.error).__name__.removeprefix("_"):
        kind = "refuses" if expected.error is None else "accepts" if found.error is None else "error"
        return f"{kind}: {_text(found)}; PyTorch: {_text(expected)}"

    return (
        None
        if _is_clear(str(found.error), str(expected.error), made)
        else f"message: {_text(found)}; PyTorch: {_text(expected)}"
    )


def _is_number_beside_the_range(value: Any) -> bool:
    """Whether a setting is NaN, infinite or an imaginary number.

    PyTorch checks some of these, torch_py others; most are checked by neither.
    """
    return isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value))


def _is_of_wrong_type(made: Call) -> bool:
    """Whether the changed argument has a type that the parameter cannot take.

    The types that it can take are those of its default and of the value that works.
    """
    name = made.changed[0]
    usual = (working(made.target) or {}).get(
        name, next(one.default for one in made.target.parameters if one.name == name)
    )
    given = made.values[name]
    if isinstance(usual, Spec) and not isinstance(given, Spec):
        return True
    kinds = tuple(layer_values.kind_of(name.removeprefix("forward."), value) for value in (usual, given))
    return kinds[0] != kinds[1] and kinds not in (("float", "int"), ("bool", "int"), ("int", "bool"))


def _text(done: Outcome) -> str:
    return (
        "returned"
        if done.error is None
        else f"{type(done.error).__name__} {' '.join(str(done.error).split())[:200]}"
    )


def _is_clear(message: str, theirs: str, made: Call) -> bool:
    """Whether a message is as clear as PyTorch's, or refers to a changed argument.

    It may name the argument or show its value, type or shape.
    """
    if theirs.split("\n")[0][:40] in message:
        return True

    for name in made.changed:
        value = made.values[name]
        words = [name.removeprefix("forward.").rstrip("12"), type(value).__name__]

        words += (
            [value.dtype, "size", "shape", "dimension", "index"]
            if isinstance(value, Spec)
            else [repr(value), str(value)]
        )
        words += [f"{size}" for size in value.values.shape] if isinstance(value, Spec) else []
        words += [
            "scalar type",
            "dtype",
            "memory location",
            "weight of size",
            "Output size",
            "hidden state",
            "dimensions",
            "not implemented",
        ]

        if any(word.lower() in message.lower() for word in words if word):
            return True
    return False


def is_known(made: Call, found: str) -> bool:
    kind = found.split(":")[0]
    values = [made.values[name] for name in made.changed]
    specs = [value for value in values if isinstance(value, Spec)]

    if kind == "values" and any(spec.dtype in ("float16", "bfloat16") for spec in specs):
        return True  # rounded once here, in several places there
    if (
        kind == "refuses"
        and "single memory location" in found
        and any(spec.layout == "expanded" for spec in specs)
    ):
        return True  # elements in one place are not written to

    changed = [name.removeprefix("forward.") for name in made.changed]
    return any(row.covers(made.target.name, found, changed) for row in LAYERS_MAY_DIFFER)


def compare(number: int, seed: str, known: tuple[Target, ...]) -> tuple[Call, str] | None:
    """Call ``number`` of ``seed`` and what differs, unless that is known."""
    made = make_call(random.Random(f"{seed} {number}"), known)
    found = difference(made) if made is not None else None
    return None if made is None or found is None or is_known(made, found) else (made, found)


if __name__ == "__main__":
    compare_calls(
        targets(), lambda target: target.name, make_call, difference, is_known, lambda made: made.target
    )
