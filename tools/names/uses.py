"""The names of `torch` that Python programs import, from their syntax trees."""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterator
from pathlib import Path

# In the table of uses, names are short where PyTorch's documentation is short.
_SHORT = {"Tensor.": "torch.Tensor.", "nn.Module.": "torch.nn.Module."}


def names_in_folder(folder: Path) -> set[str]:
    """The names in all Python files below `folder`."""
    found: set[str] = set()
    for path in sorted(folder.rglob("*.py")):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8", errors="replace"))
        except (SyntaxError, ValueError):  # templates and files for other versions of Python
            continue
        found.update(names_in_tree(tree))
    return found


def names_in_tree(tree: ast.AST) -> Iterator[str]:
    """The dotted names of modules and members of `torch` that one file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if _is_torch(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and _is_torch(node.module or ""):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names if alias.name != "*")


def _is_torch(module: str) -> bool:
    return module == "torch" or module.startswith("torch.")


def is_wanted(name: str) -> bool:
    """Whether a name is to be importable from torch_py.

    Operators are compared one by one by `make parity`, `torch.classes` finds whatever is asked for, and
    `torch.torch` and `torch.functional.F` are left over from imports in PyTorch's files.
    """
    left_over = ("torch.torch", "torch.functional.F")
    return not name.startswith(("torch.ops.", "torch._ops.ops", "torch.classes", *left_over))


def names_in_table(path: Path) -> set[str]:
    """The names in a table of uses, with the columns `api` and `kind`."""
    found = set()
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            name = row["api"].removeprefix("import ")
            for short, full in _SHORT.items():
                if name.startswith(short):
                    name = full + name[len(short) :]
            if _is_torch(name):
                found.add(name)
    return found
