"""Names that torch_py has without an entry: properties and methods of Tensor, modules, functions.

An operator of the same name would hide them, or never be called.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from codegen.dtypes import DTYPES
from codegen.model.taken_names import TakenNames
from codegen.targets.torch_py.scanned import taken_name_files

# A row of a table of properties, and one of methods apart from operators.
_PROPERTY = re.compile(r'^    \{"(\w+)", get_\w+, (?:nullptr|set_\w+)', re.MULTILINE)
_METHOD = re.compile(r'^    \{"(\w+)", (?:as_method\(|\w+, METH_)', re.MULTILINE)


def scan_taken_names(root: Path) -> TakenNames:
    """The names of a checkout; none where the package is not at hand, as for libraries."""
    taken = TakenNames({}, {})
    for path in taken_name_files(root):
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix == ".cpp":
            taken.methods.update(dict.fromkeys(_PROPERTY.findall(text), "a property of Tensor"))
            if path.parent.name == "exchange":
                taken.methods.update(dict.fromkeys(_METHOD.findall(text), "a method of Tensor"))
        elif path.name == "_tensor_methods.py":
            taken.methods.update(dict.fromkeys(_methods_in_python(text), "a method of Tensor"))
        else:
            taken.functions.update(_of_package(text))
    if taken.functions:
        taken.functions.update({name: "a dtype" for name in DTYPES})
    return taken


def _methods_in_python(text: str) -> list[str]:
    """The functions that are made methods, but for those that serve an operator of their name."""
    return [
        node.name
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(d, ast.Name) and d.id == "_method" for d in node.decorator_list)
        and f"_functional.{node.name}(" not in ast.unparse(node)
    ]


def _of_package(text: str) -> dict[str, str]:
    """The modules and the imported names of torch_py/__init__.py or _exports.py."""
    found: dict[str, str] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom):
            found.update({alias.asname or alias.name: "a name of torch" for alias in node.names})
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_LAZY_MODULES":
            found.update(dict.fromkeys(ast.literal_eval(node.value), "a module"))
    return {name: what for name, what in found.items() if not name.startswith("_")}
