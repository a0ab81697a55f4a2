"""Builds with some operators alone: which of them a list implies, and what is left out of the generated tree.

A list names operators, one a line. What their derivatives and kernels call is found by ``closure``, from
formulas and, by ``sources``, from the text of the C++ files.
"""
