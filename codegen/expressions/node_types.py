"""The classes of the nodes of an expression tree.

Nodes never change, and compare by meaning: ``offset`` (where a node starts in the text) takes no part in
equality. A node knows its hash, so that trees are cheap keys for caches. The classes are written out rather
than declared as dataclasses: nodes are the most frequent objects of the generator, and these take half the
time and memory.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar


class _Node:
    """What all nodes have; ``_fields`` are compared, and printed by ``repr``."""

    __slots__ = ("offset", "text", "_hash", "__dict__")
    _fields: tuple[str, ...] = ()
    _compared: ClassVar[Callable[[Any], Any]] = type  # what two nodes of the same class differ in

    offset: int
    text: str  # set by ``to_source``
    _hash: int

    def __init_subclass__(cls) -> None:
        if cls._fields:
            cls._compared = attrgetter(*cls._fields)

    def parts(self) -> tuple[Node, ...]:
        """The direct parts, left to right."""
        return ()

    def with_parts(self, parts: tuple[Node, ...]) -> Node:
        """The same node with other parts, as many as before."""
        raise AssertionError(f"{type(self).__name__} has no parts")

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        compared = type(self)._compared
        return self._hash == other._hash and bool(compared(self) == compared(other))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
        return f"{type(self).__name__}({fields})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Hashes of texts differ between processes."""
        values = tuple(getattr(self, name) for name in self._fields)
        return _made, (type(self), values, self.offset)


def _made(cls: type, values: tuple[Any, ...], offset: int) -> Any:
    return cls(*values, offset=offset)


class Number(_Node):
    """A number as written; ``2`` and ``2.0`` are different numbers because they promote differently."""

    __slots__ = _fields = ("value",)

    def __init__(self, value: int | float, *, offset: int = 0) -> None:
        self.value = value
        self.offset = offset
        self._hash = hash((type(value), repr(value)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Number):
            return NotImplemented
        return type(self.value) is type(other.value) and repr(self.value) == repr(other.value)

    __hash__ = _Node.__hash__


class String(_Node):
    """``"mean"``."""

    __slots__ = _fields = ("value",)

    def __init__(self, value: str, *, offset: int = 0) -> None:
        self.value = value
        self.offset = offset
        self._hash = hash(("string", value))


class Boolean(_Node):
    """``true`` or ``false``."""

    __slots__ = _fields = ("value",)

    def __init__(self, value: bool, *, offset: int = 0) -> None:
        self.value = value
        self.offset = offset
        self._hash = hash(("boolean", value))


class Nothing(_Node):
    """``none``: an optional argument that is not given."""

    __slots__ = _fields = ()

    def __init__(self, *, offset: int = 0) -> None:
        self.offset = offset
        self._hash = hash("nothing")


class Name(_Node):
    """An argument, or a name such as ``grad`` and ``result``."""

    __slots__ = _fields = ("name",)

    def __init__(self, name: str, *, offset: int = 0) -> None:
        self.name = name
        self.offset = offset
        self._hash = hash(name)


class Unary(_Node):
    """``-x`` or ``not x``."""

    __slots__ = _fields = ("operator", "operand")

    def __init__(self, operator: str, operand: Node, *, offset: int = 0) -> None:
        self.operator = operator
        self.operand = operand
        self.offset = offset
        self._hash = hash((operator, operand._hash))

    def parts(self) -> tuple[Node, ...]:
        return (self.operand,)

    def with_parts(self, parts: tuple[Node, ...]) -> Unary:
        return Unary(self.operator, parts[0], offset=self.offset)


class _Pair(_Node):
    """Two operands."""

    __slots__ = _fields = ("operator", "left", "right")

    def __init__(self, operator: str, left: Node, right: Node, *, offset: int = 0) -> None:
        self.operator = operator
        self.left = left
        self.right = right
        self.offset = offset
        self._hash = hash((operator, left._hash, right._hash))

    def parts(self) -> tuple[Node, ...]:
        return (self.left, self.right)


class Binary(_Pair):
    """Arithmetic ``+ - * / % **``; ``offset`` is where the left operand starts."""

    __slots__ = ()

    def with_parts(self, parts: tuple[Node, ...]) -> Binary:
        return Binary(self.operator, parts[0], parts[1], offset=self.offset)


class Logical(_Pair):
    """``and`` / ``or``."""

    __slots__ = ()

    def with_parts(self, parts: tuple[Node, ...]) -> Logical:
        return Logical(self.operator, parts[0], parts[1], offset=self.offset)


class Compare(_Node):
    """A chain ``a < b <= c``: one more operand than operators. Also ``in`` and ``not in``."""

    __slots__ = _fields = ("operators", "operands")

    def __init__(self, operators: tuple[str, ...], operands: tuple[Node, ...], *, offset: int = 0) -> None:
        self.operators = operators
        self.operands = operands
        self.offset = offset
        self._hash = hash((operators, operands))

    def parts(self) -> tuple[Node, ...]:
        return self.operands

    def with_parts(self, parts: tuple[Node, ...]) -> Compare:
        return Compare(self.operators, parts, offset=self.offset)


class Conditional(_Node):
    """``condition ? then : otherwise``."""

    __slots__ = _fields = ("condition", "then", "otherwise")

    def __init__(self, condition: Node, then: Node, otherwise: Node, *, offset: int = 0) -> None:
        self.condition = condition
        self.then = then
        self.otherwise = otherwise
        self.offset = offset
        self._hash = hash((condition, then, otherwise))

    def parts(self) -> tuple[Node, ...]:
        return (self.condition, self.then, self.otherwise)

    def with_parts(self, parts: tuple[Node, ...]) -> Conditional:
        return Conditional(parts[0], parts[1], parts[2], offset=self.offset)


class Call(_Node):
    """``function(a, b)``."""

    __slots__ = _fields = ("function", "arguments")

    def __init__(self, function: str, arguments: tuple[Node, ...], *, offset: int = 0) -> None:
        self.function = function
        self.arguments = arguments
        self.offset = offset
        self._hash = hash((function, arguments))

    def parts(self) -> tuple[Node, ...]:
        return self.arguments

    def with_parts(self, parts: tuple[Node, ...]) -> Call:
        return Call(self.function, parts, offset=self.offset)


class Method(_Node):
    """``target.name(arguments)``, or the property ``target.name`` when ``arguments`` is None."""

    __slots__ = _fields = ("target", "name", "arguments")

    def __init__(
        self, target: Node, name: str, arguments: tuple[Node, ...] | None, *, offset: int = 0
    ) -> None:
        self.target = target
        self.name = name
        self.arguments = arguments
        self.offset = offset
        self._hash = hash((target, name, arguments))

    def parts(self) -> tuple[Node, ...]:
        return (self.target, *(self.arguments or ()))

    def with_parts(self, parts: tuple[Node, ...]) -> Method:
        arguments = None if self.arguments is None else parts[1:]
        return Method(parts[0], self.name, arguments, offset=self.offset)


class Index(_Node):
    """``target[index]``."""

    __slots__ = _fields = ("target", "index")

    def __init__(self, target: Node, index: Node, *, offset: int = 0) -> None:
        self.target = target
        self.index = index
        self.offset = offset
        self._hash = hash((target, index))

    def parts(self) -> tuple[Node, ...]:
        return (self.target, self.index)

    def with_parts(self, parts: tuple[Node, ...]) -> Index:
        return Index(parts[0], parts[1], offset=self.offset)


class _Items(_Node):
    """Several items."""

    __slots__ = _fields = ("items",)

    def __init__(self, items: tuple[Node, ...], *, offset: int = 0) -> None:
        self.items = items
        self.offset = offset
        self._hash = hash((type(self), items))

    def parts(self) -> tuple[Node, ...]:
        return self.items


class ListOf(_Items):
    """``[a, b]``."""

    __slots__ = ()

    def with_parts(self, parts: tuple[Node, ...]) -> ListOf:
        return ListOf(parts, offset=self.offset)


class TupleOf(_Items):
    """``(a, b)``: what a formula for several inputs returns."""

    __slots__ = ()

    def with_parts(self, parts: tuple[Node, ...]) -> TupleOf:
        return TupleOf(parts, offset=self.offset)


Node = (
    Number
    | String
    | Boolean
    | Nothing
    | Name
    | Unary
    | Binary
    | Logical
    | Compare
    | Conditional
    | Call
    | Method
    | Index
    | ListOf
    | TupleOf
)
