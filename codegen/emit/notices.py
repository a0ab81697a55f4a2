"""What programs are told that call a deprecated operator: at run time, in stubs and in documentation."""

from __future__ import annotations

import re
from dataclasses import dataclass

from codegen.model import Operator


@dataclass(frozen=True)
class Notice:
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
    name = re.sub(r"\W", "_", f"{operator.base_name}_since_{found.since}_use_{found.use}")
    return Notice(name, text)
