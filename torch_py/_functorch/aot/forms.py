"""Functions in the place of operators in graphs: without changes in place, or for some results only."""

from __future__ import annotations

from functools import cache
from typing import Any

from torch_py import _C
from torch_py._tags import Tag
from torch_py.autograd.grad_mode import no_grad


class Form:
    """A function around an operator, with the facts that passes ask operators for."""

    _made_by = ""  # an expression

    def __init__(self, operator: Any, suffix: str) -> None:
        stem = operator._opname.rstrip("_")
        self.operator = operator
        self.__name__ = self._opname = f"{stem}_{suffix}"
        self._text = f"<{operator} {suffix.replace('_', ' ')}>"
        self.tags = operator.tags
        self.is_view = False
        self._tag_words = operator._tag_words
        self._structure = "composite"

    def __repr__(self) -> str:
        return self._text

    def import_statement(self, name: str) -> str:
        """The statement by which a printed graph gets this function under a name."""
        call = self._made_by.format(operator=f"torch.ops.{self.operator}", form=self)
        return f"from {__name__} import {call.partition('(')[0]}; {name} = {call}"


class Requiring(Form):
    """An operator of backward that computes the gradients of those arguments that require them: those at
    `positions`."""

    _made_by = "requiring({operator}, {form.positions})"

    def __init__(self, operator: Any, positions: tuple[int, ...]) -> None:
        super().__init__(operator, "for_" + "_".join(map(str, positions)))
        self.positions = positions

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        arguments = list(args)
        for position in self.positions:
            arguments[position] = arguments[position].detach().requires_grad_()
        with no_grad():
            return self.operator(*arguments, **kwargs)


requiring = cache(Requiring)


@cache
def functional_form(operator: Any) -> Any:
    """The operator that computes what `operator` writes; None if it has no such form."""
    name = operator._opname
    arguments = operator._schema.arguments
    if is_random(operator) or len([argument for argument in arguments if argument.is_write]) != 1:
        return None
    if name.endswith("_") and arguments[0].is_write:
        return _operator_with(operator, name[:-1], _described(arguments))
    if arguments[-1].is_out:
        return _operator_with(operator, name, _described(arguments[:-1]))
    return None


def _operator_with(operator: Any, name: str, arguments: list[Any]) -> Any:
    """The overload of `name` that has these arguments and writes to none."""
    overload = operator._overloadname
    names = [name if overload == "default" else f"{name}.{overload}", name]
    names += [other for other in _C._operator_schemas() if other.startswith(f"{name}.")]
    found = [operator for operator in map(_C._find_operator, names) if operator is not None]
    alike = (f for f in found if not f._schema.is_mutable and _described(f._schema.arguments) == arguments)
    return next(alike, None)


def _described(arguments: Any) -> list[Any]:
    return [(argument.name, argument.default_text) for argument in arguments]


def is_random(operator: Any) -> bool:
    """Whether an operator draws random numbers."""
    return Tag.nondeterministic_seeded in getattr(operator, "tags", ())


class OnCopies(Form):
    """An operator called on copies of what it writes to.

    Returns a tuple: the results, without those that are written arguments, and the new values of these.
    """

    _made_by = "on_copies({operator})"

    def __init__(self, operator: Any) -> None:
        super().__init__(operator, "on_copies")
        self._written = [a.name for a in operator._schema.arguments if a.is_write]

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        copies = [_copied(tensor) for tensor in self.written(args, kwargs)]
        arguments, keywords = self.with_written(args, kwargs, copies)
        result = self.operator(*arguments, **keywords)
        several = (result,) if len(self.operator._schema.returns) == 1 else result
        return (*(several[position] for position in self.results()), *copies)

    def written(self, args: Any, kwargs: Any) -> list[Any]:
        """The values that a call with these arguments changes, in the order of the results."""
        bound = self.operator._schema.bind(args, kwargs)
        flat: list[Any] = []
        for value in map(bound.__getitem__, self._written):
            flat += value if isinstance(value, (list, tuple)) else [value]
        return [value for value in flat if value is not None]

    def with_written(self, args: Any, kwargs: Any, values: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments with others in place of those that are changed."""
        waiting = iter(values)

        def next_for(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return [next_for(item) for item in value]
            return None if value is None else next(waiting)

        bound = self.operator._schema.bind(args, kwargs)
        changed = {name: next_for(bound[name]) for name in self._written}
        arguments = [changed.get(name, value) for name, value in zip(bound, args)]
        return arguments, {name: changed.get(name, value) for name, value in kwargs.items()}

    def results(self) -> list[int]:
        """The positions of the results that are not arguments, which precede the new values."""
        returns = self.operator._schema.returns
        return [position for position, value in enumerate(returns) if value.alias_info is None]


on_copies = cache(OnCopies)


def _copied(value: Any) -> Any:
    copy = value.clone()
    if copy.stride() == value.stride() or 0 in value.stride():
        return copy
    # With the gaps of the argument: the order in which random numbers fill a tensor depends on its strides.
    return value.new_empty_strided(value.size(), value.stride()).copy_(value)
