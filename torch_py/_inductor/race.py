"""``mode="max-autotune"``: kernels are measured against the operators that they replace.

Every nest is raced, and then the whole graph: as it was, without the nests that have lost, and without any.
What was measured is kept in the cache of kernels, so that a race is run once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C, _logging, random
from torch_py._C._compiler import Program
from torch_py._inductor import config
from torch_py._inductor.contests import Contest, contests_of
from torch_py._inductor.entries import key_of_parts, read_entry, write_entry
from torch_py._inductor.ir import Buffer
from torch_py._inductor.stages import CompiledGraph, variant
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.fx._script import strided

_log = _logging.topic("autotuning")

_MARGIN = 0.97  # a nest loses if calls take less than this part of its time
_LEAST = 0.002  # seconds of one measurement of a nest
_ROUNDS = 9
_CALLS = "calls"
_LOOPS = "loops"

# Programs by names, with examples of what they read.
Sides = dict[str, tuple[Program, Sequence[Any]]]


def fastest(compiled: CompiledGraph) -> CompiledGraph:
    """The fastest form of a compiled graph."""
    if not compiled.kernels:
        return compiled
    if not _is_measurable(compiled):
        _log.info("a graph is not raced: its sizes vary, or it is not of the CPU alone")
        return compiled

    state = random.get_rng_state()
    try:
        return _fastest(compiled)
    finally:
        random.set_rng_state(state)


def _fastest(compiled: CompiledGraph) -> CompiledGraph:
    lost: set[str] = set()
    known: dict[str, bool] = {}
    for contest in contests_of(compiled):
        key = contest.key
        if key not in known:
            known[key] = _loses(contest, key, compiled.library)
        if known[key]:
            lost |= contest.called
    forms = {"kernels": compiled, "calls": variant(compiled.module, None)}
    if lost:
        forms["both"] = variant(compiled.module, frozenset(lost))
    return forms[_winner(forms)]


def _is_measurable(compiled: CompiledGraph) -> bool:
    inputs = compiled.graph.inputs
    return all(isinstance(b, Buffer) and b.device.type == "cpu" for b in inputs)


def _loses(contest: Contest, key: str, library: str | None) -> bool:
    """Whether the operators are clearly faster than a nest."""
    times = _kept(key, lambda: {_LOOPS: contest.loops(library), _CALLS: contest.calls()})
    loses = times[_CALLS] < _MARGIN * times[_LOOPS]
    _log.info(
        "%s: %.1f us in loops, %.1f us in %d calls%s",
        contest.name,
        times[_LOOPS] * 1e6,
        times[_CALLS] * 1e6,
        len(contest.called),
        ": calls are taken" if loses else "",
    )
    return loses


def _winner(forms: dict[str, CompiledGraph]) -> str:
    """The name of the fastest form of a whole graph."""
    key = key_of_parts("race", *(form.program.debug() + form.source for form in forms.values()))
    given = forms["kernels"].graph.inputs
    times = _kept(key, lambda: {name: (form.program, given) for name, form in forms.items()})
    _log.info("a graph: %s", ", ".join(f"{name} {seconds * 1e6:.1f} us" for name, seconds in times.items()))
    # What the races of nests suggest is taken unless something else is clearly better.
    best = min(times, key=times.__getitem__)
    usual = "both" if "both" in forms else "kernels"
    return best if times[best] < _MARGIN * times[usual] else usual


# Measuring
# ------------------------------------------------------------


def _tensor(example: Any) -> Any:
    """A tensor with random elements like a buffer or a fake tensor. Integers are 0: they may be indices."""
    if isinstance(example, Buffer):
        return _strided(example.sizes, example.strides, example.dtype)
    if isinstance(example, Tensor):
        return _strided(example.shape, example.stride(), example.dtype)
    return example


def _strided(sizes: Sequence[int], strides: Sequence[int], dtype: Any) -> Any:
    if dtype.is_floating_point or dtype.is_complex:
        return strided(sizes, strides, dtype)
    return strided(sizes, strides, dtype, low=0, high=0)


def _times(sides: dict[str, tuple[Any, Sequence[Any]]]) -> dict[str, float]:
    """The seconds that each program takes for one call: the best of several rounds, in which they take
    turns."""
    best = dict.fromkeys(sides, float("inf"))
    with no_grad():
        counts = {name: _count(program, given) for name, (program, given) in sides.items()}
        for _ in range(_ROUNDS):
            for name, (program, given) in sides.items():
                best[name] = min(best[name], _seconds(program, given, counts[name]))
    return best


def _count(program: Any, given: Sequence[Any]) -> int:
    """How many calls make a measurement."""
    program(*given)
    return max(1, int(_LEAST / max(_seconds(program, given, 1), 1e-7)))


def _seconds(program: Any, given: Sequence[Any], count: int) -> float:
    # With one thread, other programs on the machine do not count.
    clock = time.thread_time if _C.get_num_threads() == 1 else time.perf_counter
    begin = clock()
    for _ in range(count):
        program(*given)
    return (clock() - begin) / count


# Results of races, on disk
# ------------------------------------------------------------


def _kept(key: str, sides: Callable[[], Sides]) -> dict[str, float]:
    """The times of a race: from the cache if it has been run before on this machine with as many threads."""
    entry = key_of_parts(key, str(_C.get_num_threads()))
    if config.autotune_local_cache and not config.force_disable_caches:
        found = read_entry(entry, ".race", dict)
        if found is not None:
            return found

    given = sides()
    tensors = {id(example): _tensor(example) for _, examples in given.values() for example in examples}
    times = _times(
        {name: (program, [tensors[id(e)] for e in examples]) for name, (program, examples) in given.items()}
    )
    if config.autotune_local_cache:
        write_entry(entry, ".race", times)
    return times
