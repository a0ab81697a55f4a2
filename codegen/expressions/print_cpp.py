"""Prints expressions as C++.

``cpp_expr`` prints kernels, ``cpp_formula`` gradients, and ``cpp_requirement`` checks.
"""

from codegen.expressions.print_cpp_formula import cpp_formula
from codegen.expressions.print_cpp_requires import CppRequirement, cpp_requirement, cpp_requirement_value
from codegen.expressions.print_cpp_scalar import cpp_expr

__all__ = ["CppRequirement", "cpp_expr", "cpp_formula", "cpp_requirement", "cpp_requirement_value"]
