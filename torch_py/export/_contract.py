"""The contract of a saved program: the schemas that the operators it calls had when it was saved.

A later build may have changed an operator. What matters is whether the calls of the program still mean the
same: its arguments, and the defaults of those that it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from torch_py._contract import contract_digest
from torch_py._ops import OpOverload
from torch_py._schemas import Argument
from torch_py.export._archive import ArchiveError
from torch_py.fx.node import Node
from torch_py.version import __version__

# Of an argument: name, type, default as text (None without one), whether it is a keyword only.
Row = tuple[str, str, "str | None", bool]


def contract_of(nodes: Iterable[Node]) -> dict[str, Any]:
    """What is written into the file."""
    operators = {node.target.name(): node.target for node in nodes if isinstance(node.target, OpOverload)}
    return {
        "version": __version__,
        "digest": contract_digest(),
        "operators": {
            name: [list(map(_row, o._schema.arguments)), [_text(r) for r in o._schema.returns]]
            for name, o in operators.items()
        },
    }


def check_contract(contract: Any, calls: Iterable[tuple[str, Node]]) -> None:
    """Raises ArchiveError if a call, of the operator with this name in the file, would mean something else
    today. Files of earlier versions say nothing about schemas."""
    if contract is None:
        return

    for name, node in calls:
        known = contract["operators"].get(name)
        if known is None or not isinstance(node.target, OpOverload):
            continue
        arguments, results = known
        problem = next(_problems(node, [tuple(row) for row in arguments], results), None)
        if problem is not None:
            raise ArchiveError(
                f"the program was saved by torch_py {contract['version']} (contract {contract['digest']}), "
                f"this is torch_py {__version__} (contract {contract_digest()}): of {name}, {problem}; "
                "export and save the program again"
            )


def _problems(node: Node, before: list[Row], results: list[str]) -> Iterator[str]:
    """What is different today about the call."""
    schema = node.target._schema  # type: ignore[union-attr]
    after = {row[0]: row for row in map(_row, schema.arguments)}
    positional = [row[0] for row in map(_row, schema.arguments) if not row[3]]

    given = set(node.kwargs)
    for (name, *_), place in zip(before, range(len(node.args))):
        given.add(name)
        if positional[place : place + 1] != [name]:
            yield f"the argument '{name}' was at place {place + 1}"

    for name, kind, default, _ in before:
        if name in given:
            yield from _changes_of_given(name, kind, after.get(name))
        elif name in after and after[name][2] != default:
            yield f"the default of '{name}' was {default}"

    known = {row[0] for row in before}
    for name, (_, _, default, _) in after.items():
        if name not in known and default is None:
            yield f"the argument '{name}' was not there"
    if [_text(r) for r in schema.returns] != results:
        yield f"the result was {', '.join(results) or 'nothing'}"


def _changes_of_given(name: str, kind: str, after: Row | None) -> Iterator[str]:
    if after is None:
        yield f"the argument '{name}' was there"
        return
    old, new = (text.replace("SymInt", "int") for text in (kind, after[1]))
    if new not in (old, f"{old}?", f"{old}[]"):
        yield f"'{name}' was {kind}"


def _row(argument: Argument) -> Row:
    return argument.name, _text(argument), argument.default_text, argument.kwarg_only


def _text(argument: Argument) -> str:
    """The type as the schema writes it."""
    return str.__str__(argument.type)
