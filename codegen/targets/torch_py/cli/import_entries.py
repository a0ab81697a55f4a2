"""``import aten::NAME ...``: drafts entries from the declarations of an installed PyTorch."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from codegen.cli.loading import base_program
from codegen.diagnostics import Diagnostics, GenerationError, closest
from codegen.model import Program, read_program
from codegen.schema import SchemaError
from codegen.targets.torch_py.cli.insertion import with_entry
from codegen.targets.torch_py.importing.checking import Checker
from codegen.targets.torch_py.importing.declarations import (
    Declaration,
    Declarations,
    DeclarationsError,
    packaged_folder,
)
from codegen.targets.torch_py.importing.drafts import Draft


def import_entries(options: argparse.Namespace) -> int:
    folder = options.folder or packaged_folder()
    if folder is None:
        print("no PyTorch is installed: pip install torch, or name a folder with --from", file=sys.stderr)
        return 1
    try:
        known = Declarations(folder)
    except DeclarationsError as error:
        print(f"--from: {error}", file=sys.stderr)
        return 1

    problems = Diagnostics()
    base = base_program(options)
    program = read_program(options.yaml, problems, base)
    if program is None:
        raise GenerationError(problems)

    declared = _declared(known, options.operators)
    checker = Checker(options.yaml, program, base)
    drafts = [draft for declaration in declared if (draft := _draft(checker, declaration)) is not None]
    checker.settle(drafts)
    _put(options.yaml, drafts, program, options.write)
    return 0 if drafts and len(drafts) == len(declared) else 1


def _declared(known: Declarations, names: list[str]) -> list[Declaration]:
    found: dict[str, Declaration] = {}
    for name in names:
        declared = known.called(name)
        if not declared:
            near = closest(name.removeprefix("aten::"), known.names())
            hint = f"; did you mean {near}?" if near else ""
            print(f"PyTorch declares no operator '{name}'{hint}", file=sys.stderr)
        found.update((declaration.name, declaration) for declaration in declared)
    return list(found.values())


def _draft(checker: Checker, declaration: Declaration) -> Draft | None:
    if declaration.name.startswith("_foreach_"):
        message = "operators of lists follow from the key foreach of an entry"
        print(f"{declaration.name}: {message}", file=sys.stderr)
        return None
    try:
        return checker.draft(declaration)
    except SchemaError as error:
        print(f"{declaration.name}: {error.message}; it cannot be an entry", file=sys.stderr)
        return None


def _put(path: Path, drafts: list[Draft], program: Program, write: bool) -> None:
    """Prints the drafts; with ``write``, puts those that are new into their topics."""
    text = path.read_text(encoding="utf-8")
    for draft in drafts:
        existing = program.operators.get(draft.schema.unambiguous_name)
        if existing is not None:
            print(f"{existing.location}: {existing.name}: it exists already", file=sys.stderr)
        if not write:
            print(f"# {path}, topic {draft.operator.topic}\n{draft.text}")
        elif existing is None:
            text = with_entry(text, draft.operator.topic, draft.text, draft.operator.chapter)
            print(f"{path}: {draft.schema.name} is in topic {draft.operator.topic}")
    if write:
        path.write_text(text, encoding="utf-8")
