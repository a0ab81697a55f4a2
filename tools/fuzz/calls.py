"""Makes calls number START, START + 1, ... and leaves the current one in LOG.

The command line is `python -m tools.fuzz.calls LOG SEED START SECONDS [COUNT]`.

Run by `python -m tools.fuzz`, in a process of its own, because a call may end it.
"""

from __future__ import annotations

import faulthandler
import os
import random
import resource
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch_py as torch
from codegen.schema import FunctionSchema

from . import arguments

MEMORY_LIMIT = 1 << 30  # bytes above what is in use at the start: larger tensors are refused, not filled
TIME_LIMIT = 30.0  # seconds of one call, also on a machine with other work to do
MODULES = ("_torch", "_nn", "_ops", "_linalg", "_special", "_fft")
# They would change how later calls are made, or end the process on purpose.
LEFT_ALONE = """
    manual_seed seed set_num_threads __class__ __init_subclass__ __subclasshook__ __new__
    __init__ __dir__ __reduce__ __reduce_ex__ __setattr__ __delattr__ __getattribute__
    share_memory_
""".split()


@dataclass(frozen=True)
class Target:
    name: str
    function: Callable[..., Any]
    schemas: tuple[FunctionSchema, ...]
    is_method: bool


def targets() -> list[Target]:
    schemas: dict[str, list[FunctionSchema]] = {}
    for text in torch._C._operator_schemas().values():
        schema = FunctionSchema.parse(text)
        schemas.setdefault(text.split("(")[0].split(".")[0], []).append(schema)

    found = []
    for module in MODULES:
        functions = getattr(torch._C, module)
        for name in sorted(dir(functions)):
            function = getattr(functions, name)
            if not name.startswith("__") and name not in LEFT_ALONE and callable(function):
                known = schemas.get(f"{module.removeprefix('_')}_{name}") or schemas.get(
                    name, ()
                )  # linalg_det is _linalg.det
                found.append(Target(f"{module}.{name}", function, tuple(known), False))

    for name in sorted(dir(torch.Tensor)):
        method = getattr(torch.Tensor, name)
        if name not in LEFT_ALONE and callable(method):
            found.append(Target(f"Tensor.{name}", method, tuple(schemas.get(name, ())), True))

    return found


def make_arguments(dice: random.Random, target: Target) -> tuple[list[Any], dict[str, Any]]:
    """By one of the schemas, or without looking at any."""
    if not target.schemas or dice.random() < 0.1:
        count = dice.choice((0, 1, 1, 2, 2, 3, 4, 6))
        values = [arguments.anything(dice) for _ in range(count)]
        return ([arguments.tensor(dice), *values] if target.is_method else values), {}

    schema = dice.choice(target.schemas)
    shape = dice.choice(arguments.SHAPES)

    positional, keywords = [], {}
    for argument in schema.arguments:
        is_keyword = argument in schema.arguments.kwarg_only or argument in schema.arguments.out
        if argument.default is not None and dice.random() < 0.4:
            if is_keyword:
                continue
            break

        value = arguments.of_type(dice, str(argument.type), shape)
        if is_keyword:
            keywords[argument.name] = value
        else:
            positional.append(value)

    if target.is_method and positional and not isinstance(positional[0], torch.Tensor):
        positional[0] = arguments.tensor(dice)
    return positional, _with_out(schema, keywords)


def _with_out(schema: FunctionSchema, keywords: dict[str, Any]) -> dict[str, Any]:
    """Results are given as out=, a tuple when there are several."""
    outs = [keywords.pop(argument.name) for argument in schema.arguments.out if argument.name in keywords]
    if outs:
        keywords["out"] = outs[0] if len(outs) == 1 else tuple(outs)
    return keywords


def look_at(dice: random.Random, result: Any) -> None:
    """Uses what came back: prints it, and runs its graph backward."""
    for value in result if isinstance(result, tuple | list) else [result]:
        if not isinstance(value, torch.Tensor) or value.numel() > 5000:
            continue
        repr(value)
        if value.requires_grad and value.is_floating_point() and dice.random() < 0.7:
            value.sum().backward(create_graph=dice.random() < 0.3)


def call(number: int, seed: int, known: list[Target], log: int) -> None:
    dice = random.Random(f"{seed} {number}")
    torch.manual_seed(number)
    target = dice.choice(known)
    positional, keywords = make_arguments(dice, target)

    words = [
        *map(arguments.describe, positional),
        *(f"{key}={arguments.describe(value)}" for key, value in keywords.items()),
    ]
    text = f"{number} {target.name}({', '.join(words)})"
    os.ftruncate(log, 0)
    os.pwrite(log, text.encode("utf8", "replace"), 0)

    faulthandler.dump_traceback_later(TIME_LIMIT, exit=True)
    try:
        look_at(dice, target.function(*positional, **keywords))
    except Exception as error:  # what an operator refuses, it may refuse
        if (
            isinstance(error, SystemError)
            or "internal assert" in str(error).lower()
            or "internal error" in str(error).lower()
        ):
            print(f"internal error: {text}: {str(error).splitlines()[0]}", flush=True)


def main() -> int:
    log_path = sys.argv[1]
    seed = int(sys.argv[2])
    start = int(sys.argv[3])
    seconds = float(sys.argv[4])
    last = start + int(sys.argv[5]) if len(sys.argv) > 5 and int(sys.argv[5]) > 0 else sys.maxsize

    warnings.simplefilter("ignore")
    faulthandler.enable()
    limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + MEMORY_LIMIT
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    torch.set_num_threads(1)

    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    known = targets()
    end = time.monotonic() + seconds
    number = start

    while number < last and time.monotonic() < end:
        call(number, seed, known, log)
        number += 1

    print(f"made {number - start} calls", flush=True)
    os._exit(0)  # tensors of odd geometry may be alive; their destruction was tried with every call


if __name__ == "__main__":
    sys.exit(main())
