"""Passes the selection of the command line on to those who make the tests."""

from __future__ import annotations

import pytest

from tests.ops import keywords


def pytest_configure(config: pytest.Config) -> None:
    keywords.expression = config.getoption("keyword", default="")


def pytest_itemcollected(item: pytest.Item) -> None:
    if keywords.expression:
        keywords.add_aliases(item)
