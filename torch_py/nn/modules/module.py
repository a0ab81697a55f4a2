"""`nn.Module`: a tree of modules that own parameters and buffers; attributes, traversal and conversion.

Calls with hooks are in _calls.py and state dicts in _state.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.nn.modules._calls import HooksEverywhere, ModuleCalls, register_everywhere
from torch_py.nn.modules._state import EXTRA_STATE as _EXTRA_STATE_KEY_SUFFIX  # noqa: F401  # transformers asks for it here
from torch_py.nn.modules._state import IncompatibleKeys as _IncompatibleKeys
from torch_py.nn.modules._state import ModuleState
from torch_py.nn.parameter import Buffer, Parameter, is_lazy
from torch_py.types import Device, _dtype
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


class Module(ModuleCalls, ModuleState):
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
            >>> layer.state_dict()
            OrderedDict([('count', tensor([0.]))])
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

    # Traversal
    # ------------------------------------------------------------

    def get_submodule(self, target: str) -> Module:
        """Returns the module at the dotted path `target`; '' is this module.

        Raises AttributeError with the part of the path that does not exist.
        """
        module: Any = self
        for name in target.split(".") if target else []:
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Puts `module` at the dotted path `target`. With `strict` it must replace an existing module.

        Raises ValueError for an empty path or if `module` is not a Module, and AttributeError for a path that
        does not exist.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")

        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if strict and not hasattr(owner, name):
            raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`")
        if hasattr(owner, name) and not isinstance(getattr(owner, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")

        setattr(owner, name, module)

    def _get_entry(self, target: str, registry: str, what: str) -> Any:
        """Returns the entry of one registry at a dotted path. Raises AttributeError if it is missing."""
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if name not in vars(owner)[registry]:
            if not hasattr(owner, name):
                raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
            raise AttributeError(f"`{name}` is not {what}")
        return vars(owner)[registry][name]

    def get_parameter(self, target: str) -> Parameter:
        """Returns the parameter at the dotted path `target`. Raises AttributeError if it does not exist."""
        return self._get_entry(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """Returns the buffer at the dotted path `target`. Raises AttributeError if it does not exist."""
        return self._get_entry(target, "_buffers", "a buffer")

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Yields this module and all below it with their dotted names, parents first.

        A module that occurs twice comes once, unless `remove_duplicate` is False.
        """
        seen = set() if memo is None else memo
        if self in seen:
            return
        if remove_duplicate:
            seen.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(seen, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Yields this module and all below it, parents first."""
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yields the direct children with their names, each module once."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """Yields the direct children, each module once."""
        return (child for _, child in self.named_children())

    def _named_members(
        self, registry: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        """Yields the entries of one registry, here and with `recurse` below, with their dotted names."""
        seen = set()
        owners: Iterable[tuple[str, Module]] = [(prefix, self)]
        if recurse:
            owners = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)

        for path, owner in owners:
            for name, member in vars(owner)[registry].items():
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield f"{path}.{name}" if path else name, member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yields the parameters with their dotted names; with `recurse` also those of all modules below."""
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yields the parameters; with `recurse` also those of all modules below."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yields the buffers with their dotted names; with `recurse` also those of all modules below."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yields the buffers; with `recurse` also those of all modules below."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def apply(self: T, fn: Callable[[Module], None]) -> T:
        """Calls a function on every module below, children first, and then on this one. Returns this module.

        Args:
            fn: is called with each module; what it returns is ignored

        Example:
            >>> def fill(module):
            ...     if isinstance(module, nn.Linear):
            ...         nn.init.ones_(module.weight)
            >>> model = nn.Sequential(nn.Linear(2, 2), nn.ReLU()).apply(fill)
            >>> model[0].weight
            Parameter containing:
            tensor([[1., 1.],
                    [1., 1.]], requires_grad=True)
        """
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

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

    # Conversion
    # ------------------------------------------------------------

    def _apply(self: T, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> T:
        """Replaces every tensor here and below by `fn` of it.

        Parameters stay the same objects, so that optimizers still hold them.

        The exception is a move to or from the meta device: a tensor without memory cannot become one with
        memory, so the parameter is a new object.
        """
        for child in self.children() if recurse else ():
            child._apply(fn)

        for name, parameter in self._parameters.items():
            if parameter is not None:
                with no_grad():
                    self._parameters[name] = _converted(parameter, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)

        return self

    def to(self: T, *arguments: Any, **keywords: Any) -> T:
        """Converts all parameters and buffers in place, and returns this module.

        It is called as `to(device)`, `to(dtype)`, `to(device, dtype)` or `to(tensor)`, which takes both from
        a tensor. A dtype converts floating-point and complex tensors; integers stay as they are.

        Args:
            arguments: a device, a dtype, both, or a tensor
            keywords: the same by name, and `non_blocking`, whether copies from page-locked memory may go on
                while the program continues; `memory_format` converts tensors of 4 and 5 dimensions

        Raises:
            TypeError: the dtype is neither floating point nor complex
            NotImplementedError: a tensor on the device meta, which has no elements, is to be moved; see
                `to_empty`

        Example:
            >>> layer = nn.Linear(2, 2).to(torch.float64)
            >>> layer.weight.dtype
            torch.float64
        """
        device, dtype, non_blocking, memory_format = _parse_to(*arguments, **keywords)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )

        def convert(tensor: Tensor) -> Tensor:
            target = dtype if tensor.is_floating_point() or tensor.is_complex() else None
            extra: dict[str, Any] = {}
            if memory_format is not None and tensor.dim() in (4, 5):
                extra["memory_format"] = memory_format
            if tensor.is_meta and device is not None and device.type != "meta":
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead "
                    "of torch.nn.Module.to() when moving module from meta to a different device."
                )
            return tensor.to(device or tensor.device, target or tensor.dtype, non_blocking, **extra)

        return self._apply(convert)

    def _cast_floating(self: T, dtype: _dtype) -> T:
        """Converts floating-point tensors to `dtype`."""
        return self._apply(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)

    def float(self: T) -> T:
        """Converts floating-point parameters and buffers to float32."""
        return self._cast_floating(_C.float32)

    def double(self: T) -> T:
        """Converts floating-point parameters and buffers to float64."""
        return self._cast_floating(_C.float64)

    def half(self: T) -> T:
        """Converts floating-point parameters and buffers to float16."""
        return self._cast_floating(_C.float16)

    def bfloat16(self: T) -> T:
        """Converts floating-point parameters and buffers to bfloat16."""
        return self._cast_floating(_C.bfloat16)

    def type(self: T, dst_type: _dtype | str) -> T:
        """Converts all parameters and buffers to `dst_type`."""
        return self._apply(lambda tensor: tensor.type(dst_type))  # type: ignore[attr-defined]

    def cpu(self: T) -> T:
        """Moves all parameters and buffers to the CPU."""
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self: T, device: Device = None) -> T:
        """Moves all parameters and buffers to a CUDA device."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def to_empty(self: T, *, device: Device, recurse: bool = True) -> T:
        """Moves parameters and buffers to `device` without copying their values, which become undefined."""
        return self._apply(lambda tensor: _C._torch.empty_like(tensor, device=device), recurse)

    def compile(self, *arguments: Any, **keywords: Any) -> None:
        """Compiles calls of this module in place. The arguments are those of `torch_py.compile`."""
        # Imported on first use: most programs compile nothing.
        from torch_py.compiler._functions import compile_function

        vars(self)["_compiled_call_impl"] = compile_function(self._call_impl, *arguments, **keywords)

    def share_memory(self: T) -> T:
        """Moves all parameters and buffers to shared memory.

        Raises RuntimeError for a lazy module that has no memory yet.
        """
        for tensor in (*self.parameters(), *self.buffers()):
            if is_lazy(tensor):
                tensor.share_memory_()  # raises
        return self._apply(lambda tensor: tensor.share_memory_())

    # Printing
    # ------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

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


def _converted(parameter: Parameter, fn: Callable[[Tensor], Tensor]) -> Parameter:
    """Replaces data and gradient of the parameter by `fn` of them.

    Returns a new parameter where the old one cannot hold the result.
    """
    data = fn(parameter.data)
    gradient = None if parameter.grad is None else fn(parameter.grad.data)
    if data.is_meta == parameter.is_meta and data.layout == parameter.layout:
        parameter.data = data
        parameter.grad = None
    else:
        parameter = Parameter(data, parameter.requires_grad)
    parameter.grad = gradient
    return parameter


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


def _parse_to(
    *arguments: Any,
    device: Device = None,
    dtype: _dtype | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: _C.memory_format | None = None,
) -> tuple[_C.device | None, _dtype | None, bool, _C.memory_format | None]:
    """Returns device, dtype, non_blocking and memory_format of a call of `to`."""
    for argument in arguments:
        if isinstance(argument, Tensor):
            device = argument.device
            dtype = argument.dtype
        elif isinstance(argument, _C.dtype):
            dtype = argument
        elif isinstance(argument, bool):
            non_blocking = argument
        elif isinstance(argument, (str, int, _C.device)):
            device = _C.device(argument)
        elif argument is not None:
            raise TypeError(
                f"Module.to: expected a device, a dtype or a tensor, got {type(argument).__name__}"
            )

    if isinstance(device, (str, int)):
        device = _C.device(device)
    return device, dtype, non_blocking, memory_format
