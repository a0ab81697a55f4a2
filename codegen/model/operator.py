"""One checked entry of native_functions.yaml, with everything that the emitters need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from codegen.diagnostics import Location
from codegen.expressions import parse
from codegen.expressions.nodes import Call, Name, substitute
from codegen.model.autocast import Autocast
from codegen.model.kernels import Kernel
from codegen.remembered import Remembering, forget, remembered
from codegen.schema import Argument, Arguments, FunctionSchema, OperatorName

Structure = Literal["pointwise", "reduction", "view", "shaped", "composite", "dynamic", "mutation"]
ErrorName = Literal["RuntimeError", "ValueError", "IndexError", "TypeError", "NotImplementedError"]
Variant = Literal["function", "method", "inplace", "inplace_function", "out"]


@dataclass(frozen=True)
class Formula:
    """A text in the expression language, its tree (codegen.expressions) and its place in the file."""

    text: str
    node: Any
    location: Location
    # Names of the text, and what the tree has in their place.
    renamed: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    def __getattr__(self, name: str) -> Any:
        """A tree that was forgotten, or belongs to an earlier run, is made when somebody asks for it."""
        if name != "node":
            raise AttributeError(name)
        values = {old: Name(new) for old, new in self.renamed}
        node = self.__dict__["node"] = substitute(parse(self.text), values)
        return node

    @property
    def parses(self) -> bool:
        """Whether its text gives the tree: not if it is in another language, or the target's tree is used."""
        node = self.__dict__.get("node", self)
        return node is not None and not (isinstance(node, Call) and not node.function)

    def forget(self) -> None:
        """Drops the tree, which is parsed again when somebody asks for it."""
        if self.parses:
            self.__dict__.pop("node", None)


@dataclass(frozen=True)
class DispatchEntry:
    """One key of the dispatch map.

    ``kernel`` is the C++ function in at::native; ``definition`` is where it is written, None when nobody has
    written it yet.
    """

    key: str
    kernel: str
    definition: Kernel | None
    location: Location
    is_implied: bool = field(default=False, compare=False)  # follows from the operator's name

    @property
    def is_available(self) -> bool:
        return self.definition is not None


class Derivative(NamedTuple):
    """The gradient of ``inputs``: usually one; several when one formula returns a tuple."""

    inputs: tuple[str, ...]
    formula: Formula | None
    location: Location

    @property
    def is_non_differentiable(self) -> bool:
        """``self: non_differentiable``."""
        return self.formula is None


@dataclass(frozen=True)
class Requirement:
    """A constraint on the arguments. ``message`` may show values as ``{self}`` and ``{dim(self)}``; None asks
    for the generated one."""

    check: Formula
    error: ErrorName
    message: str | None
    message_location: Location | None = field(default=None, compare=False)
    name: str | None = None  # of one that the file declares below ``requirements``
    used_at: Location | None = field(default=None, compare=False)  # where the entry names it
    error_location: Location | None = field(default=None, compare=False)
    form: str | None = None  # the only form that it holds for; None means every form


@dataclass(frozen=True)
class Deprecation:
    """``deprecated: {since: 0.2, use: torch.linalg.qr}``: what programs call in place of the operator."""

    since: str
    use: str
    location: Location = field(compare=False, repr=False)  # of ``use``
    since_location: Location = field(compare=False, repr=False)


@dataclass(frozen=True)
class Rename:
    """``renamed: {from: soft.Tensor, since: 0.2}``: the whole former name, which still finds the operator."""

    name: str
    since: str
    location: Location = field(compare=False, repr=False)  # of the name
    since_location: Location = field(compare=False, repr=False)
    module: str = ""  # that programs found the name in


class EachArgument(NamedTuple):
    """What one argument of a called operator is made of: the argument ``source`` (a position) of the list
    operator.

    ``each``: an element of a list; ``same``: the value itself; ``single``: the same tensor, of one number;
    ``number`` and ``numbers``: a tensor made of a number, or of an element of a list of them; ``packed``: a
    number read out of a tensor that holds one for each call; ``default``: the argument keeps its default.
    """

    kind: str
    source: int


class Each(NamedTuple):
    """How an operator of lists calls ``operator``, with ``arguments`` in the order of that operator's
    schema."""

    operator: Operator
    arguments: tuple[EachArgument, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Operator(Remembering):
    """An operator as its entry declares it, defaults filled in and checked (codegen/model/checks).

    The defaults here describe a function that has only a schema, such as a draft or what follows from
    ``foreach``.
    """

    schema: FunctionSchema
    topic: str
    variants: tuple[Variant, ...] = ("function",)
    python_module: str = "torch"  # torch, nn, linalg, special, fft or private
    # Other Python names: "clip" for each form, "special.expit" for a function in that module only.
    aliases: tuple[str, ...] = ()
    structure: Structure
    promotion: str | None = None  # pointwise and reduction only
    dtypes: tuple[str, ...] = ()  # canonical names in canonical order; empty: any dtype
    dtype_sets: tuple[str, ...] = ()  # the names as written: sets and single dtypes
    scalars: tuple[str, ...] = ()
    dispatch: tuple[DispatchEntry, ...] = ()
    shape: str | None = None  # name of the C++ shape rule of ``shaped`` operators
    shape_definition: Kernel | None = None
    derivatives: tuple[Derivative, ...] = ()
    non_differentiable: str | None = None  # the reason
    expr: Formula | None = None
    lowering: Formula | None = None  # what a kernel written by hand computes, for the compiler
    # What a kernel computes, in NumPy and SciPy, or the path of a test of its values. Its node is None.
    reference: Formula | None = None
    requires: tuple[Requirement, ...] = ()
    samples: str | None = None
    doc: str = ""
    tags: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()  # Tensor arguments of which a composite reads elements, as numbers
    autocast: Autocast = Autocast()
    library: str | None = None  # name of the out-of-tree library; None in the tree
    location: Location  # of the schema text
    key_locations: Mapping[str, Location] = field(hash=False, compare=False)
    entry_text: str = field(compare=False)  # the entry's YAML, dedented
    each: Each | None = None  # of operators that follow from ``foreach``
    out_dtype: str = "castable"  # a word of vocabulary.OUT_DTYPES
    since: str | None = None  # the version that it first appeared in
    renamed: tuple[Rename, ...] = ()
    deprecated: Deprecation | None = None
    # Orders of positional arguments that Python still accepts, with a warning: (("self", "alpha", "other"),).
    deprecated_orders: tuple[tuple[str, ...], ...] = ()
    place: str = ""  # of the function, else of the method, as programs write it: torch.linalg
    chapter: str = ""  # of native_functions.yaml; the folder of the topic's C++

    def changed(self, **values: Any) -> Operator:
        """The operator with other values in these fields; ``dataclasses.replace`` takes twice as long."""
        return Operator(**(dict(zip(_FIELDS, _values_of(self))) | values))

    def forget(self) -> None:
        """Drops what was remembered with the operator and its parts: much, and quickly found again."""
        forget(self)
        forget(self.schema)
        for derivative in self.derivatives:
            if derivative.formula is not None:
                derivative.formula.forget()
        for requirement in self.requires:
            requirement.check.forget()
        for formula in (self.expr, self.lowering):
            if formula is not None:
                formula.forget()

    # Names

    @cached_property
    def name(self) -> str:
        """``add.Tensor``"""
        return str(self.schema.name)

    @property
    def base_name(self) -> str:
        """``add``"""
        return self.schema.base_name

    @property
    def python_name(self) -> str:
        """``det`` of ``linalg_det``, which is in the module linalg."""
        return self.base_name.removeprefix(f"{self.python_module}_")

    @property
    def public_name(self) -> str:
        """``torch.linalg.det``, as programs call the function, else the method."""
        if self.library is not None:
            return f"{self.library}.{self.python_name}"
        return f"{self.place}.{self.python_name}"

    @property
    def former_base_names(self) -> tuple[str, ...]:
        """Names that it was called by, without overloads, apart from the present one."""
        if not self.renamed:
            return ()
        names = dict.fromkeys(rename.name.partition(".")[0] for rename in self.renamed)
        return tuple(name for name in names if name != self.base_name)

    @cached_property
    def unambiguous_name(self) -> str:
        """``add_Tensor``: the struct in at::ops, the shard of generated files."""
        return self.schema.unambiguous_name

    # Variants

    @property
    def is_function(self) -> bool:
        return "function" in self.variants

    @property
    def is_method(self) -> bool:
        return "method" in self.variants

    @property
    def has_inplace_function(self) -> bool:
        """Whether there is a ``torch.relu_(x)``. In-place forms of operators that are not methods are always
        functions."""
        return self.has_inplace and (
            "inplace_function" in self.variants or (self.is_function and not self.is_method)
        )

    @property
    def has_inplace_method(self) -> bool:
        return self.has_inplace and (self.is_method or not self.is_function)

    @property
    def has_inplace(self) -> bool:
        return "inplace" in self.variants

    @property
    def has_out(self) -> bool:
        return "out" in self.variants

    @remembered
    def inplace_schema(self) -> FunctionSchema:
        """``add_.Tensor(Tensor(a!) self, ...) -> Tensor(a!)``"""
        assert self.has_inplace, f"{self.name} has no in-place variant"
        arguments, returns = self.schema.arguments.in_place()
        return FunctionSchema(self.schema.name.in_place(), arguments, returns)

    @remembered
    def out_schema(self) -> FunctionSchema:
        """``add.out(..., *, Tensor(a!) out) -> Tensor(a!)``; several results are called as the returns are.

        The overload is ``out`` for the default overload and ``Tensor_out`` for the overload ``Tensor``.
        """
        assert self.has_out, f"{self.name} has no out variant"
        overload = f"{self.schema.overload_name}_out" if self.schema.overload_name else "out"
        arguments, returns = self.schema.arguments.with_out(self.out_names(), self.schema.returns)
        return FunctionSchema(OperatorName(self.schema.name.name, overload), arguments, returns)

    def out_names(self) -> tuple[str, ...]:
        """``out`` for one result; otherwise the names of the returns, or out0, out1 ..."""
        returns = self.schema.returns
        if len(returns) == 1:
            return ("out",)
        return tuple(r.name or f"out{i}" for i, r in enumerate(returns))

    def schemas(self) -> tuple[FunctionSchema, ...]:
        """The declared schema, then the in-place and out forms that the variants ask for."""
        found = [self.schema]
        if self.has_inplace:
            found.append(self.inplace_schema())
        if self.has_out:
            found.append(self.out_schema())
        return tuple(found)

    def in_namespace(self, text: str) -> str:
        """``my_ops::softcap`` for the ``softcap`` of a library; names in the tree stay as they are."""
        return text if self.library is None else f"{self.library}::{text}"

    # Arguments

    @property
    def arguments(self) -> Arguments:
        return self.schema.arguments

    @property
    def tensor_arguments(self) -> tuple[Argument, ...]:
        return self.schema.arguments.tensors

    @property
    def read_arguments(self) -> tuple[Argument, ...]:
        """The tensors of which a composite reads elements: those of ``reads``, and of an operator of lists
        those that hold a number for each call."""
        given = self.schema.arguments
        if self.each is not None:
            return tuple(given.flat_all[a.source] for a in self.each.arguments if a.kind == "packed")
        return tuple(a for a in given.tensors if a.name in self.reads)

    # Kernels

    def dispatch_for(self, key: str) -> DispatchEntry | None:
        return next((d for d in self.dispatch if d.key == key), None)

    @property
    def is_composite_implicit(self) -> bool:
        """Whether its gradient follows from the operators it calls, without an autograd kernel."""
        return self.structure == "composite" and not self.derivatives and self.non_differentiable is None

    # Gradients

    @property
    def is_differentiable(self) -> bool:
        return self.non_differentiable is None

    @property
    def is_over_rows(self) -> bool:
        """Whether ``expr`` is a formula over rows; that of a pointwise operator is over elements."""
        return self.expr is not None and self.structure != "pointwise"

    @property
    def derives_automatically(self) -> bool:
        """Whether gradients follow from ``expr``, from a view, or from the calls of a composite."""
        return not self.derivatives and self.non_differentiable is None

    def derivative_for(self, argument: str) -> Derivative | None:
        return next((d for d in self.derivatives if argument in d.inputs), None)

    # Places

    def location_of(self, key: str) -> Location:
        """The place of a key's value, or of the entry if the key is absent."""
        return self.key_locations.get(key, self.location)

    def __str__(self) -> str:
        return str(self.schema)


_FIELDS = tuple(one.name for one in fields(Operator))
_values_of = attrgetter(*_FIELDS)
