"""What this build promises to programs: the state of native_functions.lock, and former names of operators."""

from __future__ import annotations

import functools
import json
import warnings
from pathlib import Path
from typing import Any

from torch_py._generated_files import generated_file
from torch_py._libraries import library_named


@functools.cache
def _read(path: Path) -> dict[str, Any]:
    contract: dict[str, Any] = json.loads(path.read_text())
    return contract


def contract_digest() -> str:
    """Names the state of native_functions.lock that this build has."""
    digest: str = _read(generated_file("contract.json"))["digest"]
    return digest


def _former_names(namespace: str) -> dict[str, list[str]]:
    """Of the operators of torch_py ("") or of a library: former name -> (present name, since)."""
    library = library_named(namespace) if namespace else None
    if namespace and library is None:
        return {}

    path = library.folder / "contract.json" if library else generated_file("contract.json")
    names: dict[str, list[str]] = _read(path)["former_names"]
    return names


def _namespace_of(name: str) -> str:
    return name.partition("::")[0] if "::" in name else ""


def present_name(name: str) -> str | None:
    """The name, "softcap.out" or "my_ops::softcap", of the operator that was formerly called `name`; None for
    other names. The first use of a name warns."""
    found = _former_names(_namespace_of(name)).get(name)
    if found is None:
        return None
    _warn(name, *found)
    return found[0]


@functools.cache
def _warn(name: str, present: str, since: str) -> None:
    warnings.warn(
        f"the operator {name} is called {present} since {since}; please use the new name.",
        UserWarning,
        stacklevel=4,
    )


def former_overloads(entry: str) -> tuple[str, ...]:
    """The overloads that an operator had under the name `entry`, "softcap"; "default" is the unnamed one."""
    names = (name.partition(".") for name in _former_names(_namespace_of(entry)))
    return tuple(overload or "default" for base, _, overload in names if base == entry)
