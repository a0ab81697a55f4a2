"""Checks what each structure demands of the schema and of the other keys."""

from __future__ import annotations

from codegen.dialect import PRIVATE
from codegen.expressions import (
    check_expr,
    check_row_expr,
    infer_promotion,
    infer_row_promotion,
    makes_float,
)
from codegen.model.checks.report import Reporter
from codegen.model.implied import cpp_name
from codegen.model.operator import Operator
from codegen.model.reading import Context
from codegen.schema import ListType, OptionalType

_REDUCED_DIMENSIONS = (
    "int",
    "int?",
    "int[]",
    "int[1]",
    "int[]?",
    "int[1]?",
    "SymInt",
    "SymInt[]",
    "SymInt[1]?",
)


def check(operator: Operator, context: Context) -> None:
    report = Reporter(operator, context)
    if operator.structure == "pointwise":
        _check_pointwise(operator, report)
    if operator.structure == "reduction":
        _check_reduction(operator, report)
    _check_dtypes(operator, report)
    _check_out_dtype(operator, report)
    _check_scalars(operator, report)
    _check_expr(operator, report)
    _check_reads(operator, report)
    _check_tags(operator, report)
    _check_completeness(operator, report, context.library)


def _check_pointwise(operator: Operator, report: Reporter) -> None:
    tensors = operator.tensor_arguments
    if not tensors:
        report.at_schema(
            0, "a pointwise operator has no Tensor argument", "add one, or write another structure"
        )

    for argument in tensors:
        if isinstance(argument.type, (OptionalType, ListType)):
            report.at_schema(
                argument.offset,
                f"a pointwise operator takes no {argument.type}",
                "write Tensor, or structure: shaped or composite",
            )

    keepdim = operator.arguments.find("keepdim")
    if keepdim is not None:
        what = "a pointwise operator keeps all dimensions: it has no 'keepdim'"
        report.at_schema(keepdim.offset, what, "write structure: reduction, or remove it")
    _check_single_result(operator, report)


def _check_single_result(operator: Operator, report: Reporter) -> None:
    returns = operator.schema.returns
    if len(returns) != 1 or not returns[0].type.is_plain("Tensor"):
        place = returns[0].offset if returns else 0
        report.at_schema(
            place,
            f"a {operator.structure} operator returns one Tensor",
            "write -> Tensor, or structure: shaped",
        )


def _check_reduction(operator: Operator, report: Reporter) -> None:
    arguments = operator.arguments
    own, dim, keepdim, dtype = (arguments.find(n) for n in ("self", "dim", "keepdim", "dtype"))

    if own is None or arguments.flat_all[0] is not own or not own.type.is_plain("Tensor"):
        report.at_schema(0, "a reduction's first argument is 'Tensor self'", "write it first")

    if dim is None:
        report.at_schema(0, "a reduction has no argument 'dim'", "add int[1]? dim=None behind self")
    elif str(dim.type) not in _REDUCED_DIMENSIONS:
        report.at_schema(
            dim.offset, f"'dim' is {dim.type}", "write int dim, int? dim=None or int[1]? dim=None"
        )

    if keepdim is None:
        report.at_schema(0, "a reduction has no argument 'keepdim'", "add bool keepdim=False behind dim")
    elif str(keepdim) != "bool keepdim=False":
        report.at_schema(keepdim.offset, f"'keepdim' is '{keepdim}'", "write bool keepdim=False")
    if dtype is not None and str(dtype.type) != "ScalarType?":
        report.at_schema(dtype.offset, f"'dtype' is {dtype.type}", "write ScalarType? dtype=None")

    hint = "remove it, or write structure: shaped"
    if operator.expr is not None:
        hint = f"remove it, or {_AS_COMPOSITE}"
    for argument in operator.tensor_arguments:
        if argument is not own:
            message = f"a reduction takes no tensor besides self, but '{argument.name}'"
            report.at_schema(argument.offset, message, hint)

    _check_single_result(operator, report)


def _check_out_dtype(operator: Operator, report: Reporter) -> None:
    if "out_dtype" in operator.key_locations and not operator.has_out:
        what = "'out_dtype' has no meaning without the variant out"
        report.at_key("out_dtype", what, "remove it, or write out among the variants")


def _check_dtypes(operator: Operator, report: Reporter) -> None:
    if "dtypes" not in report.context.dialect.required:
        return
    if operator.structure in ("pointwise", "reduction") and "dtypes" not in operator.key_locations:
        report.at_key(
            "structure",
            f"a {operator.structure} operator has no 'dtypes'",
            "write dtypes: and the sets of dtypes that its loops take",
        )


def _check_scalars(operator: Operator, report: Reporter) -> None:
    from codegen.diagnostics import did_you_mean

    if operator.scalars and operator.structure not in ("pointwise", "mutation"):
        report.at_key("scalars", f"'scalars' has no meaning for structure {operator.structure}", "remove it")
        return
    tensors = [a.name for a in operator.tensor_arguments]
    for name in operator.scalars:
        if name in tensors:
            continue
        argument = operator.arguments.find(name)
        if argument is None:
            report.at_word("scalars", name, f"'{name}' is not an argument", did_you_mean(name, tensors))
        else:
            report.at_word(
                "scalars",
                name,
                f"'{name}' is {argument.type}, which takes numbers already",
                "remove it: 'scalars' names Tensor arguments",
            )
    if tensors and set(tensors) <= set(operator.scalars) and len(tensors) == 1:
        report.at_word(
            "scalars", tensors[0], "every Tensor argument may be a number", "keep one argument a tensor"
        )


def _check_reads(operator: Operator, report: Reporter) -> None:
    from codegen.diagnostics import did_you_mean

    if operator.reads and operator.structure != "composite":
        report.at_key("reads", f"'reads' has no meaning for structure {operator.structure}", "remove it")
        return
    tensors = [a.name for a in operator.tensor_arguments]
    for name in operator.reads:
        if name not in tensors:
            message = f"'{name}' is not a Tensor argument"
            report.at_word("reads", name, message, did_you_mean(name, tensors))


def _check_tags(operator: Operator, report: Reporter) -> None:
    if "along_dim" in operator.tags and not {"dim", "dims"} & {*operator.arguments.names()}:
        hint = "call what it acts along dim or dims, or remove the tag"
        report.at_word("tags", "along_dim", "along_dim needs an argument 'dim' or 'dims'", hint)
    if "rarely_used" in operator.tags and operator.expr is None:
        message = "rarely_used applies only to entries with expr"
        report.at_word("tags", "rarely_used", message, "remove the tag")


# Of several tensors, a loop over rows gives one result for each element only.
_AS_COMPOSITE = "write structure: composite, a function such as at::sum(self * other, dim, keepdim)"


def _check_expr(operator: Operator, report: Reporter) -> None:
    if operator.expr is None:
        return

    if operator.structure not in ("pointwise", "reduction", "shaped"):
        report.at_key(
            "expr", f"'expr' has no meaning for structure {operator.structure}", "write structure: pointwise"
        )
        return
    if operator.structure == "shaped":
        _check_along_rows(operator, report)
    if operator.is_over_rows:
        _check_row_arguments(operator, report)

    node = operator.expr.node
    if node is None:
        return
    if operator.structure == "pointwise" and not check_expr(node, operator):
        _check_promotion(operator, infer_promotion(node, operator), report)
    is_reduced = operator.structure == "reduction"
    if operator.is_over_rows and not check_row_expr(node, operator, is_reduced, operator.dtypes):
        _check_row_promotion(operator, infer_row_promotion(node, operator, operator.dtypes), report)


def _check_along_rows(operator: Operator, report: Reporter) -> None:
    """A formula that gives one result for each element of the rows along ``dim``."""
    dim = operator.arguments.find("dim")
    if dim is None:
        hint = "add int dim, along which the rows are, or write structure: pointwise"
        report.at_schema(0, "an operator with a formula over rows has no argument 'dim'", hint)
    elif str(dim.type) not in _REDUCED_DIMENSIONS:
        report.at_schema(dim.offset, f"'dim' is {dim.type}", "write int dim or int[1]? dim=None")

    keepdim = operator.arguments.find("keepdim")
    if keepdim is not None:
        hint = "write structure: reduction, or remove it"
        if len(operator.tensor_arguments) > 1:
            hint = f"remove it, or for one result for each row {_AS_COMPOSITE}"
        report.at_schema(keepdim.offset, "one result for each element: there is no 'keepdim'", hint)


def _check_row_arguments(operator: Operator, report: Reporter) -> None:
    """What the loops of a formula over rows take."""
    dim = operator.arguments.find("dim")
    if dim is not None and str(dim.type) == "int?":
        hint = "write int dim or int[1]? dim=None"
        report.at_schema(dim.offset, "the 'dim' of a formula over rows is int?", hint)
    for argument in operator.tensor_arguments:
        if isinstance(argument.type, (OptionalType, ListType)):
            hint = "write Tensor, or a kernel instead of 'expr'"
            report.at_schema(argument.offset, f"a formula over rows takes no {argument.type}", hint)


def _check_row_promotion(operator: Operator, inferred: str, report: Reporter) -> None:
    """``promotion``, ``dtypes`` and ``expr`` over rows agree on the dtype of the result."""
    assert operator.expr is not None
    integers = [d for d in operator.dtypes if d.startswith(("int", "uint", "bool"))]
    if inferred == "complex_to_real" and integers and makes_float(operator.expr.node, operator):
        message = "no promotion rule both makes integers floating point and complex numbers real"
        report.at_key("dtypes", message, "leave the integers or the complex dtypes out")
        return

    written = operator.promotion
    if operator.structure != "reduction":  # follows from expr
        return
    if written != inferred and "bool" in (written, inferred):
        kind = "truth values" if inferred == "bool" else "numbers"
        hint = f"write promotion: {inferred}, or remove it: it follows from expr"
        report.at_key("promotion", f"the promotion is {written}, but expr gives {kind}", hint)
    elif written == "index":
        hint = f"write promotion: {inferred}, or remove it: it follows from expr"
        report.at_key("promotion", "the promotion is index, but expr gives no index", hint)
    elif written != inferred and "complex_to_real" in (written, inferred):
        kind = "a real number" if inferred == "complex_to_real" else "no real number"
        hint = f"write promotion: {inferred}, or remove it: it follows from expr"
        message = f"the promotion is {written}, but expr gives {kind} for complex ones"
        report.at_key("promotion", message, hint)
    elif written != "int_to_float" == inferred:
        hint = "write promotion: int_to_float, or remove it: it follows from expr"
        report.at_key(
            "promotion", f"the promotion is {written}, but expr makes integers floating point", hint
        )


def _check_promotion(operator: Operator, inferred: str, report: Reporter) -> None:
    """``promotion``, ``dtypes`` and ``expr`` agree on the dtype of the result."""
    written = operator.promotion
    dtypes = operator.dtypes
    has_complex = any(d.startswith("complex") for d in dtypes)
    has_integers = any(d.startswith(("int", "uint", "bool")) for d in dtypes)

    if written != inferred and "comparison" in (written, inferred):
        kinds = ("truth values", "numbers")
        report.at_key(
            "promotion",
            f"the promotion is {written}, but expr gives {kinds[inferred != 'comparison']}",
            f"write promotion: {inferred}, or remove it: it follows from expr",
        )

    elif written == "complex_to_real" != inferred or (
        inferred == "complex_to_real" != written and has_complex
    ):
        kinds = ("a real number", "a complex number")
        report.at_key(
            "promotion",
            f"the promotion is {written}, but expr gives {kinds[inferred != 'complex_to_real']} for a "
            "complex one",
            f"write promotion: {inferred}, or remove it: it follows from expr",
        )

    elif written == "default" and inferred == "int_to_float" and has_integers:
        report.at_key(
            "promotion",
            "the promotion is default, but expr makes integers floating point",
            "write promotion: int_to_float, or remove it: it follows from expr",
        )

    if written == "int_to_float" and has_integers and not any("float" in d or "complex" in d for d in dtypes):
        report.at_key(
            "dtypes",
            "integers become floating point, but dtypes holds no floating dtype",
            "add floating dtypes",
        )


def _check_completeness(operator: Operator, report: Reporter, library: str | None) -> None:
    if operator.each is not None:  # the entry has these for all operators that follow from it
        return
    # A helper of backward is exercised by the gradient checks of the operator that it serves; a library
    # outside the tree has tests of its own, not ours.
    required = report.context.dialect.required
    needs_samples = "samples" in required and operator.python_module != PRIVATE and library is None
    if operator.samples is None and "samples" not in operator.key_locations and needs_samples:
        name = cpp_name(operator.schema)
        report.at_key(
            "func",
            f"the entry has no 'samples', and no generator is called '{name}'",
            f'write samples: and a name from tests/ops/samples, or @samples("{name}") there',
        )
    if "doc" in required and "doc" not in operator.key_locations:
        report.at_key("func", "the entry has no 'doc'", "write doc: | and a sentence below it")
