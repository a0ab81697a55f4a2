"""One call of a module, recorded: its operators as a graph, with a placeholder for every parameter, buffer
and leaf of the arguments."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch_py
from torch_py._tensor import Tensor
from torch_py.export._description import describe
from torch_py.export._errors import ExportError
from torch_py.export._user_code import innermost_line, user_stack
from torch_py.fx.experimental.proxy_tensor import ProxyTorchDispatchMode
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node
from torch_py.nn.modules.module import Module
from torch_py.overrides import TorchFunctionMode
from torch_py.utils._pytree import TreeSpec, tree_flatten, tree_unflatten


@dataclass
class Recording:
    """The graph of one call, which returns the flat list of the results."""

    graph: Graph
    out_spec: TreeSpec
    constants: dict[str, Tensor]
    # The placeholders, by the full name of a parameter or buffer, and by the position of a leaf.
    state: dict[str, Node] = field(default_factory=dict)
    leaves: list[Node] = field(default_factory=list)
    # Buffers that the program has replaced by other tensors, which follow the results in the output.
    reassigned: list[Node] = field(default_factory=list)

    @property
    def nodes(self) -> list[Node]:
        return list(self.graph.nodes)


class RecordingMode(ProxyTorchDispatchMode):
    """Records operators with the lines of the program that they come from.

    Refuses calls that would change a `fixed` tensor: a parameter or attribute, of which there is no copy.
    """

    def __init__(
        self,
        graph: Graph,
        fixed: Mapping[str, Tensor],
        outermost: FrameType,
        decompositions: Mapping[Any, Callable[..., Any]],
    ) -> None:
        super().__init__(Module(), graph, decompositions)
        self.constants: dict[str, Tensor] = {}
        self.outermost = outermost
        self._fixed_at = {tensor.untyped_storage()._address(): name for name, tensor in fixed.items()}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        stack = user_stack(self.outermost)
        if str(func) in _READS_OF_VALUES:
            raise ExportError(_value_needed(f"`{func}`", stack))
        self._refuse_changes(func, args, kwargs, stack)

        before = next(iter(reversed(self.graph.nodes)), None)
        try:
            result = super().__torch_dispatch__(func, types, args, kwargs)
        except RuntimeError as error:
            if not hasattr(error, "_of_operator"):  # the innermost one is the culprit
                error._of_operator = str(func), stack  # type: ignore[attr-defined]
            raise
        for node in _after(before, self.graph):
            node.meta["stack_trace"] = stack
        return result

    def _refuse_changes(self, func: Any, args: Any, kwargs: Any, stack: str) -> None:
        if not func._schema.is_mutable:
            return
        for argument, value in _bound(func, args, kwargs):
            if argument.is_write and isinstance(value, Tensor):
                name = self._fixed_at.get(value.untyped_storage()._address())
                if name is not None and value.numel():
                    raise ExportError(
                        f"torch.export: `{func}` changes the parameter or attribute '{name}'; only buffers "
                        f"may change{innermost_line(stack)}"
                    )

    def _constant(self, tensor: Tensor) -> Node:
        """A constant is what the tensor holds when it is met first."""
        name = f"lifted_tensor_{len(self.constants)}"
        node = self.graph.get_attr(name)
        self.constants[name] = tensor.detach().clone()
        self.track(tensor, node)
        return node


def _after(node: Node | None, graph: Graph) -> Iterator[Node]:
    """The nodes that follow `node`."""
    for candidate in reversed(graph.nodes):
        if candidate is node:
            return
        yield candidate


def _bound(func: Any, args: Any, kwargs: Any) -> Iterator[tuple[Any, Any]]:
    """The arguments of the schema that are given, with their values."""
    for position, argument in enumerate(func._schema.arguments):
        if position < len(args):
            yield argument, args[position]
        elif argument.name in kwargs:
            yield argument, kwargs[argument.name]


# Values of tensors, as Python objects
# ------------------------------------------------------------

_READS_OF_VALUES = ("aten.item.default", "aten._local_scalar_dense.default")
_READING_METHODS = {
    "__bool__": "the truth of a tensor",
    "__complex__": "the number in a tensor",
    "__float__": "the number in a tensor",
    "__index__": "the number in a tensor",
    "__int__": "the number in a tensor",
    "allclose": "a comparison of tensors",
    "equal": "a comparison of tensors",
    "is_nonzero": "the truth of a tensor",
    "item": "the number in a tensor",
    "numpy": "a NumPy array",
    "tolist": "a list of numbers",
}


def _value_needed(what: str, stack: str) -> str:
    return (
        f"torch.export: the program asks for {what}, which depends on data. A graph cannot branch or compute "
        "in Python on values of tensors: use torch.where, masks or other operators, or keep the decision "
        f"outside of the exported module{innermost_line(stack)}"
    )


class ValueGuard(TorchFunctionMode):
    """Refuses calls that turn values of tensors into Python objects.

    `meet(what, stack)` is called instead of raising an error if it is given; the value is then used.
    """

    def __init__(self, outermost: FrameType, meet: Callable[[str, str], None] | None = None) -> None:
        super().__init__()
        self.outermost = outermost
        self.meet = meet

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        what = _READING_METHODS.get(getattr(func, "__name__", ""))
        if what is None:
            return func(*args, **(kwargs or {}))

        stack = user_stack(self.outermost)
        if self.meet is None:
            raise ExportError(_value_needed(what, stack))
        self.meet(what, stack)
        with torch_py.utils._python_dispatch._disable_current_modes():
            return func(*args, **(kwargs or {}))


# Recording
# ------------------------------------------------------------


@contextmanager
def recording_context(mode: RecordingMode, guard: ValueGuard) -> Iterator[None]:
    """The place where the kind of recording is chosen: with real tensors.

    A mode whose tensors have no memory would be entered here, and its tensors be made in `_own_copies`.
    """
    with ExitStack() as stack:
        stack.enter_context(torch_py.random.fork_rng(devices=[]))
        stack.enter_context(guard)
        stack.enter_context(mode)
        yield


def _own_copies(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Copies of buffers, which the recorded call may change. Names of one tensor share its copy."""
    copies: dict[int, Tensor] = {}
    for tensor in tensors.values():
        if id(tensor) not in copies:
            copies[id(tensor)] = tensor.detach().clone()
    return {name: copies[id(tensor)] for name, tensor in tensors.items()}


def _copy_of_input(leaf: Any) -> Any:
    if not isinstance(leaf, Tensor):
        return leaf
    copied = leaf.detach().clone()
    return copied.requires_grad_().view_as(copied) if leaf.requires_grad else copied


@contextmanager
def _buffers_replaced(module: Module, buffers: Mapping[str, Tensor]) -> Iterator[dict[str, Tensor]]:
    """Gives a module other buffers inside the block. Afterwards its attributes are as before, and the yielded
    dict has the buffers that the program has assigned to their names."""
    assigned: dict[str, Tensor] = {}
    owners = dict(module.named_modules(remove_duplicate=False))
    attributes = {path: dict(vars(owner)) for path, owner in owners.items()}
    before = {path: dict(owner._buffers) for path, owner in owners.items()}

    try:
        for path, owner in owners.items():
            for name, buffer in owner._buffers.items():
                if buffer is not None:
                    owner._buffers[name] = buffers[_joined(path, name)]
        yield assigned
        _refuse_assigned_tensors(owners, attributes)

    finally:
        for path, owner in owners.items():
            for name, buffer in before[path].items():
                after = owner._buffers.get(name)
                if buffer is not None and after is not None and after is not buffers[_joined(path, name)]:
                    assigned[_joined(path, name)] = after
                owner._buffers[name] = buffer
            vars(owner).clear()
            vars(owner).update(attributes[path])


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _refuse_assigned_tensors(
    owners: Mapping[str, Module], attributes: Mapping[str, Mapping[str, Any]]
) -> None:
    """Raises ExportError if the program has put a tensor into an attribute that is not a buffer."""
    for path, owner in owners.items():
        for name, value in vars(owner).items():
            if isinstance(value, Tensor) and attributes[path].get(name) is not value:
                raise ExportError(
                    f"torch.export: the program assigns a tensor to the attribute '{_joined(path, name)}'; "
                    "only buffers may change: use register_buffer"
                )


def _plain_tensors(module: Module) -> dict[str, Tensor]:
    """The tensors that are attributes of a module without being parameters or buffers."""
    return {
        _joined(path, name): value
        for path, owner in module.named_modules(remove_duplicate=False)
        for name, value in vars(owner).items()
        if isinstance(value, Tensor)
    }


def call_on_copies(module: Module, leaves: list[Any], in_spec: TreeSpec) -> Any:
    """The results of a call that changes neither buffers nor arguments."""
    buffers = _own_copies(dict(module.named_buffers(remove_duplicate=False)))
    args, kwargs = tree_unflatten([_copy_of_input(leaf) for leaf in leaves], in_spec)
    with _buffers_replaced(module, buffers):
        return module(*args, **kwargs)


def record(
    module: Module,
    leaves: list[Any],
    in_spec: TreeSpec,
    names: list[str],
    meet: Callable[[str, str], None] | None = None,
    decompositions: Mapping[Any, Callable[..., Any]] | None = None,
) -> Recording:
    """Records `module(*args, **kwargs)`, where `in_spec` makes `(args, kwargs)` of `leaves`.

    The module, its buffers, the arguments and the random generators are as before afterwards. `names` are
    those of the leaves; `meet` as in ValueGuard.
    """
    parameters = dict(module.named_parameters(remove_duplicate=False))
    buffers = _own_copies(dict(module.named_buffers(remove_duplicate=False)))

    graph = Graph()
    outermost = sys._getframe()
    fixed = {**parameters, **_plain_tensors(module)}
    mode = RecordingMode(graph, fixed, outermost, decompositions or {})
    recording = Recording(graph, None, mode.constants)  # type: ignore[arg-type]
    for prefix, tensors in (("p", parameters), ("b", buffers)):
        for name, tensor in tensors.items():
            node = graph.placeholder(f"{prefix}_{name}".replace(".", "_"))
            recording.state[name] = node
            if mode._nodes.get(id(tensor)) is None:
                mode.track(tensor, node)
            node.meta["val"] = tensor.detach()

    copies = [_copy_of_input(leaf) for leaf in leaves]
    for name, leaf in zip(names, copies):
        node = graph.placeholder(name)
        recording.leaves.append(node)
        if isinstance(leaf, Tensor):
            mode.track(leaf, node)

    args, kwargs = tree_unflatten(copies, in_spec)
    with _buffers_replaced(module, buffers) as replaced:
        with recording_context(mode, ValueGuard(outermost, meet)):
            result = module(*args, **kwargs)
    results, recording.out_spec = tree_flatten(result)
    recording.reassigned = [recording.state[name] for name in replaced]
    graph.output([mode.node_of(value) for value in (*results, *replaced.values())])
    describe(graph)
    return recording
