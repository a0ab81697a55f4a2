"""How an operator takes part in autograd."""

from __future__ import annotations

from typing import Literal

from codegen.model import Operator

GradientKind = Literal["none", "decomposed", "node"]


def gradient_kind(operator: Operator) -> GradientKind:
    """The operator's part in autograd.

    ``node``: a generated Node computes the gradient. ``decomposed``: the operator runs above autograd, and
    those it calls record the graph. ``none``: nothing is recorded.
    """
    if operator.is_composite_implicit:
        return "decomposed"
    if operator.non_differentiable is not None or not operator.tensor_arguments:
        return "none"
    if operator.derivatives and all(d.is_non_differentiable for d in operator.derivatives):
        return "none"
    return "node"
