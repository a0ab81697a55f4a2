"""What programs are told that call a deprecated operator: at run time, in stubs and in documentation."""

from __future__ import annotations

import re
from typing import NamedTuple

from codegen.model import Operator
from codegen.model.operator import Rename


class Notice(NamedTuple):
    """A text, and the variable of the C++ object that gives it once."""

    name: str
    text: str


def deprecation_of(operator: Operator) -> Notice | None:
    """The notice of a deprecated operator, shared by all its forms and by overloads with the same text; None
    for others."""
    found = operator.deprecated
    if found is None:
        return None
    text = f"{operator.public_name} is deprecated since {found.since}; use {found.use} instead."
    return _notice(f"{operator.base_name}_since_{found.since}_use_{found.use}", text)


def renaming_of(name: str, former_name: str, rename: Rename) -> Notice:
    """The notice of a function that is now called ``name``, as in torch.softcap."""
    text = f"{former_name} is called {name} since {rename.since}; please use the new name."
    return _notice(f"{former_name}_is_{name}", text)


def _notice(name: str, text: str) -> Notice:
    return Notice(re.sub(r"\W", "_", name), text)
