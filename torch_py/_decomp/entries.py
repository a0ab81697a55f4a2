"""What the entries of all operators declare, as the generator has written it next to the package."""

from __future__ import annotations

import functools
import json
from typing import Any

from torch_py._generated_files import generated_file


@functools.cache
def rows_of_entries() -> list[dict[str, Any]]:
    """A row for each entry of native_functions.yaml."""
    rows: list[dict[str, Any]] = json.loads(generated_file("operators.json").read_text())["operators"]
    return rows
