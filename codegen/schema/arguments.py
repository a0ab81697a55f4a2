"""Arguments, returns and the alias annotations on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from codegen.remembered import cached_property, remembered, remembered_by
from codegen.schema.defaults import DefaultValue, parse_default
from codegen.schema.types import Type


class Annotation(NamedTuple):
    """``(a)`` aliases set a; ``(a!)`` writes to it; ``(a|b)`` may be in either; ``(*)`` is the wildcard set.

    ``after`` holds the sets after the call, as in ``(a -> *)``: elements of the result alias parts of the
    argument.
    """

    sets: tuple[str, ...]
    is_write: bool = False
    after: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = "|".join(self.sets) + ("!" if self.is_write else "")
        if self.after:
            text += " -> " + "|".join(self.after)
        return f"({text})"


@dataclass(frozen=True)
class Argument:
    """An argument of a schema, such as ``Tensor(a!) self`` or ``Scalar alpha=1``.

    Offsets count characters from the schema's first parenthesis (FunctionSchema.place); comparisons ignore
    them.

    ``spelled`` is what the schema calls an argument that has another name in generated C++.
    """

    type: Type
    name: str
    default: str | None = None
    annotation: Annotation | None = None
    offset: int = field(default=0, compare=False)
    name_offset: int = field(default=0, compare=False)
    default_offset: int = field(default=0, compare=False)
    spelled: str | None = None

    @property
    def spelling(self) -> str:
        """The name in the schema and in Python."""
        return self.spelled or self.name

    @property
    def is_write(self) -> bool:
        return self.annotation is not None and self.annotation.is_write

    @property
    def is_alias(self) -> bool:
        return self.annotation is not None

    @property
    def has_default(self) -> bool:
        return self.default is not None

    @property
    def default_value(self) -> DefaultValue:
        """The default as a Python value; only valid if ``has_default``.

        Names such as ``contiguous_format`` become a ``Symbol``.
        """
        assert self.default is not None, f"argument {self.name} has no default"
        return parse_default(self.default)

    @remembered
    def __str__(self) -> str:
        annotation = "" if self.annotation is None else str(self.annotation)
        default = "" if self.default is None else f"={self.default}"
        return f"{self.type.render(annotation)} {self.spelling}{default}"


@dataclass(frozen=True)
class Return:
    """``Tensor``, ``Tensor(a!) values``; ``name`` is None when the schema gives none."""

    type: Type
    name: str | None = None
    annotation: Annotation | None = None
    offset: int = field(default=0, compare=False)

    @property
    def is_write(self) -> bool:
        return self.annotation is not None and self.annotation.is_write

    @property
    def is_alias(self) -> bool:
        return self.annotation is not None

    def __str__(self) -> str:
        text = self.type.render("" if self.annotation is None else str(self.annotation))
        return text if self.name is None else f"{text} {self.name}"


@dataclass(frozen=True)
class Arguments:
    """All arguments in the order in which the schema writes them, in four groups.

    ``pre_self`` is nearly always empty (``where.self(Tensor condition, Tensor self, ...)`` is why it exists);
    ``out`` are keyword-only arguments that are written to.
    """

    pre_self: tuple[Argument, ...]
    self_argument: Argument | None
    post_self: tuple[Argument, ...]
    kwarg_only: tuple[Argument, ...]
    out: tuple[Argument, ...]

    @cached_property
    def positional(self) -> tuple[Argument, ...]:
        own = () if self.self_argument is None else (self.self_argument,)
        return self.pre_self + own + self.post_self

    @cached_property
    def flat_all(self) -> tuple[Argument, ...]:
        """Every argument in schema order, ``out`` last."""
        return self.positional + self.kwarg_only + self.out

    @cached_property
    def flat_non_out(self) -> tuple[Argument, ...]:
        return self.positional + self.kwarg_only

    @cached_property
    def tensors(self) -> tuple[Argument, ...]:
        """Arguments that carry tensors: Tensor, Tensor?, Tensor[], Tensor?[]; ``out`` included."""
        return tuple(a for a in self.flat_all if a.type.is_tensor_like)

    @cached_property
    def non_tensors(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.flat_all if not a.type.is_tensor_like)

    @property
    def mutable(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.flat_all if a.is_write)

    @cached_property
    def by_name(self) -> dict[str, Argument]:
        return {a.name: a for a in reversed(self.flat_all)}

    def find(self, name: str) -> Argument | None:
        return self.by_name.get(name)

    @remembered
    def names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.flat_all)

    @remembered
    def in_place(self) -> tuple[Arguments, tuple[Return, ...]]:
        """The arguments and the result of the form that writes to ``self``."""
        own = self.self_argument
        assert own is not None, "there is no self"
        written = Annotation(("a",), is_write=True)
        arguments = replace(self, self_argument=replace(own, annotation=written))
        return arguments, (Return(own.type, None, written),)

    @remembered_by
    def with_out(
        self, names: tuple[str, ...], returns: tuple[Return, ...]
    ) -> tuple[Arguments, tuple[Return, ...]]:
        """The arguments and the results of the form that writes to arguments with these names."""
        annotations = [Annotation((letter,), is_write=True) for letter in "abcdefghij"]
        outs = zip(returns, names, annotations)
        arguments = replace(self, out=tuple(Argument(r.type, name, None, a) for r, name, a in outs))
        return arguments, tuple(replace(r, annotation=a) for r, a in zip(returns, annotations))

    def __iter__(self) -> Iterator[Argument]:
        return iter(self.flat_all)

    def __len__(self) -> int:
        return len(self.flat_all)

    @remembered
    def __str__(self) -> str:
        keywords = [str(a) for a in self.kwarg_only + self.out]
        return ", ".join([str(a) for a in self.positional] + (["*", *keywords] if keywords else []))
