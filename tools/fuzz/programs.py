"""Runs random programs eagerly and under `torch.compile`, and prints what differs.

Its command line is LOG SEED START SECONDS [COUNT [BACKEND]]. Results, strides, shared memory, gradients,
printed text, exceptions, arguments and Python's state must be the same.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import linecache
import os
import random
import re
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import torch_py as torch
from tools.fuzz import rounding
from tools.fuzz.program_arguments import altered, arguments, new_globals
from tools.fuzz.program_texts import program_text
from tools.fuzz.shortening import shortened

_TIME_LIMIT = 60.0  # seconds of one program
_SECONDS_TO_SHORTEN = 20.0
# All of a graph is one node of autograd, which needs more than its parts do and frees it all at once.
_ERROR_OF_SECOND_PASS = "Trying to backward through the graph a second time"
_ERRORS_OF_ONE_NODE = (
    "one of the variables needed for gradient computation has been modified",
    _ERROR_OF_SECOND_PASS,
)
# An operator whose result is not used is left out with the error that values of its arguments would raise.
_ERROR_OF_VALUES = "is out of bounds for dimension"
# Gradients are those of what was kept for backward, which this changes without notice.
_UNNOTICED = ".data.mul_("
# Backward of a graph around it computes more again than that of eager mode, and keeps less.
_CHECKPOINT = "checkpoint("
# A result that is a view of what is not returned is a tensor of its own in compiled code (docs/compile.md):
# its history does not follow a change of its shape in place without grad mode.
_RESHAPES = re.compile(r"\.(t|unsqueeze|squeeze|transpose|swapaxes)_\(")
_ERROR_OF_RESHAPED = "a node returned an invalid gradient"
# Nor does that of a view change its base, or other views of it.
_RESHAPED_BASE = "is_leaf: expected A view was created in no_grad mode and its base"
# Nor is it an error to write to such a result whose elements are in one place, as `expand` makes them.
_ERROR_OF_OVERLAP = "copy_: unsupported operation: more than one element of the written-to tensor"
# Nor to read a view that split, or no_grad, made of one argument after a change through another one.
_ERROR_OF_VIEWS = "its base or another view of its base has been modified inplace"
# Tensors that share memory which a graph changes are views of it by `as_strided` there, whose gradients have
# its layout (docs/compile.md).
_GRADIENT = "torch.autograd.grad("
# An error that backward raises for one tensor is raised for all.
_ERROR_OF_ALL = f"result: expected tuple, got str: 'RuntimeError: {_ERRORS_OF_ONE_NODE[0]}"
_MODES = ("reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs", "lite")
_IDENTITY = "id("  # where an object is: another number in each call
_HANDLER = "except ("  # of errors of operators, which are those of one size alone: numbers do not vary
_NODE = re.compile(r"Function \w+Backward\d*")  # has another name in a graph
# A compiled program may round otherwise.
_TOLERANCE = 1e-4
_OF_ROUNDING = "depends on rounding"  # what eager mode gives, so that there is nothing to compare


def loaded(text: str, number: int) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The function of a text, and its globals; tracebacks show its lines."""
    space = new_globals()
    file = f"<program {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), space)
    return space["program"], space


def outcome(text: str, number: int, compiled: Callable[[Any], Any]) -> dict[str, Any]:
    """Everything that a run of the program leaves behind, of the last of some calls with new arguments.

    Integers vary in some programs, so that compiled code is for all of them; the last call of others is made
    with arguments of another kind.
    """
    function, space = loaded(text, number)
    function = compiled(function)
    found: dict[str, Any] = {}

    calls = (3, 1, 0) if number % 3 == 0 else (0, 0)
    for position, more in enumerate(calls):
        torch.manual_seed(number)
        given = arguments(number, more)
        mode: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
        if position == len(calls) - 1:
            given, mode = altered(number, given)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), mode:
            try:
                result = function(*given)
            except Exception as error:
                result = f"{type(error).__name__}: {error}"

        found = {
            "result": result,
            "gradient": _gradients(result, [*given[:3], *given.state.layer.parameters()], number),
            "printed": printed.getvalue(),
            "arguments": given[:6],
            "state": vars(given.state),
            "globals": space["counts"],
            "grad mode": torch.is_grad_enabled(),
            "random numbers": torch.rand(1),
        }
    settles = _IDENTITY not in text and _HANDLER not in text
    found["graphs compiled again"] = _graphs_compiled_again(function, number) if settles else 0
    return found


def _graphs_compiled_again(function: Callable[..., Any], number: int) -> int:
    """How many graphs the last of six calls with equal arguments compiles: numbers vary by then, and code
    whose guards do not hold has been given up."""
    counts = []
    for _ in range(6):
        torch.manual_seed(number)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
            function(*arguments(number))
        counts.append(torch._dynamo.utils.counters["stats"]["unique_graphs"])
    return counts[-1] - counts[-2]


def _gradients(result: Any, inputs: list[torch.Tensor], number: int) -> Any:
    """Those of the arguments and of layers, through results that have one: in a third of the programs through
    some of these, one pass after another."""
    try:
        outputs = [t for t in tensors_in(result) if t.requires_grad and t.grad_fn is not None]
        if not outputs:
            return None
        choice = random.Random(number)
        if choice.random() < 2 / 3:
            torch.stack([t.sum() for t in outputs]).sum().backward()
        else:
            for _ in range(2):
                some = choice.sample(outputs, choice.randint(1, len(outputs)))
                torch.stack([t.sum() for t in some]).sum().backward(retain_graph=True)
    except Exception as error:
        return _NODE.sub("a node", str(error).split("\n")[0])
    return [tensor.grad for tensor in inputs if tensor.is_leaf]


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors of nested containers, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_in(item)]
    return []


def difference(eager: dict[str, Any], compiled: dict[str, Any], compares_strides: bool = True) -> str | None:
    """What differs, as "kind: details"."""
    error = eager["result"] if isinstance(eager["result"], str) else ""
    of_views = _ERROR_OF_VIEWS in error and _sharing(eager["arguments"][:3])
    if (_ERROR_OF_VALUES in error or of_views) and not isinstance(compiled["result"], str):
        return None
    for kind, expected in eager.items():
        if kind == "gradient" and str(compiled[kind]).startswith(_ERRORS_OF_ONE_NODE):
            continue
        # Eager mode frees numbers, too; a graph that keeps nothing can be differentiated again.
        if kind == "gradient" and str(expected).startswith(_ERROR_OF_SECOND_PASS):
            continue
        found = _difference(expected, compiled[kind], compares_strides)
        if found is not None:
            return f"{kind}: {found}"

    both = [_sharing([run["result"], run["arguments"], run["state"]]) for run in (eager, compiled)]
    return None if both[0] == both[1] else f"shared memory: expected {both[0]}, got {both[1]}"


def _difference(expected: Any, found: Any, compares_strides: bool) -> str | None:
    if type(expected) is not type(found):
        return f"expected {type(expected).__name__}, got {type(found).__name__}: {found!r:.200}"
    if isinstance(expected, torch.Tensor):
        return _of_tensors(expected, found, compares_strides)

    if isinstance(expected, torch.nn.Module):
        return _difference(_state_of(expected), _state_of(found), compares_strides)
    if isinstance(expected, dict):
        if list(expected) != list(found):
            return f"expected keys {list(expected)}, got {list(found)}"
        expected, found = list(expected.values()), list(found.values())
    if isinstance(expected, (list, tuple)):
        if len(expected) != len(found):
            return f"expected {len(expected)} items, got {len(found)}"
        compare = partial(_difference, compares_strides=compares_strides)
        return next(filter(None, map(compare, expected, found)), None)

    if isinstance(expected, float):
        close = abs(expected - found) <= _TOLERANCE * max(1.0, abs(expected)) or expected != expected
        return None if close else f"expected {expected}, got {found}"
    return None if expected == found else f"expected {expected!r:.300}, got {found!r:.300}"


def _state_of(module: torch.nn.Module) -> dict[str, Any]:
    modes = [(type(part).__name__, part.training) for part in module.modules()]
    return {"modes": modes, **module.state_dict(keep_vars=True)}


def _of_tensors(expected: torch.Tensor, found: torch.Tensor, compares_strides: bool) -> str | None:
    for fact in ("shape", "dtype", "device", "requires_grad", "is_leaf"):
        pair = _fact(expected, fact), _fact(found, fact)
        if pair[0] != pair[1]:
            return f"{fact}: expected {pair[0]}, got {pair[1]}"
    if compares_strides and _strides(expected) != _strides(found) and expected.numel() > 1:
        return f"strides: expected {expected.stride()}, got {found.stride()}"
    if expected.is_meta:
        return None
    # Gradients that arrive from several graphs are added in another order.
    is_short = expected.is_floating_point() and expected.itemsize == 2
    tolerance = 2 * torch.finfo(expected.dtype).eps if is_short else _TOLERANCE
    with torch.no_grad():
        same = torch.allclose(
            expected.double(), found.double(), rtol=tolerance, atol=tolerance, equal_nan=True
        )
    return None if same else f"values: expected {expected!r:.300}, got {found!r:.300}"


def _strides(tensor: torch.Tensor) -> list[int]:
    """Those of dimensions that have several elements."""
    return [stride for size, stride in zip(tensor.shape, tensor.stride()) if size > 1]


def _fact(tensor: torch.Tensor, name: str) -> Any:
    """A property; of views that autograd has given up on, the reason."""
    try:
        return getattr(tensor, name)
    except RuntimeError as error:
        return str(error)


def _sharing(values: Any) -> list[tuple[int, int]]:
    """Which tensors have elements in the same memory: empty ones may be views of nothing."""
    places = [t.untyped_storage().data_ptr() if t.numel() else 0 for t in tensors_in(values)]
    return [(i, j) for j, place in enumerate(places) for i in range(j) if place and places[i] == place]


def run(number: int, seed: str, backend: str, log: int) -> None:
    text = program_text(random.Random(f"{seed} {number}"), number)
    os.ftruncate(log, 0)
    os.pwrite(log, f"{number}\n{text}".encode(), 0)
    faulthandler.dump_traceback_later(_TIME_LIMIT, exit=True)
    found = difference_of(text, number, backend)
    if found is None:
        return
    if found.startswith(_OF_ROUNDING):
        print(f"{_OF_ROUNDING}: {number}", flush=True)
        return

    faulthandler.dump_traceback_later(_TIME_LIMIT + _SECONDS_TO_SHORTEN, exit=True)
    kind = found.partition(":")[0]
    text = shortened(text, lambda shorter: _differs_so(shorter, number, backend, kind), _SECONDS_TO_SHORTEN)
    found = difference_of(text, number, backend) or found
    indented = text.replace("\n", "\n  ")
    print(f"differs: {number} {' '.join(found.split())}\n  {indented}", flush=True)


def difference_of(text: str, number: int, backend: str) -> str | None:
    torch.compiler.reset()
    eager = outcome(text, number, lambda function: function)
    settings = settings_of(number, backend)
    compiled = outcome(text, number, lambda function: torch.compile(function, backend=backend, **settings))
    # A graph does not count a change of the shape of a view as a change of what it is a view of.
    errors = str(compiled["gradient"]), str(eager["gradient"])
    reshaped = errors[0].startswith(_ERROR_OF_RESHAPED) or errors[1].startswith(_ERRORS_OF_ONE_NODE[0])
    overlap = errors[1].startswith(_ERROR_OF_OVERLAP)
    shares = bool(_sharing(eager["arguments"][:3]))
    again = (_CHECKPOINT in text or shares) and errors[1].startswith(_ERRORS_OF_ONE_NODE[0])
    reshaped |= "no_grad" in text or "inference_mode" in text
    if _UNNOTICED in text or (_RESHAPES.search(text) and reshaped) or overlap or again:
        del eager["gradient"]
    compares_strides = _GRADIENT not in text
    found = difference(eager, compiled, compares_strides)
    if found is None or (_RESHAPED_BASE in found and _RESHAPES.search(text)):
        return None
    if _GRADIENT in text and found.startswith(_ERROR_OF_ALL) and not isinstance(eager["result"], str):
        return None

    def run_again() -> dict[str, Any]:
        other = outcome(text, number, lambda function: function)
        return {kind: other[kind] for kind in eager}

    compare = partial(difference, compares_strides=compares_strides)
    is_explained = rounding.explains(found, eager, compiled, run_again, compare)
    return f"{_OF_ROUNDING}: {found}" if is_explained else found


def settings_of(number: int, backend: str) -> dict[str, Any]:
    """How program `number` is compiled: every fifth one for all sizes, others in a mode of "inductor"."""
    if number % 5 == 4:
        return {"dynamic": True}
    if backend == "inductor" and number % 10 == 2:
        return {"mode": _MODES[number // 10 % len(_MODES)]}
    return {}


def _differs_so(text: str, number: int, backend: str, kind: str) -> bool:
    """Whether a shorter program has a difference of the same kind, and does not fail by being shorter."""
    try:
        if "NameError" in str(outcome(text, number, lambda function: function)["result"]):
            return False
        found = difference_of(text, number, backend)
    except Exception:
        return False
    return found is not None and found.partition(":")[0] == kind and "UnboundLocalError" not in found


def main() -> int:
    log_path = sys.argv[1]
    seed = sys.argv[2]
    start = int(sys.argv[3])
    seconds = float(sys.argv[4])
    last = start + int(sys.argv[5]) if len(sys.argv) > 5 and int(sys.argv[5]) > 0 else sys.maxsize
    backend = sys.argv[6] if len(sys.argv) > 6 and sys.argv[6] else "inductor"

    warnings.simplefilter("ignore")
    faulthandler.enable()
    torch.set_num_threads(1)
    # A loop rounds numbers of 16 bits once, operators do after each step.
    torch._inductor.config.emulate_precision_casts = True
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    end = time.monotonic() + seconds
    number = start
    while number < last and time.monotonic() < end:
        run(number, seed, backend, log)
        number += 1

    print(f"made {number - start} calls", flush=True)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
