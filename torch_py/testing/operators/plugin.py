"""The hook of the pytest plug-in: gives each test of an `OperatorTests` the operators of its package."""

from __future__ import annotations

from typing import Any

from torch_py.testing.operators.suite import OperatorTests

def pytest_generate_tests(metafunc: Any) -> None:
    """Parametrizes over ``operator``, or over ``operator`` and ``dtype``."""
    cls = metafunc.cls
    if cls is None or not issubclass(cls, OperatorTests) or "operator" not in metafunc.fixturenames:
        return

    operators = [operator for operator in cls.operators() if cls.selects(metafunc.function, operator)]
    if "dtype" not in metafunc.fixturenames:
        metafunc.parametrize("operator", operators, ids=str)
        return
    pairs = [(operator, dtype) for operator in operators for dtype in operator.dtypes_under_test()]
    metafunc.parametrize("operator, dtype", pairs, ids=[f"{operator}-{dtype}" for operator, dtype in pairs])
