"""What differentiates or transforms functions of the program.

`torch.func` transforms are one node of the graph, with a graph for the function that is transformed. While a
program is captured, the transform runs natively, on fake tensors. What it calls, with the tensors that it
wraps, is interpreted, and recorded as a graph of its own. Tensors from outside become inputs of that graph.

`torch.autograd.grad` is one node, for which autograd runs on fake tensors.

Custom autograd Functions are one node, whose methods run when the graph is compiled. Compiled code depends on
what these read, and must not lose what they do. So they are interpreted first, on copies of the arguments, in
a graph that is thrown away (`_Rehearsal`): what they read is guarded, and the graph ends before a Function
that does more than compute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CellType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from torch_py import _C, autograd
from torch_py._dynamo import torch_calls
from torch_py._dynamo.attributes import fields_of
from torch_py._dynamo.exc import Break, unsupported_call
from torch_py._dynamo.journal import copy_of, replace_contents, same
from torch_py._dynamo.native_rules import module_of, own_name
from torch_py._dynamo.recorder import Input, Scope
from torch_py._dynamo.varying_arguments import map_tensors
from torch_py._records import Fields
from torch_py._tensor import Tensor
from torch_py._thread_state import ThreadState
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.autograd._rehearsal import Context
from torch_py.autograd.function import Function
from torch_py.autograd.grad_mode import no_grad
from torch_py.autograd.graph import _nodes_below, get_gradient_edge
from torch_py.fx.graph_module import GraphModule
from torch_py.nn.modules._backward_hooks import BackwardHookFunction
from torch_py.nn.modules.module import Module
from torch_py.utils._pytree import tree_flatten, tree_unflatten

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture


_FILES = ("mapping", "reverse_mode", "forward_mode", "jacobians")
_MODULES = tuple(f"torch_py._functorch.{name}" for name in _FILES)
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
    _note_new(capture, result)
    return result


def _note_new(capture: Capture, value: Any) -> None:
    """Containers in what a transform returns are new, but for those of its functions."""
    capture.result(value)
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    for item in items:
        _note_new(capture, item)


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


class _Inner(Fields):
    """The function of a transform while it is captured: each call is recorded as a graph."""

    capture: Capture
    function: Any
    graphs: list[Any] = []
    scopes: list[Scope] = []

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
        outer = function.__closure__ or ()
        cells = tuple(CellType(next(given)) if _is_function(cell.cell_contents) else cell for cell in outer)
        code, defaults = function.__code__, function.__defaults__
        made = FunctionType(code, function.__globals__, function.__name__, defaults, cells)
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


# Gradients


def grad(capture: Capture, *args: Any, **kwargs: Any) -> Any:
    """Ends the graph where a gradient could come from what was computed before it."""
    args, kwargs = torch_calls.capture_arguments(capture, args, kwargs)
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
    hint = "compile the function that calls it together with what it differentiates"
    return unsupported_call("torch.autograd.grad", why, hint)


# Custom autograd Functions


def apply_function(capture: Capture, cls: Any, /, *given: Any, **kwargs: Any) -> Any:
    """``Function.apply`` of a custom autograd Function."""
    if cls is BackwardHookFunction:
        why = "it is called in backward, with gradients that are not captured"
        raise unsupported_call("a backward hook of a module", why)
    capture.fixed(cls, cls.__name__)
    given, kwargs = torch_calls.capture_arguments(capture, given, kwargs)
    for name in ("forward", "backward", "setup_context"):
        capture.depends_on_class(cls, name)

    rehearsed = _Rehearsal(capture, cls).run(given, kwargs)
    found = capture.recorder.call("call_function", cls.apply, given, kwargs, cls.apply, acts=True)
    # Numbers that depend on sizes were formulas in the rehearsal.
    several = found if isinstance(found, tuple) else (found,)
    results = [one if isinstance(one, Tensor) else other for one, other in zip(several, rehearsed)]
    return capture.result(tuple(results) if isinstance(found, tuple) else results[0])


class _Rehearsal(Fields):
    """Interprets the methods of a Function. Afterwards all is as before, but for the guards."""

    capture: Capture
    cls: Any
    _tensors: set[int] = set()  # that the methods are given

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The results of forward."""
        recorder = self.capture.recorder
        leaves = [leaf for leaf in (*args, *kwargs.values()) if isinstance(leaf, Tensor)]
        needs_grad = tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in args)
        is_recorded = _C.is_grad_enabled() and any(leaf.requires_grad for leaf in leaves)

        with self._without_effects([*args, *kwargs.values()]), no_grad():
            context = self.capture.made(Context(needs_grad))
            given, named = map_tensors((args, kwargs), self._copy)
            results = self._forward(context, given, named)
            if is_recorded:
                gradients = [self._copy(x) if isinstance(x, Tensor) else None for x in results]
                try:
                    self.capture.call(self.cls._own_backward(), (context, *gradients), {})
                except Exception as error:  # which is not one of the call
                    raise self._refusal(f"its backward raises {error!r}", "") from error
            outside = [tensor for tensor in recorder.scopes[-1].tensors if id(tensor) not in self._tensors]
        if outside:
            raise self._refusal("it uses a tensor that is none of its arguments", "give it the tensor")
        return results

    def _forward(self, context: Context, args: Any, kwargs: dict[str, Any]) -> list[Any]:
        capture, cls = self.capture, self.cls
        if cls.setup_context is Function.setup_context:
            output = capture.call(cls.forward, (context, *args), kwargs)
        else:
            output = capture.call(cls.forward, tuple(args), kwargs)
            capture.call(cls.setup_context, (context, tuple(args), output), {})
        return list(output) if isinstance(output, tuple) else [output]

    def _copy(self, tensor: Any) -> Any:
        """Another fake tensor of the same kind: methods may write to it. Numbers that vary stay."""
        if not isinstance(tensor, Tensor):
            return tensor

        recorder = self.capture.recorder
        with recorder.suspended():
            copy = tensor.clone().requires_grad_(tensor.requires_grad)
        recorder.track(copy, recorder.scopes[-1].placeholder("x"))
        self._tensors.add(id(copy))
        return copy

    @contextmanager
    def _without_effects(self, values: list[Any]) -> Iterator[None]:
        """`values` are the arguments: those that the program has made are not in the journal."""
        capture = self.capture
        state = ThreadState()
        before = capture.journal.checkpoint()
        new = [value for value in values if capture.is_new(value) and not isinstance(value, type)]
        owned = [(value, value if isinstance(value, (list, dict)) else fields_of(value)) for value in new]
        contents = [(value, owner, copy_of(owner)) for value, owner in owned if owner is not None]

        capture.recorder.begin_scope()
        outer, capture.fixes_numbers = capture.fixes_numbers, True
        try:
            yield
        except Break as reason:
            raise self._refusal(f"{reason.what}: {reason.why}", reason.hint) from reason
        finally:
            capture.fixes_numbers = outer
            capture.recorder.end_scope()
            state.restore()
            changed = capture.journal.back_to(before)
            for value, owner, content in contents:
                if not same(content, copy_of(owner)):
                    replace_contents(owner, content)
                    changed.append(value)
        if changed:
            raise self._refusal(f"it changes a {type(changed[0]).__name__}", "return what it computes")

    def _refusal(self, why: str, hint: str) -> Break:
        return Break(f"call of {self.cls.__name__}.apply", why, hint)
