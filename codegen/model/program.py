"""All operators of one file, and the program they extend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from codegen.diagnostics import Location
from codegen.dialect import Dialect
from codegen.model.operator import Operator, Requirement


@dataclass(frozen=True)
class DtypeSet:
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

    def __iter__(self) -> Iterator[Operator]:
        return iter(self.operators.values())

    def by_base_name(self, name: str) -> tuple[Operator, ...]:
        """All overloads called ``name``, now or formerly, own ones first, then those of the program this one extends."""
        inherited = self.base.by_base_name(name) if self.base is not None else ()
        return self.by_base.get(name, ()) + self._renamed.get(name, ()) + inherited

    def base_names(self) -> tuple[str, ...]:
        """Every callable name, inherited ones included, sorted."""
        inherited = self.base.base_names() if self.base is not None else ()
        return tuple(sorted({*self.by_base, *inherited}))

    def is_operator_name(self, name: str) -> bool:
        """Whether documentation may call an operator so: an operator, its form in place, or an alias."""
        inherited = self.base is not None and self.base.is_operator_name(name)
        return name.removesuffix("_") in self._spoken_names or inherited

    @cached_property
    def _spoken_names(self) -> frozenset[str]:
        names = {*self.by_base, *self.broken}
        for operator in self:
            names.update((operator.python_name, *(alias.split(".")[-1] for alias in operator.aliases)))
        return frozenset(name.removesuffix("_") for name in names)

    @cached_property
    def _renamed(self) -> Mapping[str, tuple[Operator, ...]]:
        """Operators by the names that they had formerly, without overloads."""
        found: dict[str, tuple[Operator, ...]] = {}
        for operator in self:
            for base in dict.fromkeys(rename.name.partition(".")[0] for rename in operator.renamed):
                if base != operator.base_name:
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
