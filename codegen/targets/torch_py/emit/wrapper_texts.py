"""C++ expressions that the templates of wrappers ask for by name, as ``r.NAME``."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.expressions import infer_row_promotion
from codegen.model import Operator
from codegen.output.literals import cpp_string
from codegen.schema import Argument
from codegen.targets.torch_py import cpp
from codegen.targets.torch_py.analysis.functions import Function
from codegen.targets.torch_py.analysis.kernels import shaped_outputs
from codegen.targets.torch_py.emit.foreach import body_of
from codegen.targets.torch_py.keys import INPLACE_KEY

__all__ = [
    "FORMS",
    "PROMOTIONS",
    "REDUCTION_DTYPES",
    "body_of",
    "device_of",
    "elements_of",
    "facts",
    "inplace_kernel",
    "input_lists",
    "key_expression",
    "loop_names",
    "output_dtype",
    "plain_names",
    "pointwise_form",
    "reduction_argument",
    "reduction_dim",
    "returned",
    "row_rule",
    "self_and_others",
    "shaped_outputs",
    "separate_from",
    "specs",
    "suffixed",
    "tensor_addresses",
]

# Words of the YAML -> enumerators.
PROMOTIONS = {
    "default": "Default",
    "int_to_float": "IntToFloat",
    "comparison": "Comparison",
    "same": "Same",
    "complex_to_real": "ComplexToReal",
    "bool_to_long": "BoolToLong",
}
REDUCTION_DTYPES = {
    "same": "Same",
    "extremum": "Extremum",
    "int_to_long": "IntToLong",
    "int_to_float": "IntToFloat",
    "complex_to_real": "ComplexToReal",
    "bool": "Bool",
    "index": "Index",
}
FORMS = {"function": "Function", "inplace": "Inplace", "out": "Out"}


# Dispatch


def key_expression(function: Function) -> str:
    """The keys that choose a call's kernel."""
    tensors = [f"keys_of({a.name})" for a in function.tensors]
    if not tensors:
        device = next((a for a in function.arguments if a.type.base.name == "Device"), None)
        layout = next((f", {a.name}" for a in function.arguments if a.type.base.name == "Layout"), "")
        if device is None:
            return "DispatchKeySet(DispatchKey::CPU)"
        return f"keys_of_device({device.name}{layout})"

    union = " | ".join(tensors)
    if all(a.type.is_list or a.type.is_optional for a in function.tensors):
        return f"keys_or_cpu({union})"
    return union


def facts(function: Function) -> str:
    """``{"pointwise", "core", "Float Double"}``: OperatorFacts."""
    operator = function.operator
    # None of the generated forms is a core operator.
    tags = [tag for tag in operator.tags if tag != "core" or function.schema is operator.schema]
    words = (operator.structure, " ".join(tags), " ".join(operator.dtypes))
    return "{" + ", ".join(cpp_string(word) for word in words) + "}"


# Every structure


def returned(function: Function) -> str:
    """The return value of a function that writes to its arguments."""
    if not function.schema.returns:
        return ""
    names = [a.name for a in function.written if not a.type.is_list]
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"


def inplace_kernel(operator: Operator) -> str:
    """The kernel of the in-place form; empty where that form copies the result."""
    entry = operator.dispatch_for(INPLACE_KEY)
    return "" if entry is None else f"native::{entry.kernel}"


def self_and_others(operator: Operator) -> str:
    """``self, {other, weight}``: self and the other tensors that a kernel reads."""
    return "self, {" + ", ".join(a.name for a in operator.schema.arguments.tensors if a.name != "self") + "}"


def elements_of(results: str, names: Sequence[str]) -> tuple[str, ...]:
    """The elements of a tuple, one for each name."""
    return tuple(f"std::get<{position}>({results})" for position in range(len(names)))


def separate_from(function: Function) -> str:
    """``{self, index}``: the arguments that may not overlap what a `no_overlap` operator writes to.

    Self may be ``out`` itself where the operator has an in-place form, and follows as ``, self``.
    """
    operator = function.operator
    inputs = [a.name for a in operator.schema.arguments.tensors]
    if function.form == "inplace":
        inputs.remove("self")
    may_be_self = function.form == "out" and operator.has_inplace
    return "{" + ", ".join(inputs) + "}" + (", self" if may_be_self else "")


def suffixed(names: Sequence[str], suffix: str) -> tuple[str, ...]:
    return tuple(name + suffix for name in names)


# Pointwise operators and mutations


def tensor_addresses(operator: Operator) -> tuple[str, ...]:
    return tuple(f"&{a.name}" for a in operator.schema.arguments.tensors)


def plain_names(operator: Operator) -> tuple[str, ...]:
    """The arguments of a pointwise loop that follow the iterator."""
    return tuple(a.name for a in operator.schema.arguments.non_tensors)


def device_of(argument: Argument) -> str:
    """The device of a tensor, or of the first tensor of a list."""
    if not argument.type.is_list:
        return f"{argument.name}.device()"
    return f"{argument.name}.empty() ? Device(DeviceType::CPU) : {argument.name}[0].device()"


# Reductions


def loop_names(operator: Operator) -> tuple[str, ...]:
    """The arguments of a reduction loop that follow the iterator."""
    return tuple(a.name for a in cpp.reduction_kernel_arguments(operator))


def reduction_dim(operator: Operator) -> str:
    """The ``dims`` argument of make_reduction."""
    argument = operator.schema.arguments.find("dim")
    if argument is None:
        return "std::nullopt"
    if argument.type.is_list:
        return "dim"
    if argument.type.is_optional:
        return "dim ? OptionalIntArrayRef(IntArrayRef(*dim)) : std::nullopt"
    return "IntArrayRef(dim)"


def reduction_argument(operator: Operator, name: str, absent: str) -> str:
    """The argument ``name``, or ``absent`` where the operator lacks it."""
    return name if operator.schema.arguments.find(name) is not None else absent


def row_rule(operator: Operator) -> str:
    """The enumerator of ReductionDtype for the result of a formula over rows."""
    assert operator.expr is not None
    node = operator.expr.node
    return REDUCTION_DTYPES[operator.promotion or infer_row_promotion(node, operator, operator.dtypes)]


# Shaped operators


def specs(operator: Operator) -> tuple[str, ...]:
    """Names of the results of the shape rule."""
    return tuple(f"spec{i}" for i in range(len(shaped_outputs(operator))))


def input_lists(operator: Operator) -> tuple[str, ...]:
    """Tensors whose memory the result of an out= call must not share."""
    return tuple(a.name for a in operator.schema.arguments.tensors)


def output_dtype(operator: Operator) -> str:
    """Whether ``out`` may have another dtype than the result."""
    return operator.out_dtype.capitalize()


def pointwise_form(function: Function) -> str:
    """The enumerator of OutputKind."""
    is_exact = function.form == "out" and function.operator.out_dtype == "exact"
    return "ExactOut" if is_exact else FORMS[function.form]
