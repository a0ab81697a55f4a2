"""Calls of compiled graphs: changes of arguments, and results as the program returns them. `Parts` are what a
call consists of, apart from the programs of its graphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from torch_py import _C
from torch_py._functorch.aot import recipes
from torch_py._functorch.aot.recipes import Computed, Constant, InputOfGraph, OnInput, Own, Same, Viewed
from torch_py._records import Record
from torch_py._tensor import Tensor
from torch_py._thread_state import without_autocast
from torch_py.autograd.grad_mode import enable_grad, inference_mode, set_grad_enabled
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node

Compiled = Callable[..., Sequence[Any]]
Partial = Callable[[Collection[int]], Compiled | None]


class Call:
    """Calls a compiled graph and gives what the program would: ``call(arguments)`` returns a list."""

    def __init__(self, parts: Parts, run: Compiled) -> None:
        self._sources = sources = parts.inputs
        changes = parts.changes
        # Memory that arguments share has the shape of before; arguments themselves have that of the end.
        self._changes_before = [one for one in changes if not isinstance(sources[one.input], Own)]
        self._changes = [one for one in changes if isinstance(sources[one.input], Own)]
        self._reshapings = reshapings = parts.reshapings
        self._recipes = wanted = parts.recipes
        self._order = sorted(range(len(wanted)), key=lambda position: _rank(wanted[position]))

        own = [source.position for source in sources if isinstance(source, Own)]
        self._takes_arguments = len(own) == len(sources) and own == list(range(parts.num_arguments))
        outputs = [Computed(position) for position in range(len(wanted))]
        self._gives_results = not (changes or reshapings) and wanted == outputs
        # The outputs that results are views of.
        sources_of_views = [recipe.source for recipe in wanted if isinstance(recipe, Viewed)]
        self._bases = {source.position for source in sources_of_views if isinstance(source, Computed)}
        # Tensors of inference mode take the place of outputs, for all recipes that use these.
        computed = [one for one in (*wanted, *sources_of_views) if isinstance(one, Computed)]
        self._replaces_values = bool(self._bases) or any(one.is_inference for one in computed)
        self._run = run

    def direct(self) -> Compiled | None:
        """The compiled graph itself, if it takes all arguments and returns the results of the program."""
        return self._run if self._takes_arguments and self._gives_results else None

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        inputs = arguments if self._takes_arguments else [source.of(arguments) for source in self._sources]
        values = self._run(*inputs)
        if self._gives_results:
            return list(values)
        if _C.is_grad_enabled():
            return self._results(arguments, inputs, values)
        # What the program did without grad mode is known of each step; the rest it did with it.
        with enable_grad():
            return self._results(arguments, inputs, values)

    def _results(self, arguments: Sequence[Any], inputs: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        for change in self._changes_before:
            fill(change, inputs, values)
        for reshaping in self._reshapings:
            reshape(reshaping, arguments)
        for change in self._changes:
            fill(change, inputs, values)

        if self._replaces_values:
            values = list(values)
        for position in self._bases:
            values[position] = recipes.as_base(values[position])
        results: list[Any] = [None] * len(self._recipes)
        places = {Own: arguments, InputOfGraph: inputs, Computed: values, Same: results}
        for position in self._order:
            results[position] = _made(self._recipes[position], places)
        return results


class CallWithoutInference(Call):
    """A call that begins in inference mode and leaves it, so that its results are ordinary tensors."""

    def direct(self) -> None:
        return None

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        with inference_mode(False):
            return super().__call__(arguments)


def flat_call(call: Call) -> Callable[..., list[Any]]:
    """A compiled call as a function of the arguments one by one."""
    return call.direct() or (lambda *args: call(args))


def without_backward(run: Compiled, has_history: bool) -> Compiled:
    """What calls a graph without backward: autograd must not record it if inputs have a history.

    Those are detached rather than used without grad mode: a view that is made without grad mode may not be
    changed in place afterwards, and the graph can return one.
    """
    is_boxed = getattr(run, "_boxed_call", False)
    if not has_history:
        return (lambda *inputs: run(list(inputs))) if is_boxed else run

    def called(*inputs: Any) -> Sequence[Any]:
        if _C.is_grad_enabled():
            inputs = tuple(_without_history(value) for value in inputs)
        return run(list(inputs)) if is_boxed else run(*inputs)

    return called


def without_casts(run: Compiled) -> Compiled:
    """What calls a graph that has the casts of autocast in it, so that no further ones are made.

    Programs of the compiler call kernels, which never cast.
    """
    if isinstance(run, _C._compiler.Program):
        return run
    called = _within(without_autocast, run)
    called._boxed_call = getattr(run, "_boxed_call", False)  # type: ignore[attr-defined]
    return called


def _within(block: Callable[[], Any], run: Compiled) -> Compiled:
    """What calls a graph in a block that `block` begins."""

    def called(*inputs: Any) -> Sequence[Any]:
        with block():
            return run(*inputs)

    return called


def _without_history(value: Any) -> Any:
    return value.detach() if isinstance(value, _C.TensorBase) and value.requires_grad else value


def _rank(recipe: recipes.Recipe) -> int:
    """Of results that are made of others, these come first."""
    if isinstance(recipe, Same):
        return 2
    return 1 if isinstance(recipe, Viewed) and isinstance(recipe.source, Same) else 0


def _made(recipe: Any, places: Mapping[Any, Sequence[Any]]) -> Any:
    """A result; `places` has, by the class of a recipe, what its position is in."""
    if isinstance(recipe, Computed):
        return recipe.of(places[Computed])
    if isinstance(recipe, Constant):
        return recipe.value
    if isinstance(recipe, Viewed):
        return recipe.of(_made(recipe.source, places), places[InputOfGraph])
    if isinstance(recipe, OnInput):
        result = places[Computed][recipe.position]
        result.data = places[InputOfGraph][recipe.input].detach()
        return result
    return places[type(recipe)][recipe.position]


def reshape(reshaping: recipes.Reshaping, arguments: Sequence[Any]) -> None:
    argument = arguments[reshaping.argument]
    for operator, args, kwargs, with_grad in reshaping.operators:
        with _mode_of_change(argument, with_grad):
            operator(argument, *args, **kwargs)


def fill(change: recipes.Change, inputs: Sequence[Any], values: Sequence[Any]) -> None:
    target = inputs[change.input]
    if change.is_recorded:
        target.copy_(values[change.value])
        return
    with _mode_of_change(target, with_grad=False):
        (target if change.is_counted else target.data).copy_(values[change.value])


def _mode_of_change(tensor: Any, with_grad: bool) -> Any:
    """Inference mode for a tensor of it: the program may have been in it only where it changed the tensor."""
    return inference_mode() if tensor.is_inference() else set_grad_enabled(with_grad)


class Parts(Record):
    """How arguments become inputs of a graph, and its outputs results; see `Traced`.

    `training` is what autograd has to know of a call with a backward; None for one without. `has_history`
    says whether autograd records the arguments, `is_autocast` whether the call begins under autocast, and
    `leaves_inference` whether results are made without the inference mode that it begins in.
    """

    num_arguments: int
    has_history: bool
    is_autocast: bool
    leaves_inference: bool
    inputs: list[recipes.Source]
    changes: list[recipes.Change]
    reshapings: list[recipes.Reshaping]
    recipes: list[recipes.Recipe]
    training: Mapping[str, Any] | None

    @classmethod
    def of(
        cls, traced: recipes.Traced, arguments: Sequence[Any], training: Mapping[str, Any] | None = None
    ) -> Parts:
        """Those of a call that was recorded with these arguments."""
        known = {name: getattr(traced, name) for name in cls._fields if hasattr(traced, name)}
        has_history = any(isinstance(a, Tensor) and a.requires_grad for a in arguments)
        return cls(num_arguments=len(arguments), has_history=has_history, training=training, **known)

    def call(self, forward: Compiled, backward: Compiled | None = None, partial: Any = None) -> Call:
        """The call, with what its graphs have been compiled to; `partial` as in `function_of`."""
        if self.is_autocast:
            forward = without_casts(forward)
        if self.training is None or backward is None:
            run = without_backward(forward, self.has_history)
        else:
            run = function_of(self.training, forward, backward, partial)
        kind = CallWithoutInference if self.leaves_inference else Call
        return kind(self, run)


# The forward and the backward graph as one function of autograd
# ------------------------------------------------------------

# Places of saved values, and of the tangents and the gradients whose computation uses them.
Use = tuple[list[int], list[int], list[int]]
# What may not change until backward: whether it is an input of the graph rather than an output, its position,
# how often the caller changes it after the graph, and the tangents that need it (see
# `_C._compiler.CompiledGraph`).
Watch = tuple[bool, int, int, list[int]]


def training_facts(
    traced: recipes.Traced, backward: Graph | None = None, watches: Sequence[Watch] = ()
) -> dict[str, Any]:
    """What autograd has to know of a call to differentiate it by the graph `backward`; None if that raises an
    error."""
    facts = {name: getattr(traced, name) for name in ("num_outputs", "tangents", "differentiated", "reached")}
    uses = [] if backward is None else _uses_of_saved(backward, len(traced.tangents))
    changes = {Own(one.argument): len(one.operators) for one in traced.reshapings}
    reshaped = [[i, changes[source]] for i, source in enumerate(traced.inputs) if source in changes]
    return {
        **facts, "uses": uses, "watches": list(watches), "reshaped": reshaped, "raises": backward is None
    }  # fmt: skip


def raising(error: Exception) -> Compiled:
    """In place of the backward of a program that raises an error."""

    def backward(*tangents: Any) -> NoReturn:
        raise error

    return backward


def function_of(
    facts: Mapping[str, Any], forward: Compiled, backward: Compiled, partial: Partial | None = None
) -> Compiled:
    """A function of the inputs of the forward graph, which autograd differentiates by the backward graph.

    `forward` and `backward` are what these have been compiled to; `partial` gives what runs instead of
    `backward` if only the tangents with some numbers arrive.
    """
    compiled: Compiled = _C._compiler.CompiledGraph(forward, backward, {**facts, "partial": partial})
    # A program that is called without grad mode, or in inference mode, may switch it on itself.
    return compiled if _C.is_grad_enabled() else _within(lambda: inference_mode(False), compiled)


def _uses_of_saved(graph: Graph, count: int) -> list[Use]:
    """What saved tensors are used for: where they, or what follows from them alone, meet a tangent.

    The tangents are the last `count` inputs of a backward graph. A gradient that depends on no tangent runs
    always, as if it depended on all.
    """
    results: Any = graph.output_node().args[0]
    inputs = graph.find_nodes(op="placeholder")
    places = {node: place for place, node in enumerate(inputs[: len(inputs) - count])}
    tangents = tangents_of_nodes(graph, inputs[len(inputs) - count :])
    gradients = _spread(results, reversed(graph.nodes), lambda node: node.users)  # that each node serves
    saved: dict[Node, frozenset[int]] = {}
    found: defaultdict[tuple[frozenset[int], frozenset[int]], set[int]] = defaultdict(set)

    for node in graph.nodes:
        if node in places:
            saved[node] = frozenset((places[node],) if isinstance(node.meta["val"], Tensor) else ())
        elif node.op != "output":
            used = _union(saved, node.all_input_nodes)
            saved[node] = frozenset() if tangents[node] else used
            if tangents[node] and used:
                found[tangents[node], gradients[node]] |= used

    for place, node in enumerate(results):
        if node is not None and saved[node]:
            found[frozenset(range(count)), frozenset((place,))] |= saved[node]
    return [(sorted(s), sorted(t), sorted(g)) for (t, g), s in found.items()]


def tangents_of_nodes(graph: Graph, tangents: Iterable[Node]) -> Mapping[Node, frozenset[int]]:
    """The numbers of the tangents that each node of a graph is computed from."""
    return _spread(tangents, graph.nodes, lambda node: node.all_input_nodes)


def _spread(
    starts: Iterable[Any], nodes: Iterable[Node], before: Callable[[Node], Iterable[Node]]
) -> Mapping[Node, frozenset[int]]:
    """For each of the nodes, which come in this order, the numbers of `starts` that lead to it."""
    found: defaultdict[Any, frozenset[int]] = defaultdict(frozenset)
    for number, node in enumerate(starts):
        found[node] |= {number}
    for node in nodes:
        found[node] |= _union(found, before(node))
    return found


def _union(sets: Mapping[Node, frozenset[int]], nodes: Iterable[Node]) -> frozenset[int]:
    return frozenset().union(*[sets[node] for node in nodes])
