"""The small checkout, and what the server knows of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.lsp.checking import Checked, Checker
from codegen.lsp.facts import Facts
from codegen.lsp.files import OPERATORS, Bases
from codegen.targets.torch_py import TARGET
from codegen.targets.torch_py.editing import EDITING
from tests.lsp.project import write_project


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of the file of operators."""
    return write_project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="session")
def checked(project: Path) -> Checked:
    found = Checker(project, Bases(TARGET)).check(project.read_text(encoding="utf-8"))
    assert found.findings == ()
    return found


@pytest.fixture(scope="session")
def facts(project: Path, checked: Checked) -> Facts:
    return Facts(project, OPERATORS, checked.program, checked.surroundings, TARGET.dialect, EDITING)
