"""Modules that hold other modules or parameters in a sequence or a dictionary."""

from __future__ import annotations

import operator
import warnings
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, SupportsIndex

from torch_py._tensor import Tensor
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter

__all__ = [
    "Container",
    "ModuleDict",
    "ModuleList",
    "ParameterDict",
    "ParameterList",
    "Sequential",
]

if TYPE_CHECKING:
    from typing_extensions import Self


def _position(index: SupportsIndex, size: int) -> int:
    """Returns `index` counted from the front. Raises IndexError unless it is in [-size, size)."""
    position = operator.index(index)
    if not -size <= position < size:
        raise IndexError(f"index {position} is out of range for a container of {size}")
    return position % size


class _Sequence(Module):
    """Base of the containers whose children have the names '0', '1', ..."""

    def _numbered(self, modules: Iterable[Module]) -> None:
        """Replaces all children by `modules`, numbered from 0."""
        self._modules = {str(position): module for position, module in enumerate(modules)}

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, index: int | slice) -> Any:
        modules = list(self._modules.values())
        if isinstance(index, slice):
            return self._like(modules[index])
        return modules[_position(index, len(modules))]

    def _like(self, modules: list[Module]) -> Self:
        """Makes a container of the same kind, for slices."""
        raise NotImplementedError

    def __setitem__(self, index: SupportsIndex, module: Module) -> None:
        setattr(self, list(self._modules)[_position(index, len(self))], module)

    def __delitem__(self, index: int | slice) -> None:
        modules = list(self._modules.values())
        del modules[index if isinstance(index, slice) else _position(index, len(modules))]
        self._numbered(modules)

    def append(self, module: Module) -> Self:
        """Adds `module` at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Adds `module` before position `index`."""
        modules = list(self._modules.values())
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(modules) <= index <= len(modules):
            raise IndexError(f"Index out of range: {index}")
        modules.insert(index, module)
        self._numbered(modules)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Adds several modules at the end. Raises TypeError unless `modules` is iterable."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, "
                f"but got {type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, index: int | slice = -1) -> Any:
        """Removes the module at `index`, or the modules of a slice, and returns it."""
        module = self[index]
        del self[index]
        return module


class Sequential(_Sequence):
    """Calls its modules one after another, each with the result of the one before.

    It is a list, too: modules can be read, replaced, appended and sliced by position.

    Args:
        modules: the modules, or one mapping from names to modules; without names they are called '0', '1',
            ...

    Example:
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        >>> model(torch.randn(3, 4)).shape
        torch.Size([3, 2])
        >>> model[0]
        Linear(in_features=4, out_features=8, bias=True)
    """

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            named: dict[str, Any] = dict(modules[0])
        else:
            named = {str(position): module for position, module in enumerate(modules)}
        for name, module in named.items():
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def _like(self, modules: list[Module]) -> Self:
        names = {id(module): name for name, module in self._modules.items()}
        return type(self)({names[id(module)]: module for module in modules})

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Self:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return self.extend(other)

    def __mul__(self, count: int) -> Sequential:
        if not isinstance(count, int) or count <= 0:
            error = ValueError if isinstance(count, int) else TypeError
            raise error(f"Sequential: expected a positive repeat count, got {count!r}")
        return Sequential(*(list(self) * count))

    __rmul__ = __mul__


class ModuleList(_Sequence):
    """A list of modules whose parameters belong to the model, which those in a Python list do not.

    It has no `forward` of its own: the model decides what to do with its modules.

    Args:
        modules: the modules to begin with; default None

    Example:
        >>> class Sum(nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.branches = nn.ModuleList([nn.Linear(4, 2) for _ in range(3)])
        ...     def forward(self, x):
        ...         return sum(branch(x) for branch in self.branches)
        >>> model = Sum()
        >>> model(torch.randn(3, 4)).shape, len(list(model.parameters()))
        (torch.Size([3, 2]), 6)
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __repr__(self) -> str:
        """Shows neighbours with equal text once, with their number."""
        lines = []
        first = 0
        for text, alike in groupby(map(repr, self)):
            count = len(list(alike))
            name = f"({first}): " if count == 1 else f"({first}-{first + count - 1}): {count} x "
            lines.append("\n  " + name + text.replace("\n", "\n  "))
            first += count
        return f"{self._get_name()}({''.join(lines)}\n)" if lines else f"{self._get_name()}()"

    def _like(self, modules: list[Module]) -> Self:
        return type(self)(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def __iadd__(self, other: Iterable[Module]) -> Self:
        return self.extend(other)


class ModuleDict(Module):
    """A dictionary of modules whose parameters belong to the model, in order of insertion.

    It has no `forward` of its own: the model decides what to do with its modules. Names are strings without
    dots.

    Args:
        modules: a mapping or (name, module) pairs to begin with; default None

    Example:
        >>> heads = nn.ModuleDict({"age": nn.Linear(4, 1), "color": nn.Linear(4, 8)})
        >>> heads["color"](torch.randn(3, 4)).shape
        torch.Size([3, 8])
    """

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Removes all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Removes the module `key` and returns it."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        return self._modules.keys()

    def items(self) -> ItemsView[str, Module]:
        return self._modules.items()

    def values(self) -> ValuesView[Module]:
        return self._modules.values()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Adds the modules of a mapping or of (name, module) pairs. Raises TypeError for anything else."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, "
                f"but got {type(modules).__name__}"
            )
        for key, module in modules.items() if hasattr(modules, "items") else modules:
            self[key] = module


def _as_parameter(value: Any) -> Any:
    """Returns tensors as parameters and everything else as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


class ParameterList(Module):
    """A list of parameters that belong to the model.

    Tensors become parameters; other values are kept as they are.

    Args:
        values: the values to begin with; default None

    Example:
        >>> scales = nn.ParameterList([torch.ones(2), torch.zeros(3)])
        >>> [tuple(scale.shape) for scale in scales]
        [(2,), (3,)]
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        self.extend(values or ())

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[position] for position in range(self._size))

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)([self[position] for position in range(*index.indices(self._size))])
        return getattr(self, str(_position(index, self._size)))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, str(_position(index, self._size)), _as_parameter(value))

    def append(self, value: Any) -> ParameterList:
        """Adds `value` at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Adds several values at the end."""
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def extra_repr(self) -> str:
        return "\n".join(f"  ({position}): {_described(value)}" for position, value in enumerate(self))


class Container(Module):
    """A module with the given children. It is deprecated and warns with a FutureWarning: any `Module` can
    hold others.

    Args:
        kwargs: the children by name

    Example:
        >>> nn.Container(first=nn.ReLU())
        Container(
          (first): ReLU()
        )
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        warnings.warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. "
            "Subclass that instead.",
            FutureWarning,
            stacklevel=2,
        )
        for name, module in kwargs.items():
            self.add_module(name, module)


class ParameterDict(Module):
    """A dictionary of parameters that belong to the model, in order of insertion.

    Tensors become parameters; other values are kept as they are.

    Args:
        parameters: a mapping or (name, value) pairs to begin with; default None

    Example:
        >>> scales = nn.ParameterDict({"left": torch.ones(2), "right": torch.zeros(3)})
        >>> list(scales), scales["left"].requires_grad
        (['left', 'right'], True)
    """

    def __init__(self, parameters: Mapping[str, Any] | Iterable[tuple[str, Any]] | None = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def keys(self) -> KeysView[str]:
        return self._keys.keys()

    def values(self) -> list[Any]:
        return [self[key] for key in self._keys]

    def items(self) -> list[tuple[str, Any]]:
        return [(key, self[key]) for key in self._keys]

    def get(self, key: str, default: Any = None) -> Any:
        """Returns the value of `key`, or `default` if it is missing."""
        return self[key] if key in self else default

    def pop(self, key: str) -> Any:
        """Removes `key` and returns its value."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Removes the pair added last and returns it."""
        if not self._keys:
            raise KeyError("popitem(): ParameterDict is empty")
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def clear(self) -> None:
        """Removes all entries."""
        for key in list(self._keys):
            del self[key]

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Returns the value of `key`; sets it to `default` first if it is missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def copy(self) -> ParameterDict:
        """Returns another dictionary with the same parameters."""
        return ParameterDict({key: self[key] for key in self})

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Returns a dictionary with `default` under every key."""
        return ParameterDict([(key, default) for key in keys])

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __or__(self, other: ParameterDict) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self

    def update(self, parameters: ParameterDict | Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        """Adds the entries of a mapping or of (name, value) pairs."""
        for key, value in parameters.items() if hasattr(parameters, "items") else parameters:
            self[key] = value

    def extra_repr(self) -> str:
        tensors = {key: value for key, value in self.items() if isinstance(value, Tensor)}
        types = {key: tensor.type() for key, tensor in tensors.items()}  # type: ignore[attr-defined]
        return "\n".join(f"  ({key}): {_described(value, types.get(key))}" for key, value in self.items())


def _described(value: Any, dtype: str | None = None) -> str:
    """Describes one entry for printing."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(str(length) for length in value.shape)
    return f"{kind} containing: [{value.dtype if dtype is None else dtype} of size {size}]"
