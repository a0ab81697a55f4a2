"""What CI checks beside the tests. Every failure is one line: where, what, and how to mend it.

layering.py    who may include or import whom
modules.py     the layers of torch_py's Python modules
text.py        what no file may hold: paths of one machine, tabs, trailing blanks, generated output
formatting.py  clang-format, ruff
types.py       mypy
"""
