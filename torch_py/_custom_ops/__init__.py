"""Operators declared in Python: their schemas, the table of them, how one is called."""
