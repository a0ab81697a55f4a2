"""What answers look up: the last program that could be read, and what its target says of keys and words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codegen.dialect import Dialect
from codegen.lsp.editing import Editing
from codegen.model import Kernel, Operator, Program
from codegen.model.surroundings import Surroundings


@dataclass(frozen=True)
class Facts:
    """``program`` is the file's own, or the one that it extends while it cannot be read."""

    path: Path
    kind: str  # files.OPERATORS, or a key of Target.file_kinds
    program: Program | None
    surroundings: Surroundings | None
    dialect: Dialect
    editing: Editing

    def key_meanings(self, level: str) -> dict[str, str]:
        """Keys of a ``file``, an ``entry`` or a ``requirement``, and what each means."""
        unused = self.dialect.unused_keys if level == "entry" else ()
        return {key: text for key, text in self.editing.meanings(level).items() if key not in unused}

    @property
    def root(self) -> Path:
        """The folder that places of kernels are relative to."""
        return self.path.parent

    def programs(self) -> Iterator[Program]:
        """The program, and those that it extends."""
        program = self.program
        while program is not None:
            yield program
            program = program.base

    def operators(self) -> Iterator[Operator]:
        for program in self.programs():
            yield from program

    def operator(self, name: str | None) -> Operator | None:
        """The operator of the file that an entry calls ``add.Tensor``."""
        if self.program is None or name is None:
            return None
        return next((operator for operator in self.program if operator.name == name), None)

    def overloads(self, name: str) -> tuple[Operator, ...]:
        """The operators that a formula can mean by a name."""
        return self.program.by_base_name(name) if self.program is not None else ()

    def dtype_sets(self) -> dict[str, str]:
        """Sets and dtypes, with what they are."""
        sets = self.program.all_dtype_sets() if self.program is not None else {}
        return {
            **{name: ", ".join(found.members) for name, found in sets.items()},
            **dict.fromkeys(self.dialect.dtypes, "a dtype"),
            **self.dialect.dtype_aliases,
        }

    def kernels(self, key: str) -> list[Kernel]:
        """The functions that a dispatch key can name."""
        if self.surroundings is None:
            return []
        return [k for k in self.surroundings.kernels.on(key).definitions() if not k.is_local]


def rooms_of(topic: str) -> tuple[str, ...]:
    """How the files of a topic begin: Sum, SumKernel."""
    return topic, f"{topic}Kernel"


def is_in_room(kernel: Kernel, topic: str) -> bool:
    return Path(kernel.path).name.split(".")[0] in rooms_of(topic)
