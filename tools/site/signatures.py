"""Signatures as code blocks show them."""

from __future__ import annotations

_WIDTH = 88


def in_lines(signature: str) -> str:
    """A long signature with each argument on a line of its own."""
    if len(signature) <= _WIDTH or "\n" in signature or "(" not in signature:
        return signature
    name, _, rest = signature.partition("(")
    arguments, _, result = rest.rpartition(")")
    lines = "".join(f"    {argument},\n" for argument in _split(arguments))
    return f"{name}(\n{lines}){result}"


def _split(arguments: str) -> list[str]:
    """At the commas outside of brackets."""
    parts = [""]
    depth = 0
    for character in arguments:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
