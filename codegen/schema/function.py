"""A whole schema: name, arguments, returns."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.remembered import Remembering, cached_property, remembered
from codegen.schema.arguments import Argument, Arguments, Return
from codegen.schema.names import OperatorName


@dataclass(frozen=True, slots=True)
class FunctionSchema(Remembering):
    """A parsed schema such as ``add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor``.

    ``str(FunctionSchema.parse(s)) == s``.
    """

    name: OperatorName
    arguments: Arguments
    returns: tuple[Return, ...]

    @staticmethod
    def parse(text: str) -> FunctionSchema:
        """Raises SchemaError (message, offset, hint)."""
        from codegen.schema.parser import parse_schema

        return parse_schema(text)

    @cached_property
    def base_name(self) -> str:
        """``add_`` of ``add_.Tensor``: what is called; keeps underscores."""
        return str(self.name.name)

    @property
    def overload_name(self) -> str:
        return self.name.overload

    @cached_property
    def unambiguous_name(self) -> str:
        return self.name.unambiguous

    @property
    def is_inplace(self) -> bool:
        """The name says that self is mutated."""
        return self.name.name.inplace

    @property
    def is_out(self) -> bool:
        return bool(self.arguments.out)

    @property
    def is_view(self) -> bool:
        """Some result aliases an argument without being written to."""
        return any(r.annotation is not None and not r.annotation.is_write for r in self.returns)

    @property
    def mutable_arguments(self) -> tuple[Argument, ...]:
        return self.arguments.mutable

    @property
    def is_mutable(self) -> bool:
        return bool(self.arguments.mutable)

    @property
    def returns_self(self) -> bool:
        """The single result is a written-to argument, as for in-place functions."""
        return len(self.returns) == 1 and self.returns[0].is_write

    def place(self, offset: int) -> int:
        """The place in the schema's text of an argument or a result with this offset; 0 for no offset."""
        return len(str(self.name)) + offset if offset else 0

    @remembered
    def __str__(self) -> str:
        returns = ", ".join(str(r) for r in self.returns)
        if len(self.returns) != 1:
            returns = f"({returns})"
        return f"{self.name}({self.arguments}) -> {returns}"
