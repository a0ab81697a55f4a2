"""`Proxy`, which stands for a value while a function is traced: what is done to it becomes a node."""

from __future__ import annotations

import copy
import dataclasses
import enum
import inspect
import operator
from collections import OrderedDict
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import torch_py
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.fx import traceback as fx_traceback
from torch_py.fx._expressions import magic_methods, reflectable_magic_methods
from torch_py.fx._frames import assertion_message, unpacked_count, user_stack
from torch_py.fx._rerouting import Rerouting
from torch_py.fx.graph import Graph
from torch_py.fx.immutable_collections import immutable_dict as immutable_dict
from torch_py.fx.immutable_collections import immutable_list as immutable_list
from torch_py.fx.node import Argument, Node, Target, map_aggregate

__all__ = [
    "Attribute",
    "GraphAppendingTracer",
    "ParameterProxy",
    "Proxy",
    "Scope",
    "TraceError",
    "TracerBase",
]

base_types = (
    str,
    int,
    float,
    bool,
    complex,
    torch_py.dtype,
    torch_py.Tensor,
    torch_py.device,
    torch_py.memory_format,
    torch_py.layout,
    type(None),
    type(...),
)


class TraceError(ValueError):
    """The program does something that a recording cannot repeat, such as a branch on a value."""


class Scope:
    """The module whose `forward` is being traced: its path and its type."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path = module_path
        self.module_type = module_type


class ScopeContextManager:
    """Makes a scope the current one inside a block, and restores the one before."""

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self._scope = scope
        self._before = copy.copy(scope)
        scope.module_path = current_scope.module_path
        scope.module_type = current_scope.module_type

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, *exception: object) -> None:
        self._scope.module_path = self._before.module_path
        self._scope.module_type = self._before.module_type


class TracerBase:
    """What proxies record with: makes nodes of calls, arguments of values, and decides what becomes of
    branches and loops."""

    graph: Graph
    record_stack_traces: bool = False
    check_mutable_operations: bool = False
    trace_asserts: bool = False
    proxy_buffer_attributes: bool = False
    traced_func_name: str = "forward"

    # The module being traced, and those around it by the name of the call.
    scope: Scope
    module_stack: OrderedDict[str, tuple[str, Any]]
    node_name_to_scope: dict[str, tuple[str, type]]

    def create_node(
        self,
        kind: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        name: str | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Adds a node to the graph, with where it was recorded in its metadata."""
        if kind == "call_function" and self.check_mutable_operations:
            # Imported on first use: few tracers check.
            from torch_py.fx.operator_schemas import check_for_mutable_operation

            check_for_mutable_operation(target, args, kwargs)

        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        scope = getattr(self, "scope", None)
        if scope is not None:
            self.node_name_to_scope[node.name] = (scope.module_path, scope.module_type)

        if fx_traceback.has_preserved_node_meta():
            node.meta.update(fx_traceback.preserved_meta())
        elif getattr(self, "module_stack", None) and kind not in ("placeholder", "output"):
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        if self.record_stack_traces and kind not in ("placeholder", "output"):
            node.stack_trace = node.stack_trace or user_stack()
        return node

    def proxy(self, node: Node) -> Proxy:
        """The proxy for the result of a node. Override it to trace with a class of your own."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any | None = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """Adds a node, whose arguments may contain proxies, and returns the proxy for its result."""
        own_args = self.create_arg(args)
        own_kwargs = self.create_arg(kwargs)
        if not isinstance(own_args, tuple):
            raise AssertionError(f"Expected args_ to be tuple, got {type(own_args)}")
        if not isinstance(own_kwargs, dict):
            raise AssertionError(f"Expected kwargs_ to be dict, got {type(own_kwargs)}")

        node = self.create_node(kind, target, own_args, own_kwargs, name, type_expr)
        return (proxy_factory_fn or self.proxy)(node)

    def create_arg(self, a: Any) -> Argument:
        """A value of the traced program as an argument of a node.

        Raises NotImplementedError for types that arguments cannot have, and RuntimeError for dictionaries
        whose keys are proxies.
        """
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, (str, int, float, bool, complex)) or a is None or a is ...:
            return a

        if isinstance(a, tuple):
            items = [self.create_arg(item) for item in a]
            return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
        if isinstance(a, list):
            return [self.create_arg(item) for item in a]
        if isinstance(a, dict):
            return {self._create_key(key): self.create_arg(value) for key, value in a.items()}
        if isinstance(a, slice):
            return slice(*(self.create_arg(part) for part in (a.start, a.stop, a.step)))
        if isinstance(a, range):
            return range(*(self.create_arg(part) for part in (a.start, a.stop, a.step)))
        return self._create_leaf(a)

    def _create_key(self, key: Any) -> Any:
        own = self.create_arg(key)

        def refuse(leaf: Any) -> Any:
            if isinstance(leaf, Node):
                raise RuntimeError(
                    f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {key}"
                )
            return leaf

        map_aggregate(own, refuse)
        return own

    def _create_leaf(self, a: Any) -> Argument:
        if isinstance(a, Node):
            return a
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, base_types) or isinstance(a, enum.Enum) or _is_operator_of_ops(a):
            return a
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            kwargs = {field.name: self.create_arg(getattr(a, field.name)) for field in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), kwargs)
        raise NotImplementedError(f"argument of type: {type(a)}")

    def to_bool(self, obj: Proxy) -> bool:
        """Called where a value decides a branch. Raises TraceError, as the decision is not known.

        With `trace_asserts`, the conditions of `assert` are recorded, and taken to hold.
        """
        if self.trace_asserts:
            message = assertion_message(_calling_frame())
            if message is not None:
                self.create_proxy("call_function", torch_py._assert, (obj, message), {})
                return True
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Called where a value is iterated over. `a, b = x` is recorded; anything else raises TraceError, as
        the number of items is not known."""
        count = unpacked_count(_calling_frame())
        if count is not None:
            return (obj[position] for position in range(count))
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a "
            "*args or **kwargs function argument. See the torch.fx docs on pytorch.org for a more detailed "
            "explanation of what types of control flow can be traced, and check out the Proxy docstring for "
            "help troubleshooting Proxy iteration errors"
        )

    def keys(self, obj: Proxy) -> Any:
        """Called for `x.keys()` and `**x`: records a call of the method."""
        return Attribute(obj, "keys")()


def _calling_frame() -> FrameType:
    """The frame of the program, which called a proxy."""
    frame: Any = inspect.currentframe()
    while frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame


def _is_operator_of_ops(value: Any) -> bool:
    return type(value).__name__ in ("OpOverload", "OpOverloadPacket")


class GraphAppendingTracer(TracerBase):
    """Records to the end of a graph that exists already, without tracing a module."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._rerouting = Rerouting()  # as long as this tracer lives
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.node_name_to_scope = {}


class Proxy:
    """Stands for a value while a program is traced: operators, methods, attributes and functions of torch
    applied to it are recorded in the graph, and give other proxies.

    A proxy has no value. It cannot decide a branch or be iterated over (TraceError), except to be unpacked
    into a fixed number of variables.
    """

    node: Node

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        # Recorded only when it is used as a value: of `x.relu()` only the call is.
        return Attribute(self, k)

    # Without these, `copy` and `pickle` would take recorded attributes for methods.
    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    def __setstate__(self, d: dict[str, Any]) -> None:
        vars(self).update(d)

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        vars(copied).update((name, copy.deepcopy(value, memo)) for name, value in vars(self).items())
        return copied

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, "
            "please call torch.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(
        cls, orig_method: Any, types: Any, args: Any = None, kwargs: dict[str, Any] | None = None
    ) -> Proxy:
        args = args or ()
        kwargs = kwargs or {}
        tracer = _tracer_in((args, kwargs))
        if _is_method(orig_method):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs)


def _is_method(function: Any) -> bool:
    return hasattr(function, "__objclass__") and issubclass(torch_py.Tensor, function.__objclass__)


def _tracer_in(values: Any) -> TracerBase:
    """The tracer of the proxies among arguments. Raises RuntimeError if they have different ones."""
    tracers: dict[int, TracerBase] = {}

    def collect(leaf: Any) -> Any:
        if isinstance(leaf, Proxy):
            tracers[id(leaf.tracer)] = leaf.tracer
        return leaf

    map_aggregate(values, collect)
    if len(tracers) > 1:
        raise RuntimeError(
            f"Found multiple different tracers {list(tracers.values())} while trying to trace operations"
        )
    return next(iter(tracers.values()))


class Attribute(Proxy):
    """An attribute of a value. The node that reads it is made when it is needed: a method that is called at
    once needs none."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A parameter whose sizes are known: `shape`, `size()`, `dim()` and the like are those of the parameter,
    and are not recorded."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        self.param = param
        self.name = name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        return self.param.shape

    def size(self, *dim: int) -> Any:
        return self.param.size(*dim)

    def dim(self) -> int:
        return self.param.dim()

    @property
    def ndim(self) -> int:
        return self.param.ndim

    def numel(self) -> int:
        return self.param.numel()

    def nelement(self) -> int:
        return self.param.nelement()


def _add_operators() -> None:
    """Gives Proxy the methods of Python's operators: each records a call of a function in `operator`."""

    def recorder(function: Callable[..., Any]) -> Callable[..., Any]:
        def record(*args: Any, **kwargs: Any) -> Proxy:
            return args[0].tracer.create_proxy("call_function", function, args, kwargs)

        return record

    def reflected(function: Callable[..., Any]) -> Callable[..., Any]:
        def record(self: Proxy, rhs: Any) -> Proxy:
            return self.tracer.create_proxy("call_function", function, (rhs, self), {})

        return record

    for name in magic_methods:
        function = getattr(operator, name, None)
        if function is not None:
            method = f"__{name.strip('_')}__"
            setattr(Proxy, method, recorder(function))
            getattr(Proxy, method).__name__ = method

    for name in reflectable_magic_methods:
        function = getattr(operator, name, None)
        if function is not None and name != "getitem":
            setattr(Proxy, f"__r{name.strip('_')}__", reflected(function))

    Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]  # __eq__ is for the recording only


_add_operators()
__getattr__ = _lacking(__name__)
