"""What an earlier run knows of a file, so that topics that did not change are not read again.

Note [Changed topics]. Most edits change what an operator computes or how it is explained, and not what others
see of it. After such an edit only the topic is read and checked, against operators of other topics that an
earlier run has checked. These are kept as pickles, one for each topic, and read when a formula names one of
their operators. A topic may be read alone only if

* nothing else of the file has changed, nor the generator, nor any kernel or generator of samples;
* the topic has no problems, as a run over the whole file has more to say about them;
* its interface is the same: all keys of its entries but formulas, requirements and documentation;
* it uses the same named requirements and reasons, of which each must be used;
* no derivative elsewhere was compared with a formula that has changed (model/checks/slopes.py).

Of such a topic, entries whose text is the same need no check. Otherwise the whole file is read.
tests/codegen/test_incremental.py compares both ways.
"""

from __future__ import annotations

import copyreg
import hashlib
import io
import pickle
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import IO, Any, NamedTuple

from codegen.diagnostics import Diagnostics, Location
from codegen.dialect import Dialect
from codegen.expressions import operators_of
from codegen.expressions.evaluate import needs_operator
from codegen.model.checks.slopes import compared_formula
from codegen.model.kernels import KernelIndex
from codegen.model.loading import TopicsReader
from codegen.model.named import Names
from codegen.model.operator import Deprecation, Formula, Operator, Rename, Requirement
from codegen.model.program import DtypeSet, Program, Topic, spoken_names
from codegen.model.reading import Context
from codegen.model.taken_names import TakenNames
from codegen.model.text import digest_of
from codegen.model.topics import Span, read_alone, split_topics
from codegen.remembered import cached_property
from codegen.schema import Argument, Arguments, BaseType, FunctionSchema, ListType, OptionalType, Return

# Of an edit of more topics than these, reading the whole file takes about as long.
_MOST_CHANGED = 8


class KnownTopic(NamedTuple):
    """A topic without problems, as the last run read it."""

    name: str
    first_line: int
    digest: str  # of its text
    operators: bytes
    base_names: tuple[str, ...]
    spoken: tuple[str, ...]
    entries: frozenset[bytes]  # digests of their texts
    interface: str  # a digest of all that others see of its operators
    code: str  # a digest of formulas and requirements: all but documentation
    uses: frozenset[str]
    formulas: Mapping[str, tuple[str, ...]]  # of operators by base name
    compared: frozenset[str]  # operators whose formulas may be evaluated to compare derivatives with formulas


class Known(NamedTuple):
    """All topics of a file in order, and what they refer to."""

    outline: str
    topics: Mapping[str, KnownTopic]
    dtype_sets: Mapping[str, DtypeSet]
    requirements: Mapping[str, Requirement]
    reasons: Mapping[str, str]
    kernels: KernelIndex
    samples: frozenset[str] | None
    taken: TakenNames
    version: str | None


def known_of(
    program: Program, context: Context, text: str, uses: Mapping[str, frozenset[str]]
) -> Known | None:
    """What to keep of a program without problems; None if its topics cannot be told apart in the text."""
    split = split_topics(text)
    if split is None or program.base is not None or program.library is not None:
        return None
    if [span.name for span in split.topics] != list(program.topics):
        return None

    topics = {
        span.name: _known_topic(program.topics[span.name], span, uses[span.name]) for span in split.topics
    }
    return Known(
        split.outline,
        topics,
        program.dtype_sets,
        program.requirements,
        program.reasons,
        context.kernels,
        context.samples,
        context.taken,
        context.version,
    )


def _known_topic(topic: Topic, span: Span, uses: frozenset[str]) -> KnownTopic:
    operators = topic.operators
    formulas: dict[str, tuple[str, ...]] = {}
    compared: set[str] = set()
    for operator in operators:
        if operator.expr is not None:
            formulas[operator.base_name] = (*formulas.get(operator.base_name, ()), operator.expr.text)
        compared_with = compared_formula(operator)
        if compared_with is not None:
            written = [d.formula for d in operator.derivatives if d.formula is not None]
            called = [name for f in (compared_with, *written) for name in operators_of(f.node)]
            compared.update(filter(needs_operator, called))

    return KnownTopic(
        span.name,
        span.first_line,
        span.digest,
        pickled(tuple(operators), span.first_line),
        tuple(dict.fromkeys(name for o in operators for name in (o.base_name, *o.former_base_names))),
        tuple({name.removesuffix("_") for o in operators for name in (o.base_name, *spoken_names(o))}),
        frozenset(digest_of(o.entry_text) for o in operators),
        _interface(operators),
        _code(operators),
        uses,
        formulas,
        frozenset(compared),
    )


# Keys of entries that nothing outside of their topic shows, and places in the file.
_HIDDEN = frozenset(
    "derivatives non_differentiable expr lowering reference requires samples doc location key_locations "
    "entry_text dispatch each".split()
)


def _interface(operators: Sequence[Operator]) -> str:
    """All that outputs of other topics may show of operators."""
    shown = [field for field in fields(Operator) if field.name not in _HIDDEN]
    rows = [
        (
            *(str(getattr(o, field.name)) for field in shown),
            [(d.key, d.kernel, d.definition) for d in o.dispatch],
            o.each is None,
            bool(o.derivatives),
            o.non_differentiable is None,
        )
        for o in operators
    ]
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def _code(operators: Sequence[Operator]) -> str:
    """What computes the results of operators, as far as others do not see it."""
    rows = [
        (
            *(f and f.text for f in (o.expr, o.lowering, o.reference)),
            [(d.inputs, d.formula and d.formula.text) for d in o.derivatives],
            [(r.check.text, r.error, r.message, r.form, r.name) for r in o.requires],
            o.non_differentiable,
            o.samples,
        )
        for o in operators
    ]
    return hashlib.sha256(repr(rows).encode()).hexdigest()


# Reading what has changed


class Change(NamedTuple):
    """The topics that an edit has changed: a program of these alone, and all topics as they are now."""

    program: Program
    before: Known
    known: Known
    rest: RestOfFile

    @property
    def changed(self) -> list[str]:
        return list(self.program.topics)

    def is_of_docs(self, topic: str) -> bool:
        """Whether only documentation and comments of the topic have changed."""
        return self.before.topics[topic].code == self.known.topics[topic].code

    def moved(self, topic: str) -> int:
        """By how many lines a topic has moved."""
        return self.known.topics[topic].first_line - self.before.topics[topic].first_line


def read_changed(path: Path, text: str, known: Known, dialect: Dialect) -> Change | None:
    """The topics that differ from what is known; None if the whole file has to be read."""
    split = split_topics(text)
    if split is None or split.outline != known.outline:
        return None
    spans = {span.name: span for span in split.topics}
    if list(spans) != list(known.topics):
        return None
    changed = [span for span in split.topics if span.digest != known.topics[span.name].digest]
    if not 0 < len(changed) <= _MOST_CHANGED:
        return None

    problems = Diagnostics()
    context = _context(path.parent, known, dialect, problems)
    checked = frozenset(entry for span in changed for entry in known.topics[span.name].entries)
    reader = TopicsReader(context, problems, checked)
    for span in changed:
        found = read_alone(path.name, span)
        if found is None:
            return None
        reader.read_topic(*found, span.chapter)
    reader.check_entries()
    if problems or reader.broken:
        return None

    now = dict(known.topics)
    for name, span in spans.items():
        now[name] = now[name]._replace(first_line=span.first_line)
    for span in changed:
        place, operators = reader.topics[span.name]
        topic = _known_topic(Topic(span.name, tuple(operators), place), span, reader.uses[span.name])
        if not _is_seen_as_before(known.topics[span.name], topic, known):
            return None
        now[span.name] = topic

    rest = RestOfFile(now)
    program = _program(path, reader, known, dialect, rest)
    reader.check_formulas(program)
    return None if problems else Change(program, known, known._replace(topics=now), rest)


def _is_seen_as_before(before: KnownTopic, after: KnownTopic, known: Known) -> bool:
    if before.interface != after.interface or before.uses != after.uses:
        return False
    formulas = {name for name, texts in after.formulas.items() if texts != before.formulas.get(name)}
    return not any(formulas & topic.compared for topic in known.topics.values())


def _context(folder: Path, known: Known, dialect: Dialect, problems: Diagnostics) -> Context:
    return Context(
        problems,
        folder,
        dict(known.dtype_sets),
        known.kernels,
        known.samples,
        known.taken,
        None,
        dialect,
        {},
        {},
        Names("requirements", "requirement", known.requirements),
        Names("reasons", "reason", known.reasons),
        known.version,
    )


def _program(path: Path, reader: TopicsReader, known: Known, dialect: Dialect, rest: RestOfFile) -> Program:
    topics = [Topic(name, tuple(found), place) for name, (place, found) in reader.topics.items()]
    return program_of(
        topics,
        Program(
            path.name,
            str(path),
            None,
            known.dtype_sets,
            {},
            {},
            requirements=known.requirements,
            reasons=known.reasons,
            dialect=dialect,
            rest=rest,
        ),
    )


def program_of(topics: Sequence[Topic], program: Program) -> Program:
    """``program`` with other topics."""
    operators = {o.unambiguous_name: o for topic in topics for o in topic.operators}
    by_base: dict[str, tuple[Operator, ...]] = {}
    for operator in operators.values():
        by_base[operator.base_name] = (*by_base.get(operator.base_name, ()), operator)
    named = {topic.name: topic for topic in topics}
    return replace(program, topics=named, operators=operators, by_base=by_base)


class RestOfFile:
    """The operators of topics that were not read again: ``Program.rest``."""

    def __init__(self, topics: Mapping[str, KnownTopic]) -> None:
        self.topics = topics
        self._loaded: dict[str, Topic] = {}

    def topic(self, name: str) -> Topic:
        if name not in self._loaded:
            known = self.topics[name]
            place = Location("", known.first_line, 1)
            operators: tuple[Operator, ...] = unpickled(known.operators, known.first_line)
            self._loaded[name] = Topic(name, operators, place)
        return self._loaded[name]

    def by_base_name(self, name: str, own: Sequence[Operator]) -> tuple[Operator, ...]:
        places = self._topics_of.get(name, ())
        read = {operator.topic for operator in own}
        found = [operator for operator in own if operator.topic not in places]
        for place in places:
            operators = own if place in read else self.topic(place).operators
            found += [
                o for o in operators if name in (o.base_name, *o.former_base_names) and o.topic == place
            ]
        return tuple(found)

    def base_names(self) -> Collection[str]:
        return self._topics_of.keys()

    def spoken_names(self) -> Collection[str]:
        return {name for topic in self.topics.values() for name in topic.spoken}

    @cached_property
    def _topics_of(self) -> dict[str, list[str]]:
        """The topics with overloads of each name, in file order."""
        found: dict[str, list[str]] = {}
        for topic in self.topics.values():
            for name in topic.base_names:
                found.setdefault(name, []).append(topic.name)
        return found


# Pickles. Lines count from the first one of the topic, as topics move when one above them grows; formulas are
# kept as texts, of which few are needed again.

_PLAIN = (
    *(Operator, Requirement, Rename, Deprecation, FunctionSchema, Arguments, Argument, Return),
    *(BaseType, OptionalType, ListType),
)


def pickled(found: object, first_line: int | None = None) -> bytes:
    """A pickle, in which lines count from ``first_line`` if that is given."""
    buffer = io.BytesIO()
    write_pickle(found, buffer, first_line)
    return buffer.getvalue()


def write_pickle(found: object, file: IO[bytes], first_line: int | None = None) -> None:
    pickler = pickle.Pickler(file, pickle.HIGHEST_PROTOCOL)

    def location(found: Location) -> tuple[Any, ...]:
        # Nothing moves in front of the topics.
        if first_line is None or found.line < first_line:
            return Location, (found.file, found.line, found.column)
        return _relative, (found.file, found.line - first_line, found.column)

    table: dict[type, Callable[[Any], Any]] = {cls: _reducer(cls) for cls in _PLAIN}
    pickler.dispatch_table = {
        **copyreg.dispatch_table,
        **table,
        Location: location,
        Formula: _reduced_formula,
    }
    pickler.dump(found)


def _reducer(cls: type) -> Callable[[Any], Any]:
    """The fields of a frozen object, without what was remembered with it."""
    names = [field.name for field in fields(cls)]

    def reduced(found: Any) -> Any:
        values = [getattr(found, name) for name in names]
        state = values if hasattr(cls, "__slots__") else dict(zip(names, values))
        return copyreg.__newobj__, (cls,), state  # type: ignore[attr-defined]

    return reduced


def _reduced_formula(found: Formula) -> Any:
    state: dict[str, object] = {"text": found.text, "location": found.location}
    if found.renamed:
        state["renamed"] = found.renamed
    if not found.parses:
        state["node"] = found.node
    return copyreg.__newobj__, (Formula,), state  # type: ignore[attr-defined]


def _relative(file: str, line: int, column: int) -> Location:
    raise AssertionError("read by _Unpickler")


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, first_line: int) -> None:
        super().__init__(io.BytesIO(data))
        self.first_line = first_line

    def find_class(self, module: str, name: str) -> Any:
        return self._location if name == "_relative" else super().find_class(module, name)

    def _location(self, file: str, line: int, column: int) -> Location:
        return Location(file, self.first_line + line, column)


def unpickled(data: bytes, first_line: int) -> Any:
    return _Unpickler(data, first_line).load()
