"""Rules that turn operators into loops: one for each family (families.py), and some for single operators.

Each file is one idea. An operator without a rule is called.
"""

from torch_py._inductor.lower import indirect, moves, norms
from torch_py._inductor.lower.context import RULES, Lowering, Value, rule

__all__ = ["RULES", "Lowering", "Value", "rule", "indirect", "moves", "norms"]
