"""``python -m tools.site``: builds the documentation site in ``build/site/html``."""

from __future__ import annotations

import argparse
import contextlib
import sys
import threading
import time
from pathlib import Path

from tools.site.building import ROOT, Site
from tools.site.checking import problems
from tools.site.serving import serving

_SHOWN = 40  # of the problems


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "site", help="default: build/site")
    parser.add_argument(
        "--only", default="", metavar="NAMES", help="pages of these operators: add,linalg_det"
    )
    parser.add_argument(
        "--serve", action="store_true", help="then show the site to a browser on this machine"
    )
    options = parser.parse_args()

    start = time.process_time()
    site = Site(options.output, tuple(filter(None, options.only.split(","))))
    site.build()

    found = problems(site.html)
    for problem in found[:_SHOWN]:
        print(problem)
    if len(found) > _SHOWN:
        print(f"and {len(found) - _SHOWN} more problems")

    pages = sum(1 for _ in site.html.rglob("*.html"))
    size = sum(path.stat().st_size for path in site.html.rglob("*") if path.is_file())
    seconds = time.process_time() - start
    print(f"{site.html}: {pages:,} pages, {size / 1e6:.1f} MB, in {seconds:.0f} seconds of processor time")
    if options.serve:
        _serve(site.html)
    else:
        print("to read it, with search: make docs ARGS=--serve")
    return int(bool(found))


def _serve(folder: Path) -> None:
    """Until the program is interrupted. Browsers run no search in pages opened as files."""
    with serving(folder) as address, contextlib.suppress(KeyboardInterrupt):
        print(f"{address}/index.html, until you press Ctrl-C", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    sys.exit(main())
