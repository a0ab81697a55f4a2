"""Targets: what the generator writes, as plug-ins.

A target turns a checked program into files. Packages register theirs as entry points of the group
``codegen.targets``; those that come with the generator are in ``codegen/targets``. docs/targets.md shows how
to write one.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codegen.dialect import Dialect

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from codegen.lsp.editing import Editing
    from codegen.model import Program
    from codegen.model.known import Change
    from codegen.output.templates import Templates
    from codegen.output.writer import GenerateReport

ENTRY_POINTS = "codegen.targets"
BUILT_IN = "codegen.targets"
# The target of a checkout of torch_py.
_FIRST = "torch_py"


class Command(NamedTuple):
    """A command that a target adds to the command line."""

    name: str
    summary: str
    run: Callable[[argparse.Namespace], int]
    add_options: Callable[[argparse.ArgumentParser], None] = lambda parser: None


class OptionalCheck(NamedTuple):
    """A check that ``check`` makes on request, as ``--NAME``. It reports what it finds by GenerationError."""

    name: str
    summary: str
    run: Callable[[Program], None]


class FileKind(NamedTuple):
    """A kind of file that a target reads apart from operators: ``backend: NAME`` of torch_py.

    Both functions take the file and the program that it refers to. ``check`` returns a line on what it found,
    and raises GenerationError; it is also given the text of the file, None to read it.
    """

    generate: Callable[[Path, Program, Path], GenerateReport]
    check: Callable[[Path, Program, str | None], str]


class Rendered(NamedTuple):
    """Files that differ from those of an earlier run, by path; None for one that is to be removed."""

    files: Mapping[str, str | None]
    memory: object
    notes: Sequence[str]


# The pieces of a large file that several parts write, which follow each other in the order of the numbers.
Pieces = Mapping[tuple[int, ...], str]
# A function that renders some of the files.
Part = Callable[[], Mapping[str, str | Pieces]]


def joined(pieces: Pieces) -> str:
    """The file that is made of all its pieces."""
    return "".join([pieces[place] for place in sorted(pieces)])


class Incremental(NamedTuple):
    """How a target writes only what follows from topics that have changed: Note [Changed topics].

    ``remember`` is given the names of all files, and what it returns is kept as a pickle. ``update``
    renders what follows from a change; it may read files of the last run, and returns None if everything has
    to be rendered. Checks of the target that see the whole program do not run for such a change.
    """

    remember: Callable[[Program, frozenset[str]], object]
    update: Callable[[Change, Templates, object, Callable[[str], str]], Rendered | None]


@dataclass(frozen=True)
class Target:
    """An output of the generator.

    ``files`` returns the text of each file by its path in the output folder, which is all that most targets
    need. It may use ``templates``, made for the folder of the same name. Of a large output it returns parts
    that do not depend on each other: several processes share them, and hold the texts of one at a time. A
    file that shows something of every operator may be returned in pieces.
    """

    name: str
    files: Callable[[Program, Templates], Mapping[str, str] | Sequence[Part]]
    templates: Path | None = None
    dialect: Dialect = Dialect()
    # What the command line says about a program that was generated: gaps, in general.
    notes: Callable[[Program], Sequence[str]] = lambda program: ()
    # What `check` says about a program without problems: what nothing tests.
    remarks: Callable[[Program], Iterable[str]] = lambda program: ()
    # Functions that templates use as filters.
    filters: Mapping[str, Callable[..., object]] = field(default_factory=dict)

    declarations: str = "operators.yaml"  # the default of --yaml
    base: Path | None = None  # the file that libraries extend, unless --library-of names another
    # Files in the folder of the declarations that the output depends on, besides those the dialect scans.
    inputs: Callable[[Path], Iterable[Path]] = lambda folder: ()
    # The target that writes the operators of a list alone, which `generate --operators` names.
    of_operators: Callable[[Path], Target] | None = None
    incremental: Incremental | None = None
    commands: tuple[Command, ...] = ()
    checks: tuple[OptionalCheck, ...] = ()
    file_kinds: Mapping[str, FileKind] = field(default_factory=dict)  # by the key that marks a file
    # What the language server says in addition to what the generator knows; imported when it runs.
    editing: Callable[[], Editing] | None = None

    @property
    def folder(self) -> Path:
        """The sources of the target: a change in them generates again."""
        module = importlib.import_module(self.files.__module__)
        assert module.__file__ is not None
        return Path(module.__file__).resolve().parent


class UnknownTargetError(Exception):
    """No target has the name, or none is installed."""


def find_target(name: str) -> Target:
    """The target called ``name``, or the object ``module:NAME``. Raises UnknownTargetError."""
    if ":" in name:
        return _loaded(name)
    if _is_built_in(name):
        return _loaded(f"{BUILT_IN}.{name}:TARGET")
    for point in _entry_points():
        if point.name == name:
            return _loaded(point.value)

    known = ", ".join(target_names()) or "none is installed"
    raise UnknownTargetError(f"no target '{name}'; known are {known}, and module:NAME of any other")


def default_target() -> Target:
    """The target of torch_py in its checkout, and elsewhere the only one that is installed."""
    if _is_built_in(_FIRST):
        return find_target(_FIRST)
    names = target_names()
    if len(names) == 1:
        return find_target(names[0])
    raise UnknownTargetError(f"choose a target: --target {' or '.join(names) or 'module:NAME'}")


def target_names() -> list[str]:
    """The names of all targets that are installed."""
    return sorted({*([_FIRST] if _is_built_in(_FIRST) else []), *(point.name for point in _entry_points())})


def _is_built_in(name: str) -> bool:
    return name.isidentifier() and importlib.util.find_spec(f"{BUILT_IN}.{name}") is not None


def _entry_points() -> Iterator[EntryPoint]:
    from importlib.metadata import entry_points  # slow, and not needed in a checkout

    yield from entry_points(group=ENTRY_POINTS)


def _loaded(reference: str) -> Target:
    module, _, attribute = reference.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute or "TARGET")
    except (ImportError, AttributeError) as error:
        raise UnknownTargetError(f"no target '{reference}': {error}") from error
    if not isinstance(found, Target):
        raise UnknownTargetError(f"'{reference}' is a {type(found).__name__}, not a Target")
    return found
