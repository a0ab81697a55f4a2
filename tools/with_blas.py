"""Runs Python with another BLAS: python -m tools.with_blas builtin -m pytest tests/aten.

The build has a folder of its own. Only aten/blas is compiled again; everything else comes from the checkout,
which must be built.
"""

from __future__ import annotations

import os
import subprocess
import sys

from .copies import ROOT, Copy

COMPILED = ("aten/blas/",)


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        print(__doc__)
        return 2

    blas, *program = arguments
    copy = Copy(ROOT / "build" / "blas" / blas)
    copy.update()
    copy.build({"TORCH_PY_BLAS": blas}, COMPILED)

    environment = {**os.environ, "PYTHONPATH": str(copy.folder)}
    return subprocess.run([sys.executable, *program], cwd=copy.folder, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
