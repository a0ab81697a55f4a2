"""How compiled code does the instruction at which a graph ends."""

from __future__ import annotations

import itertools
import operator
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch_py._dynamo import iteration
from torch_py._dynamo.call_parts import call_parts
from torch_py._dynamo.makers import entries
from torch_py._dynamo.program_frames import warn
from torch_py._records import Fields

if TYPE_CHECKING:
    from torch_py._dynamo.rebuild import Rebuild
    from torch_py._dynamo.stops import Stop


class Step(Fields):
    """An operation on the stack: how many values it takes, how many it gives, and expressions for a function
    and its arguments."""

    kind = "operation"

    pops: int
    results: int
    parts: Callable[[Rebuild], list[str]]


class Jump(Fields):
    """A branch on the truth of the top."""

    kind = "jump"

    if_true: bool
    keeps: bool

    def branches(self, stop: Stop) -> list[tuple[str, int, bool]]:
        """(condition or nothing, offset, whether the top stays) if it jumps, and if it does not."""
        test = "{}" if self.if_true else "not {}"
        return [(test, stop.instruction.arg, self.keeps), ("", stop.instruction.end, False)]


class Iterate:
    """The next element of an iterator, which is dropped at the end."""

    kind = "iterate"
    end = iteration.END


def of(stop: Stop) -> Any:
    """How to do the instruction at which a frame stops; None if only CPython can."""
    op = stop.instruction.op
    if op.startswith(("jump_if_true", "jump_if_false")):
        return Jump("true" in op, op.endswith("or_pop"))
    if op == "for_iter":
        return Iterate()
    if op.startswith("call"):
        return _call(stop)
    if op == "format_value":
        return _format_value(stop)
    if op == "build_string":
        count = stop.instruction.arg
        return _function_step(_joined, stop.stack[-count:], count, 1)
    if op == "unpack_sequence":
        return _unpack(stop)
    if op not in _OPERATIONS:
        return None

    pops, results, make = _OPERATIONS[op]
    function, *operands = make(stop.instruction.arg, *stop.stack[-pops:])
    return _function_step(function, operands, pops, results)


# Calls


def _call(stop: Stop) -> Step | None:
    base, callee, args, kwargs = call_parts(stop.instruction, stop.stack, stop.frame.keyword_names)
    if type(args) not in (list, tuple) or type(kwargs) is not dict:
        return None
    if any(callee is one for one in (locals, eval, exec, *(() if args else (vars, dir)))):
        return None  # they read the variables of the frame
    stop.base = base

    def parts(rebuild: Rebuild) -> list[str]:
        given = [rebuild.value(value) for value in (warn if callee is warnings.warn else callee, *args)]
        return [*given, f"**{entries(rebuild, kwargs)}"] if kwargs else given

    return Step(len(stop.stack) - base, 1, parts)


# Other operations


def _function_step(function: Any, operands: list[Any], pops: int, results: int) -> Step:
    def parts(rebuild: Rebuild) -> list[str]:
        return [rebuild.constant(function, function.__name__), *map(rebuild.value, operands)]

    return Step(pops, results, parts)


def _not_contains(container: Any, value: Any) -> bool:
    return value not in container


def _text_of(value: Any, conversion: int, specification: str = "") -> str:
    if conversion:
        value = (str, repr, ascii)[conversion - 1](value)
    return format(value, specification)


def _format_value(stop: Stop) -> Step:
    pops = 2 if stop.instruction.arg & 4 else 1
    value, *specification = stop.stack[-pops:]
    return _function_step(_text_of, [value, stop.instruction.arg & 3, *specification], pops, 1)


def _joined(*texts: str) -> str:
    return "".join(texts)


def _unpack(stop: Stop) -> Step | None:
    count = stop.instruction.arg
    return _function_step(_reversed, [stop.stack[-1], count + 1], 1, count) if count > 1 else None


def _reversed(value: Any, most: int) -> list[Any]:
    """The elements as an instruction pushes them. What assigns them to names looks at their number."""
    return list(itertools.islice(value, most))[::-1]


def _is_true(compare: Callable[[Any, Any], Any], left: Any, right: Any) -> bool:
    return bool(compare(left, right))


# How many values an instruction takes from the stack, how many it gives, and the function that does it with
# its operands: those of the instruction's argument and the values.
_OPERATIONS: dict[str, tuple[int, int, Callable[..., tuple[Any, ...]]]] = {
    "binary": (2, 1, lambda *operands: operands),
    "compare_as_bool": (2, 1, lambda *operands: (_is_true, *operands)),  # since Python 3.13
    "unary": (1, 1, lambda *operands: operands),
    "binary_subscr": (2, 1, lambda _, owner, key: (operator.getitem, owner, key)),
    "contains_op": (2, 1, lambda no, value, owner: ((operator.contains, _not_contains)[no], owner, value)),
    "load_attr": (1, 1, lambda name, owner: (getattr, owner, name)),
    "store_attr": (2, 0, lambda name, value, owner: (setattr, owner, name, value)),
    "store_subscr": (3, 0, lambda _, value, owner, key: (operator.setitem, owner, key, value)),
    "delete_subscr": (2, 0, lambda _, owner, key: (operator.delitem, owner, key)),
    "get_iter": (1, 1, lambda _, value: (iter, value)),
    "to_bool": (1, 1, lambda _, value: (bool, value)),
}
