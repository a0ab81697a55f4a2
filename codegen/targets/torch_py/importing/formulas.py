"""Translates a derivative, which PyTorch writes in C++, into the language of our formulas.

C++ differs from it in a few signs; what follows is parsed as a formula and rewritten as a tree. Whether the
operators in it exist here, and take these arguments, is a question for the checker.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from codegen.expressions import ExpressionError, parse, to_source
from codegen.expressions.nodes import Binary, Call, Index, Method, Name, Node, Number, rebuild
from codegen.expressions.scope import METADATA_METHODS

# Signs and words of C++.
_SIGNS = (
    (re.compile(r"\bstd::get<(\d)>\("), r"_result_\1("),
    (re.compile(r"\b(?:at|c10|std)::(?=\w+\()"), ""),
    (re.compile(r"&&"), " and "),
    (re.compile(r"\|\|"), " or "),
    (re.compile(r"!(?!=)"), " not "),
    (re.compile(r"\bM_PI\b"), "pi"),
    (re.compile(r"\b(?:c10|std)::nullopt\b"), "none"),
    (re.compile(r"(?<=[\d.])[fFlLuU]\b"), ""),
    (re.compile(r"\{([^{}]*)\}"), r"[\1]"),
)
_SYMBOLIC = re.compile(r"^sym_|_symint$")
# Methods with another name here.
_METHODS = {"dtype": "scalar_type", "has_value": "defined"}
_RESULT = re.compile(r"_result_(\d)$")


def translated(text: str, results: Mapping[str, Node]) -> str | None:
    """The formula; None if it cannot be written as one. ``results`` has what stands for their results
    and gradients."""
    for pattern, ours in _SIGNS:
        text = pattern.sub(ours, text)
    if "::" in text or "not_implemented" in text:
        return None
    try:
        return to_source(_rewritten(parse(" ".join(text.split())), results))
    except ExpressionError:
        return None


def _rewritten(node: Node, results: Mapping[str, Node]) -> Node:
    node = rebuild(node, lambda part: _rewritten(part, results))
    if isinstance(node, Name):
        return results.get(node.name, node)
    if isinstance(node, Method):
        return _method(node)
    return _call(node) if isinstance(node, Call) else node


def _method(node: Method) -> Node:
    """``x.pow(2)`` is ``pow(x, 2)``; ``x.sym_sizes()`` is ``x.sizes()``."""
    name = _SYMBOLIC.sub("", node.name)
    name = _METHODS.get(name, name)
    arguments = node.arguments or ()
    if name in METADATA_METHODS and METADATA_METHODS[name][1] == len(arguments):
        return Method(node.target, name, arguments)
    return _call(Call(name, (node.target, *arguments)))


def _call(node: Call) -> Node:
    name = _SYMBOLIC.sub("", node.function)
    arguments = node.arguments
    result = _RESULT.match(name)
    if result is not None and len(arguments) == 1:
        return Index(arguments[0], Number(int(result[1])))
    if name == "handle_r_to_c":  # the engine makes gradients real where they must be
        return arguments[-1]
    if name == "maybe_multiply" and len(arguments) == 2:
        return Binary("*", *arguments)
    return Call(name, arguments)
