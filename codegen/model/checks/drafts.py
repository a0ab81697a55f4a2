"""Finds entries that ``new`` has drafted and whose author has not written the documentation yet.

They can be built and tried, as drafts are; ``check`` refuses them.
"""

from __future__ import annotations

from codegen.diagnostics import Diagnostic
from codegen.model.program import Program

# How the doc of a draft begins.
UNWRITTEN_DOC = "TODO"


def unwritten(program: Program) -> list[Diagnostic]:
    """A diagnostic for each doc, in file order."""
    return [
        Diagnostic(
            operator.location_of("doc"),
            operator.name,
            "the doc is that of the draft",
            "write a sentence of what it computes",
        )
        for operator in program
        if operator.doc.startswith(UNWRITTEN_DOC) and operator.each is None
    ]
