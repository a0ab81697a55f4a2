"""The types of schemas as objects: `torch.TensorType` and others.

A type is the text that the schema writes, `int[1]?`, in a class that says what it is. `str()` gives the form
that PyTorch prints, ``Optional[List[int]]``.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

__all__ = [
    "AnyType",
    "BoolType",
    "ComplexType",
    "DeviceObjType",
    "DictType",
    "FloatType",
    "IntType",
    "ListType",
    "NoneType",
    "NumberType",
    "OptionalType",
    "StringType",
    "TensorType",
    "TupleType",
    "Type",
]


class Type(str):
    """A type of an argument or of a result."""

    __slots__ = ()
    __module__ = "torch"
    _shown: ClassVar[str] = ""

    @property
    def annotation_str(self) -> str:
        """The type as annotations of Python write it."""
        return self._shown or str.__str__(self)

    def __str__(self) -> str:
        return self.annotation_str

    def __repr__(self) -> str:
        return self.annotation_str

    def __reduce__(self) -> tuple[Any, ...]:
        return type_of, (str.__str__(self),)

    def kind(self) -> str:
        """The name of the class."""
        return type(self).__name__

    def isSubtypeOf(self, other: Type) -> bool:
        """Whether each value of this type is one of `other`."""
        if isinstance(other, AnyType) or self.annotation_str == other.annotation_str:
            return True
        if isinstance(other, NumberType):
            return isinstance(self, (IntType, FloatType, ComplexType))
        if isinstance(other, OptionalType):
            element = self.getElementType() if isinstance(self, OptionalType) else self
            return isinstance(self, NoneType) or element.isSubtypeOf(other.getElementType())
        return False


class _Simple(Type):
    """A type without parts, of which there is one."""

    __slots__ = ()
    _text: ClassVar[str] = ""

    def __new__(cls, text: str | None = None) -> Any:
        return str.__new__(cls, cls._text if text is None else text)

    @classmethod
    def get(cls) -> Any:
        """The type."""
        return cls()


class AnyType(_Simple):
    """Values of any type.

    Args:
        text: the text of the schema; default None, the usual one

    Example:
        >>> torch.AnyType.get()
        Any
    """

    __slots__ = ()
    _text = _shown = "Any"


class TensorType(_Simple):
    """Tensors.

    Args:
        text: the text of the schema; default None, the usual one

    Example:
        >>> torch.TensorType.get()
        Tensor
    """

    __slots__ = ()
    _text = _shown = "Tensor"

    @classmethod
    def getInferred(cls) -> TensorType:
        """The type of a tensor without an annotation."""
        return cls()


class IntType(_Simple):
    """Integers, and dtypes, layouts and memory formats, which are numbers in schemas.

    Args:
        text: the text of the schema; default None, the usual one

    Example:
        >>> torch.IntType.get()
        int
    """

    __slots__ = ()
    _text = _shown = "int"


class FloatType(_Simple):
    """Floating-point numbers.

    Args:
        text: the text of the schema; default None, the usual one

    Example:
        >>> torch.FloatType.get()
        float
    """

    __slots__ = ()
    _text = _shown = "float"


class ComplexType(_Simple):
    """Complex numbers.

    Args:
        text: the text of the schema; default None, the usual one

    Example:
        >>> torch.ComplexType.get()
        complex
    """

    __slots__ = ()
    _text = _shown = "complex"


class BoolType(_Simple):
    """Booleans.

    Args:
        text: the text of the schema; default None, the usual one

    Example:
        >>> torch.BoolType.get()
        bool
    """

    __slots__ = ()
    _text = _shown = "bool"


class StringType(_Simple):
    """Strings.

    Args:
        text: the text of the schema; default None, the usual one

    Example:
        >>> torch.StringType.get()
        str
    """

    __slots__ = ()
    _text = _shown = "str"


class NumberType(_Simple):
    """Numbers of any kind.

    Args:
        text: the text of the schema; default None, the usual one

    Example:
        >>> torch.NumberType.get()
        number
    """

    __slots__ = ()
    _text = "Scalar"
    _shown = "number"


class NoneType(_Simple):
    """None.

    Args:
        text: the text of the schema; default None, the usual one

    Example:
        >>> torch.NoneType.get()
        None
    """

    __slots__ = ()
    _text = _shown = "None"


class DeviceObjType(_Simple):
    """Devices.

    Args:
        text: the text of the schema; default None, the usual one

    Example:
        >>> torch.DeviceObjType.get()
        Device
    """

    __slots__ = ()
    _text = _shown = "Device"


class _WithElements(Type):
    __slots__ = ()
    _word: ClassVar[str] = ""
    _suffix: ClassVar[str] = ""

    def __new__(cls, element: Any) -> Any:
        if not isinstance(element, Type):
            raise TypeError(f"{cls.__name__}(): expected a Type, got {type(element).__name__}")
        return str.__new__(cls, str.__str__(element) + cls._suffix)

    @classmethod
    def _from_text(cls, text: str) -> Any:
        return str.__new__(cls, text)

    def getElementType(self) -> Type:
        """The type of the elements, or of the value where it is not None."""
        return type_of(_SUFFIX.sub("", str.__str__(self)))

    @property
    def annotation_str(self) -> str:
        """The type as annotations of Python write it."""
        return f"{self._word}[{self.getElementType().annotation_str}]"


class OptionalType(_WithElements):
    """Values of a type, or None.

    Args:
        element: the type

    Example:
        >>> str(torch.OptionalType(torch.IntType.get()))
        'Optional[int]'
    """

    __slots__ = ()
    _word = "Optional"
    _suffix = "?"

    @classmethod
    def ofTensor(cls) -> OptionalType:
        """Tensors, or None."""
        made: OptionalType = cls(TensorType())
        return made


class ListType(_WithElements):
    """Lists.

    Args:
        element: the type

    Example:
        >>> str(torch.ListType(torch.IntType.get()))
        'List[int]'
    """

    __slots__ = ()
    _word = "List"
    _suffix = "[]"

    @classmethod
    def ofTensors(cls) -> ListType:
        """Lists of tensors."""
        made: ListType = cls(TensorType())
        return made

    @classmethod
    def ofInts(cls) -> ListType:
        """Lists of integers."""
        made: ListType = cls(IntType())
        return made

    @classmethod
    def ofFloats(cls) -> ListType:
        """Lists of floating-point numbers."""
        made: ListType = cls(FloatType())
        return made

    @classmethod
    def ofBools(cls) -> ListType:
        """Lists of booleans."""
        made: ListType = cls(BoolType())
        return made


class TupleType(Type):
    """Tuples of values of given types.

    Args:
        elements: the types

    Example:
        >>> str(torch.TupleType([torch.IntType.get(), torch.FloatType.get()]))
        'Tuple[int, float]'
    """

    __slots__ = ()

    def __new__(cls, elements: Any) -> Any:
        return str.__new__(cls, "(" + ", ".join(str.__str__(element) for element in elements) + ")")

    def elements(self) -> list[Type]:
        """The types of the elements."""
        inside = str.__str__(self)[1:-1]
        return [type_of(part) for part in inside.split(", ")] if inside else []

    @property
    def annotation_str(self) -> str:
        """The type as annotations of Python write it."""
        return f"Tuple[{', '.join(element.annotation_str for element in self.elements())}]"


class DictType(Type):
    """Dicts from keys of one type to values of another.

    Args:
        key: the type of keys
        value: the type of values

    Example:
        >>> str(torch.DictType(torch.StringType.get(), torch.IntType.get()))
        'Dict[str, int]'
    """

    __slots__ = ()

    def __new__(cls, key: Any, value: Any) -> Any:
        return str.__new__(cls, f"Dict({str.__str__(key)}, {str.__str__(value)})")

    def getKeyType(self) -> Type:
        """The type of the keys."""
        return type_of(str.__str__(self)[5:-1].split(", ", 1)[0])

    def getValueType(self) -> Type:
        """The type of the values."""
        return type_of(str.__str__(self)[5:-1].split(", ", 1)[1])

    @property
    def annotation_str(self) -> str:
        """The type as annotations of Python write it."""
        return f"Dict[{self.getKeyType().annotation_str}, {self.getValueType().annotation_str}]"


class _Named(Type):
    """A type of which a schema has only the name: Generator, Storage."""

    __slots__ = ()

    def kind(self) -> str:
        return f"{str.__str__(self)}Type"


_SUFFIX = re.compile(r"(\[\d*\]|\?)$")
_ALIAS = re.compile(r"\([^()]*\)(?=\[|\?|$)")
_SIMPLE: dict[str, type[_Simple]] = {
    "Tensor": TensorType,
    "Scalar": NumberType,
    "Device": DeviceObjType,
    "Any": AnyType,
    "None": NoneType,
    "bool": BoolType,
    "complex": ComplexType,
    "float": FloatType,
    "str": StringType,
    **dict.fromkeys(("int", "SymInt", "ScalarType", "Layout", "MemoryFormat"), IntType),
}


def type_of(text: str) -> Type:
    """The type that a schema writes as `text`; what it says about aliases does not belong to it."""
    if text.startswith("("):
        made: Type = TupleType([type_of(part) for part in text[1:-1].split(", ") if part])
        return made
    if text.startswith("Dict("):
        key, value = text[5:-1].split(", ", 1)
        pair: Type = DictType(type_of(key), type_of(value))
        return pair

    plain = _ALIAS.sub("", text)
    if plain.endswith("?"):
        optional: Type = OptionalType._from_text(plain)
        return optional
    if plain.endswith("]"):
        listed: Type = ListType._from_text(plain)
        return listed
    simple = _SIMPLE.get(plain)
    return simple(plain) if simple is not None else _Named(plain)
