"""`nn.Module`: a tree of modules that own parameters and buffers; its attributes and settings.

Calls with hooks are in _calls.py, the modules below in _tree.py, conversion in _conversion.py and state dicts
in _state.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from torch_py._tensor import Tensor
from torch_py.nn.modules._calls import HooksEverywhere, ModuleCalls, register_everywhere
from torch_py.nn.modules._conversion import ModuleConversion
from torch_py.nn.modules._state import EXTRA_STATE as _EXTRA_STATE_KEY_SUFFIX  # noqa: F401  # transformers asks for it here
from torch_py.nn.modules._state import IncompatibleKeys as _IncompatibleKeys  # noqa: F401  # other packages ask for it here
from torch_py.nn.modules._state import ModuleState
from torch_py.nn.parameter import Buffer, Parameter
from torch_py.utils.hooks import RemovableHandle, register

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]
T = TypeVar("T", bound="Module")

# The dictionaries whose entries are attributes, in the order of look-up.
_REGISTRIES = ("_parameters", "_buffers", "_modules")
# Hooks that run when anything is registered in any module, by registry: `hook(module, name, value)` returns
# None or the value to register instead.
_registration_hooks: dict[str, OrderedDict[int, Callable[..., Any]]] = {
    registry: OrderedDict() for registry in _REGISTRIES
}


class Module(ModuleCalls, ModuleConversion, ModuleState):
    """Base class of all layers and models: a node in a tree of modules that owns parameters and buffers.

    A subclass calls `super().__init__()` first, then assigns its parameters and submodules as attributes, and
    defines `forward`, which a call of the module runs together with its hooks. Assigned parameters, buffers
    and modules are found by `parameters`, `state_dict`, `to`, `train` and other methods, here and in all
    modules below.

    Args:
        arguments, keywords: none, unless `call_super_init` is set, which passes them to the next class

    Attributes:
        training: whether the module is in training, which dropout and batch normalization look at; True at
            first
        _version: the number of the layout of the class's state dict, which is stored with it

    Example:
        >>> class Classifier(nn.Module):
        ...     def __init__(self, classes):
        ...         super().__init__()
        ...         self.hidden = nn.Linear(4, 8)
        ...         self.output = nn.Linear(8, classes)
        ...     def forward(self, x):
        ...         return self.output(self.hidden(x).relu())
        >>> model = Classifier(3)
        >>> model(torch.randn(2, 4)).shape
        torch.Size([2, 3])
        >>> [name for name, _ in model.named_parameters()]
        ['hidden.weight', 'hidden.bias', 'output.weight', 'output.bias']
    """

    dump_patches = False
    _version = 1
    training: bool
    call_super_init = False

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        if not self.call_super_init and (arguments or keywords):
            raise TypeError(
                f"{type(self).__name__}.__init__() takes 1 positional argument, got {arguments} {keywords}"
            )

        fields: dict[str, Any] = {"training": True, "_non_persistent_buffers_set": set()}
        fields.update((registry, {}) for registry in _REGISTRIES)
        fields.update((hooks, OrderedDict()) for hooks in self._hook_registries)
        vars(self).update(fields)
        if self.call_super_init:
            super().__init__(*arguments, **keywords)

    # Attributes
    # ------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        fields = vars(self)
        for registry in _REGISTRIES:
            if registry in fields and name in fields[registry]:
                return fields[registry][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _registry(self, name: str, what: str) -> dict[str, Any]:
        """Returns the dictionary `name`. Raises AttributeError if `Module.__init__` has not run yet."""
        registry = vars(self).get(name)
        if registry is None:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        return registry

    def _forget(self, name: str, *, keep: str) -> None:
        """Removes `name` everywhere except in the registry `keep`, so that a name has one meaning."""
        fields = vars(self)
        fields.pop(name, None)
        for registry in _REGISTRIES:
            if registry != keep and registry in fields:
                fields[registry].pop(name, None)
        if keep != "_buffers":
            fields.get("_non_persistent_buffers_set", set()).discard(name)

    def __setattr__(self, name: str, value: Any) -> None:
        fields = vars(self)

        # The kind of the value decides first, then the present meaning of the name.
        if isinstance(value, Parameter):
            self._registry("_parameters", "parameters")
            self._forget(name, keep="_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            registry = self._registry("_modules", "module")
            self._forget(name, keep="_modules")
            registry[name] = self._hooked("_modules", name, value)
        elif name in fields.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as parameter '{name}' (torch.nn.Parameter or None "
                    "expected)"
                )
            self.register_parameter(name, None)
        elif name in fields.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as child module '{name}' (torch.nn.Module or None "
                    "expected)"
                )
            fields["_modules"][name] = None
        elif isinstance(value, Buffer):
            self._forget(name, keep="_buffers")
            self._registry("_buffers", "buffers").pop(name, None)
            self.register_buffer(name, value, value.persistent)
        elif name in fields.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor "
                    "or None expected)"
                )
            fields["_buffers"][name] = value
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        for registry in _REGISTRIES:
            if name in vars(self).get(registry, ()):
                del vars(self)[registry][name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *vars(self)}.union(
            *(vars(self).get(registry, ()) for registry in _REGISTRIES)
        )
        return sorted(name for name in names if name and not name[0].isdigit())

    def __getstate__(self) -> dict[str, Any]:
        """Fields of the module; compiled code stays with the module that was compiled."""
        return {name: value for name, value in vars(self).items() if name != "_compiled_call_impl"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        for hooks in self._hook_registries:  # absent from pickles made before the registry existed
            vars(self).setdefault(hooks, OrderedDict())
        vars(self).setdefault("_non_persistent_buffers_set", set())

    def _hooked(self, registry: str, name: str, value: Any) -> Any:
        """Returns `value` as the registration hooks leave it."""
        for hook in _registration_hooks[registry].values():
            result = hook(self, name, value)
            value = value if result is None else result
        return value

    def _check_name(self, name: str, kind: str, registry: str) -> None:
        """Raises TypeError or KeyError unless `name` is a free attribute name without dots."""
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_type_name(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if name not in vars(self)[registry] and (name in vars(self) or hasattr(self, name)):
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Makes a parameter the attribute `name` and one of `parameters()`. Assigning it as an attribute does
        the same.

        Args:
            name: the name of the attribute
            param: the parameter; None registers an absent optional parameter

        Raises:
            KeyError: the name is taken, empty or contains a dot
            TypeError: `param` is neither a Parameter nor None
            ValueError: `param` is the result of a computation

        Example:
            >>> layer = nn.Module()
            >>> layer.register_parameter("scale", nn.Parameter(torch.ones(2)))
            >>> layer.register_parameter("bias", None)
            >>> [name for name, _ in layer.named_parameters()]
            ['scale']
        """
        registry = self._registry("_parameters", "parameter")
        self._check_name(name, "parameter", "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{_type_name(param)}' object to parameter '{name}' (torch.nn.Parameter or "
                "None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}': model parameters must be made by the "
                f"user; to express '{name}' as a function of another tensor compute it in forward()"
            )

        registry[name] = param if param is None else self._hooked("_parameters", name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Makes a tensor the attribute `name`: state that moves with the module but is not trained, such as
        running statistics.

        Args:
            name: the name of the attribute
            tensor: the tensor; None registers an absent optional buffer
            persistent: whether it is in the state dict; default True

        Raises:
            KeyError: the name is taken, empty or contains a dot
            TypeError: `tensor` is neither a Tensor nor None

        Example:
            >>> layer = nn.Module()
            >>> layer.register_buffer("count", torch.zeros(1))
            >>> dict(layer.state_dict())
            {'count': tensor([0.])}
        """
        registry = self._registry("_buffers", "buffer")
        self._check_name(name, "buffer", "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' (torch Tensor or None "
                "required)"
            )

        registry[name] = tensor if tensor is None else self._hooked("_buffers", name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Makes `module` the child `name`.

        Raises TypeError unless it is a Module or None, and KeyError for an invalid or taken name.
        """
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        registry = self._registry("_modules", "module")
        self._check_name(name, "module", "_modules")
        registry[name] = module if module is None else self._hooked("_modules", name, module)

    register_module = add_module

    # Modes and gradients
    # ------------------------------------------------------------

    def train(self: T, mode: bool = True) -> T:
        """Turns training behavior on or off, here and in all modules below. Returns this module.

        Args:
            mode: True (default) for training, in which dropout drops and batch normalization uses the batch;
                False for evaluation

        Raises:
            ValueError: `mode` is not a bool

        Example:
            >>> nn.Dropout().train(False).training
            False
        """
        if not isinstance(mode, bool):
            raise ValueError(f"training mode is expected to be boolean, got {mode!r}")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self: T) -> T:
        """Turns training behavior off, here and in all modules below. Returns this module."""
        return self.train(False)

    def requires_grad_(self: T, requires_grad: bool = True) -> T:
        """Sets whether autograd computes gradients of all parameters. Returns this module.

        Args:
            requires_grad: False freezes the module; default True

        Example:
            >>> frozen = nn.Linear(2, 2).requires_grad_(False)
            >>> frozen.weight.requires_grad
            False
        """
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Removes the gradients of all parameters, or sets them to zero.

        Args:
            set_to_none: whether gradients become None, which saves memory, instead of zeros; default True

        Example:
            >>> layer = nn.Linear(2, 1)
            >>> layer(torch.ones(1, 2)).sum().backward()
            >>> layer.zero_grad()
            >>> layer.weight.grad is None
            True
        """
        clear_gradients(self.parameters(), set_to_none)

    # Printing
    # ------------------------------------------------------------

    def extra_repr(self) -> str:
        """Returns what a subclass shows of itself when printed, in one line or several."""
        return ""

    def __repr__(self) -> str:
        own = self.extra_repr().split("\n") if self.extra_repr() else []
        children = [f"({name}): " + _addindent(repr(child), 2) for name, child in self._modules.items()]
        lines = own + children

        if not lines:
            return f"{self._get_name()}()"
        if len(own) == 1 and not children:
            return f"{self._get_name()}({own[0]})"
        inside = "".join(f"\n  {line}" for line in lines)
        return f"{self._get_name()}({inside}\n)"


def _addindent(s_: str, numSpaces: int) -> str:  # noqa: N803  # PyTorch's names
    """Returns the text with every line but the first indented."""
    return s_.replace("\n", "\n" + " " * numSpaces)


# PyTorch's names for these dictionaries, which programs read.
_global_parameter_registration_hooks = _registration_hooks["_parameters"]
_global_buffer_registration_hooks = _registration_hooks["_buffers"]
_global_module_registration_hooks = _registration_hooks["_modules"]
_global_forward_pre_hooks = HooksEverywhere("forward_pre")
_global_forward_hooks = HooksEverywhere("forward")
_global_backward_pre_hooks = HooksEverywhere("backward_pre")
_global_backward_hooks = HooksEverywhere("backward")


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, name, parameter)` whenever any module registers a parameter.

    The hook returns None or another parameter.
    """
    return register(_registration_hooks["_parameters"], hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, name, buffer)` whenever any module registers a buffer.

    The hook returns None or another buffer.
    """
    return register(_registration_hooks["_buffers"], hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, name, submodule)` whenever any module registers a child.

    The hook returns None or another module.
    """
    return register(_registration_hooks["_modules"], hook)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, args)` before every call of any module, before the module's own hooks.

    The hook returns None or new arguments.
    """
    return register_everywhere("forward_pre", hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Calls `hook(module, args, output)` after every call of any module, before the module's own hooks.

    Options as in `Module.register_forward_hook`.
    """
    return register_everywhere("forward" + "+kwargs" * with_kwargs + "+always" * always_call, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, grad_input, grad_output)` in the backward pass
    of any module, before the module's own hooks."""
    return register_everywhere("backward", hook)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, grad_output)` at the start of the backward pass
    of any module, before the module's own hooks."""
    return register_everywhere("backward_pre", hook)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """The older name of `register_module_full_backward_hook`."""
    return register_module_full_backward_hook(hook)


def _type_name(value: Any) -> str:
    """Returns the qualified name of a class or function, or of the type of anything else, for messages."""
    named = value if hasattr(value, "__qualname__") else type(value)
    if named.__module__ in (None, "builtins"):
        return named.__qualname__
    return f"{named.__module__}.{named.__qualname__}"


def clear_gradients(parameters: Iterable[Tensor], set_to_none: bool) -> None:
    """Sets gradients to None, or to zeros that are detached from the graph."""
    for parameter in parameters:
        if parameter.grad is None:
            continue
        if set_to_none:
            parameter.grad = None
            continue
        if parameter.grad.grad_fn is not None:
            parameter.grad.detach_()  # type: ignore[attr-defined]
        else:
            parameter.grad.requires_grad_(False)
        parameter.grad.zero_()
