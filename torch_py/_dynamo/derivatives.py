"""`torch.autograd.grad` and custom Functions: one node each, for which autograd runs on fake tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch_py import autograd
from torch_py._dynamo import torch_calls
from torch_py._dynamo.breaks import unsupported_call
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.autograd.graph import _nodes_below, get_gradient_edge
from torch_py.nn.modules._backward_hooks import BackwardHookFunction

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture
    from torch_py._dynamo.scopes import Input


def grad(capture: Capture, args: Any, kwargs: dict[str, Any]) -> Any:
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
    return capture.result(
        capture.recorder.call("call_function", autograd.grad, tuple(args), kwargs, _without_overrides)
    )


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


def apply(capture: Capture, args: Any, kwargs: dict[str, Any]) -> Any:
    """``Function.apply`` of a custom autograd function: forward runs on fake tensors."""
    cls, *given = args
    if cls is BackwardHookFunction:
        raise unsupported_call(
            "a backward hook of a module", "it is called in backward, with gradients that are not captured"
        )
    capture.fixed(cls, cls.__name__)
    torch_calls.capture_arguments(capture, given, kwargs)
    capture.use_objects(*given, *kwargs.values())
    for name in ("forward", "backward", "setup_context"):
        capture.depends_on_class(cls, name)
        capture.use_function(getattr(cls, name))

    found = capture.recorder.call("call_function", cls.apply, tuple(given), kwargs, cls.apply, acts=True)
    return capture.result(found)


def _refusal(why: str) -> Any:
    return unsupported_call(
        "torch.autograd.grad", why, "compile the function that calls it together with what it differentiates"
    )
