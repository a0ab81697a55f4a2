"""Operators declared in Python: entries of the dispatcher, with Python functions as their kernels."""
