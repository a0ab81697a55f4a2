"""Prints formulas as C."""

from __future__ import annotations

from codegen.expressions import Node, nodes

# Functions of formulas whose name in C differs, and those that have the same in math.h.
_RENAMED = {
    "abs": "fabs({0})",
    "maximum": "fmax({0}, {1})",
    "minimum": "fmin({0}, {1})",
    "reciprocal": "(1.0 / {0})",
    "rsqrt": "(1.0 / sqrt({0}))",
    "square": "({0} * {0})",
    "sigmoid": "(1.0 / (1.0 + exp(-{0})))",
    "sign": "(double)(({0} > 0) - ({0} < 0))",
}
_SAME = tuple(
    "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p "
    "sqrt erf erfc lgamma floor ceil trunc hypot pow".split()
)
FUNCTIONS = {"where": "({0} ? {1} : {2})", **{name: "" for name in _SAME}, **_RENAMED}
_CONSTANTS = {"pi": "M_PI", "e": "M_E", "inf": "INFINITY", "nan": "NAN"}
_LOGICAL = {"and": "&&", "or": "||"}


def unknown_function(node: Node) -> nodes.Call | None:
    """The first call of a function that C lacks."""
    calls = (part for part in nodes.walk(node) if isinstance(part, nodes.Call))
    return next((call for call in calls if call.function not in FUNCTIONS), None)


def c_expression(node: Node) -> str:
    """``node`` with all its parts in parentheses, as the compiler does not mind."""
    parts = [c_expression(part) for part in nodes.children(node)]
    if isinstance(node, nodes.Number):
        return repr(float(node.value))
    if isinstance(node, nodes.Boolean):
        return "1" if node.value else "0"
    if isinstance(node, nodes.Name):
        return _CONSTANTS.get(node.name, node.name)

    if isinstance(node, nodes.Unary):
        return f"(!{parts[0]})" if node.operator == "not" else f"(-{parts[0]})"
    if isinstance(node, nodes.Binary):
        if node.operator in ("**", "%"):
            return f"{'pow' if node.operator == '**' else 'fmod'}({parts[0]}, {parts[1]})"
        return f"({parts[0]} {node.operator} {parts[1]})"
    if isinstance(node, nodes.Logical):
        return f"({parts[0]} {_LOGICAL[node.operator]} {parts[1]})"

    if isinstance(node, nodes.Compare):
        pairs = zip(node.operators, parts, parts[1:])
        return "(" + " && ".join(f"{left} {operator} {right}" for operator, left, right in pairs) + ")"
    if isinstance(node, nodes.Conditional):
        return FUNCTIONS["where"].format(*parts)
    assert isinstance(node, nodes.Call), f"the expression language has no other parts: {node}"
    return FUNCTIONS[node.function].format(*parts) or f"{node.function}({', '.join(parts)})"
