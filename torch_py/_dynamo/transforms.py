"""`torch.func` transforms: one node of the graph, with a graph for the function that is transformed; and
`torch.autograd.grad`: one node, for which autograd runs on fake tensors.

While a program is captured, the transform runs natively, on fake tensors. What it calls, with the tensors
that it wraps, is interpreted, and recorded as a graph of its own. Tensors from outside become inputs of that
graph.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CellType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from torch_py import _C, autograd
from torch_py._dynamo import torch_calls
from torch_py._dynamo.breaks import unsupported_call
from torch_py._dynamo.native_rules import module_of, own_name
from torch_py._dynamo.nested import map_tensors
from torch_py._dynamo.recorder import Scope
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.autograd.graph import _nodes_below, get_gradient_edge
from torch_py.fx.graph_module import GraphModule
from torch_py.nn.modules.module import Module
from torch_py.utils._pytree import tree_flatten, tree_unflatten

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture
    from torch_py._dynamo.recorder import Input


_MODULES = tuple(
    f"torch_py._functorch.{name}" for name in ("mapping", "reverse_mode", "forward_mode", "jacobians")
)
# They return functions that hold on to the graph of autograd, or levels.
_UNCAPTURED = ("vjp", "linearize")


def is_transform(function: FunctionType) -> bool:
    """Whether a function is a transform that is captured, or the result of one."""
    made_in = function.__globals__.get("__name__") or ""
    is_one = module_of(function) in _MODULES or own_name(made_in) in _MODULES
    return is_one and function.__qualname__.partition(".")[0] not in _UNCAPTURED


def call(capture: Capture, function: FunctionType, args: Any, kwargs: dict[str, Any]) -> Any:
    """A call of a transform (``vmap(f)``), which makes a function, or of such a function."""
    if not _tensors_in((args, kwargs)):
        return capture.made(function(*args, **kwargs))

    for value in (*args, *kwargs.values()):
        capture.use(value)
    # The functions that the transform calls: from its closure, and from its arguments.
    inner = [_Inner(capture, value) for value in (*_in_closure(function), *filter(_is_function, args))]
    run = TransformCall(function, [None] * len(inner))
    given = _with_functions(args, iter(inner[run.in_closure :]))
    recorder = capture.recorder

    fake, named = map_tensors((given, kwargs), recorder.fake_of)
    with recorder.suspended():
        result = run.function_with(inner)(*fake, **named)

    run.graphs = [one.graphs for one in inner]
    lifted = [[scope.tensors for scope in one.scopes] for one in inner]
    numbers = map(_Function, range(run.in_closure, len(inner)))
    numbered = map_tensors(_with_functions(args, numbers), recorder.fake_of)
    recorder.append("call_function", run, (lifted, *numbered), named, result)
    return capture.result(result)


def _tensors_in(value: Any) -> list[Tensor]:
    return [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, Tensor)]


def _is_function(value: Any) -> bool:
    return isinstance(value, (FunctionType, MethodType, Module))


def _in_closure(function: FunctionType) -> list[Any]:
    return [cell.cell_contents for cell in function.__closure__ or () if _is_function(cell.cell_contents)]


def _with_functions(args: Any, functions: Any) -> list[Any]:
    return [next(functions) if _is_function(value) else value for value in args]


class _Function(int):
    """The number of a function, in place of an argument."""


class _Inner:
    """The function of a transform while it is captured: each call is recorded as a graph."""

    def __init__(self, capture: Capture, function: Any) -> None:
        self.capture = capture
        self.function = function
        self.graphs: list[Any] = []
        self.scopes: list[Scope] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        recorder = self.capture.recorder
        scope = recorder.begin_scope()
        before = _C._set_torch_function_modes_enabled(True)
        try:
            for tensor in _tensors_in((args, kwargs)):
                recorder.track(tensor, scope.placeholder("x"))
            result = self.capture.call(self.function, args, kwargs)
            leaves, spec = tree_flatten(result)
            scope.graph.output(tuple(map_tensors(leaf, recorder.node_of) for leaf in leaves))
        finally:
            _C._set_torch_function_modes_enabled(before)
            recorder.end_scope()

        self.graphs.append((GraphModule({}, scope.graph), spec))
        self.scopes.append(scope)
        return result


class TransformCall:
    """The target of a node: runs a transform of functions that are graphs.

    The first argument has the tensors from outside, for each function and each of its calls.
    """

    def __init__(self, function: FunctionType, graphs: list[Any]) -> None:
        self.function = function
        self.graphs = graphs
        self.in_closure = len(_in_closure(function))
        self.__name__ = function.__name__ if function.__name__.isidentifier() else "transform"
        self.__module__ = __name__

    def function_with(self, functions: list[Any]) -> FunctionType:
        """The transform, of other functions."""
        function = self.function
        given = iter(functions)
        cells = tuple(
            CellType(next(given)) if _is_function(cell.cell_contents) else cell
            for cell in function.__closure__ or ()
        )
        made = FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, cells
        )
        made.__kwdefaults__ = function.__kwdefaults__
        return made

    def __call__(self, lifted: Any, *args: Any, **kwargs: Any) -> Any:
        functions = [_of_graphs(graphs, tensors) for graphs, tensors in zip(self.graphs, lifted)]
        args = tuple(functions[value] if isinstance(value, _Function) else value for value in args)
        return self.function_with(functions)(*args, **kwargs)


def _of_graphs(graphs: Any, lifted: Any) -> Callable[..., Any]:
    """A function each of whose calls runs the next of the graphs."""
    calls = iter(zip(graphs, lifted))

    def run(*args: Any, **kwargs: Any) -> Any:
        (module, spec), tensors = next(calls)
        # By its forward: hooks of all modules are those of the program.
        return tree_unflatten(list(module.forward(*_tensors_in((args, kwargs)), *tensors)), spec)

    return run


def grad(capture: Capture, *args: Any, **kwargs: Any) -> Any:
    """Ends the graph where a gradient could come from what was computed before it."""
    torch_calls.capture_arguments(capture, args, kwargs)
    given = dict(zip(("outputs", "inputs"), args), **kwargs)
    outputs = _fakes(capture, given.get("outputs"))
    inputs = _fakes(capture, given.get("inputs"))

    for found in _inputs_below(outputs, list(capture.recorder.inputs.values())):
        if found.real.grad_fn is not None and not (len(inputs) == 1 and inputs[0] is found.fake):
            raise _refusal("a gradient may flow to what was computed outside of the graph")
        if found.real._backward_hooks:
            raise _refusal("a tensor has a hook, which changes its gradient")
    found = capture.recorder.call("call_function", autograd.grad, args, kwargs, _without_overrides)
    return capture.result(found)


def _without_overrides(*args: Any, **kwargs: Any) -> Any:
    with DisableTorchFunctionSubclass():
        return autograd.grad(*args, **kwargs)


def _fakes(capture: Capture, given: Any) -> list[Any]:
    tensors = [given] if isinstance(given, Tensor) else capture.elements_of(given)
    if not all(isinstance(tensor, Tensor) for tensor in tensors):
        raise _refusal("it is called with something other than tensors")
    return [capture.recorder.fake_of(tensor) for tensor in tensors]


def _inputs_below(outputs: list[Any], inputs: list[Input]) -> list[Input]:
    """The inputs of the graph that results were computed from."""
    owners = {get_gradient_edge(one.fake).node: one for one in inputs if one.fake.requires_grad}
    first = [get_gradient_edge(tensor).node for tensor in outputs if tensor.requires_grad]
    return [owners[node] for node in _nodes_below(first) if node in owners]


def _refusal(why: str) -> Any:
    return unsupported_call(
        "torch.autograd.grad", why, "compile the function that calls it together with what it differentiates"
    )
