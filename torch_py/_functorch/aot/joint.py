"""One call of a program, and its backward, as a functional graph (`trace`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.aot import recipes
from torch_py._functorch.aot.functionalize import Functionalized, written_nodes
from torch_py._functorch.aot.inputs import Given, Input, Inputs, Sharing, version_of
from torch_py._functorch.aot.nodes import is_random, mode_of
from torch_py._functorch.aot.outputs import Outputs
from torch_py._functorch.aot.partition import note_unused
from torch_py._functorch.aot.recording import Decompositions, Program, Recorder
from torch_py._functorch.aot.views import Views, aliased_argument
from torch_py._tensor import Tensor
from torch_py._thread_state import ThreadState, without_autocast
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.autograd import grad as gradients_of
from torch_py.autograd import graph as history
from torch_py.autograd import set_detect_anomaly
from torch_py.autograd.grad_mode import enable_grad, inference_mode
from torch_py.fx._lazy_graph_module import _LazyGraphModule
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node


def arrivals(results: Sequence[Any]) -> dict[Any, frozenset[int]]:
    """For each node of autograd, the positions of the results whose gradients flow to it."""
    reached: defaultdict[Any, frozenset[int]] = defaultdict(frozenset)
    for position, result in enumerate(results):
        reached[history.get_gradient_edge(result).node] |= {position}

    for node in history._nodes_below(list(reached)):
        for following, _ in node.next_functions:
            if following is not None:
                reached[following] |= reached[node]
    return reached


def trace(
    program: Program,
    arguments: Sequence[Any],
    names: Sequence[str],
    decompositions: Decompositions = None,
    may_take_memory: Callable[[Iterable[int]], bool] = lambda positions: True,
) -> recipes.Traced:
    """Records the call of a program, and its gradients if results require them.

    Arguments that are not tensors are constants of the graph; a tensor that is given twice is one input.
    `program` runs on fake tensors; the arguments themselves are not read, nor changed. Raises SharedMemory if
    inputs have to be the memory of arguments of which `may_take_memory` does not hold.
    """
    try:
        return _Trace(arguments, decompositions).run(program, names, {})
    except SharedMemory as found:
        if not may_take_memory(found.sources):
            raise
        sources = found.sources
    return _Trace(arguments, decompositions).run(program, names, sources)


class SharedMemory(Exception):
    """The program is to be recorded again, with other inputs: the memory of some arguments as a whole."""

    def __init__(self, sources: dict[int, recipes.Source]) -> None:
        self.sources = sources


class _Trace:
    def __init__(self, arguments: Sequence[Any], decompositions: Decompositions) -> None:
        self.arguments = arguments
        self.recorder = Recorder(mode_of(arguments), decompositions)
        self.graph = self.recorder.graph
        self.views = Views()
        self.backward_error: Exception | None = None
        self.is_autocast = False
        self.leaves_inference = False
        self.reached: list[list[int]] = []

    def run(self, program: Program, names: Sequence[str], sources: Mapping[int, Any]) -> recipes.Traced:
        made = Inputs(self.recorder, self.arguments, names)
        made.make(sources)
        self.inputs = made.inputs
        self.given = made.given
        state = ThreadState()  # programs may end in other modes than they begin in
        self.is_autocast = any(enabled for enabled, _ in state.autocast.values())
        try:
            with history._without_saved_tensors_hooks(), self.recorder.running():
                results = program(self.recorder, made.for_program())
                is_left = any(map(self._is_made_without_inference, results))
                stays_inference = state.inference and _C.is_inference_mode_enabled() and not is_left
                self.leaves_inference = state.inference and not stays_inference

                # The nodes whose memory the program has written to, itself or through views.
                written = {self.views.of(n).root for node in self.graph.nodes for n in written_nodes(node)}
                runs_in_inference = stays_inference and not any(x.leaf.requires_grad for x in self.inputs)
                inputs = {one.node: (number, one) for number, one in enumerate(self.inputs)}
                given = {id(one.tensor): one for one in self.given}
                outputs = Outputs(inputs, given, self.recorder, self.views, written, runs_in_inference)
                # The call makes its results before it switches to the mode that the program ends in.
                with inference_mode(stays_inference):
                    outputs.find(results)
                recorded = [one for one in self.inputs if one.node in written and _has_new_history(one)]
                tangents, gradients = self._gradients([*outputs.computed, *(one.given for one in recorded)])
                self._check_data([one for one in results if isinstance(one, Tensor)])
        finally:
            state.restore()
            self.recorder.draws.restore()
        with DisableTorchFunctionSubclass():  # fake tensors are asked for many facts
            return self._functional(outputs, recorded, tangents, gradients)

    def _gradients(self, computed: list[Any]) -> tuple[list[int], list[Any]]:
        """The outputs that have a gradient, and the gradient of each input that requires one."""
        wanted = [one.leaf for one in self.inputs if one.leaf.requires_grad]
        tangents = [i for i, tensor in enumerate(computed) if tensor.grad_fn is not None]
        if any(tensor.requires_grad and tensor.is_leaf and not tensor._is_view() for tensor in computed):
            raise recipes.Unsupported("a result that requires gradients is made by the program")
        if not tangents:
            return [], []
        if not wanted:
            why = "no argument does: the program makes tensors that require them"
            raise recipes.Unsupported(f"results require gradients, and {why}")
        if not all(_has_shape_of_history(computed[i]) for i in tangents):
            change = "the program changes the shape of a result in place without grad mode"
            raise recipes.Unsupported(f"{change}, so that no gradient of the result fits its history")

        with self.recorder.paused(), inference_mode(False), enable_grad():
            reached = arrivals([computed[i] for i in tangents])
            leaves = [history.get_gradient_edge(leaf).node for leaf in wanted]
        self.recorder.context = {recipes.BACKWARD: True}
        self.recorder.notes_steps = len(tangents) > 1
        tangent = self.recorder.tangent
        given = [tangent(f"tangents_{number}", computed[i]) for number, i in enumerate(tangents, start=1)]

        def gradients_for(arriving: Collection[int]) -> list[Any]:
            steps = [step for step, numbers in reached.items() if not numbers.isdisjoint(arriving)]
            if any(_is_last(step) for step in steps if step not in leaves):
                _look_at_saved(steps)
            results = [computed[tangents[number]] for number in arriving]
            weights = [given[number] for number in arriving]
            return list(gradients_of(results, wanted, weights, retain_graph=True, allow_unused=True))

        # A backward is mostly called after the block of autocast. Fake gradients are never nan.
        with without_autocast(), set_detect_anomaly(False):
            self.backward_error, gradients = _attempt(gradients_for, range(len(tangents)))
            if self.backward_error is not None:
                if any(_attempt(gradients_for, (number,))[0] is None for number in range(len(tangents))):
                    raise recipes.Unsupported("backward raises an error for some results, not for others")
                self._forget_backward()
                return tangents, []
        self.reached = [sorted(reached.get(leaf, ())) for leaf in leaves]
        self._note_tangents(reached)
        return tangents, gradients

    def _check_data(self, results: Sequence[Any]) -> None:
        """Raises Unsupported if backward keeps what a result has by `.data`: changes of that result are
        none of any input or output of the graph."""
        data = {self._data_before(self.recorder.node_of(result)) for result in results} - {None}
        for node in self.graph.nodes if data else ():
            kept = node.all_input_nodes if recipes.BACKWARD in node.meta else ()
            if any(recipes.BACKWARD not in one.meta and self._data_before(one) in data for one in kept):
                raise recipes.Unsupported("backward keeps a tensor that the program returns as `.data`")

    def _data_before(self, node: Node) -> Node | None:
        """The last tensor that `.data` has made on the way to a view."""
        way = (node, *reversed(self.views.of(node).sources))
        return next((one for one in way if getattr(self.recorder.tensor_of(one), "is_data", False)), None)

    def _note_tangents(self, reached: Mapping[Any, frozenset[int]]) -> None:
        """Replaces the steps of backward by the tangents that lead to them."""
        for node in self.graph.nodes:
            step = node.meta.pop(recipes.STEP, None)
            if step in reached:  # and not of a pass in which all of this happens
                node.meta[recipes.TANGENTS] = reached[step]

    def _forget_backward(self) -> None:
        for node in reversed(self.graph.nodes):
            if recipes.BACKWARD in node.meta:
                self.graph.erase_node(node)

    # The functional graph
    # ------------------------------------------------------------

    def _functional(
        self, outputs: Outputs, recorded: list[Input], tangents: list[int], gradients: list[Any]
    ) -> recipes.Traced:
        # First of all: a result of several becomes a node when it is asked for.
        node_of = self.recorder.node_of
        computed = [node_of(tensor) for tensor in outputs.computed]
        found = [None if gradient is None else node_of(gradient) for gradient in gradients]

        sharing = Sharing(self.graph, self.inputs, self.arguments, self.views, bool(tangents))
        if sharing.sources:
            raise SharedMemory(sharing.sources)
        functional = Functionalized(self.graph, self.recorder.fake_mode, Views(sharing.views))

        values = [functional.result(node) for node in computed]
        values = [v if i in outputs.views_of_inputs else functional.separate(v) for i, v in enumerate(values)]
        changes = self._changes(functional, recorded, sharing, values)
        last = [None if node is None else functional.last(node) for node in found]
        functional.graph.output([*values, *last])
        # Tensors of inference mode may be changed in that mode only.
        changes_inference = any(self.inputs[change.input].given.is_inference() for change in changes)
        note_unused(functional.graph)
        remove_dead_nodes(functional.graph)
        return recipes.Traced(
            module=_LazyGraphModule(self.recorder.root, functional.graph),
            inputs=[one.source for one in self.inputs],
            num_outputs=len(values),
            tangents=tangents,
            differentiated=[i for i, one in enumerate(self.inputs) if tangents and one.leaf.requires_grad],
            recipes=outputs.recipes,
            changes=changes,
            reached=self.reached,
            backward_error=self.backward_error,
            is_autocast=self.is_autocast,
            leaves_inference=self.leaves_inference and not changes_inference,
            reshapings=[found for one in self.given if (found := self._reshaping(one, changes)).operators],
        )

    def _is_made_without_inference(self, result: Any) -> bool:
        """Whether a result is an ordinary tensor, and not because it is a view of an argument."""
        if not isinstance(result, Tensor) or result.is_inference():
            return False
        return self.views.of(self.recorder.node_of(result)).root.op != "placeholder"

    def _changes(
        self, functional: Functionalized, recorded: list[Input], sharing: Sharing, values: list[Node]
    ) -> list[recipes.Change]:
        """What the call does to its inputs. Adds their new numbers to `values`, the outputs of the graph."""
        changes = []
        for one in [*recorded, *(one for one in self.inputs if one not in recorded)]:
            if one.source.of(self.arguments).requires_grad and not one.given.requires_grad:
                raise recipes.Unsupported("the program detaches an argument in place")
            is_recorded = one in recorded
            if is_recorded or (functional.is_changed(one.node) and one.node not in sharing.views):
                is_counted = one.given.is_inference() or version_of(one.given) != one.version
                changes.append(recipes.Change(self.inputs.index(one), len(values), is_recorded, is_counted))
                functional.inputs[one.node].meta[recipes.CHANGED] = True
                values.append(functional.last(self.recorder.node_of(one.given)))
        return changes

    def _reshaping(self, one: Given, changes: Sequence[recipes.Change]) -> recipes.Reshaping:
        node = self.recorder.node_of(one.tensor)
        operators = []
        while node is not one.node:
            if recipes.METADATA in node.meta:
                with_grad = recipes.NO_GRAD not in node.meta
                operators.append((node.meta[recipes.METADATA], node.args[1:], node.kwargs, with_grad))
            source = aliased_argument(node)
            if source is None:
                break
            node = source
        operators = operators[::-1] or self._change_of_view(one, {change.input for change in changes})
        return recipes.Reshaping(one.position, tuple(operators))

    def _change_of_view(self, one: Given, changed: set[int]) -> list[Any]:
        """The shape of a view has changed, which counts as a change of the argument."""
        for number, known in enumerate(self.inputs):
            if known.given is one.tensor and number not in changed:
                is_counted = version_of(one.tensor) != known.version
                return [(history.increment_version, (), {}, True)] if is_counted else []
        return []


def _has_new_history(one: Input) -> bool:
    """Whether autograd has seen that the program changed the input."""
    return bool(one.given.requires_grad) and one.given.grad_fn is not one.history


def _attempt(function: Callable[..., Any], *arguments: Any) -> tuple[Exception | None, Any]:
    """The error that a function raises, or what it returns."""
    try:
        return None, function(*arguments)
    except Exception as error:
        return error, None


def _is_last(step: Any) -> bool:
    """Whether gradients do not flow on from a step of autograd."""
    return all(following is None for following, _ in step.next_functions)


def _look_at_saved(steps: Iterable[Any]) -> None:
    """Raises RuntimeError if the program has changed what a step has kept. Those that lead to no leaf, as
    views of inference mode do not, are left out where gradients of some tensors are computed."""
    for step in steps:
        for name in filter(lambda name: name.startswith("_saved_"), dir(step)):
            getattr(step, name)


def _has_shape_of_history(tensor: Any) -> bool:
    """Whether a tensor has the shape that its grad_fn expects of its gradient."""
    expected: Any = tensor.grad_fn._input_metadata[tensor.output_nr].shape
    return bool(expected == tensor.shape)


def remove_dead_nodes(graph: Graph) -> None:
    """Removes what nothing uses, but random operators: later ones draw other numbers without them."""
    for node in reversed(graph.nodes):
        if not node.users and node.op not in ("placeholder", "output") and not is_random(node.target):
            graph.erase_node(node)
