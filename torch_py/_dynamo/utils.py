"""Counters of what was compiled."""

from __future__ import annotations

from collections import Counter, defaultdict

counters: defaultdict[str, Counter[str]] = defaultdict(Counter)
