"""``schema``: writes the JSON schemas with which editors check and complete the YAML files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from codegen.targets.torch_py.json_schema import FOLDER, render


def schema(options: argparse.Namespace) -> int:
    folder: Path = options.output or FOLDER
    stale = [
        folder / name
        for name, text in render().items()
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text
    ]
    if options.check:
        for path in stale:
            print(f"{path} is not up to date: python -m codegen schema", file=sys.stderr)
        return 1 if stale else _say("the schemas are up to date")

    folder.mkdir(parents=True, exist_ok=True)
    for path in stale:
        path.write_text(render()[path.name], encoding="utf-8")
    return _say("\n".join(f"wrote {path}" for path in stale) or "the schemas are up to date")


def _say(text: str) -> int:
    print(text)
    return 0
