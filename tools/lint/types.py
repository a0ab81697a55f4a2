"""mypy over the packages that pyproject.toml names."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from .finding import Finding
from .tree import ROOT

# The build writes the types of the native module here. Without them every use of it is an error.
STUBS = "torch_py/_C.pyi"
ERROR = re.compile(r"^(?P<path>[^:]+):(?P<line>\d+): error: (?P<message>.*)$")


def check(root: Path = ROOT) -> Iterator[Finding]:
    if importlib.util.find_spec("mypy") is None:
        yield Finding("mypy", 0, "not installed; make lint installs it into .venv")
        return
    if not (root / STUBS).is_file():
        yield Finding(STUBS, 0, "mypy needs these stubs of the native module; build first: make")
        return

    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary"], cwd=root, capture_output=True, text=True
    )

    reported = False
    for line in result.stdout.splitlines():
        found = ERROR.match(line)
        if found:
            reported = True
            yield Finding(found["path"], int(found["line"]), found["message"])

    if result.returncode != 0 and not reported:
        yield Finding(
            "mypy", 0, (result.stderr.strip() or result.stdout.strip() or "did not run").splitlines()[-1]
        )
