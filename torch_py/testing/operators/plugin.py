"""The hook of the pytest plug-in: gives each test of an `EnrolledTests` its operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class EnrolledTests:
    """Tests that run over operators: `pytest_generate_tests` asks for them."""

    @classmethod
    def operators(cls) -> Sequence[Any]:
        """The operators, which have `dtypes_under_test()`."""
        raise NotImplementedError(f"{cls.__name__}: no operators")

    @classmethod
    def selects(cls, test: Any, operator: Any) -> bool:
        """Whether a test is about an operator."""
        return True


def pytest_generate_tests(metafunc: Any) -> None:
    """Parametrizes over ``operator``, or over ``operator`` and ``dtype``."""
    cls = metafunc.cls
    if cls is None or not issubclass(cls, EnrolledTests) or "operator" not in metafunc.fixturenames:
        return

    operators = [operator for operator in cls.operators() if cls.selects(metafunc.function, operator)]
    if "dtype" not in metafunc.fixturenames:
        metafunc.parametrize("operator", operators, ids=str)
        return
    pairs = [(operator, dtype) for operator in operators for dtype in operator.dtypes_under_test()]
    metafunc.parametrize("operator, dtype", pairs, ids=[f"{operator}-{dtype}" for operator, dtype in pairs])
