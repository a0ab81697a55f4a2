"""The exception of the schema parser."""

from __future__ import annotations


class SchemaError(Exception):
    """A schema that cannot be read.

    ``offset`` counts characters from the start of the schema text; ``hint`` says what to write instead.
    """

    def __init__(self, message: str, offset: int, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.message = message
        self.offset = offset
        self.hint = hint
