"""``load``: reads a file into a Program, or reports every problem in it.

1. The YAML is composed; entries that are not maps are reported and left out.
2. Each entry is read by itself (model/reading) and against its own keys (model/checks).
3. With all operators known, names and formulas are checked.
"""

from __future__ import annotations

import keyword
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.diagnostics import Diagnostics, GenerationError, Location, did_you_mean
from codegen.dialect import Checks, Dialect
from codegen.expressions import infer_promotion, infer_row_promotion, is_boolean
from codegen.model import vocabulary
from codegen.model.chapters import chapter_at, chapters_of
from codegen.model.checks import (
    derivatives,
    docs,
    formulas,
    history,
    names,
    reference,
    satisfiable,
    schema,
    structure,
)
from codegen.model.dtypes import read_dtype_sets
from codegen.model.foreach import list_operators
from codegen.model.kernels import Kernel
from codegen.model.named import Names
from codegen.model.operator import Operator
from codegen.model.program import DtypeSet, Program, Topic
from codegen.model.reading import Context, EntryReader, requirement_reader
from codegen.model.surroundings import Surroundings, scan_surroundings
from codegen.model.text import digest_of
from codegen.model.topics import Span, read_alone, read_head, split_topics
from codegen.target import default_target
from codegen.yaml import ListValue, MapValue, Text, Value, load_document

# A compiled library is imported under its name, before the module that had it.
_TAKEN_MODULES = sys.stdlib_module_names | {"numpy", "torch", "torch_py"}


def load(
    path: Path, base: Program | None = None, root: Path | None = None, dialect: Dialect | None = None
) -> Program:
    """The checked program of ``path``; raises GenerationError with every problem.

    ``root`` holds the kernels and samples that entries name, and is the file's folder unless given; ``base``
    is the program that an operator library extends. ``dialect`` is that of ``base`` unless given, and of the
    default target without a base.
    """
    problems = Diagnostics()
    program = read_program(path, problems, base, root, dialect=dialect)
    if problems or program is None:
        raise GenerationError(problems)
    return program


def read_program(
    path: Path,
    problems: Diagnostics,
    base: Program | None = None,
    root: Path | None = None,
    *,
    text: str | None = None,
    planned: Sequence[Kernel] = (),
    dialect: Dialect | None = None,
    surroundings: Surroundings | None = None,
    remember: Callable[[Program, Context, str, Mapping[str, frozenset[str]]], None] | None = None,
) -> Program | None:
    """Like ``load``, but collects problems in ``problems``. Returns None if the file cannot be read at all.

    ``text`` replaces the contents of the file, and ``planned`` adds kernels that are still to be written.
    ``surroundings`` are scanned unless given.
    ``remember`` is given what a later run can use (model/known.py), if there are no problems.
    """
    text = _read_text(path, problems) if text is None else text
    if text is None:
        return None

    if dialect is None:
        dialect = default_target().dialect if base is None else base.dialect
    folder = root or path.parent
    found = surroundings or scan_surroundings(dialect, folder, base, planned)

    def read(keys: MapValue, topics: Iterable[_TopicValue] | None, unreadable: frozenset[str]) -> Program:
        own = Diagnostics()
        reader = _ProgramReader(path, keys, unreadable, own, base, folder, dialect, found)
        program = reader.read(topics)
        problems.update(own)
        # Places inside of texts are for problems alone.
        reader.context.texts.clear()
        reader.context.lists.clear()
        if remember is not None and not problems:
            remember(program, reader.context, text, reader.topics.uses)
        return program

    return _read_by_topic(path.name, text, read) or _read_whole(path.name, text, read, problems)


def _read_by_topic(name: str, text: str, read: _Read) -> Program | None:
    """The program, if the file's layout allows to read each topic alone."""
    split = split_topics(text)
    keys = None if split is None else read_head(name, split)
    if split is None or keys is None:
        return None

    try:
        return read(keys, _topics_alone(name, split.topics), frozenset())
    except _NotAlone:
        return None


def _read_whole(name: str, text: str, read: _Read, problems: Diagnostics) -> Program | None:
    """The program of a file of any layout."""
    document = load_document(name, text, problems)
    if isinstance(document.root, MapValue):
        return read(document.root, None, document.unreadable)

    if document.root is not None or not problems:
        hint = "write topics: and below it the topics"
        problems.report(Location(name, 1, 1), "yaml", "the file is not a map", hint)
    return None


# A name, the entries below it, and the chapter that it is in.
_TopicValue = tuple[Text, Value, str]
# Makes the program, from the keys of a file, its topics, and the names of entries that cannot be read.
_Read = Callable[[MapValue, "Iterable[_TopicValue] | None", frozenset[str]], Program]


class _NotAlone(Exception):
    """A topic has to be read together with the rest of the file."""


def _topics_alone(name: str, topics: Iterable[Span]) -> Iterator[_TopicValue]:
    """Holds the YAML of one topic at a time, which takes more memory than the operators made of it."""
    for topic in topics:
        found = read_alone(name, topic)
        if found is None:
            raise _NotAlone
        yield (*found, topic.chapter)


def _read_text(path: Path, problems: Diagnostics) -> str | None:
    start = Location(path.name, 1, 1)

    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        problems.report(
            Location(path.name, line, 1), "yaml", "the line is not valid UTF-8", "save the file as UTF-8"
        )
    except OSError as error:
        problems.report(
            start,
            "yaml",
            f"the file cannot be read: {error.strerror}",
            "pass the path of a file: --yaml PATH",
        )

    return None


_NO_CHECKS = Checks(entry=lambda operator, context, has_structure: None)


@dataclass
class _Entry:
    operator: Operator
    has_structure: bool


class TopicsReader:
    """Reads topics, and checks each of their entries by itself.

    Entries whose text has one of the digests ``checked`` have passed all checks in an earlier run.
    """

    def __init__(
        self, context: Context, problems: Diagnostics, checked: frozenset[bytes] = frozenset()
    ) -> None:
        dialect = context.dialect
        self.context = context
        self.problems = problems
        self.checked = checked
        self.checks = _NO_CHECKS if dialect.checks is None else dialect.checks()
        self.broken: set[str] = set()
        self.entries: list[_Entry] = []
        self.topics: dict[str, tuple[Location, list[Operator]]] = {}
        self.uses: dict[str, frozenset[str]] = {}  # named requirements and reasons, by topic

    def read_topic(self, name: Text, value: Value, chapter: str) -> None:
        if not name.text.isidentifier() or not name.text[0].isupper():
            problem = "a topic is the stem of source files"
            self.problems.report(name.location, name.text, problem, "write a name such as PointwiseMath")

        if isinstance(value, Text) and not value.text:
            value = ListValue(value.source, value.start, value.end, ())
        if not isinstance(value, ListValue):
            problem = "the topic is not a list of entries"
            self.problems.report(value.location, name.text, problem, "write - func: before each entry")
            return

        requirements = self.context.requirements
        reasons = self.context.reasons
        requirements_before = requirements.start_topic()
        reasons_before = reasons.start_topic()

        operators = [operator for item in value for operator in self._read_entry(item, name.text, chapter)]
        self.topics[name.text] = (name.location, operators)

        self.uses[name.text] = frozenset(requirements.used | reasons.used)
        requirements.used |= requirements_before
        reasons.used |= reasons_before

    def _read_entry(self, item: Value, topic: str, chapter: str) -> list[Operator]:
        """The operator of an entry and those that follow from it; none if it is broken."""
        if not isinstance(item, MapValue):
            hint = "write - func: name(Tensor self) -> Tensor"
            self.problems.report(item.location, topic, "the entry is not a map", hint)
            return []

        reader = EntryReader(item, topic, self.context, chapter)
        operator = reader.read()
        if operator is None:
            self.broken.add(reader.label.split(".")[0])
            return []

        found = [_with_implications(each) for each in (operator, *list_operators(reader, operator))]
        self.entries += [_Entry(each, reader.has_structure) for each in found]
        return found

    def check_entries(self) -> None:
        for entry in self.unchecked():
            self._check_entry(entry)

    def unchecked(self) -> list[_Entry]:
        if not self.checked:
            return self.entries
        return [e for e in self.entries if digest_of(e.operator.entry_text) not in self.checked]

    def _check_entry(self, entry: _Entry) -> None:
        operator = entry.operator
        context = self.context
        schema.check(operator, context, entry.has_structure)
        self.checks.entry(operator, context, entry.has_structure)
        derivatives.check(operator, context, entry.has_structure)
        if entry.has_structure:
            structure.check(operator, context)
        satisfiable.check(operator, context)
        reference.check(operator, context)

    def check_formulas(self, program: Program) -> None:
        """What needs the operators that formulas and documentation name."""
        for entry in self.unchecked():
            formulas.check(entry.operator, program, self.context)
            docs.check(entry.operator, program, self.context)


class _ProgramReader:
    def __init__(
        self,
        path: Path,
        root: MapValue,
        unreadable: frozenset[str],
        problems: Diagnostics,
        base: Program | None,
        folder: Path,
        dialect: Dialect,
        surroundings: Surroundings,
    ) -> None:
        self.path = path
        self.root = root
        self.problems = problems
        self.base = base
        self.dialect = dialect

        library = self.library()
        inherited = base.all_dtype_sets() if base is not None else {}
        self.dtype_sets: dict[str, DtypeSet] = read_dtype_sets(
            root.get("dtype_sets"), inherited, dialect, problems
        )

        self.context = Context(
            problems,
            folder,
            {**inherited, **self.dtype_sets},
            surroundings.kernels,
            surroundings.samples,
            surroundings.taken,
            library,
            dialect,
            {},
            {},
            Names("requirements", "requirement", base.requirements if base is not None else {}),
            Names("reasons", "reason", base.reasons if base is not None else {}),
            surroundings.version,
        )
        self.topics = TopicsReader(self.context, problems)
        self.topics.broken |= {*unreadable, *(base.broken if base is not None else ())}
        self.read_names()

    def read(self, topics: Iterable[_TopicValue] | None) -> Program:
        """The program of these topics, by default of all that the file has."""
        for key, _ in self.root:
            if key.text not in vocabulary.DOCUMENT_KEYS:
                self.problems.report(
                    key.location,
                    "yaml",
                    f"unknown key '{key.text}'",
                    did_you_mean(key.text, vocabulary.DOCUMENT_KEYS),
                )

        reader = self.topics
        for topic in self.topic_values() if topics is None else topics:
            reader.read_topic(*topic)
        reader.check_entries()
        operators = [entry.operator for entry in reader.entries]
        history.check(operators, self.base, self.context)
        names.check(operators, self.base, self.context)
        self.context.requirements.check_use(self.problems)
        self.context.reasons.check_use(self.problems)

        program = self.program()
        reader.checks.program(program, self.context)
        reader.check_formulas(program)
        return program

    def library(self) -> str | None:
        value = self.root.get("library")
        if value is None:
            return None
        if not isinstance(value, Text) or not value.text.isidentifier() or keyword.iskeyword(value.text):
            message = "the library has no Python name"
        elif value.text in _TAKEN_MODULES:
            message = f"a library named '{value.text}' would replace the module of that name"
        else:
            return value.text

        self.problems.report(value.location, "library", message, "write library: my_operators")
        return None

    def read_names(self) -> None:
        """The requirements and reasons that entries refer to by name."""

        def report(location: Location, message: str, hint: str) -> None:
            self.problems.report(location, "requirements", message, hint)

        def reason(value: Value) -> str | None:
            if isinstance(value, Text) and value.text.strip():
                return value.text.strip()
            self.problems.report(
                value.location, "reasons", "a reason is a text", "write random: random numbers"
            )
            return None

        context = self.context
        root = self.root
        requirement = requirement_reader(context, report).requirement
        context.requirements.read(
            root.get("requirements"), requirement, "matrix: dim(self) == 2", self.problems
        )
        context.reasons.read(root.get("reasons"), reason, "random: random numbers", self.problems)

    def topic_values(self) -> list[_TopicValue]:
        value = self.root.get("topics")
        if isinstance(value, MapValue):
            chapters = chapters_of(self.root.source.text)
            return [(name, entries, chapter_at(chapters, name.start)) for name, entries in value]
        place = value.location if value is not None else self.root.location
        self.problems.report(
            place,
            "yaml",
            "the file has no topics",
            "write topics: and below it PointwiseMath: with its entries",
        )
        return []

    def program(self) -> Program:
        operators: dict[str, Operator] = {}
        by_base: dict[str, tuple[Operator, ...]] = {}

        for entry in self.topics.entries:
            operators.setdefault(entry.operator.unambiguous_name, entry.operator)
            base_name = entry.operator.base_name
            by_base[base_name] = by_base.get(base_name, ()) + (entry.operator,)

        topics = {
            name: Topic(name, tuple(found), location)
            for name, (location, found) in self.topics.topics.items()
        }

        return Program(
            self.path.name,
            str(self.path),
            self.context.library,
            self.dtype_sets,
            topics,
            operators,
            self.base,
            frozenset(self.topics.broken),
            by_base,
            {**self.context.requirements.inherited, **self.context.requirements.own},
            {**self.context.reasons.inherited, **self.context.reasons.own},
            self.dialect,
        )


def _with_implications(operator: Operator) -> Operator:
    """Adds the promotion that follows from ``expr``, and the reason where there cannot be a gradient."""
    node = None if operator.expr is None else operator.expr.node
    if node is not None and "promotion" not in operator.key_locations:
        if operator.structure == "pointwise":
            operator = operator.changed(promotion=infer_promotion(node, operator))
        elif operator.structure == "reduction":
            operator = operator.changed(promotion=infer_row_promotion(node, operator, operator.dtypes))
    if operator.non_differentiable is not None or operator.derivatives:
        return operator
    if node is not None and operator.structure == "shaped" and is_boolean(node, operator):
        return operator.changed(non_differentiable="its result is boolean")
    reason = derivatives.implied_reason(operator.structure, operator.promotion, operator)
    return operator if reason is None else operator.changed(non_differentiable=reason)
