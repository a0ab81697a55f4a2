"""Options and fixtures of all tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.operator_report import OperatorReport


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--operator-report", metavar="FILE", help="write a table of what was tested of each operator"
    )


def pytest_configure(config: pytest.Config) -> None:
    report = config.getoption("--operator-report", default=None)
    if report and not hasattr(config, "workerinput"):
        config.pluginmanager.register(OperatorReport(Path(report)))
    config.addinivalue_line("markers", "slow: takes more than a few seconds; -m 'not slow' leaves it out")


@pytest.fixture
def torch() -> Any:
    """The library under test (tests/subject.py)."""
    from tests.subject import torch

    return torch


@pytest.fixture(autouse=True)
def _reproducible() -> None:
    """Seeds every test that uses the library alike."""
    subject = sys.modules.get("tests.subject")
    if subject is not None:
        subject.torch.manual_seed(20240229)
