"""The operators of torch_py that the C++ of a package calls, with their types.

A shared object calls `at::ops::add_Tensor::call` as it was declared when the object was compiled; another
declaration is another symbol. `build.json` keeps the types, so that a change can be told in words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from torch_py import _C
from torch_py._generated_files import generated_file

_HEADER = re.compile(r'^#include "(aten/ops/\w+\.h)"', re.MULTILINE)
Types = list[list[str]]  # of the arguments and of the results


def operators_called(folders: Iterable[Path]) -> dict[str, Types]:
    """The operators whose headers the sources below `folders` include."""
    sources = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".cpp", ".h")]
    headers = {name for path in sources for name in _HEADER.findall(path.read_text(errors="replace"))}
    entries = json.loads(generated_file("operators.json").read_text())["operators"]
    rows = [row for row in entries if row["header"] in headers]
    names = [schema.partition("(")[0] for row in rows for schema in row["schemas"].values()]
    return {name: types for name in sorted(names) if (types := types_of(name)) is not None}


def types_of(name: str) -> Types | None:
    """The types that the operator has in this build; None without such an operator."""
    found = _C._find_operator(name)
    if found is None:
        return None
    schema = found._schema
    return [[str.__str__(value.type) for value in values] for values in (schema.arguments, schema.returns)]


def changed_operator(called: Mapping[str, Types]) -> str | None:
    """The first operator that has other types here, or is gone."""
    return next((name for name, types in called.items() if types_of(name) != types), None)
