"""What the entries of all operators declare, as the generator has written it next to the package."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

_FOLDERS = (
    Path(__file__).parents[1] / "_generated",
    Path(__file__).parents[2] / "build" / "generated" / "torch_py" / "_generated",
)


@functools.cache
def rows_of_entries() -> list[dict[str, Any]]:
    """A row for each entry of native_functions.yaml."""
    path = next(folder / "operators.json" for folder in _FOLDERS if (folder / "operators.json").exists())
    rows: list[dict[str, Any]] = json.loads(path.read_text())["operators"]
    return rows
