"""A site with a few operators, built once for all tests of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="MkDocs is not installed: make docs")
pytest.importorskip("latex2mathml", reason="latex2mathml is not installed: make docs")

from tools.site.building import Site

OPERATORS = ("softplus", "add", "sum", "pow", "asin", "expand", "linalg_det", "randn", "_foreach_add")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the HTML."""
    built = Site(tmp_path_factory.mktemp("site"), OPERATORS)
    built.build()
    return built.html
