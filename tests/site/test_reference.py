"""The reference shows what docstrings say."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tools.site.checking import problems
from tools.site.docstrings import summary_of, to_markdown
from tools.site.reference.members import MODULES, members_of, module_of, signature_of

DOC = """
Applies an affine map, see `Linear` and `bias`:

    y = x * weight + bias

Args:
    in_features: the size of the last dimension
        of the input
    bias: whether to add a learned bias

Raises:
    RuntimeError: the dtypes differ

Example:
    >>> layer(2)
    4
"""


def linked(name: str) -> str | None:
    return "torch.nn.Linear.md" if name in ("Linear", "bias") else None


def test_docstrings_become_markdown() -> None:
    assert to_markdown(DOC, linked, own=["bias"]).splitlines() == [
        "Applies an affine map, see [`Linear`](torch.nn.Linear.md) and `bias`:",
        "",
        "```text",
        "y = x * weight + bias",
        "```",
        "",
        '<p class="section">Args</p>',
        "",
        '<dl class="parameters" markdown>',
        "<dt>in_features</dt><dd markdown>the size of the last dimension of the input</dd>",
        "<dt>bias</dt><dd markdown>whether to add a learned bias</dd>",
        "</dl>",
        "",
        '<p class="section">Raises</p>',
        "",
        '<dl class="parameters" markdown>',
        "<dt>RuntimeError</dt><dd markdown>the dtypes differ</dd>",
        "</dl>",
        "",
        '<p class="section">Example</p>',
        "",
        "```pycon",
        ">>> layer(2)",
        "4",
        "```",
    ]


@pytest.mark.parametrize(
    "text, summary",
    [
        ("Adds one. Then more.", "Adds one."),
        ("Computes the sum:\n\n    x + y", "Computes the sum."),
        ("Uses i.e. what\nfollows", "Uses i.e. what follows"),
        (None, ""),
    ],
)
def test_summary(text: str | None, summary: str) -> None:
    assert summary_of(text) == summary


def test_signatures_read_as_they_are_written() -> None:
    def function(x: int, /, *, _y: str | None = None, **rest: object) -> list[int]:
        raise NotImplementedError

    assert signature_of("function", function) == (
        "function(x: int, /, *, _y: str | None = None, **rest: object) -> list[int]"
    )


@pytest.mark.parametrize("path", [path for path in MODULES if path])
def test_modules_have_members(path: str) -> None:
    assert members_of(module_of(path))


def test_a_class_has_a_page(site: Path) -> None:
    text = (site / "reference" / "torch.nn.Linear.html").read_text()
    assert "in_features" in text and 'href="torch.nn.Module.html"' in text


def test_tensor_lists_its_operators(site: Path) -> None:
    text = (site / "reference" / "torch.Tensor.html").read_text()
    assert '<a href="../operators/add.html">add_</a>' in text
    assert 'id="backward"' in text


def test_links_lead_somewhere(site: Path) -> None:
    assert problems(site) == []


def test_dead_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">b</a><a href="c.html">c</a><script src="https://x.y"></script>'
    )
    (tmp_path / "b.html").write_text("<h2 id=there>b</h2>")
    assert problems(tmp_path) == [
        "a.html: no place #here in b.html",
        "a.html: no page c.html",
        "a.html: loads https://x.y from another machine",
    ]


def test_members_are_those_of_the_package() -> None:
    names = {member.name for member in members_of(module_of("nn"))}
    assert "Linear" in names and "annotations" not in names and not any(map(inspect.ismodule, names))
