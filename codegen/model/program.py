"""All operators of one file, and the program they extend."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from codegen.diagnostics import Location
from codegen.dialect import Dialect
from codegen.model.operator import Operator, Requirement
from codegen.remembered import cached_property


class DtypeSet(NamedTuple):
    """A named set of dtypes: ``members`` are canonical names in canonical order, other sets resolved."""

    name: str
    members: tuple[str, ...]
    location: Location

    @property
    def macro(self) -> str:
        return f"AT_DISPATCH_{self.name.upper()}"


def combination_macro(sets: tuple[str, ...]) -> str:
    """``all_and_bool, half`` -> AT_DISPATCH_ALL_AND_BOOL_HALF"""
    return "AT_DISPATCH_" + "_".join(s.upper() for s in sets)


@dataclass(frozen=True)
class Topic:
    """A group of entries: one shard of the generated sources, one page of documentation."""

    name: str
    operators: tuple[Operator, ...]
    location: Location


class Rest(Protocol):
    """The operators of a file that are not read again, known from an earlier run."""

    def by_base_name(self, name: str, own: Sequence[Operator]) -> tuple[Operator, ...]:
        """All overloads of ``name`` in file order, of which ``own`` were read."""

    def base_names(self) -> Collection[str]: ...

    def spoken_names(self) -> Collection[str]:
        """Names that documentation may use, without an underscore at the end."""


@dataclass(frozen=True)
class Program:
    """The operators of one YAML file. ``library`` and ``base`` are set for files outside the tree."""

    file: str  # as diagnostics name it
    path: str  # as given on the command line
    library: str | None
    dtype_sets: Mapping[str, DtypeSet]  # own sets only
    topics: Mapping[str, Topic]  # in file order
    operators: Mapping[str, Operator]  # own operators by unambiguous name, in file order
    base: Program | None = None
    # Base names of entries with problems, which are not to be reported as unknown again.
    broken: frozenset[str] = frozenset()
    by_base: Mapping[str, tuple[Operator, ...]] = field(default_factory=dict, compare=False)
    requirements: Mapping[str, Requirement] = field(default_factory=dict)  # named ones, with those of base
    reasons: Mapping[str, str] = field(default_factory=dict)  # of missing gradients, with those of base
    dialect: Dialect = field(default_factory=Dialect, compare=False)
    # The topics that ``topics`` and ``operators`` lack, where only a part of a file is read.
    rest: Rest | None = field(default=None, compare=False)

    def __iter__(self) -> Iterator[Operator]:
        return iter(self.operators.values())

    def by_base_name(self, name: str) -> tuple[Operator, ...]:
        """All overloads called ``name``, now or formerly; own ones before those of the base."""
        inherited = self.base.by_base_name(name) if self.base is not None else ()
        own = self.by_base.get(name, ()) + self._renamed.get(name, ())
        return (own if self.rest is None else self.rest.by_base_name(name, own)) + inherited

    def base_names(self) -> tuple[str, ...]:
        """Every callable name, inherited ones included, sorted."""
        return self._base_names

    @cached_property
    def _base_names(self) -> tuple[str, ...]:
        inherited = self.base.base_names() if self.base is not None else ()
        rest = self.rest.base_names() if self.rest is not None else ()
        return tuple(sorted({*self.by_base, *rest, *inherited}))

    def is_operator_name(self, name: str) -> bool:
        """Whether documentation may call an operator so: an operator, its form in place, or an alias."""
        inherited = self.base is not None and self.base.is_operator_name(name)
        return name.removesuffix("_") in self._spoken_names or inherited

    @cached_property
    def _spoken_names(self) -> frozenset[str]:
        names = {*self.by_base, *self.broken}
        for operator in self:
            names.update(spoken_names(operator))
        rest = self.rest.spoken_names() if self.rest is not None else ()
        return frozenset(name.removesuffix("_") for name in names) | frozenset(rest)

    @cached_property
    def _renamed(self) -> Mapping[str, tuple[Operator, ...]]:
        """Operators by the names that they had formerly, without overloads."""
        found: dict[str, tuple[Operator, ...]] = {}
        for operator in self:
            for base in operator.former_base_names:
                found[base] = (*found.get(base, ()), operator)
        return found

    def find(self, name: str) -> Operator | None:
        """By ``add.Tensor``, ``add_Tensor``, or ``add`` where that is unique or the default overload."""
        for operator in self:
            if name in (operator.name, operator.unambiguous_name):
                return operator
        for operator in self._renamed.get(name.partition(".")[0], ()):
            if any(name == rename.name for rename in operator.renamed):
                return operator
        candidates = self.by_base_name(name)
        if candidates:
            return candidates[0]
        return self.base.find(name) if self.base is not None else None

    def dtype_set(self, name: str) -> DtypeSet | None:
        found = self.dtype_sets.get(name)
        return self.base.dtype_set(name) if found is None and self.base is not None else found

    def all_dtype_sets(self) -> dict[str, DtypeSet]:
        inherited = self.base.all_dtype_sets() if self.base is not None else {}
        return {**inherited, **self.dtype_sets}


def spoken_names(operator: Operator) -> tuple[str, ...]:
    """What documentation may call the operator, besides its base name."""
    return (operator.python_name, *(alias.split(".")[-1] for alias in operator.aliases))
