"""``mode="max-autotune"``: kernels are measured against the operators that they replace.

Every nest is raced, and then the whole graph: as it was, without the nests that have lost, and without any.
What a nest replaces are the operators between the tensors that it reads and those that it makes. What was
measured is kept in the cache of kernels, so that a race is run once.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Sequence
from timeit import timeit
from typing import Any

from torch_py import _C, _logging, random
from torch_py._C._compiler import Program
from torch_py._functorch.aot.partition import is_view
from torch_py._inductor import config
from torch_py._inductor.assemble import Assembly
from torch_py._inductor.entries import key_of_parts, read_entry, write_entry
from torch_py._inductor.graph_cache import text_of_graph
from torch_py._inductor.ir import Buffer
from torch_py._inductor.loops import Entry, Extern, Kernel, LoopGraph, Nest
from torch_py._inductor.stages import CompiledGraph, variant
from torch_py._ops import OpOverload
from torch_py._records import Fields
from torch_py._subclasses.calls import generator_in
from torch_py.autograd.grad_mode import no_grad
from torch_py.fx._order import reached
from torch_py.fx._script import strided
from torch_py.fx.experimental.optimization import extract_subgraph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node

_log = _logging.topic("autotuning")

_MARGIN = 0.97  # a nest loses if calls take less than this part of its time
_LEAST = 0.002  # seconds of one measurement of a nest
_ROUNDS = 9
_CALLS = "calls"
_LOOPS = "loops"

# Programs by names, with examples of what they read.
Sides = dict[str, tuple[Program, Sequence[Any]]]


class Contest(Fields):
    """Nests, and the operators that they replace.

    `module` is a graph of these operators, which reads the nodes `inputs`, and `called` are the names of the
    nodes that would be called.
    """

    nests: list[Nest]
    inputs: list[Node]
    called: frozenset[str]
    module: GraphModule

    @property
    def kernels(self) -> list[Kernel]:
        return [nest.kernel for nest in self.nests if nest.kernel is not None]

    @property
    def name(self) -> str:
        return ", ".join(kernel.name for kernel in self.kernels)

    @property
    def key(self) -> str:
        """The same for all contests of equal loops and equal operators on tensors of equal sizes."""
        facts = [f"{k.extent} {k.grain} {[buffer.facts for buffer in k.buffers]}" for k in self.kernels]
        kernels = [f"{kernel.key} {of_kernel}" for kernel, of_kernel in zip(self.kernels, facts)]
        return key_of_parts("race", text_of_graph(self.module), *kernels)

    # The two sides

    def loops(self, library: str | None) -> tuple[Program, list[Any]]:
        """A program of the nests alone, and the tensors that it reads, as examples."""
        made = {memory for nest in self.nests for memory in nest.makes()}
        buffers = dict.fromkeys(b for kernel in self.kernels for b in kernel.buffers)
        inputs = [b for b in buffers if b.memory not in made]
        outputs = [buffer for nest in self.nests for buffer in nest.stored()]
        assembly = Assembly(LoopGraph(inputs=inputs, outputs=outputs), self.nests)
        return Program(*assembly.description(library)), inputs

    def calls(self) -> tuple[Program, list[Any]]:
        """A program of calls, and the tensors that it reads, as examples."""
        return variant(self.module, None).program, [node.meta["val"] for node in self.inputs]


# Which contests there are
# ------------------------------------------------------------


def contests_of(compiled: CompiledGraph) -> list[Contest]:
    """The nests of a compiled graph that can be raced.

    Those that store what is not the value of a node, or a part of a tensor, cannot. Nests that compute
    different results of one operator are in one contest: a call computes all of them.
    """
    search = _Search(compiled)
    return [made for group in search.groups() if (made := search.contest(*group)).called]


class _Search:
    def __init__(self, compiled: CompiledGraph) -> None:
        self.compiled = compiled
        self.nodes = compiled.graph.nodes
        self.makers: dict[Buffer, list[Entry]] = {}
        for entry in compiled.schedule:
            for memory in entry.makes():
                self.makers.setdefault(memory, []).append(entry)

    def groups(self) -> list[tuple[list[Nest], set[Node], set[Node]]]:
        """The nests that are raced together, the nodes that compute what they store, and what these read."""
        calls = {entry.name for entry in self.compiled.schedule if isinstance(entry, Extern)}
        groups: list[tuple[list[Nest], set[Node], set[Node]]] = []
        for nest in self.compiled.schedule:
            if not isinstance(nest, Nest):
                continue
            # Only whole tensors that are values of nodes can be compared.
            if not all(b in self.nodes and len(self.makers[b.memory]) == 1 for b in nest.stored()):
                continue
            nests = [nest]
            region, read = self._region(nest)
            if any(node.name in calls for node in region):
                continue

            of_several = {node for node in region if isinstance(node.meta.get("val"), (tuple, list))}
            for group in [group for group in reversed(groups) if of_several & group[1]]:
                groups.remove(group)
                nests = group[0] + nests
                region |= group[1]
                read |= group[2]
            groups.append((nests, region, read))
        return groups

    def contest(self, nests: list[Nest], region: set[Node], read: set[Node]) -> Contest:
        nodes = sorted(region)
        inputs = sorted(read - region)
        results = [node for nest in nests for node in self._results(nest)]
        called = frozenset(n.name for n in nodes if n.target is not operator.getitem and not is_view(n))
        module = extract_subgraph(self.compiled.module, nodes, inputs, results)
        # Equal contests have equal names.
        for number, (node, copy) in enumerate(zip((*inputs, *nodes), module.graph.nodes)):
            copy._rename(f"value_{number}")
            copy.meta = dict(node.meta)
            if copy.op == "placeholder":
                copy.target = copy.name
        return Contest(nests, inputs, called, module)

    def _results(self, nest: Nest) -> list[Node]:
        return [self.nodes[buffer] for buffer in nest.stored()]

    def _region(self, nest: Nest) -> tuple[set[Node], set[Node]]:
        """The nodes that compute what a nest stores, and the nodes that they read."""
        others = {
            node
            for buffer, node in self.nodes.items()
            if any(entry is not nest for entry in self.makers.get(buffer.memory, ()))
        }

        def is_replaced(node: Node) -> bool:
            return node.op == "call_function" and node not in others

        results = self._results(nest)
        found = set(reached(results, lambda node: node.all_input_nodes if is_replaced(node) else []))
        region = set(filter(is_replaced, found))
        return region, found - region


# The races
# ------------------------------------------------------------


def fastest(compiled: CompiledGraph) -> CompiledGraph:
    """The fastest form of a compiled graph."""
    if not compiled.kernels:
        return compiled
    if not all(isinstance(b, Buffer) and b.device.type == "cpu" for b in compiled.graph.inputs):
        _log.info("a graph is not raced: its sizes vary, or it is not of the CPU alone")
        return compiled

    lost: set[str] = set()
    known: dict[str, bool] = {}
    with random.fork_rng(devices=[]):
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


def _loses(contest: Contest, key: str, library: str | None) -> bool:
    """Whether the operators are clearly faster than a nest."""
    times = _kept(key, lambda: {_LOOPS: contest.loops(library), _CALLS: contest.calls()})
    loses = times[_CALLS] < _MARGIN * times[_LOOPS]
    taken = ": calls are taken" if loses else ""
    loops, calls = f"{times[_LOOPS] * 1e6:.1f} us in loops", f"{times[_CALLS] * 1e6:.1f} us"
    _log.info("%s: %s, %s in %d calls%s", contest.name, loops, calls, len(contest.called), taken)
    return loses


def _can_be_raced(module: GraphModule) -> bool:
    """Whether a whole graph may run on other tensors: custom operators may do more than compute, and
    generators of the program give other numbers afterwards."""
    calls = [node for node in module.graph.nodes if isinstance(node.target, OpOverload)]
    is_custom = any(node.target.namespace not in ("aten", "prims") for node in calls)
    return not is_custom and all(generator_in(node.args, node.kwargs) is None for node in calls)


def _winner(forms: dict[str, CompiledGraph]) -> str:
    """The name of the fastest form of a whole graph."""
    usual = "both" if "both" in forms else "kernels"
    if not _can_be_raced(forms[usual].module):
        return usual

    key = key_of_parts("race", *(form.program.debug() + form.source for form in forms.values()))
    given = forms["kernels"].graph.inputs
    try:
        times = _kept(key, lambda: {name: (form.program, given) for name, form in forms.items()})
    except Exception as error:  # such as that of cholesky, whose argument has to be positive
        _log.info("a graph is not raced: %s", error)
        return usual
    _log.info("a graph: %s", ", ".join(f"{name} {seconds * 1e6:.1f} us" for name, seconds in times.items()))
    # What the races of nests suggest is taken unless something else is clearly better.
    best = min(times, key=times.__getitem__)
    return best if times[best] < _MARGIN * times[usual] else usual


# Measuring
# ------------------------------------------------------------


def _tensor(example: Any) -> Any:
    """A tensor with random elements like a buffer or a fake tensor. Integers are 0: they may be indices."""
    is_buffer = isinstance(example, Buffer)
    place = (example.sizes, example.strides) if is_buffer else (example.shape, example.stride())
    is_real = example.dtype.is_floating_point or example.dtype.is_complex
    bound = None if is_real else 0
    return strided(*place, example.dtype, low=bound, high=bound)


def _times(sides: Sides) -> dict[str, float]:
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
    return timeit(lambda: program(*given), timer=clock, number=count) / count


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
    times = _times({name: (run, [tensors[id(e)] for e in read]) for name, (run, read) in given.items()})
    if config.autotune_local_cache:
        write_entry(entry, ".race", times)
    return times
