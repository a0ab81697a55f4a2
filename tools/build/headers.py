"""Headers of build requirements, mirrored under build/include.

`pip install .` builds in an environment that is made anew each time, with new paths. Mirrored, the compiler
commands and the time stamps stay the same, and neither ninja nor ccache recompiles what has not changed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .errors import BuildError
from .files import mirror, write_if_changed

MIRROR = Path("build/include")
STAMP = Path("build/include/.mirrored")


def mirror_headers() -> str:
    """Copies pybind11's headers if its version has changed; returns the directory to give to the compiler."""
    try:
        import pybind11
    except ModuleNotFoundError:
        raise BuildError(
            f"pybind11 is missing. Install it with: {sys.executable} -m pip install 'pybind11>=3.1'"
        ) from None
    identity = f"pybind11 {pybind11.__version__}\n"
    if not STAMP.exists() or STAMP.read_text() != identity:
        mirror(Path(pybind11.get_include()) / "pybind11", MIRROR / "pybind11", "**/*.h")
        write_if_changed(STAMP, identity)
    return str(MIRROR)
