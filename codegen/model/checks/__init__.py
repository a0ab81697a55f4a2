"""Checks that need more than one key of an entry, or more than one entry.

Each module has ``check(operator, context, ...)``, which reports and returns nothing.
"""
