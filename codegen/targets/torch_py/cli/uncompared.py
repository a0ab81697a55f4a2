"""Operators whose values no test compares with anything: what ``check`` remarks on a file without problems.

Values of a formula are compared with the formula in NumPy. Those of a kernel are compared with PyTorch, or
with ``reference:`` where PyTorch lacks the operator, as it lacks all operators of packages.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from codegen.model import Operator, Program
from codegen.targets.torch_py.importing.declarations import OPERATORS, packaged_folder

# Of private helpers, which have no tests of their own.
_WITHOUT_TESTS = (None, "skip_private")


def remarks(program: Program) -> Iterator[str]:
    """A line for each operator whose entry is to say what it computes."""
    asked = [operator for operator in program if _says_nothing(operator)]
    if not asked:
        return

    known = frozenset() if program.library is not None else peer_names()
    if known is None:  # nobody knows without PyTorch
        return
    for operator in asked:
        if operator.base_name not in known:
            yield (
                f"{operator.location}: {operator.name}: its entry has nothing to compare values with; "
                "write reference: and what it computes, in NumPy or SciPy, or references in the class of "
                "tests"
            )


def _says_nothing(operator: Operator) -> bool:
    is_tested = operator.samples not in _WITHOUT_TESTS and operator.each is None
    return is_tested and operator.expr is None and operator.reference is None


@cache
def peer_names() -> frozenset[str] | None:
    """The names of PyTorch's operators and methods, as an installed PyTorch declares them; None without."""
    folder = packaged_folder()
    package = importlib.util.find_spec("torch")
    if folder is None or package is None or package.origin is None:
        return None
    operators = next(folder.rglob(OPERATORS)).read_text(encoding="utf-8")
    methods = (Path(package.origin).parent / "_tensor_docs.py").read_text(encoding="utf-8")
    return frozenset(
        re.findall(r"^- func: (\w+)", operators, re.MULTILINE) + re.findall(r'^ +"(\w+)",$', methods, re.M)
    )
