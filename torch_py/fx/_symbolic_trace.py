"""`Tracer` and `symbolic_trace`: a module or function is called once with proxies, and what it does is the
graph."""

from __future__ import annotations

import collections
import copy
import math
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.fx._concrete_args import (
    HAS_VARSTUFF,
    PH,
    PHBase,
    PHWithMeta,
    RootArguments,
    resolved_annotation,
)
from torch_py.fx._concrete_args import _assert_is_none as _assert_is_none
from torch_py.fx._patching import (
    Patches,
    autowrap,
    members,
    only_on_this_thread,
    patch_wrapped,
    wrap,
)
from torch_py.fx._rerouting import Rerouting, first_proxy
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Argument
from torch_py.fx.proxy import ParameterProxy, Scope, ScopeContextManager, TracerBase
from torch_py.fx.proxy import Proxy as Proxy
from torch_py.nn.modules.container import Sequential
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter

__all__ = [
    "HAS_VARSTUFF",
    "PH",
    "PHBase",
    "PHWithMeta",
    "ProxyableClassMeta",
    "Tracer",
    "symbolic_trace",
    "wrap",
]

_orig_module_call: Callable[..., Any] = Module.__call__
_orig_module_getattr: Callable[..., Any] = Module.__getattr__
_proxyable_classes: dict[type, None] = {}
_traces_running = 0


def is_fx_tracing() -> bool:
    """Whether a Tracer is calling the program now."""
    return _traces_running > 0


is_fx_symbolic_tracing = is_fx_tracing


class ProxyableClassMeta(type):
    """The type of classes whose instances are recorded when they are made with proxies:
    `class Pair(metaclass=ProxyableClassMeta)`. The call of the class is then a node."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        proxy = first_proxy((args, kwargs))
        if proxy is not None:
            return proxy.tracer.create_proxy("call_function", cls, args, kwargs)
        return super().__call__(*args, **kwargs)


class Tracer(TracerBase):
    """Records what a module or function does when it is called with proxies.

    Subclasses decide more: `is_leaf_module` which modules are single nodes, `create_arg` which values may be
    arguments, `iter` and `to_bool` what loops and branches do.

    Args:
        autowrap_modules: modules whose functions are recorded when they are called with proxies.
        autowrap_functions: further functions like that.
        param_shapes_constant: `parameter.shape` and the like are numbers, and are not recorded.
    """

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        super().__init__()
        self._autowrap_function_ids = {
            id(value)
            for module in autowrap_modules
            for name, value in vars(module).items()
            if not name.startswith("_") and callable(value)
        }
        self._autowrap_function_ids.update(map(id, autowrap_functions))
        self._autowrap_search: list[ModuleType] = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant

        self.submodule_paths: dict[Module, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        for name, value in vars(self).items():
            shared = name == "_autowrap_search"  # modules of Python cannot be copied
            vars(copied)[name] = list(value) if shared else copy.deepcopy(value, memo)
        return copied

    # Arguments
    # ------------------------------------------------------------

    def get_fresh_qualname(self, prefix: str) -> str:
        """The first of prefix0, prefix1, ... that the root module has no attribute for."""
        number = 0
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        return f"{prefix}{number}"

    def create_arg(self, a: Any) -> Argument:
        """Parameters, buffers and other tensors of the module are read from it by name. Other tensors, and
        instances of classes with ProxyableClassMeta, become attributes of it.

        Raises NameError for a parameter of another module.
        """
        if isinstance(a, Parameter):
            name = self._name_of_parameter(a)
            if name is None:
                raise NameError("parameter is not a member of this module")
            return self.create_node("get_attr", name, (), {})
        if isinstance(a, Tensor):
            return self.create_node("get_attr", self._name_of_tensor(a), (), {})
        if type(a) in _proxyable_classes:
            name = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(a)

    def _name_of_parameter(self, parameter: Parameter) -> str | None:
        if self._parameter_names is None:
            found = self.root.named_parameters(remove_duplicate=False)
            self._parameter_names = {id(value): name for name, value in reversed(list(found))}
        return self._parameter_names.get(id(parameter))

    def _name_of_tensor(self, tensor: Tensor) -> str:
        name = self._tensor_names.get(id(tensor))
        if name is None:
            name = self.get_fresh_qualname("_tensor_constant")
            self.tensor_attrs[tensor] = name
            self._tensor_names[id(tensor)] = name
            setattr(self.root, name, tensor)
        return name

    def _collect_tensors(self) -> None:
        """Names for the tensors that are attributes of modules."""
        self.tensor_attrs: dict[Any, str] = {}
        self._tensor_names: dict[int, str] = {}
        self._parameter_names: dict[int, str] | None = None
        buffers = self.root.named_buffers(remove_duplicate=False)
        for name, value in [*members(self.root), *buffers]:
            if isinstance(value, Tensor):
                self.tensor_attrs[value] = name
                self._tensor_names[id(value)] = name

    # Modules
    # ------------------------------------------------------------

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether calls of a module are single nodes: those of torch.nn are, except for Sequential."""
        module = m.__module__
        return module.startswith(("torch_py.nn", "torch.nn")) and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """The dotted path of a module below the root. Raises NameError if it is not there."""
        if self.submodule_paths is not None:
            path = self.submodule_paths.get(mod)
        else:
            path = next((name for name, module in self.root.named_modules() if module is mod), None)
        if path is None:
            raise NameError("module is not installed as a submodule")
        return path

    def call_module(
        self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Called for each call of a module: records it if it is a leaf, and calls `forward` otherwise."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))):
            count = self.num_calls.get(path, 0)
            self.num_calls[path] = count + 1
            key = f"{path}@{count}" if count else path
            self.module_stack[key] = (path, type(m))
            try:
                if self.is_leaf_module(m, path):
                    return self.create_proxy("call_module", path, args, kwargs)
                return forward(*args, **kwargs)
            finally:
                self.module_stack.pop(key)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """Called when a module is asked for an attribute: parameters, and with `proxy_buffer_attributes`
        buffers, become proxies."""
        if isinstance(attr_val, Parameter):
            name = self._name_of_parameter(attr_val)
            if name is None:
                return attr_val
            if name not in parameter_proxy_cache:
                factory = None
                if self.param_shapes_constant:
                    factory = lambda node: ParameterProxy(self, node, name, attr_val)  # noqa: E731
                parameter_proxy_cache[name] = self.create_proxy(
                    "get_attr", name, (), {}, proxy_factory_fn=factory
                )
            return parameter_proxy_cache[name]

        if self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            name = self._tensor_names.get(id(attr_val))
            if name is not None:
                if name not in parameter_proxy_cache:
                    parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {})
                return parameter_proxy_cache[name]
        return attr_val

    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: Any = None
    ) -> tuple[Callable[..., Any], list[Any]]:
        """The placeholders for the parameters of `root_fn`: returns what to call, and its arguments."""
        return RootArguments(self, root_fn, concrete_args).make(is_module)

    # Tracing
    # ------------------------------------------------------------

    def trace(self, root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        """Calls a module or function with proxies and returns the graph of what it did.

        `concrete_args` fixes parameters to values, such as a flag that decides a branch; `PH` leaves a place
        open. Raises TraceError where the program decides by a value that is not known.
        """
        function = self._prepare(root)
        is_module = isinstance(root, Module)
        annotations = getattr(function, "__annotations__", {})
        returned = resolved_annotation(annotations.get("return"), function)
        namespace = getattr(function, "__globals__", {})
        call, args = self.create_args_for_root(function, is_module, concrete_args)

        with Patches() as patches, Rerouting():
            self._patch(patches, namespace)
            result = self._count_trace(call, args)
            self.create_node("output", "output", (self.create_arg(result),), {}, type_expr=returned)
        return self.graph

    def _prepare(self, root: Module | Callable[..., Any]) -> Callable[..., Any]:
        """Sets up the state of one run, and returns the function to call."""
        function: Any
        if isinstance(root, Module):
            self.root = root
            function = getattr(type(root), self.traced_func_name, None)
            if function is None:
                raise AssertionError(
                    f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}"
                )
            self.root_module_name = root._get_name()
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        else:
            self.root = Module()
            function = root

        if not isinstance(function, FunctionType):
            raise AssertionError(f"Expected FunctionType, got {type(function)}")
        self.graph = Graph(tracer_cls=type(self))
        self._collect_tensors()
        return function

    def _count_trace(self, call: Callable[..., Any], args: list[Any]) -> Any:
        global _traces_running

        _traces_running += 1
        try:
            return call(*args)
        finally:
            _traces_running -= 1
            if self.submodule_paths is not None:
                self.submodule_paths = None

    def _patch(self, patches: Patches, namespace: dict[str, Any]) -> None:
        """Lets calls of modules, and functions that do not ask proxies, come here while the program runs."""
        cache: dict[str, Any] = {}
        original_call: Any = Module.__call__
        original_getattr: Any = Module.__getattr__
        functions = self._autowrap_function_ids | patch_wrapped(patches)

        def module_getattr(module: Module, name: str) -> Any:
            return self.getattr(name, original_getattr(module, name), cache)

        def module_call(module: Module, *args: Any, **kwargs: Any) -> Any:
            def forward(*args: Any, **kwargs: Any) -> Any:
                return original_call(module, *args, **kwargs)

            autowrap(patches, getattr(module.forward, "__globals__", {}), functions)
            return self.call_module(module, forward, args, kwargs)

        patches.method(Module, "__getattr__", only_on_this_thread(module_getattr, original_getattr))
        patches.method(Module, "__call__", only_on_this_thread(module_call, original_call))
        autowrap(patches, namespace, functions)
        for module in self._autowrap_search:
            autowrap(patches, vars(module), functions)


def symbolic_trace(
    root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None
) -> GraphModule:
    """Returns a GraphModule of what `root`, a module or function, does when it is called.

        >>> traced = symbolic_trace(lambda x: torch.relu(x) + 1)
        >>> print(traced.code.strip())
        def forward(self, x):
            relu = torch.relu(x);  x = None
            add = relu + 1;  relu = None
            return add

    `concrete_args` fixes parameters to values: `{"training": False}`. Raises TraceError where the program
    decides by a value that is not known.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


__getattr__ = _lacking(__name__)
