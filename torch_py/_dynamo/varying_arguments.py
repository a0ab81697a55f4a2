"""Tensors and numbers that vary in arguments of calls; which of these numbers operators and other native code
may get.

Fake tensors are computed with a large stand-in for such a number. Where the value matters to an operator, as
that of a dimension does, it gets the number of the example instead, and code is for this number alone.
Positions and counts have small stand-ins, for which the operator works.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Hashable, Iterator
from functools import cache
from types import BuiltinFunctionType
from typing import Any

from torch_py import _C
from torch_py._dynamo.native_rules import is_operator
from torch_py._dynamo.varying import Varying
from torch_py._ops import OpOverload, OpOverloadPacket, ops
from torch_py._shapes.formulas import FUNCTIONS, Formula, Relation, cannot_be_negative, evaluate
from torch_py._shapes.numbers import VARYING, SymFloat, SymInt, SymSize, real, term_of
from torch_py._shapes.sizes import Sizes
from torch_py._tensor import Tensor


def may_stay(number: SymInt | SymFloat, target: Any, argument: int | str) -> bool:
    """Whether a call of `target` may get a number, as the argument of this position or name."""
    # A range has one element for all steps that are as large as it is, such as the stand-ins are.
    if argument == "step" or argument in _positions_of(packet_of(target), "step"):
        return False
    if type(number) is SymFloat:
        return _is_arithmetic(target)
    if number.is_small:
        return False
    depends = number.sizes.depends_on_numbers(number.term)
    return not depends or _takes_any(target) or _is_position(target, argument)


def _is_position(target: Any, argument: int | str) -> bool:
    """Whether an argument is a position or a count, not a dimension."""
    return _types_of(packet_of(target)).get(argument, {""}) <= {"SymInt", "SymInt?"}


def positions_in(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[SymInt]:
    """The numbers of a call that are positions or counts."""
    if _takes_any(target):
        return []
    given = [*enumerate(args), *kwargs.items()]
    return [value for place, value in given if type(value) is SymInt and _is_position(target, place)]


@cache
def _types_of(packet: OpOverloadPacket | None) -> dict[int | str, set[str]]:
    """The types of integers that an argument, by its position and name, has in the forms of an operator;
    "" if another form has none there."""
    found: dict[int | str, set[str]] = {}
    for schema in schemas_of(packet):
        for position, argument in enumerate(schema.arguments):
            kind = str.__str__(argument.type)
            is_number = kind.startswith(("int", "SymInt", "float"))
            for place in (position, argument.name):
                found.setdefault(place, set()).update({kind} if is_number else ())
    return {place: kinds or {""} for place, kinds in found.items()}


def _takes_any(target: Any) -> bool:
    """Whether a function or method treats all integers alike: as operands, or as sizes of its result."""
    if getattr(target, "__module__", "") == "_operator":
        return True  # for subscripts, see `settled_key`
    packet = packet_of(target)
    # Integers as scalars and lists of sizes only: not as dimensions, bounds, counts.
    kinds = set().union(*_types_of(packet).values())
    return packet is not None and kinds <= {"SymInt[]", "SymInt[]?", ""}


def packet_of(target: Any) -> OpOverloadPacket | None:
    """The operator behind a function or a method."""
    if isinstance(target, OpOverload):
        return target.overloadpacket
    if isinstance(target, OpOverloadPacket):
        return target
    if isinstance(target, str):
        return getattr(ops.aten, target.rstrip("_") or target, None)
    is_native = isinstance(target, BuiltinFunctionType) and is_operator(target)
    return getattr(ops.aten, target.__name__, None) if is_native else None


def _is_arithmetic(target: Any) -> bool:
    """Whether numbers are operands of the function, which tensors may be as well."""
    packet = packet_of(target)
    if packet is None:
        name = getattr(target, "__name__", "").removeprefix("i")
        return getattr(target, "__module__", "") == "_operator" and name in _ARITHMETIC
    arguments = [argument for schema in schemas_of(packet) for argument in schema.arguments]
    return all(str.__str__(a.type) == "Tensor" or a.kwarg_only for a in arguments)


_ARITHMETIC = frozenset("add sub mul truediv lt le gt ge eq ne".split())


def settle_shifts(varying: Varying, target: Any, args: Any, kwargs: Any) -> None:
    """Has to be called before rows are shifted.

    A shift larger than the number of rows turns them around several times, which kernels for large sizes do
    not. Smaller sizes get code of their own.
    """
    names = ("shifts", "dims")
    positions = _positions_of(packet_of(target), *names)
    if not positions or not isinstance(args[0], Tensor):
        return

    places = zip(names, positions)
    shifts, dims = (args[at] if at < len(args) else kwargs.get(name) for name, at in places)
    for shift, dim in zip(_listed(shifts), _listed(dims)):
        size = varying.shape_of(args[0])[dim]
        if type(size) is SymInt and not (shift <= size and -size <= shift):
            varying.sizes.fix_symbols(size)


def _listed(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else () if value is None else (value,)


@cache
def _positions_of(packet: OpOverloadPacket | None, *wanted: str) -> tuple[int, ...]:
    """The positions of arguments; empty if no form of the operator has them all."""
    for schema in schemas_of(packet):
        names = [argument.name for argument in schema.arguments]
        if set(wanted) <= set(names):
            return tuple(map(names.index, wanted))
    return ()


def schemas_of(packet: OpOverloadPacket | None) -> list[Any]:
    """The schema of each form of an operator."""
    return [getattr(packet, name)._schema for name in packet.overloads()] if packet is not None else []


# Subscripts
# ------------------------------------------------------------


def settled_key(varying: Varying, owner: Tensor, key: Any) -> Any:
    """The key of a subscript of a tensor.

    Bounds are compared with the size of their dimension, and with each other. The outcome has to be the same
    for the stand-ins, which operators see: what is cut off at the end of a tensor is then the same. The
    program is captured anew with other stand-ins if it is not.
    """
    sizes = varying.shape_of(owner)
    items = key if type(key) is tuple else (key,)
    if not any(type(size) is SymInt for size in sizes) and not any(map(_varies, items)):
        return key

    dim = 0
    settled = []
    for position, item in enumerate(items):
        if item is Ellipsis:
            dim = len(sizes) - sum(map(_consumed, items[position + 1 :]))
            settled.append(item)
            continue
        size = sizes[dim] if 0 <= dim < len(sizes) else 0
        settled.append(_settled_item(varying, item, size))
        dim += _consumed(item)
    return tuple(settled) if type(key) is tuple else settled[0]


def _varies(item: Any) -> bool:
    if type(item) is slice:
        return any(type(bound) is SymInt for bound in (item.start, item.stop, item.step))
    return type(item) is SymInt


def _consumed(item: Any) -> int:
    """How many dimensions of a tensor an index uses up."""
    if item is None or item is Ellipsis or type(item) is bool:
        return 0
    return item.dim() if isinstance(item, Tensor) and item.dtype in (_C.bool, _C.uint8) else 1


def _settled_item(varying: Varying, item: Any, size: int) -> Any:
    """The item, with numbers of the example in place of those that need other stand-ins."""
    if type(item) is slice:
        bounds = [item.start, item.stop]
    elif isinstance(item, int) and type(item) is not bool:
        bounds = [item]
    else:
        return item

    numbers = [bound for bound in bounds if isinstance(bound, int)]
    relations = list(_decisions(varying.sizes, numbers, size, is_index=type(item) is not slice))
    if not _agree(varying, relations):
        bounds = [bound.hint if type(bound) is SymInt else bound for bound in bounds]
    return slice(*bounds, varying.fixed(item.step)) if type(item) is slice else bounds[0]


def _agree(varying: Varying, relations: list[Relation]) -> bool:
    """Whether decisions about bounds have the same outcome for the stand-ins as in the example."""
    sizes = varying.sizes
    failing = [relation for relation in relations if not relation.holds(sizes.stand_ins)]
    if not failing:
        return True
    symbols = set().union(*(relation.symbols() for relation in failing))
    if all(isinstance(relation.left, int) for relation in failing) and not symbols & sizes.bounded:
        sizes.fix_symbols(*symbols)  # sizes that are smaller than a constant
    else:
        varying.limit(symbols, lambda values: all(relation.holds(values) for relation in relations))
    return False


def _decisions(sizes: Sizes, bounds: list[int], size: int, is_index: bool) -> Iterator[Relation]:
    """What a subscript decides about its bounds: which are in the tensor, and which comes first. These are
    guards."""
    ends: list[Any] = []
    for bound in bounds:
        term, end = term_of(bound), term_of(size)
        if not cannot_be_negative(term):
            yield sizes.decided(">=", bound, 0)

        if evaluate(term, sizes.hints) < 0:
            inside = sizes.decided(">=", bound, -size)
            ends.append(Formula("add", (end, term)) if inside.sign == ">=" else 0)
        else:
            inside = sizes.decided("<" if is_index else "<=", bound, size)
            ends.append(term if inside.sign in ("<", "<=") else end)
        yield inside
    if len(ends) == 2 and ends[0] != 0:
        yield sizes.decided("<=", *ends)


# Native code
# ------------------------------------------------------------

# It may look at the bits of integers that vary, which are those of stand-ins, and rounds decimals by the
# rules of the thread.

# Functions of C that do not look at the bits of integers: they store them, or use their methods.
_KEEPING = frozenset({tuple, list, set, dict, slice, zip})
_KEEPING_METHODS = frozenset({"append", "extend", "add", "update", "setdefault", "__setitem__"})


def call_with_numbers(varying: Varying, callee: Any, args: Any, kwargs: Any) -> Any:
    """Calls a function of C with numbers that may vary."""
    is_function = getattr(callee, "__module__", "") == "math" and callee.__name__ in FUNCTIONS
    if is_function and len(args) == 1 and type(args[0]) in (SymInt, SymFloat):
        return real(callee.__name__, *args)
    owner = getattr(callee, "__self__", None)
    if type(owner) is slice:
        callee = getattr(varying.fixed(owner), callee.__name__)
    if not keeps_sizes(callee):
        args = [all_fixed(varying, value) for value in args]
        kwargs = {name: varying.fixed(value) for name, value in kwargs.items()}
    return callee(*args, **kwargs)


def has_reals(value: Any) -> bool:
    """Whether a value is a real or complex number, or a container of some: compared with an integer that
    varies, these read the number that stands for it."""
    if isinstance(value, (list, tuple, dict)):
        return any(map(has_reals, value.values() if type(value) is dict else value))
    return isinstance(value, (float, complex))


def all_fixed(varying: Varying, value: Any) -> Any:
    """A number, or a list of numbers, as in the example."""
    return type(value)(map(varying.fixed, value)) if has_varying(value) else varying.fixed(value)


def has_varying(value: Any) -> bool:
    """Whether a list has numbers that vary."""
    return type(value) in (list, tuple, SymSize) and any(type(item) in VARYING for item in value)


def keeps_sizes(callee: Any) -> bool:
    """Whether a function of C may be given sizes that vary."""
    if getattr(callee, "__module__", None) == "_operator":
        return callee is not operator.index
    owner = getattr(callee, "__self__", None)
    if isinstance(owner, (list, dict, set)):
        return callee.__name__ in _KEEPING_METHODS
    return isinstance(callee, Hashable) and callee in _KEEPING


def is_decimal(kind: type) -> bool:
    module = sys.modules.get("decimal")
    return module is not None and issubclass(kind, (module.Decimal, module.Context))


def decimals() -> tuple[Any, ...]:
    """How decimals are rounded, and what they raise."""
    context = sys.modules["decimal"].getcontext()
    rules = context.prec, context.rounding, context.Emin, context.Emax, context.clamp, context.capitals
    return *rules, *(bool(trap) for trap in context.traps.values())


# Nested arguments and results
# ------------------------------------------------------------


def map_tensors(value: Any, function: Callable[[Any], Any]) -> Any:
    """`value` with `function` applied to the tensors in it, and to sizes that vary."""
    kind = type(value)
    if kind in VARYING or isinstance(value, Tensor):
        return function(value)
    if kind in _ATOMS:
        return value
    if isinstance(value, tuple):
        items = [map_tensors(item, function) for item in value]
        if kind in (tuple, SymSize):
            return tuple(items)
        return kind(*items) if hasattr(value, "_fields") else kind(items)

    if isinstance(value, list):
        return [map_tensors(item, function) for item in value]
    if isinstance(value, dict):
        return {key: map_tensors(item, function) for key, item in value.items()}
    if kind is slice:
        return slice(*(map_tensors(part, function) for part in (value.start, value.stop, value.step)))
    return value


_ATOMS = frozenset({int, float, bool, str, type(None), _C.dtype, _C.device})


def has_tensors(value: Any) -> bool:
    """Whether `value` is a tensor or a container with one."""
    if isinstance(value, Tensor):
        return True
    if isinstance(value, dict):
        value = tuple(value.values())
    return isinstance(value, (tuple, list)) and any(map(has_tensors, value))
