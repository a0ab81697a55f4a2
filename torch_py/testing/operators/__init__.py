"""Tests for the operators of a package: their arguments, and the tests that follow from their entries.

A package names generators of arguments in its `samples.py`, and its test file is a subclass:

    class TestOperators(OperatorTests):
        package = softcap_ops

pytest needs this package as a plug-in: ``-p torch_py.testing.operators``, in `addopts` of pyproject.toml.
The project that ``python -m codegen new-package`` writes has all of it.
"""

from torch_py.testing.operators import samples as _generators  # registers the generators that all may use
from torch_py.testing.operators.backends import BackendTests
from torch_py.testing.operators.make import Make
from torch_py.testing.operators.plugin import pytest_generate_tests
from torch_py.testing.operators.registry import ErrorInput, SampleInput, error_samples, samples
from torch_py.testing.operators.suite import OperatorTests

__all__ = [
    "BackendTests",
    "ErrorInput",
    "Make",
    "OperatorTests",
    "SampleInput",
    "error_samples",
    "pytest_generate_tests",
    "samples",
]
