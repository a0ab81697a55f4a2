"""Resolves the names in an expression and tells the kind of each part.

A kind is the text of a schema type without ``?``: ``Tensor``, ``Tensor[]``, ``Scalar``, ``int``, ``int[]``,
``bool``, ``str``, ``ScalarType`` ...; also ``TensorOptions``, ``none``, and ``unknown``, which agrees with
everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, Protocol

from codegen.dtypes import DTYPES
from codegen.expressions import nodes
from codegen.expressions.errors import FormulaProblem
from codegen.expressions.functions import CONSTANTS, FUNCTIONS
from codegen.expressions.nodes import Node
from codegen.expressions.rows import COUNT, REDUCTIONS
from codegen.remembered import remembered
from codegen.schema import Argument, FunctionSchema, Type


class OperatorLike(Protocol):
    """The parts of an operator that this package uses; codegen.model.Operator has them."""

    @property
    def schema(self) -> FunctionSchema: ...

    @property
    def scalars(self) -> tuple[str, ...]:
        """Tensor arguments that also take a number."""


class ProgramLike(Protocol):
    """The parts of a program that this package uses; codegen.model.Program has them."""

    @property
    def broken(self) -> Collection[str]:
        """Base names of entries that have problems of their own."""

    def by_base_name(self, name: str) -> Sequence[OperatorLike]: ...

    def base_names(self) -> Collection[str]: ...


class Signature(NamedTuple):
    """An operator known by its schema alone."""

    schema: FunctionSchema
    scalars: tuple[str, ...] = ()

    @staticmethod
    def parse(text: str, scalars: tuple[str, ...] = ()) -> Signature:
        return Signature(FunctionSchema.parse(text), scalars)


TENSOR = "Tensor"
TENSORS = "Tensor[]"
UNKNOWN = "unknown"
NONE = "none"
NUMBERS = ("bool", "int", "float", "Scalar")  # each promotes to those on its right
_MERGED = {"SymInt": "int", "SymBool": "bool"}

# Methods of a tensor that need its metadata only: kind of the result, and number of arguments.
METADATA_METHODS: dict[str, tuple[str, int]] = {
    "sizes": ("int[]", 0),
    "strides": ("int[]", 0),
    "dim": ("int", 0),
    "size": ("int", 1),
    "numel": ("int", 0),
    "storage_offset": ("int", 0),
    "scalar_type": ("ScalarType", 0),
    "options": ("TensorOptions", 0),
    "is_complex": ("bool", 0),
    "defined": ("bool", 0),
    "device": ("Device", 0),
}

# Functions of ``requires:`` over arguments: how many arguments, and the kind of the result.
REQUIREMENT_FUNCTIONS: dict[str, tuple[int, str]] = {
    "dim": (1, "int"),
    "size": (2, "int"),
    "sizes": (1, "int[]"),
    "broadcast": (2, "int[]"),
    "numel": (1, "int"),
    "dtype": (1, "ScalarType"),
    "device": (1, "Device"),
    "defined": (1, "bool"),
    "is_floating": (1, "bool"),
    "is_complex": (1, "bool"),
    "is_integral": (1, "bool"),
    "same": (2, "bool"),
    "no_internal_overlap": (1, "bool"),
    "no_partial_overlap": (2, "bool"),
}

# Those of them that also take a dtype or a number.
DTYPE_TESTS = ("is_floating", "is_complex", "is_integral")

# Those of them that compare two tensors.
OF_TWO_TENSORS = ("broadcast", "same", "no_partial_overlap")

_RESULT = re.compile(r"result(\d*)$")


@remembered
def kind_of_type(type: Type) -> str:
    base = _MERGED.get(type.base.name, type.base.name)
    return base + "[]" if type.is_list else base


class Scope:
    """The names that an expression of ``operator`` may use; ``program`` resolves the operators it calls.

    ``tensors_as`` is the kind of tensor arguments: ``Scalar`` in ``expr:``, where a tensor means its element.
    """

    def __init__(
        self, operator: OperatorLike, program: ProgramLike | None = None, tensors_as: str = TENSOR
    ) -> None:
        self.operator = operator
        self.program = program
        self.schema = operator.schema
        self.tensors_as = tensors_as
        self._kinds: dict[Node, str] = {}
        self._names: dict[str, str] = {}
        self.called: dict[Node, OperatorLike | None] = {}

    def argument(self, name: str) -> Argument | None:
        return self.schema.arguments.find(name)

    def has_operator(self, name: str) -> bool:
        return self.program is not None and bool(self.program.by_base_name(name))

    def is_optional(self, node: Node) -> bool:
        argument = self.argument(node.name) if isinstance(node, nodes.Name) else None
        return argument is not None and argument.type.is_optional

    def result_index(self, name: str) -> int | None:
        """0 for ``result`` or ``result0``; None when ``name`` is not a result of this operator."""
        match = _RESULT.match(name)
        if match is None or self.argument(name) is not None:
            return None
        returns = len(self.schema.returns)
        if not match.group(1):
            return 0 if returns == 1 else None
        index = int(match.group(1))
        return index if returns > 1 and index < returns else None

    def result_names(self) -> tuple[str, ...]:
        returns = len(self.schema.returns)
        return ("result",) if returns == 1 else tuple(f"result{i}" for i in range(returns))

    def gradient_names(self) -> tuple[str, ...]:
        """``grad`` where there is one gradient, ``grads`` where there are several."""
        if len(self.schema.returns) == 1 and not self.schema.returns[0].type.is_list:
            return ("grad",)
        return ("grads",)

    def name_kind(self, name: str) -> str | None:
        """None for an unknown name."""
        argument = self.argument(name)
        if argument is not None:
            kind = kind_of_type(argument.type)

            return self.tensors_as if kind == TENSOR else kind

        if self.tensors_as == TENSOR:
            if name in self.gradient_names():
                return TENSOR if name == "grad" else TENSORS
            index = self.result_index(name)
            if index is not None:
                return kind_of_type(self.schema.returns[index].type)
        elif name == "result" and len(self.schema.returns) == 1:
            return self.tensors_as
        elif name == COUNT:
            return "int"

        if name in CONSTANTS:
            return "float"
        return "ScalarType" if name in DTYPES else None

    def kind(self, node: Node) -> str:
        """The kind of ``node``; ``unknown`` where it contains a mistake that a check reports."""
        if type(node) is nodes.Name:
            return self._name_kind(node.name)
        found = self._kinds.get(node)
        if found is None:
            found = self._kinds[node] = _KINDS[type(node)](self, node)
        return found

    def _name_kind(self, name: str) -> str:
        found = self._names.get(name)
        if found is None:
            found = self._names[name] = self.name_kind(name) or UNKNOWN
        return found

    def _condition_kind(self, node: nodes.Compare | nodes.Logical | nodes.Unary) -> str:
        is_tensor = any(self.kind(part) == TENSOR for part in nodes.children(node))
        return TENSOR if is_tensor and not is_none_test(node) else "bool"

    def _unary_kind(self, node: nodes.Unary) -> str:
        return self._condition_kind(node) if node.operator == "not" else self._arithmetic_kind(node)

    def _conditional_kind(self, node: nodes.Conditional) -> str:
        return self.join((node.then, node.otherwise))

    def _method_kind(self, node: nodes.Method) -> str:
        kind, _ = METADATA_METHODS.get(node.name, (UNKNOWN, 0))
        return "int[]" if kind == "int" and self.kind(node.target) == TENSORS else kind

    def _index_kind(self, node: nodes.Index) -> str:
        kind = self.kind(node.target)
        return kind[:-2] if kind.endswith("[]") else UNKNOWN

    def _list_kind(self, node: nodes.ListOf) -> str:
        return self.join(node.items) + "[]" if node.items else UNKNOWN

    def join(self, parts: Sequence[Node]) -> str:
        """The kind that can hold every part."""
        kinds = [kind for kind in map(self.kind, parts) if kind not in (NONE, UNKNOWN)]
        if not kinds:
            return UNKNOWN
        if all(kind in NUMBERS for kind in kinds):
            return max(kinds, key=NUMBERS.index)
        return TENSOR if TENSOR in kinds else kinds[0]

    def _arithmetic_kind(self, node: nodes.Unary | nodes.Binary) -> str:
        parts = nodes.children(node)
        kind = self.join(parts)
        if kind not in (TENSOR, *NUMBERS):
            return UNKNOWN
        if kind == "bool":
            kind = "int"
        if isinstance(node, nodes.Binary) and kind == "int":
            exponent = node.right
            if node.operator == "/" or (node.operator == "**" and isinstance(exponent, nodes.Unary)):
                return "float"
        return kind

    def _call_kind(self, node: nodes.Call) -> str:

        if self.tensors_as != TENSOR or self.is_scalar_call(node):
            function = FUNCTIONS.get(node.function)
            if node.function in REDUCTIONS and self.tensors_as != TENSOR:
                return self._reduction_kind(node)
            if function is None:
                return "int" if node.function == "len" else self.join(node.arguments)
            if function.boolean:
                return "bool"
            values = node.arguments[1:] if node.function == "where" else node.arguments
            kind = self.join(values)
            return "float" if function.float_result and kind in ("int", "bool") else kind

        called = resolve(node, self)
        if called is None:
            return UNKNOWN if self.program is not None else TENSOR

        returns = called.schema.returns
        if len(returns) == 1:
            return kind_of_type(returns[0].type)

        kinds = {kind_of_type(r.type) for r in returns}
        return f"{kinds.pop()}[]" if len(kinds) == 1 else UNKNOWN

    def _reduction_kind(self, node: nodes.Call) -> str:
        if REDUCTIONS[node.function].boolean:
            return "bool"
        kind = self.join(node.arguments)
        if node.function == "mean" and kind in ("bool", "int"):
            return "float"
        return "int" if kind == "bool" else kind

    def is_scalar_call(self, node: nodes.Call) -> bool:
        """``log(alpha)`` of numbers, ``len(tensors)``: computed on the spot, not by an operator."""
        if node.function == "len":
            return True
        if node.function not in FUNCTIONS and node.function not in ("min", "max"):
            return False
        return bool(node.arguments) and all(self.kind(argument) in NUMBERS for argument in node.arguments)


class RequirementScope(Scope):
    """Names and functions of ``requires:``, where only the arguments themselves are tensors."""

    def _call_kind(self, node: nodes.Call) -> str:
        if node.function in REQUIREMENT_FUNCTIONS:
            return REQUIREMENT_FUNCTIONS[node.function][1]
        if node.function in ("min", "max") and len(node.arguments) > 1:
            return self.join(node.arguments)
        return {"promote": "ScalarType", "len": "int", "all": "bool", "min": "int", "max": "int"}.get(
            node.function, UNKNOWN
        )


def is_none_test(node: Node) -> bool:
    return isinstance(node, nodes.Compare) and any(isinstance(part, nodes.Nothing) for part in node.operands)


_KINDS: dict[type, Callable[[Scope, Any], str]] = {
    nodes.Number: lambda scope, node: "int" if isinstance(node.value, int) else "float",
    nodes.String: lambda scope, node: "str",
    nodes.Boolean: lambda scope, node: "bool",
    nodes.Nothing: lambda scope, node: NONE,
    nodes.Unary: Scope._unary_kind,
    nodes.Binary: Scope._arithmetic_kind,
    nodes.Logical: Scope._condition_kind,
    nodes.Compare: Scope._condition_kind,
    nodes.Conditional: Scope._conditional_kind,
    nodes.Call: lambda scope, node: scope._call_kind(node),
    nodes.Method: Scope._method_kind,
    nodes.Index: Scope._index_kind,
    nodes.ListOf: Scope._list_kind,
    nodes.TupleOf: lambda scope, node: UNKNOWN,
}


def accepts(parameter: Argument, kind: str, is_none: bool, takes_number: bool) -> bool:
    """Whether an argument of kind ``kind`` can be passed for ``parameter``."""
    wanted = kind_of_type(parameter.type)
    if kind == UNKNOWN or kind == wanted:
        return True
    if is_none:
        return parameter.type.is_optional
    if wanted == TENSOR and kind in NUMBERS:
        return takes_number

    if wanted in NUMBERS and kind in NUMBERS:
        return NUMBERS.index(kind) <= NUMBERS.index(wanted)

    if wanted.endswith("[]"):
        element = wanted[:-2]
        list_type = parameter.type.list_type
        sized = list_type is not None and list_type.size is not None
        given = kind[:-2] if kind.endswith("[]") else (kind if sized else "")
        return (
            given == UNKNOWN
            or given == element
            or (element in NUMBERS and given in NUMBERS[: NUMBERS.index(element)])
        )

    return False


def arity_range(schema: FunctionSchema) -> tuple[int, int]:
    """The smallest and largest number of positional arguments in a formula's call.

    Formulas pass keyword-only arguments by position too.
    """
    parameters = schema.arguments.flat_non_out
    required = max((i + 1 for i, p in enumerate(parameters) if not p.has_default), default=0)
    return required, len(parameters)


def mismatch(call: nodes.Call, called: OperatorLike, scope: Scope) -> int | None:
    """The position of the first argument that ``called`` cannot take; None when all fit."""
    for position, (argument, parameter) in enumerate(
        zip(call.arguments, called.schema.arguments.flat_non_out)
    ):
        takes_number = parameter.name in called.scalars
        if not accepts(parameter, scope.kind(argument), isinstance(argument, nodes.Nothing), takes_number):
            return position
    return None


def resolve(call: nodes.Call, scope: Scope) -> OperatorLike | None:
    """The overload that a call means: the first whose number and kinds of parameters fit.

    Overloads of the program itself come before inherited ones.
    """
    if call not in scope.called:
        scope.called[call] = _resolve(call, scope)
    return scope.called[call]


def _resolve(call: nodes.Call, scope: Scope) -> OperatorLike | None:
    if scope.program is None:
        return None
    count = len(call.arguments)
    for called in scope.program.by_base_name(call.function):
        fewest, most = arity_range(called.schema)
        if fewest <= count <= most and mismatch(call, called, scope) is None:
            return called
    return None


class Checker:
    """Collects the problems of a formula."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.problems: list[FormulaProblem] = []

    def report(self, node: Node, message: str, hint: str = "") -> None:
        self.problems.append(FormulaProblem(node.offset, message, hint))
