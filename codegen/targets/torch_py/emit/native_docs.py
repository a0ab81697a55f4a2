"""Documentation of what is written by hand in C++, for the stub of the native module.

The words are those that ``help()`` shows: texts of functions and methods in one file, and one line for each
property in the table of properties. They are looked up where they are, so that nobody writes them again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from codegen.targets.torch_py.scanned import documented_files

_TEXT = re.compile(r'const char (\w+)\[\] =\s+R"\((.*?)\)";', re.DOTALL)
# {"name", getter, setter, "text" "of several literals", nullptr}
_PROPERTY = re.compile(r'\{"(\w+)",[^"{}]*?((?:"(?:[^"\\]|\\.)*"\s*)+),\s*nullptr\}')
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
_END_OF_SIGNATURE = "\n--\n\n"

_CLASS = re.compile(r"class (\w+)")
_FUNCTION = re.compile(r"(?P<margin> *)def (?P<name>\w+)\(")
_END = ": ..."
# The class of a stub, or "" outside of classes -> how texts of its members begin.
_PREFIXES = {"": "torch_", "TensorBase": "Tensor_"}


def texts_in(root: Path) -> dict[str, str]:
    """``torch_tensor`` and ``Tensor_dim`` -> what they do, without signatures. Empty without the files."""
    found: dict[str, str] = {}
    for path in documented_files(root):
        source = path.read_text(encoding="utf-8")
        for name, text in _TEXT.findall(source):
            found[name] = text.partition(_END_OF_SIGNATURE)[2] or text
        for name, literals in _PROPERTY.findall(source):
            found[f"Tensor_{name}"] = "".join(_LITERAL.findall(literals))
    return found


def with_docstrings(stub: str, texts: Mapping[str, str]) -> str:
    """``stub`` with the texts of its functions, methods and properties."""
    lines = []
    prefix: str | None = _PREFIXES[""]
    known: tuple[str, str] | None = None  # the margin and the text of a function that has begun

    for line in stub.split("\n"):
        found_class = _CLASS.match(line)
        if found_class is not None:
            prefix = _PREFIXES.get(found_class[1])
        found = _FUNCTION.match(line)
        if found is not None:
            prefix = prefix if found["margin"] else _PREFIXES[""]
            text = None if prefix is None else texts.get(prefix + found["name"])
            known = None if text is None else (found["margin"] + "    ", text)

        if known is not None and line.endswith(_END):
            margin, text = known
            lines.append(line.removesuffix(" ..."))
            lines += [f"{margin}{row}" if row else "" for row in _quoted(text).split("\n")]
            known = None
        else:
            lines.append(line)
    return "\n".join(lines)


def _quoted(text: str) -> str:
    quotes = '"""' if text.endswith("'") or "'''" in text else "'''"
    return f"r{quotes}{text}{quotes}"
