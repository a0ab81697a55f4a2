"""The language of ``expr:``, ``derivatives:`` and ``requires:``.

Reading
    ``parse`` makes a tree of a text and raises ExpressionError; ``to_source`` prints it back. ``names``, and
    in nodes.py ``walk``, ``children``, ``rebuild`` and ``substitute``, work on trees.
Checking
    ``check_expr``, ``check_lowering``, ``check_formula`` (of derivatives), ``check_requires`` and
    ``check_differentiable`` (of an ``expr`` without ``derivatives:``) return lists of FormulaProblem;
    ``check_row_expr`` and ``check_row_differentiable`` those of an ``expr`` over rows.
Properties of an ``expr``
    ``infer_promotion``, ``makes_float``, ``is_boolean``, ``not_holomorphic``, ``takes_packs``; ``is_real``
    with ``complex_names_of`` an operator.
Derivatives
    ``differentiate`` by a name, ``derivative`` in terms of arguments and ``result``, ``gradient`` times
    ``grad``, ``row_gradient`` of a formula over rows; ``simplify``, ``use_result``; ``to_formula`` turns
    ``expr`` into calls of tensor operators.
Rows
    ``plan_rows`` plans the passes over a row that a formula takes.
Saving for backward
    ``needs`` tells which arguments, results and metadata a formula uses.
Printing
    ``cpp_expr``, ``cpp_formula`` and ``cpp_requirement``; ``numpy_expr`` (after NUMPY_IMPORTS),
    ``torch_expr`` and ``python_formula``; ``text``, ``requirement_text`` and ``latex`` for documentation.

``operator`` is anything with ``schema`` and ``scalars`` (model.Operator, or ``Signature.parse``), ``program``
anything with ``by_base_name``, ``base_names`` and ``broken``. ``Scope(operator, program).kind(node)`` is the
kind of a formula: Tensor, Scalar, int, int[] ...
"""

from codegen.expressions.complex_numbers import complex_names_of, is_real
from codegen.expressions.differentiate import (
    check_differentiable,
    derivative,
    differentiate,
    gradient,
    not_holomorphic,
)
from codegen.expressions.errors import ExpressionError, FormulaProblem
from codegen.expressions.expr_check import (
    check_expr,
    infer_promotion,
    infer_row_promotion,
    is_boolean,
    makes_float,
)
from codegen.expressions.formulas import check_formula
from codegen.expressions.functions import CONSTANTS, FUNCTIONS, Function
from codegen.expressions.lowering import check_lowering, lowering_tree
from codegen.expressions.needs import Metadata, Needs, needs
from codegen.expressions.nodes import Node, names, to_source
from codegen.expressions.packs import takes_packs
from codegen.expressions.parser import parse
from codegen.expressions.print_cpp import (
    CppRequirement,
    cpp_expr,
    cpp_formula,
    cpp_requirement,
    cpp_requirement_value,
)
from codegen.expressions.print_python import (
    NUMPY_IMPORTS,
    numpy_expr,
    numpy_row_expr,
    python_formula,
    torch_expr,
)
from codegen.expressions.print_text import latex, requirement_text, text
from codegen.expressions.requires_check import check_message_value, check_requires
from codegen.expressions.row_check import check_row_expr
from codegen.expressions.row_gradient import check_row_differentiable, row_gradient
from codegen.expressions.row_plan import Pass, RowPlan, Value, plan_rows
from codegen.expressions.scope import OperatorLike, ProgramLike, Scope, Signature
from codegen.expressions.simplify import simplify, use_result
from codegen.expressions.to_formula import operators_of, to_formula

__all__ = [
    "CONSTANTS",
    "FUNCTIONS",
    "NUMPY_IMPORTS",
    "CppRequirement",
    "ExpressionError",
    "FormulaProblem",
    "Function",
    "Metadata",
    "Needs",
    "Node",
    "OperatorLike",
    "Pass",
    "ProgramLike",
    "RowPlan",
    "Scope",
    "Signature",
    "Value",
    "check_differentiable",
    "check_expr",
    "check_formula",
    "check_lowering",
    "check_message_value",
    "check_requires",
    "check_row_differentiable",
    "check_row_expr",
    "complex_names_of",
    "cpp_expr",
    "cpp_formula",
    "cpp_requirement",
    "cpp_requirement_value",
    "derivative",
    "differentiate",
    "gradient",
    "infer_promotion",
    "infer_row_promotion",
    "is_boolean",
    "is_real",
    "latex",
    "lowering_tree",
    "makes_float",
    "names",
    "needs",
    "not_holomorphic",
    "numpy_expr",
    "numpy_row_expr",
    "operators_of",
    "parse",
    "plan_rows",
    "python_formula",
    "requirement_text",
    "row_gradient",
    "simplify",
    "takes_packs",
    "text",
    "to_formula",
    "to_source",
    "torch_expr",
    "use_result",
]
