"""A word that may be written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """``kind`` is a word of conversion.KINDS; ``insert`` is written instead of the label where it differs."""

    label: str
    kind: str
    detail: str = ""
    meaning: str = ""
    insert: str = ""
    sort: str = ""
