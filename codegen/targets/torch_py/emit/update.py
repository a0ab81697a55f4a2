"""Renders what follows from topics that have changed, if others see their operators as before.

What such a change leaves as it was: headers, declarations of kernels and macros. What follows from it are
the files of the topic, the bindings that contain its operators with their declarations in stubs, and their
rows in the files of all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from codegen.model import Operator, Program, Topic
from codegen.model.known import Change, pickled, program_of, unpickled
from codegen.model.text import digest_of
from codegen.output.templates import Templates
from codegen.target import Rendered, joined
from codegen.targets.torch_py.analysis.implied_operators import Derived, derived_in, expand, expanded, missing
from codegen.targets.torch_py.emit import lowerings, metadata
from codegen.targets.torch_py.emit.autograd import node_names
from codegen.targets.torch_py.emit.bindings import Shards
from codegen.targets.torch_py.emit.stub_parts import with_declarations
from codegen.targets.torch_py.emit.tree import LOWERINGS, METADATA, METHODS, STUBS, Tree, stub_path

_LINE = re.compile(r'"line": (\d+)')


class TopicMemory(NamedTuple):
    """What the last run knows of the files of a topic."""

    operators: tuple[str, ...]  # what other topics see of them, with those that formulas imply
    files: frozenset[str]  # those that the topic has to itself
    bound: frozenset[str]  # the topics of the operators in its bindings
    lowerings: tuple[int, ...]  # the number of its rows in each table
    notes: tuple[tuple[int, str], ...]  # the line in the topic, and the text with {line}
    derived: bytes  # the pickle of what was derived from its formulas, by unambiguous name


class Memory(NamedTuple):
    topics: Mapping[str, TopicMemory]
    node_names: Mapping[str, str]


def remember(program: Program, files: frozenset[str]) -> Memory:
    """What a later run can use."""
    whole = expanded(program)
    bound = Shards(whole)
    topics = {}
    for name, topic in whole.topics.items():
        topics[name] = _remembered(whole, topic, bound, files)
        for operator in topic.operators:
            operator.forget()
    return Memory(topics, node_names(whole))


def _remembered(program: Program, topic: Topic, bound: Shards, files: Collection[str]) -> TopicMemory:
    return TopicMemory(
        tuple(map(_seen, topic.operators)),
        frozenset(Tree.own_files(topic)).intersection(files),
        bound.topics_in(topic.name),
        lowerings.counts(topic.operators),
        _notes(program, topic),
        pickled(_derived(program, topic), topic.location.line),
    )


def _derived(program: Program, topic: Topic) -> dict[str, Derived]:
    every = derived_in(program)
    names = (operator.unambiguous_name for operator in topic.operators)
    return {name: every[name] for name in names if name in every}


def _known(change: Change, memory: Memory, topics: Iterable[Topic]) -> dict[str, Derived]:
    """What was derived from entries that have not changed."""
    found: dict[str, Derived] = {}
    for topic in topics:
        derived = unpickled(memory.topics[topic.name].derived, change.known.topics[topic.name].first_line)
        entries = change.before.topics[topic.name].entries
        for operator in topic.operators:
            name = operator.unambiguous_name
            if name in derived and digest_of(operator.entry_text) in entries:
                found[name] = derived[name]
    return found


def _seen(operator: Operator) -> str:
    return f"{operator.schema} {operator.dtype_sets} {operator.dtypes} {operator.promotion}"


def _notes(program: Program, topic: Topic) -> tuple[tuple[int, str], ...]:
    found = []
    for operator, inputs, reason in missing(topic.operators):
        place = operator.location
        text = f"{place.column}: {operator.name}: the derivative in {inputs} is not generated; {reason}"
        found.append((place.line - topic.location.line, text))
    return tuple(found)


def update(
    change: Change, templates: Templates, memory: object, read: Callable[[str], str]
) -> Rendered | None:
    """The files that follow from a change; None if everything has to be rendered."""
    assert isinstance(memory, Memory)
    changed = change.changed

    # Bindings contain all overloads of a function, which may be of several topics.
    shown = [name for name, topic in memory.topics.items() if not topic.bound.isdisjoint(changed)]
    needed = {*changed, *shown}.union(*(memory.topics[name].bound for name in shown))
    needed |= {name for name, topic in memory.topics.items() if not topic.bound.isdisjoint(shown)}
    topics = [
        change.program.topics[name] if name in changed else change.rest.topic(name)
        for name in memory.topics
        if name in needed
    ]
    program = expand(program_of(topics, change.program), known=_known(change, memory, topics))
    for name in changed:
        if tuple(map(_seen, program.topics[name].operators)) != memory.topics[name].operators:
            return None

    tree = Tree(program, templates, memory.node_names)
    tree.bindings(shown)
    files: dict[str, str | None] = {}
    now = dict(memory.topics)
    for name in changed:
        topic = program.topics[name]
        if change.is_of_docs(name):
            tree.pages(topic)
            now[name] = memory.topics[name]._replace(notes=_notes(program, topic))
            continue

        tree.topic(topic)
        found = _remembered(program, topic, tree.shards, tree.files.keys())
        files.update(dict.fromkeys(memory.topics[name].files - found.files))
        now[name] = found._replace(bound=memory.topics[name].bound)

    files.update(tree.files)
    files.update(_stubs(tree, shown, read))
    files[METADATA] = _metadata(change, program, memory, read(METADATA))
    files[LOWERINGS] = _lowerings(change, program, memory, read(LOWERINGS))
    return Rendered(files, Memory(now, memory.node_names), _all_notes(change, now))


def _stubs(tree: Tree, shown: Collection[str], read: Callable[[str], str]) -> dict[str, str]:
    """The stubs, with the declarations and so the documentation of what these topics have in Python."""
    topics = [topic for topic in tree.shards if topic in shown]
    modules = [m for m in STUBS.values() if any(tree.shards[topic].of_module(m) for topic in topics)]
    tree.stubs_of(topics, modules)

    found = {}
    for module in modules:
        path = stub_path(module)
        margin = "    " if module == METHODS else ""
        found[path] = with_declarations(read(path), tree.files[path], margin)
    return found


def _metadata(change: Change, program: Program, memory: Memory, before: str) -> str:
    """The rows of the changed topics anew, and the others with the lines where their entries are now."""
    head, *rows, end, _ = before.split("\n")
    found = []
    position = 0
    for name, topic in memory.topics.items():
        following = position + len(topic.operators)
        if name in change.changed:
            found += metadata.rows(program.topics[name].operators, program, memory.node_names)
        else:
            old = (row.removesuffix(",") for row in rows[position:following])
            found += _moved(old, change.moved(name))
        position = following
    return "\n".join([head, ",\n".join(found), end, ""])


def _lowerings(change: Change, program: Program, memory: Memory, before: str) -> str:
    """The rows of the changed topics anew, and the others as they were."""
    tables = lowerings.rows_in(before)
    starts = [0] * len(tables)
    found = lowerings.frame(program.file)
    for position, (name, topic) in enumerate(memory.topics.items()):
        ends = [start + count for start, count in zip(starts, topic.lowerings)]
        if name in change.changed:
            rows = lowerings.rows(program.topics[name].operators)
        else:
            rows = tuple(table[start:end] for table, start, end in zip(tables, starts, ends))
        found |= lowerings.pieces(position, rows)
        starts = ends
    return joined(found)


def _moved(rows: Iterable[str], lines: int) -> Iterable[str]:
    """Rows of entries that are so many lines further down than before."""
    if not lines:
        return rows
    return (_LINE.sub(lambda match: f'"line": {int(match[1]) + lines}', row, count=1) for row in rows)


def _all_notes(change: Change, topics: Mapping[str, TopicMemory]) -> list[str]:
    file = change.program.file
    return [
        f"{file}:{change.known.topics[name].first_line + line}:{text}"
        for name, topic in topics.items()
        for line, text in topic.notes
    ]
