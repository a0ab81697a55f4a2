"""The tree of modules: children, and the parameters and buffers of all modules below, by dotted name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from torch_py._tensor import Tensor
from torch_py.nn.parameter import Parameter

if TYPE_CHECKING:
    from torch_py.nn.modules.module import Module

T = TypeVar("T", bound="ModuleTree")


class ModuleTree:
    """The part of `Module` that finds the modules below, and their parameters and buffers."""

    _modules: dict[str, Any]

    def _get_name(self) -> str:
        return type(self).__name__

    def get_submodule(self, target: str) -> Module:
        """Returns the module at the dotted path `target`; '' is this module.

        Raises AttributeError with the part of the path that does not exist.
        """
        module: Any = self
        for name in target.split(".") if target else []:
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, ModuleTree):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Puts `module` at the dotted path `target`. With `strict` it must replace an existing module.

        Raises ValueError for an empty path or if `module` is not a Module, and AttributeError for a path that
        does not exist.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, ModuleTree):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")

        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if strict and not hasattr(owner, name):
            raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`")
        if hasattr(owner, name) and not isinstance(getattr(owner, name), ModuleTree):
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
        yield prefix, self  # type: ignore[misc]  # every ModuleTree is a Module
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
        owners: Iterable[tuple[str, Module]] = [(prefix, self)]  # type: ignore[list-item]
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
        fn(self)  # type: ignore[arg-type]
        return self
