"""One small language for ``expr:``, ``derivatives:`` and ``requires:``.

Reading        parse(text) -> Node                                       raises ExpressionError(message,
offset, hint)
               to_source(node) -> str; names(node) -> tuple[str, ...]; walk, children, rebuild, substitute in
               nodes.py
Checking       check_formula(node, operator, program, inputs=()) -> list[FormulaProblem(offset, message,
hint)]
               check_expr(node, operator) -> list[FormulaProblem]
               check_differentiable(node, operator) -> list[FormulaProblem]   for expr without
               ``derivatives:`` check_requires(node, operator, dtype_sets=None) -> list[FormulaProblem]
About expr     infer_promotion(node, operator) -> "comparison" | "int_to_float" | "complex_to_real" |
"default"
               makes_float(node, operator) -> bool; is_boolean(node, operator) -> bool; not_holomorphic(node)
               -> list[Node]
Derivatives    differentiate(node, name) -> Node                         simplified; ExpressionError where
there is no rule
               derivative(expr, argument, operator) -> Node              in terms of ``result`` where that
               saves memory gradient(expr, argument, operator, conjugate=False) -> Node    grad times the
               derivative tangent(expr, operator) -> Node                           forward mode, over names
               ``<argument>_tangent`` simplify(node) -> Node; use_result(node, expr, tensors) -> Node
               to_formula(node, operator, tensors=()) -> Node            expr as calls of tensor operators
               operators_of(formula) -> tuple[str, ...]                  base names that a formula calls
Saving         needs(node, operator=None) -> Needs(arguments, results, metadata, grads, all_grads);
Needs.rename()
               Metadata(source, member, target, method, kind, node), .cpp_type
C++            cpp_expr(node, rename=None, type="opmath_t") -> str
               cpp_formula(node, operator, program=None, rename=None) -> str
               cpp_requirement(node, operator, dtype_sets=None) -> CppRequirement(condition, expected,
               values),
               .message_parts() -> list[str]                             what follows the condition in
               TORCH_CHECK
Python         numpy_expr(node, rename=None) -> str                      after NUMPY_IMPORTS
               torch_expr(node, operator, module="torch") -> str
               python_formula(node, operator, program=None, module="torch", rename=None) -> str
Documentation  text(node), requirement_text(node), latex(node) -> str
Tables         FUNCTIONS: dict[str, Function]; CONSTANTS: dict[str, float]

``operator`` is anything with ``schema`` and ``scalars`` (model.Operator, or Signature.parse("f(Tensor self)
-> Tensor"));
``program`` anything with ``by_base_name``, ``base_names`` and ``broken``.
``Scope(operator, program).kind(node)`` tells the kind of a formula: Tensor, Scalar, int, int[] ...
"""

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
    check_requires,
    infer_promotion,
    is_boolean,
    makes_float,
)
from codegen.expressions.formulas import Metadata, Needs, check_formula, needs
from codegen.expressions.functions import CONSTANTS, FUNCTIONS, Function
from codegen.expressions.nodes import Node, names, to_source
from codegen.expressions.parser import parse
from codegen.expressions.print_cpp import CppRequirement, cpp_expr, cpp_formula, cpp_requirement
from codegen.expressions.print_python import NUMPY_IMPORTS, numpy_expr, python_formula, torch_expr
from codegen.expressions.print_text import latex, requirement_text, text
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
    "ProgramLike",
    "Scope",
    "Signature",
    "check_differentiable",
    "check_expr",
    "check_formula",
    "check_requires",
    "cpp_expr",
    "cpp_formula",
    "cpp_requirement",
    "derivative",
    "differentiate",
    "gradient",
    "infer_promotion",
    "is_boolean",
    "latex",
    "makes_float",
    "names",
    "needs",
    "not_holomorphic",
    "numpy_expr",
    "operators_of",
    "parse",
    "python_formula",
    "requirement_text",
    "simplify",
    "text",
    "to_formula",
    "to_source",
    "torch_expr",
    "use_result",
]
