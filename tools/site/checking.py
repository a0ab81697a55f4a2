"""Looks for dead links in a finished site, and for anything that it would load from another machine."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote

_LINK = re.compile(r"<(?P<tag>\w+)\b[^>]*?\s(?:href|src)=[\"']?(?P<address>[^\"'\s>]+)")
_ANCHOR = re.compile(r"\s(?:id|name)=[\"']?([^\"'\s>]+)")
_LISTING = re.compile(r"<pre class=listing.*?</pre>|<pre class=\"listing.*?</pre>", re.DOTALL)
# Elements that a browser loads without being asked.
_LOADED = ("link", "script", "img", "iframe", "source")


def problems(site: Path) -> list[str]:
    """One line for each: ``operators/add.html: no page reference/torch.nn.Liner.html``."""
    return [f"{page}: {problem}" for page in _pages(site) for problem in _problems(site, page)]


def _pages(site: Path) -> list[str]:
    return sorted(
        path.relative_to(site).as_posix() for path in site.rglob("*.html") if path.name != "404.html"
    )


def _problems(site: Path, page: str) -> Iterator[str]:
    text = _LISTING.sub("", (site / page).read_text(encoding="utf-8"))
    for tag, address in dict.fromkeys(_LINK.findall(text)):
        if re.match(r"[a-z]+:|//", address):
            if tag in _LOADED and not address.startswith("data:"):
                yield f"loads {address} from another machine"
            continue

        path, _, anchor = unescape(address).partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(path))) if path else page
        if not (site / target).is_file():
            yield f"no page {target}"
        elif anchor and target.endswith(".html") and unquote(anchor) not in _anchors(site / target):
            yield f"no place #{anchor} in {target}"


@cache
def _anchors(path: Path) -> frozenset[str]:
    return frozenset(map(unescape, _ANCHOR.findall(path.read_text(encoding="utf-8"))))
