"""``lsp``: a language server for editors, which speak with it over standard input and output."""

from __future__ import annotations

import argparse
import gc
import sys


def lsp(options: argparse.Namespace) -> int:
    try:
        from codegen.lsp.server import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("pygls", "lsprotocol"):
            raise
        print(
            "python -m codegen lsp needs pygls 2, the library of its protocol: "
            "python -m pip install 'pygls>=2'",
            file=sys.stderr,
        )
        return 1

    # Other commands end before there is garbage worth collecting. A check makes many objects that stay.
    gc.set_threshold(100_000, 50, 100)
    gc.enable()
    make_server(options.target, options.library_of).start_io()
    return 0
