"""`make_fx`: the operators that a function calls, below autograd, as a graph."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from torch_py._guards import detect_fake_mode
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch_py._subclasses.unseen import unseen
from torch_py._tensor import Tensor
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node
from torch_py.fx.passes.shape_prop import _extract_tensor_metadata
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter
from torch_py.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode_stack,
)
from torch_py.utils._pytree import tree_flatten, tree_map, tree_unflatten

__all__ = ["ProxyTorchDispatchMode", "get_proxy_mode", "make_fx"]


class ProxyTorchDispatchMode(TorchDispatchMode):
    """Appends every operator call to a graph, and computes it.

    A tensor that neither an argument nor a call has given becomes an attribute of `root`: a constant of the
    graph. Tensors are recognised by identity, or by their place in memory: autograd hands out copies of the
    tensors that it saves, which share the memory. So all that were seen are kept.
    """

    _sees_allocations = True

    def __init__(self, root: Module, graph: Graph, decompositions: Mapping[Any, Callable[..., Any]]) -> None:
        super().__init__()
        self.root = root
        self.graph = graph
        self.decompositions = decompositions
        self._nodes: dict[int, tuple[Tensor, Node]] = {}
        self._by_place: dict[Any, Node] = {}
        self._counts = {"_param_constant": 0, "_tensor_constant": 0}

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        decomposition = self._decomposition_of(func)
        if decomposition is not None:
            with self:
                return decomposition(*args, **kwargs)

        node_args, node_kwargs = tree_map(self.node_of, (args, kwargs))
        node = self.graph.call_function(func, node_args, node_kwargs)
        result = func(*args, **kwargs)
        self._note(node, result)
        return result

    def _decomposition_of(self, func: Any) -> Callable[..., Any] | None:
        return self.decompositions.get(func) or self.decompositions.get(func.overloadpacket)

    def node_of(self, value: Any) -> Any:
        """The node of a tensor; other values as they are."""
        if not isinstance(value, Tensor):
            return value
        found = self._nodes.get(id(value))
        if found is not None:
            return found[1]
        at_place = self._by_place.get(_place_of(value))
        return at_place if at_place is not None else self._constant(value)

    def track(self, tensor: Tensor, node: Node) -> None:
        """From here on `tensor` is what `node` computes."""
        self._nodes[id(tensor)] = tensor, node
        if tensor.numel() > 0:
            self._by_place[_place_of(tensor)] = node
        node.meta["val"] = tensor.detach()
        node.meta["tensor_meta"] = _extract_tensor_metadata(tensor)

    def _note(self, node: Node, result: Any) -> None:
        if isinstance(result, Tensor):
            self.track(result, node)
        elif isinstance(result, (tuple, list)):
            node.meta["val"] = tree_map(_value_of, result)
            for position, element in enumerate(result):
                if isinstance(element, (Tensor, tuple, list)):
                    self._note(self.graph.call_function(operator.getitem, (node, position)), element)

    def _constant(self, tensor: Tensor) -> Node:
        stem = "_param_constant" if isinstance(tensor, Parameter) else "_tensor_constant"
        name = f"{stem}{self._counts[stem]}"
        self._counts[stem] += 1

        if isinstance(tensor, Parameter):
            setattr(self.root, name, tensor)
        else:
            with unseen():
                self.root.register_buffer(name, tensor.detach())
        node = self.graph.get_attr(name)
        self._nodes[id(tensor)] = tensor, node
        return node


def _value_of(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value


def _place_of(tensor: Tensor) -> Any:
    """Where a tensor is in memory, and how it reads it."""
    storage = tensor.untyped_storage()
    return (storage._cdata, tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype)


def get_proxy_mode() -> ProxyTorchDispatchMode | None:
    """The mode of the innermost `make_fx` that runs on this thread; None outside of all."""
    modes = [m for m in _get_current_dispatch_mode_stack() if isinstance(m, ProxyTorchDispatchMode)]
    return modes[-1] if modes else None


@contextmanager
def disable_proxy_modes_tracing() -> Iterator[None]:
    """Calls inside the block are not recorded."""
    with _disable_current_modes():
        yield


def _names_of_leaves(function: Callable[..., Any], args: tuple[Any, ...]) -> list[str]:
    """A name for each leaf of the arguments: that of its parameter, where the function has names."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]

    names = []
    for position, argument in enumerate(args):
        name = positional[position] if position < len(positional) else f"arg{position}"
        names += [f"{name}_{number}" for number in range(1, len(tree_flatten(argument)[0]) + 1)]
    return names


def _fake_mode_for(leaves: list[Any], allow_non_fake_inputs: bool) -> FakeTensorMode:
    """The mode of fake tensors among the arguments, or a new one."""
    found: FakeTensorMode | None = detect_fake_mode(leaves)
    return FakeTensorMode(allow_non_fake_inputs=allow_non_fake_inputs) if found is None else found


def _own(tensor: Tensor, fake: FakeTensorMode | None) -> Tensor:
    """The tensor of an argument as another object: whoever asks the program for it must not find a node."""
    if fake is None or isinstance(tensor, FakeTensor):
        return tensor.view_as(tensor)
    return fake.from_tensor(tensor)


def make_fx(
    f: Callable[..., Any],
    decomposition_table: Mapping[Any, Callable[..., Any]] | None = None,
    tracing_mode: str = "real",
    _allow_non_fake_inputs: bool = False,
    *,
    pre_dispatch: bool = False,
    record_module_stack: bool = False,
    _allow_fake_constant: bool = False,
    _error_on_data_dependent_ops: bool = True,
) -> Callable[..., GraphModule]:
    """Returns a function that calls `f` and gives the operators of the call as a GraphModule.

    The graph has what happens below autograd, so a function that calls `torch.autograd.grad` gives a graph of
    forward and backward. Python's control flow is gone: the graph holds for arguments of the same shapes, and
    tensors that `f` does not get as arguments are constants of it. `decomposition_table` maps operators to
    functions that are recorded in their place.

    With the `tracing_mode` "real", the call computes. With "fake" it runs on fake tensors in place of the
    arguments, and so without their memory; other tensors that `f` uses are an error (AssertionError) unless
    `_allow_non_fake_inputs`. ``node.meta["val"]`` has a tensor of the shape, dtype and device of the result.
    Raises NotImplementedError for the mode "symbolic".

        graph = make_fx(lambda x: torch.exp(x) + 1)(torch.ones(3))
        print(graph.code)
    """
    if tracing_mode == "symbolic":
        raise NotImplementedError(
            "make_fx: tracing_mode 'symbolic'; torch_py has no symbolic sizes: use 'fake', once for each size"
        )
    if tracing_mode not in ("real", "fake"):
        raise AssertionError(f"make_fx: unexpected tracing_mode {tracing_mode!r}; use 'real' or 'fake'")
    if pre_dispatch:
        raise NotImplementedError("make_fx: pre_dispatch=True; torch_py records below autograd")

    @functools.wraps(f)
    def wrapped(*args: Any) -> GraphModule:
        root = Module()
        graph = Graph()
        mode = ProxyTorchDispatchMode(root, graph, decomposition_table or {})

        leaves, spec = tree_flatten(args)
        fake = _fake_mode_for(leaves, _allow_non_fake_inputs) if tracing_mode == "fake" else None
        with fake or nullcontext():
            leaves = [_own(leaf, fake) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
            for name, leaf in zip(_names_of_leaves(f, args), leaves):
                node = graph.placeholder(name)
                if isinstance(leaf, Tensor):
                    mode.track(leaf, node)

            with mode:
                result = f(*tree_unflatten(leaves, spec))
                graph.output(tree_map(mode.node_of, result))

        graph.lint()
        return GraphModule(root, graph, getattr(f, "__name__", "GraphModule"))

    return wrapped


__getattr__ = _lacking(__name__)
