"""Lists of operators' names: what is true of an operator is in its entry, and nowhere in Python.

A *list* is a display of at least three texts of which most name entries of native_functions.yaml. Some
displays have such names for good reasons:

* a dict from names to functions, such as a table of rules: the functions are what the names are for;
* `__all__`, and names of anything else: functions of the formula language, of Python, of PyTorch's API.

A list of the last kind says so in the comment above it, which begins with `# Names of`.
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from .finding import Finding
from .tree import PYTHON, ROOT, files

FEWEST = 3
FOLDERS = ("torch_py/", "codegen/", "tools/")
_ENTRY = re.compile(r"^ *-? *(?:func: *|- )?(?P<name>[A-Za-z_]\w*)(?P<overload>\.\w+)?\(.*->", re.MULTILINE)
_CONTAINERS = ("dict", "frozenset", "list", "set", "tuple")
_OF_PYTHON = {*dir(builtins), *dir(operator), *dir(math)}


def check(root: Path = ROOT) -> Iterator[Finding]:
    names = names_of(root)
    for path in files(PYTHON, root):
        if path.startswith(FOLDERS):
            yield from check_file(path, (root / path).read_text(), names)


@cache
def names_of(root: Path) -> frozenset[str]:
    """The operators of native_functions.yaml, with and without overload, and their forms in place."""
    text = (root / "native_functions.yaml").read_text()
    found = {name for match in _ENTRY.finditer(text) for name in (match["name"], match[0].split("(")[0])}
    found = {name.split()[-1] for name in found}
    return frozenset({*found, *(f"{name}_" for name in found)}) - _OF_PYTHON


def check_file(path: str, text: str, names: frozenset[str]) -> Iterator[Finding]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return  # layering.check_imports reports it

    lines = text.splitlines()
    for node in _displays(tree):
        words = _words(node)
        found = [word for word in words if word in names]
        if len(found) >= FEWEST and 2 * len(found) > len(words) and not _is_explained(lines, node.lineno):
            listed = ", ".join(found[:FEWEST])
            yield Finding(
                path,
                node.lineno,
                f"a list of operators ({listed}, ...); say it in their entries, with a tag or a key, or "
                "write in a comment above what else these are: # Names of ...",
            )


def _is_explained(lines: list[str], line: int) -> bool:
    """Whether the comment above a line says what the names are of."""
    above = line - 1
    while above > 0 and lines[above - 1].lstrip().startswith("#"):
        above -= 1
    return lines[above].lstrip().startswith("# Names of ")


def _displays(tree: ast.AST) -> Iterator[ast.expr]:
    """Every display of values, except what a module exports."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Assign) and "__all__" in map(ast.unparse, node.targets):
            continue
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)) or (
            isinstance(node, ast.Dict) and not all(map(_is_function, node.values))
        ):
            yield node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "split":
                yield node.func.value
        yield from _displays(node)


def _is_function(node: ast.expr) -> bool:
    """A lambda, the name of a function, or a call that makes one. Constants are in capitals."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) not in _CONTAINERS

    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return isinstance(node, ast.Lambda) or bool(name) and not name.isupper()


def _words(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant):
        return node.value.split() if isinstance(node.value, str) else []
    parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
    return [word for part in parts if (word := _word(part)) is not None]


def _word(node: ast.expr | None) -> str | None:
    """`add.Tensor` for the text "aten::add.Tensor", and for ops.aten.add.Tensor."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.Attribute) and "aten." in (text := ast.unparse(node)):
        text = text[text.index("aten.") :]
    else:
        return None
    return text.removeprefix("aten::").removeprefix("aten.").removesuffix(".default")
