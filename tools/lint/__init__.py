"""What CI checks in addition to the tests. Every failure is one line: where, what, and how to fix it.

layering.py    who may include or import whom
modules.py     the layers of torch_py's Python modules
text.py        what no file may hold: paths of one machine, tabs, trailing blanks, generated output
paragraphs.py  breaks in long functions, one statement per thing, one anonymous namespace per file
references.py  files and Notes that texts refer to exist
voice.py       phrases that read translated
formatting.py  clang-format, ruff
types.py       mypy
"""
