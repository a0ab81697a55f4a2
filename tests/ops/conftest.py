"""Passes the selection of the command line on to those who make the tests."""

from __future__ import annotations

import pytest

from tests.ops import keywords


def pytest_configure(config: pytest.Config) -> None:
    keywords.expression = config.getoption("keyword", default="")
