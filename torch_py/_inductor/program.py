"""Writes the programs that run compiled graphs (`torch_py._C._compiler.Program`), step by step.

::

    writer = ProgramWriter()
    x = writer.input("x", facts_of(example))
    doubled = writer.slot("doubled", facts_of(example))
    writer.allocate(doubled)
    writer.kernel("twice", [x, doubled], extent=example.numel(), grain=32768)
    program = writer.program([doubled], library="/path/of/kernels.so")
    (result,) = program(example)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from torch_py._C._compiler import Program, Slot


def _operation(operator: str, is_reflected: bool = False) -> Callable[[Formula, Integer], Formula]:
    def compute(self: Formula, other: Integer) -> Formula:
        first, second = (other, self) if is_reflected else (self, other)
        return Formula((*_postfix(first), *_postfix(second), operator))

    return compute


class Formula(tuple[Any, ...]):
    """An integer that follows from the sizes of inputs: postfix order, ``("s0", 1, "+", 2, "//")``.

    Arithmetic on formulas makes formulas: ``(n + 1) // 2``, ``n.max(4)``.
    """

    __slots__ = ()

    __add__: Any = _operation("+")  # Any: those of tuples join and repeat
    __radd__ = _operation("+", is_reflected=True)
    __sub__ = _operation("-")
    __rsub__ = _operation("-", is_reflected=True)
    __mul__: Any = _operation("*")
    __rmul__: Any = _operation("*", is_reflected=True)
    __floordiv__ = _operation("//")
    __rfloordiv__ = _operation("//", is_reflected=True)
    __mod__ = _operation("%")

    max = _operation("max")
    min = _operation("min")


# How operations are called by torch_py._shapes.formulas.
_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "max": "max", "min": "min"}


def formula_of(term: Any, symbols: Mapping[Any, Integer]) -> Integer:
    """A term of `torch_py._shapes.formulas` as a program writes it; `symbols` has those that it depends on.

    Raises ValueError for an operation that does not compute an integer, and KeyError for unknown symbols.
    """
    if isinstance(term, int):
        return term
    operation = getattr(term, "operation", None)
    if operation is None:
        return symbols[term]
    if operation not in _OPERATORS:
        raise ValueError(f"a program has no integer for '{term}'")
    first, *others = (_postfix(formula_of(operand, symbols)) for operand in term.operands)
    steps = first
    for other in others:
        steps = (*steps, *other, _OPERATORS[operation])
    return Formula(steps)


Integer: TypeAlias = int | tuple[Any, ...]  # a number or a formula
Facts: TypeAlias = tuple[Any, Sequence[Integer], Sequence[Integer], Any]  # dtype, sizes, strides, device


def _postfix(value: Integer) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def facts_of(tensor: Any) -> Facts:
    """What a program has to know about a tensor. A fake one does."""
    return (tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.device)


class ProgramWriter:
    """Collects the slots and steps of a program.

    Inputs come first, then constants, then the other slots. Every method that makes a slot returns
    its number, by which steps refer to it. The name of a slot is for people, who read `debug()`; that of
    the program, and those of kernels, are also in profiles.
    """

    __slots__ = ("_arena", "_constants", "_inputs", "_name", "_names", "_slots", "_steps", "_symbols")

    def __init__(self, name: str = "program") -> None:
        self._name = name
        self._inputs = 0
        self._names: list[str] = []
        self._slots: list[Any] = []
        self._constants: list[Any] = []
        self._symbols: list[tuple[int, int | None]] = []
        self._steps: list[tuple[Any, ...]] = []
        self._arena: Integer = 0

    # Slots.

    def input(self, name: str, facts: Facts) -> int:
        """A tensor that callers give."""
        if len(self._slots) > self._inputs:
            raise ValueError(f"input '{name}' comes after '{self._names[-1]}': declare inputs first")
        self._inputs += 1
        return self.slot(name, facts)

    def integer_input(self, name: str) -> Formula:
        """An integer that callers give, as a formula."""
        return self.symbol(self.input(name, int), None)  # type: ignore[arg-type]

    def constant(self, name: str, tensor: Any) -> int:
        """A tensor that is the same in every call."""
        if len(self._slots) > self._inputs + len(self._constants):
            raise ValueError(f"constant '{name}' comes after '{self._names[-1]}': declare it before")
        self._constants.append(tensor)
        return self.slot(name, facts_of(tensor))

    def slot(self, name: str, facts: Facts) -> int:
        """A tensor that steps make."""
        self._names.append(name)
        self._slots.append(facts)
        return len(self._slots) - 1

    def symbol(self, input: int, dimension: int | None) -> Formula:
        """The size of an input, which may differ from call to call."""
        known = (input, dimension)
        if known not in self._symbols:
            self._symbols.append(known)
        return Formula((f"s{self._symbols.index(known)}",))

    # Steps.

    def arena(self, size: Integer) -> None:
        """Sets how many bytes the arena has."""
        self._arena = size

    def allocate(self, slot: int) -> None:
        """Gives a slot memory of its own. Outputs need that."""
        self._steps.append(("allocate", slot))

    def place(self, slot: int, offset: Integer) -> None:
        """Gives a slot memory of the arena, `offset` bytes (a multiple of 64) from its start."""
        self._steps.append(("arena", slot, offset))

    def view(self, slot: int, of: int, offset: Integer = 0) -> None:
        """Makes a slot a view of another, `offset` elements after its first one."""
        self._steps.append(("view", slot, of, offset))

    def kernel(
        self,
        name: str,
        slots: Sequence[int],
        extent: Integer,
        grain: Integer,
        sizes: Sequence[Integer] = (),
        written: Sequence[int] = (),
    ) -> None:
        """Calls a kernel of the library for ranges of [0, extent), of at least `grain`.

        `sizes` are the integers that it is given, `written` the inputs, and views of them, that it
        changes.
        """
        self._steps.append(("kernel", name, tuple(slots), extent, grain, tuple(sizes), tuple(written)))

    def call(
        self,
        operator: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any] | None = None,
        results: Sequence[int | None | tuple[int | None, ...]] = (),
    ) -> None:
        """Calls an operator (`OpOverload`) or a Python function. `Slot(n)` stands for a tensor.

        None drops a result, and no results drop all of them.
        """
        self._steps.append(("extern", operator, tuple(args), dict(kwargs or {}), tuple(results)))

    def drop(self, slot: int) -> None:
        """Gives up a slot; its memory is free unless others use it."""
        self._steps.append(("drop", slot))

    # The program.

    def program(self, outputs: Sequence[int | Formula | None], library: str | None = None) -> Program:
        """The program. Its outputs are slots, formulas (of which callers get the numbers), and None.

        Raises ValueError or TypeError, which name the step, if it cannot run.
        """
        return Program(*self.description(outputs, library))

    def description(self, outputs: Sequence[Any], library: str | None = None) -> tuple[Any, ...]:
        """The arguments of `Program`."""
        arena = [("arena_size", self._arena)] if self._arena != 0 else []
        return (
            self._inputs,
            self._slots,
            [*arena, *self._steps],
            list(outputs),
            self._constants,
            library,
            self._symbols,
            self._names,
            self._name,
        )


__all__ = ["Formula", "Program", "ProgramWriter", "Slot", "facts_of", "formula_of"]
