"""The site in a headless Chromium: search, no request to other machines, no errors, readable on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.site.browser import Browser, browser, is_installed
from tools.site.serving import serving

pytestmark = pytest.mark.skipif(not is_installed(), reason="chromium and chromedriver are not installed")

PAGES = (
    "index.html",
    "operators/index.html",
    "operators/softplus.html",
    "guide/architecture.html",
    "guide/entries.html",
)


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with serving(site) as found:
        yield found


def search(tab: Browser, address: str, words: str) -> str:
    """The address of the first result."""
    tab.open(f"{address}/index.html?q={words}")
    link = "document.querySelector('.md-search-result__link')"
    tab.wait_for(f"return {link} && {link}.href.includes('?h=') || {link}")
    found: str = tab.run(f"return {link}.getAttribute('href')")
    return found


def test_search_finds_an_operator(tab: Browser, address: str) -> None:
    assert "operators/softplus.html" in search(tab, address, "softplus")
    assert "operators/linalg_det.html" in search(tab, address, "linalg.det")


@pytest.mark.parametrize("width", [390, 1280])
def test_pages_fit_the_screen(tab: Browser, address: str, width: int) -> None:
    tab.resize(width, 844)
    for page in PAGES:
        tab.open(f"{address}/{page}")
        assert tab.run("return document.documentElement.scrollWidth") <= width, page
        assert tab.run("return getComputedStyle(document.querySelector('article p')).fontSize") >= "12px"


def test_nothing_comes_from_elsewhere_and_nothing_fails(tab: Browser, address: str) -> None:
    tab.log()
    tab.requests()
    for page in PAGES:
        tab.open(f"{address}/{page}")
    assert [entry["message"] for entry in tab.log()] == []
    assert [url for url in tab.requests() if not url.startswith((address, "data:"))] == []


def test_listings_are_coloured_when_they_open(tab: Browser, address: str) -> None:
    tab.open(f"{address}/operators/softplus.html")
    tab.run("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    tab.run("document.querySelector('.pair').scrollIntoView()")
    assert tab.wait_for("return document.querySelector('.pair pre.listing .nt')?.textContent") == "- func"


def test_tables_sort_by_a_click(tab: Browser, address: str) -> None:
    tab.open(f"{address}/guide/device.html")
    column = "[...document.querySelectorAll('table')].find((table) => table.querySelector('th.sorts'))"
    tab.run(f"{column}.querySelectorAll('th.sorts')[1].click()")
    cells = tab.run(f"return [...{column}.tBodies[0].rows].map((row) => row.cells[1].textContent)")
    numbers = [float(cell) for cell in cells]
    assert numbers == sorted(numbers)
