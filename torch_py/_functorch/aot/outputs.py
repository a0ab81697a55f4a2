"""How the results of a call are made from the outputs of its graph."""

from __future__ import annotations

from collections import Counter
from typing import Any

from torch_py._functorch.aot import recipes
from torch_py._functorch.aot.inputs import Given, Input, version_of
from torch_py._functorch.aot.recipes import Computed, Constant, InputOfGraph, OnInput, Own, Same, Viewed
from torch_py._functorch.aot.recording import Recorder
from torch_py._functorch.aot.views import View, Views
from torch_py._ops import ops
from torch_py._records import Fields
from torch_py._subclasses.calls import memory_of
from torch_py._subclasses.fake_tensor import FakeTensor
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import enable_grad
from torch_py.fx.node import Node

_DETACH = ops.aten.detach.default
_LIFT = ops.aten.lift_fresh.default


_VIEW_OF_ARGUMENT = "a result is a view of an argument that the program has"


class Outputs(Fields):
    """Finds out what the results of a recorded program are: `recipes` has a recipe for each result, and
    `computed` the tensors that the graph has to compute for them.

    Those at the positions `views_of_inputs` have another derivative than these inputs: results of custom
    Functions.

    `inputs` are those of the graph, with their numbers, and `arguments` the tensors that the program gets, by
    identity. It has written to the memory of the nodes `written`. `runs_in_inference` says that the graph
    runs in inference mode.
    """

    inputs: dict[Node, tuple[int, Input]]
    arguments: dict[int, Given]
    recorder: Recorder
    views: Views
    written: set[Node]
    runs_in_inference: bool
    recipes: list[recipes.Recipe] = []
    computed: list[Any] = []
    views_of_inputs: set[int] = set()
    _positions: dict[int, int] = {}  # in `computed`, by identity
    _results: dict[int, int] = {}  # the first position of each result, by identity

    def find(self, results: list[Any]) -> None:
        tensors = {id(result): result for result in results if isinstance(result, FakeTensor)}
        users = Counter(memory_of(tensor) for tensor in tensors.values())
        shared = {memory for memory, count in users.items() if count > 1}

        for position, result in enumerate(results):
            self._results.setdefault(id(result), position)

        for position, result in enumerate(results):
            if not isinstance(result, Tensor):
                self.recipes.append(Constant(result))
            elif id(result) in self.arguments:
                self.recipes.append(Own(self.arguments[id(result)].position))
            elif self._results[id(result)] != position:
                self.recipes.append(Same(self._results[id(result)]))
            else:
                self.recipes.append(self._view_of_detached(result) or self._recipe(result, shared))

    def _view_of_detached(self, result: Any) -> recipes.Recipe | None:
        """The recipe for a view of another result that is a detached tensor: it requires gradients as soon as
        that one does."""
        base = result._base
        if base is None or id(base) not in self._results or id(base) in self.arguments:
            return None
        node = self.recorder.node_of(base)
        view = self._view(result)
        if base is self.recorder.tensor_of(view.root) or node not in view.sources:
            return None

        count = len(view.sources) - view.sources.index(node)
        steps = view.steps[-count:]
        is_view = _is_reproduced(result, base, steps, self.recorder)
        return Viewed(Same(self._results[id(base)]), steps) if is_view else None

    def _recipe(self, result: Any, shared: set[int]) -> recipes.Recipe:
        view = self._view(result)
        if view.root in self.inputs:
            return self._view_of_input(result, view)
        is_one_of_several = bool(result.requires_grad) and any(step.index is not None for step in view.steps)
        is_base_needed = memory_of(result) in shared or _has_lost_history(result) or is_one_of_several
        base = self.recorder.tensor_of(view.root) if is_base_needed else None
        if base is None or base is result:
            return self._compute(result)
        if self._is_reshaped(base):
            steps = _steps_from_reshaped(result, base, len(view.steps))
            return Viewed(self._compute(base), steps) if steps else self._compute(result)

        steps = _steps_to(result, base, view)
        is_view = _is_reproduced(result, base, steps, self.recorder)
        return Viewed(self._compute(base), steps) if is_view else self._compute(result)

    def _view(self, result: Any) -> View:
        """What a result is a view of, by steps that say where `.data` was taken."""
        node = self.recorder.node_of(result)
        view = self.views.of(node)
        if view.steps and view.steps[0].target is _LIFT:
            # What `torch.tensor` makes of its numbers is not a view of them.
            sources = view.sources[1:]
            view = View((*sources, node)[0], view.steps[1:], sources)
        tensors = [*map(self.recorder.tensor_of, view.sources[1:]), result]
        steps = list(view.steps)
        first = len(steps) - len(view.sources)
        for position, tensor in zip(range(first, len(steps)), tensors):
            if isinstance(tensor, FakeTensor) and tensor.is_data and steps[position].target is _DETACH:
                steps[position] = recipes.Step(recipes.data_of, (), {}, None, steps[position].without_grad)
        return View(view.root, tuple(steps), view.sources)

    def _view_of_input(self, result: Any, view: View) -> recipes.Recipe:
        position, source = self.inputs[view.root]
        if self._is_reshaped(source.given):
            steps = _steps_from_reshaped(result, source.given, len(view.steps), source.history)
            if steps:
                return Viewed(InputOfGraph(position), steps)
            what = "reshaped in place, by a custom Function or with another dtype"
            raise recipes.Unsupported(f"{_VIEW_OF_ARGUMENT} {what}")
        steps = _steps_to(result, source.given, view)
        if _is_reproduced(result, source.given, steps, self.recorder):
            return Viewed(InputOfGraph(position), steps)

        is_whole = _geometry(result) == _geometry(source.given) and result.dtype == source.given.dtype
        is_written = view.root in self.written
        if not result.requires_grad or version_of(source.given) or (is_written and not is_whole):
            raise recipes.Unsupported(f"{_VIEW_OF_ARGUMENT} changed in a way that its gradients do not show")
        computed = self._compute(result)
        self.views_of_inputs.add(computed.position)
        return OnInput(computed.position, position) if is_written else computed

    def _is_reshaped(self, base: Any) -> bool:
        """Whether the program has changed the shape of a tensor in place, if only to the same one again."""
        return bool(self.views.of(self.recorder.node_of(base)).steps)

    def _compute(self, tensor: Any) -> Computed:
        position = self._positions.get(id(tensor))
        if position is None:
            position = self._positions[id(tensor)] = len(self.computed)
            self.computed.append(tensor)
        return Computed(position, tensor.is_inference() and not self.runs_in_inference)


def _has_lost_history(result: Any) -> bool:
    """Whether a tensor is a view, taken without grad mode, of one that requires gradients."""
    return bool(result.requires_grad) and result.grad_fn is None


def _steps_to(result: Any, source: Any, view: View) -> tuple[recipes.Step, ...]:
    """The views that lead from `source` to `result`.

    After a change of the memory, the history of a view is that of one directly on its base. What is taken
    of that view continues it.
    """
    is_direct = result.dtype == source.dtype and _detached_origin(result, source) is None
    if version_of(source) and is_direct and _is_strided_view(result, source):
        return (_strided(result, source),)
    return view.steps


def _geometry(tensor: Any) -> tuple[Any, ...]:
    return tensor.shape, tensor.stride(), tensor.storage_offset()


def _steps_from_reshaped(
    result: Any, source: Any, count: int, history: Any = None
) -> tuple[recipes.Step, ...] | None:
    """Steps to a view of a tensor that the program has reshaped (`t_`): results are made when it is.

    The program has taken `count` views; `history` is the grad_fn that `source` began with. None if the
    derivative of the view is another one.
    """
    names = _history(result, source, history)[:count] if result.requires_grad else []
    # Custom Functions that return views have derivatives of their own, and names without a number.
    if result.dtype != source.dtype or not all(name[-1].isdigit() for name in names):
        return None
    detached = _detached_origin(result, source)
    if detached is None:
        return (_strided(result, source),)
    target = recipes.data_of if detached.is_data else _DETACH
    start = _strided(detached, source), recipes.Step(target, (), {}, None, without_grad=False)
    return start if detached is result else (*start, _strided(result, detached))


def _detached_origin(result: Any, source: Any) -> Any:
    """The detached tensor that a view of the memory of `source` is, or is a view of; None if it is a view of
    `source` for autograd, too."""
    origin = result if result._base is None else result._base
    return None if origin is (source if source._base is None else source._base) else origin


def _strided(view: Any, source: Any) -> recipes.Step:
    """The step from a tensor to a view of its memory."""
    distance = view.storage_offset() - source.storage_offset()
    return recipes.Step(
        recipes.strided, (view.shape, view.stride(), distance), {}, None, _has_lost_history(view)
    )


def _is_strided_view(result: Any, source: Any) -> bool:
    """Whether the history of a view is that of one directly on its base."""
    name = "AsStridedBackward0"
    return _history(result, source)[:2].count(name) == 1 and result.grad_fn.name() == name


def _is_reproduced(result: Any, source: Any, steps: tuple[recipes.Step, ...], recorder: Recorder) -> bool:
    """Whether taking the views of `source` again gives `result` with its history.

    A custom Function that returns a view, for example, has a derivative of its own.
    """
    # Results are made with grad mode, whatever the mode at the end of the program.
    with recorder.paused(), enable_grad():
        again = source
        for step in steps:
            again = step(again)
    if again.requires_grad != result.requires_grad:
        return False
    if not result.requires_grad or source._version:
        return True
    return _history(again, source) == _history(result, source)


def _history(tensor: Any, source: Any, start: Any = None) -> list[str]:
    """The nodes from a tensor back to `source`, or to the node `start`."""
    names = []
    node = tensor.grad_fn
    while node is not None and node is not source.grad_fn and node is not start and len(names) < 64:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return names
