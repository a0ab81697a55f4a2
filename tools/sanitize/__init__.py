"""Builds with sanitizers in folders of their own, and runs tests and the fuzzer in them.

tree.py      the copy of the checkout, its build, and what its programs need around them
emulation.py the same for the CUDA library on an emulated GPU
reports.py   what the sanitizers wrote, each finding once
__main__.py  the command line
"""
