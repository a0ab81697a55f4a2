"""Compiles the backend; everything else is in pyproject.toml."""

from setuptools import setup

from torch_py.utils.cpp_extension import BackendExtension, BuildOperators

setup(ext_modules=[BackendExtension("walled")], cmdclass={"build_ext": BuildOperators})
