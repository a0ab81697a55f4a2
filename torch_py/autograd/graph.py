"""Tools to inspect and influence the recorded graph: its nodes, saved
tensors, and the edges where gradients arrive."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from torch_py import _C
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.utils.hooks import RemovableHandle

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]

# The messages of the active `disable_saved_tensors_hooks` blocks of each thread.
_state = threading.local()


class InputMetadata(NamedTuple):
    """The shape, dtype and device of a gradient that enters a node."""

    shape: _C.Size
    dtype: _C.dtype
    device: _C.device


class _NodeMeta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _C.Node) or (
            isinstance(instance, _C.FunctionBase) and hasattr(instance, "next_functions")
        )

    def __subclasscheck__(cls, subclass: type) -> bool:
        is_context = issubclass(subclass, _C.FunctionBase) and hasattr(subclass, "_forward_class")
        return cls in subclass.__mro__ or issubclass(subclass, _C.Node) or is_context


class Node(metaclass=_NodeMeta):
    """The type of all nodes of a graph (`tensor.grad_fn`), for isinstance.

    Example:
        >>> x = torch.ones(1, requires_grad=True)
        >>> isinstance((x * 2).grad_fn, torch.autograd.graph.Node)
        True
    """


class saved_tensors_hooks:
    """Stores every tensor that is saved for backward inside the block as `pack_hook(tensor)`, and reads it as
    `unpack_hook(stored)`.

    `unpack_hook` must return a tensor with the values, shape, dtype and device of the original.

    Args:
        pack_hook: what to store in place of a tensor
        unpack_hook: makes the tensor of what was stored

    Example:
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> with torch.autograd.graph.saved_tensors_hooks(lambda x: x.numpy(), torch.from_numpy):
        ...     y = x.detach().exp() * x
        >>> y.backward()
        >>> x.grad
        tensor(20.0855)
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if getattr(_state, "disabled", None):
            raise RuntimeError(_state.disabled[-1])
        _C._saved_tensors_hooks_push(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exception: object) -> None:
        _C._saved_tensors_hooks_pop()


@contextlib.contextmanager
def _without_saved_tensors_hooks() -> Iterator[None]:
    """Sets the hooks of this thread aside: the compiler runs programs, whose saved tensors are not theirs."""
    hooks = _C._saved_tensors_hooks_take()
    try:
        yield
    finally:
        for pack, unpack in hooks:
            _C._saved_tensors_hooks_push(pack, unpack)


class save_on_cpu(saved_tensors_hooks):
    """Keeps the tensors that are saved for backward inside the block in CPU memory.

    Args:
        pin_memory: whether that memory is page-locked, for quicker copies; default False
        device_type: the accelerator of page-locked memory; default 'cuda'

    Example:
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> with torch.autograd.graph.save_on_cpu():
        ...     y = x**2
        >>> y.backward()
        >>> x.grad
        tensor(6.)
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: (tensor.device, tensor.cpu()), lambda packed: packed[1].to(packed[0]))


class GradientEdge(NamedTuple):
    """The place where a gradient enters a node: input `output_nr` of `node`.

    Args:
        node: the node
        output_nr: the number of the input of the node, which is that of an output of the forward operation

    Example:
        >>> x = torch.ones(1, requires_grad=True)
        >>> torch.autograd.graph.get_gradient_edge(x * 2).output_nr
        0
    """

    node: Any
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge along which the gradient of `tensor` flows.

    Raises RuntimeError if the tensor does not require grad.

    Args:
        tensor: the tensor

    Example:
        >>> x = torch.ones(1, requires_grad=True)
        >>> torch.autograd.graph.get_gradient_edge(x * 2).output_nr
        0
    """
    if not tensor.requires_grad:
        raise RuntimeError("get_gradient_edge: expected a tensor that requires grad, got one that does not")
    node = tensor.grad_fn
    if node is None:  # a leaf: its node is the one that a view leads to
        node = tensor.view_as(tensor).grad_fn.next_functions[0][0]
    return GradientEdge(node, tensor.output_nr)


def _nodes_below(nodes: Iterable[Any]) -> list[Any]:
    """These nodes and all that a backward through them reaches, each before those that it leads to."""
    finished: list[Any] = []
    seen: set[Any] = set()
    waiting = [(node, False) for node in nodes]
    while waiting:
        node, has_followed = waiting.pop()
        if has_followed:
            finished.append(node)
        elif node not in seen:
            seen.add(node)
            waiting.append((node, True))
            waiting += [(following, False) for following, _ in node.next_functions if following is not None]
    return finished[::-1]


def _get_grad_fn_or_grad_acc(t: Tensor | GradientEdge) -> Any:
    """The node at which a tensor's gradient arrives: the one that computed it, or for a leaf the one that
    adds to its `.grad`. None if the tensor does not require grad."""
    if isinstance(t, GradientEdge):
        return t.node
    return get_gradient_edge(t).node if t.requires_grad else None


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Tells autograd that something else wrote to the memory of a tensor, or of several.

    Raises RuntimeError for tensors made in inference mode.

    Args:
        tensor: a tensor, or several

    Example:
        >>> x = torch.ones(1)
        >>> torch.autograd.graph.increment_version(x)
        >>> x._version
        1
    """
    if not isinstance(tensor, (Tensor, Iterable)):
        raise RuntimeError(
            f"increment_version expect a Iterable[Tensor] as input, got {type(tensor).__name__}"
        )
    for written in (tensor,) if isinstance(tensor, Tensor) else tensor:
        _C._increment_version(written)


_absent = _lacking(__name__)


def __getattr__(name: str) -> Any:
    if name == "allow_mutation_on_saved_tensors":
        # Imported on first use: it imports modules that import this one.
        from torch_py.autograd._saved_copies import allow_mutation_on_saved_tensors

        return allow_mutation_on_saved_tensors
    return _absent(name)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Makes `saved_tensors_hooks` raise RuntimeError(error_message) inside the block, in this thread.

    Args:
        error_message: the message of the error

    Example:
        >>> with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        ...     (torch.ones(1, requires_grad=True) * 2).backward()
    """
    if not hasattr(_state, "disabled"):
        _state.disabled = []
    _state.disabled.append(error_message)
    try:
        yield
    finally:
        _state.disabled.pop()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: Literal["all", "any"] = "all"
) -> RemovableHandle:
    """Calls `fn` in backward with the gradients of several tensors that require grad.

    'all' calls `fn([gradient or None, ...])` once per backward pass, when all gradients that the pass
    computes have arrived. 'any' calls `fn(gradient)` with the first one. Raises ValueError for another mode.

    Args:
        tensors: the tensors
        fn: the hook
        mode: 'all' (default) or 'any'

    Example:
        >>> x, y = (torch.ones(1, requires_grad=True) for _ in range(2))
        >>> handle = torch.autograd.graph.register_multi_grad_hook([x, y], lambda gradients: print(gradients))
        >>> (x * 2 + y).backward()
        [tensor([2.]), tensor([1.])]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")

    watched = list(tensors)
    for position, tensor in enumerate(watched):
        if not tensor.requires_grad:
            raise RuntimeError(
                f"register_multi_grad_hook: expected tensors that require grad, tensor {position} does not"
            )

    made = _MultiGradHook(watched, fn, mode)
    handle = RemovableHandle(made.registered)
    made.registered[handle.id] = True
    return handle


class _Registered(dict[int, bool]):
    """The dictionary that a handle empties. Removing its entry also removes the hooks of the tensors."""

    handles: list[Any]

    def pop(self, *arguments: Any) -> Any:
        for handle in self.handles:
            handle.remove()
        return super().pop(*arguments)


class _MultiGradHook:
    def __init__(self, tensors: list[Tensor], fn: Callable[..., None], mode: str) -> None:
        self.fn = fn
        self.mode = mode
        self.registered = _Registered()
        self.lock = threading.Lock()
        self.gradients: list[Any] = [None] * len(tensors)
        self.pass_number = -1
        self.missing: set[int] = set()

        self.edges = [get_gradient_edge(tensor) for tensor in tensors]
        arrived = [functools.partial(self._arrived, position) for position in range(len(tensors))]
        self.registered.handles = [tensor.register_hook(hook) for tensor, hook in zip(tensors, arrived)]

    def _arrived(self, position: int, gradient: Any) -> None:
        if not self.registered:
            return

        with self.lock:
            number = _C._current_graph_task_id()
            if number != self.pass_number:
                self.pass_number = number
                self.gradients = [None] * len(self.gradients)
                executed = [_C._will_engine_execute_node(edge.node) for edge in self.edges]
                self.missing = {place for place, runs in enumerate(executed) if runs}

            first = all(value is None for value in self.gradients)
            self.gradients[position] = gradient if self.mode == "all" else True
            self.missing.discard(position)

            # Gradients are not kept any longer than the call: the graph, and this hook, may live on.
            found = self.gradients
            complete = not self.missing
            if complete:
                self.gradients = [None] * len(found)

        if self.mode == "any" and first:
            self.fn(gradient)
        elif self.mode == "all" and complete:
            self.fn(found)


if TYPE_CHECKING:
    # Imported on first use: it is above this module.
    from torch_py.autograd._saved_copies import allow_mutation_on_saved_tensors
