"""Types of arguments and returns: base types, ``T?`` and ``T[N]``, nested in any order."""

from __future__ import annotations

from dataclasses import dataclass

BASE_TYPES: tuple[str, ...] = (
    "Tensor",
    "int",
    "SymInt",
    "float",
    "bool",
    "SymBool",
    "str",
    "Scalar",
    "ScalarType",
    "Layout",
    "Device",
    "DeviceIndex",
    "MemoryFormat",
    "Generator",
    "Dimname",
    "DimVector",
    "QScheme",
    "Storage",
    "Stream",
    "ConstQuantizerPtr",
)


class _TypeQueries:
    """Questions that every type answers; a list or an optional answers for what it contains."""

    @property
    def base(self) -> BaseType:
        raise NotImplementedError

    def render(self, annotation: str) -> str:
        """The type's text with ``annotation`` (already in parentheses, or empty) behind its base name."""
        raise NotImplementedError

    @property
    def is_tensor_like(self) -> bool:
        """Tensor, Tensor?, Tensor[], Tensor?[] ..."""
        return self.base.name == "Tensor"

    # May be None: the outermost layer is ``?``.
    is_optional = False

    @property
    def is_list(self) -> bool:
        """``T[]`` or ``T[]?``."""
        return self.list_type is not None

    @property
    def list_type(self) -> ListType | None:
        """The outermost list layer, looking through one ``?``."""
        return None

    def is_plain(self, name: str) -> bool:
        """True for exactly the base type ``name``, neither optional nor a list."""
        return isinstance(self, BaseType) and self.name == name

    def __str__(self) -> str:
        return self.render("")


@dataclass(frozen=True)
class BaseType(_TypeQueries):
    """One of ``BASE_TYPES``."""

    name: str

    @property
    def base(self) -> BaseType:
        return self

    def render(self, annotation: str) -> str:
        return self.name + annotation

    __str__ = _TypeQueries.__str__


@dataclass(frozen=True)
class OptionalType(_TypeQueries):
    """``T?``"""

    element: Type
    is_optional = True

    @property
    def base(self) -> BaseType:
        return self.element.base

    @property
    def list_type(self) -> ListType | None:
        return self.element if isinstance(self.element, ListType) else None

    def render(self, annotation: str) -> str:
        return self.element.render(annotation) + "?"

    __str__ = _TypeQueries.__str__


@dataclass(frozen=True)
class ListType(_TypeQueries):
    """``T[]``, or ``T[N]``: a list of N, for which a single ``T`` may be given."""

    element: Type
    size: int | None = None

    @property
    def base(self) -> BaseType:
        return self.element.base

    @property
    def list_type(self) -> ListType:
        return self

    def render(self, annotation: str) -> str:
        size = "" if self.size is None else str(self.size)
        return f"{self.element.render(annotation)}[{size}]"

    __str__ = _TypeQueries.__str__


Type = BaseType | OptionalType | ListType
