"""Compiles the operators; everything else is in pyproject.toml."""

from setuptools import setup

from torch_py.utils.cpp_extension import BuildOperators, OperatorExtension

setup(ext_modules=[OperatorExtension("smooth_ops")], cmdclass={"build_ext": BuildOperators})
