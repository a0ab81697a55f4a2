"""The grammar of ``func:`` lines: ``FunctionSchema.parse(text)`` and back to the same text."""

from codegen.schema.arguments import Annotation, Argument, Arguments, Return
from codegen.schema.defaults import DefaultValue, Symbol, default_problem, parse_default
from codegen.schema.errors import SchemaError
from codegen.schema.function import FunctionSchema
from codegen.schema.names import BaseName, OperatorName
from codegen.schema.types import BASE_TYPES, BaseType, ListType, OptionalType, Type

__all__ = [
    "BASE_TYPES",
    "Annotation",
    "Argument",
    "Arguments",
    "BaseName",
    "BaseType",
    "DefaultValue",
    "FunctionSchema",
    "ListType",
    "OperatorName",
    "OptionalType",
    "Return",
    "SchemaError",
    "Symbol",
    "Type",
    "default_problem",
    "parse_default",
]
