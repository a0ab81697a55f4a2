"""What the generator knows of the operators. The site imports ``codegen`` in this file only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from codegen.expressions import FUNCTIONS, ExpressionError, Node, differentiate, latex, requirement_text
from codegen.expressions.nodes import Call, Name, substitute, walk
from codegen.model import Derivative, Kernel, Operator, Program, Requirement, load
from codegen.targets.torch_py.analysis.functions import functions_of
from codegen.targets.torch_py.analysis.gradient_kind import GradientKind, gradient_kind
from codegen.targets.torch_py.analysis.kernels import cuda_entry, runs_on_host
from codegen.targets.torch_py.cli import counts
from codegen.targets.torch_py.cli.python_signature import python_signatures
from codegen.targets.torch_py.samples import samples_places

__all__ = [
    "Declared",
    "Derivative",
    "ExpressionError",
    "GradientKind",
    "Kernel",
    "Node",
    "Operator",
    "Program",
    "Requirement",
    "cuda_entry",
    "derivative_latex",
    "functions_of",
    "gradient_kind",
    "is_numeric",
    "python_signatures",
    "readable_latex",
    "requirement_text",
    "runs_on_host",
    "samples_places",
]


@dataclass(frozen=True)
class Declared:
    """The operators of ``native_functions.yaml`` in the repository at ``root``."""

    root: Path

    @cached_property
    def program(self) -> Program:
        return load(self.root / "native_functions.yaml")

    @property
    def public(self) -> list[Operator]:
        """All but those that only kernels and formulas call."""
        return [o for o in self.program if o.python_module != "private"]

    @cached_property
    def chapters(self) -> dict[str, str]:
        """What the file says of each chapter: ``# Chapter shape: views, and ...``."""
        text = (self.root / "native_functions.yaml").read_text("utf-8")
        found = re.findall(r"^ *# Chapter (\w+): (.+)$", text, re.MULTILINE)
        return {name: f"{about[0].upper()}{about[1:]}." for name, about in found}

    @cached_property
    def _own_batch_rules(self) -> set[str]:
        """The operators with a rule of their own for ``vmap``."""
        rules = self.root / "aten" / "transforms"
        own = re.compile(r"\{ops::(\w+)::entry, &")
        return {name for path in rules.glob("*.cpp") for name in own.findall(path.read_text("utf-8"))}

    def batch_rule(self, operator: Operator) -> str:
        """How the operator gets the members of a batch, in words."""
        return counts._batch_rule(operator, self._own_batch_rules)


# As mathematics calls them.
_SYMBOLS = {"self": Name("x"), "input": Name("x"), "other": Name("y")}


def readable_latex(node: Node) -> str:
    """A pointwise formula in LaTeX, in which ``self`` is x and ``other`` is y. Raises ExpressionError for
    formulas that call methods of tensors."""
    return latex(substitute(node, _SYMBOLS))


def is_numeric(node: Node) -> bool:
    """Whether a formula calls only functions of numbers."""
    return all(part.function in FUNCTIONS for part in walk(node) if isinstance(part, Call))


def derivative_latex(formula: Node, argument: str) -> str:
    """The derivative of a pointwise formula by one of its arguments, as an equation."""
    slope = readable_latex(differentiate(formula, argument))
    return rf"\frac{{\partial}}{{\partial {readable_latex(Name(argument))}}} = {slope}"
