"""What the language server says of torch_py's files, in addition to what the generator knows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from codegen.lsp.completion import key_items, keys_at_top
from codegen.lsp.definition import Target, kernel_target, match_target, texts
from codegen.lsp.editing import Editing
from codegen.lsp.facts import Facts
from codegen.lsp.hover import kernel_text, operators_text
from codegen.lsp.items import Item
from codegen.lsp.places import Place
from codegen.model import Operator, Program
from codegen.targets.torch_py.backends.reading import DEVICE_FUNCTIONS, DEVICE_KEY, HOOKS_FUNCTION
from codegen.targets.torch_py.cli.explain import explained
from codegen.targets.torch_py.emit.explain import Explanation
from codegen.targets.torch_py.json_schema import BACKEND, FOLDER, OPERATORS
from codegen.targets.torch_py.json_schema.meanings import meanings
from codegen.targets.torch_py.samples import samples_places

_SECTIONS = {"structure": "Structures", "variants": "Variants"}


@cache
def _schemas() -> dict[str, dict[str, object]]:
    return {name: json.loads((FOLDER / name).read_text(encoding="utf-8")) for name in (OPERATORS, BACKEND)}


@cache
def key_meanings(level: str) -> dict[str, str]:
    """Keys of a ``file``, an ``entry``, a ``requirement`` or a ``backend``, and what each means."""
    operators = _schemas()[OPERATORS]
    definitions: dict[str, dict[str, object]] = operators["definitions"]  # type: ignore[assignment]
    tables: dict[str, object] = {
        "file": operators["properties"],
        "entry": definitions["entry"]["properties"],
        "requirement": definitions["requirement"]["anyOf"][1]["properties"],  # type: ignore[index]
        "backend": _schemas()[BACKEND]["properties"],
    }
    table: dict[str, dict[str, str]] = tables[level]  # type: ignore[assignment]
    return {key: value.get("description", "") for key, value in table.items()}


def _words(key: str) -> Mapping[str, str]:
    if key == "tags":
        # In parentheses behind each, in the row of the key.
        listed = re.findall(r"`(\w+)` \(((?:[^()]|\([^()]*\))*)\)", key_meanings("entry")["tags"])
        return dict(listed)
    return meanings(_SECTIONS[key]) if key in _SECTIONS else {}


def _explain(program: Program, operator: Operator, root: Path) -> str:
    """What ``python -m codegen explain`` says of the entry."""
    output = root / "build" / "generated"
    is_whole = output.is_dir() and not program.broken and program.library is None
    try:
        (text,) = explained(program, (operator,), output if is_whole else None)
    except Exception:  # an entry with problems need not have anything that is generated
        (text,) = explained(program, (operator,), None)
    return text


def _generated(program: Program, operator: Operator, root: Path) -> Iterator[tuple[Path, int]]:
    output = root / "build" / "generated"
    if program.broken or not output.is_dir():
        return
    topic = [o for o in program if o.topic == operator.topic]
    for path, line in Explanation(program, topic).places(operator):
        if (output / path).is_file():
            yield output / path, line


# Backends


def _complete(place: Place, facts: Facts) -> Iterable[Item]:
    if place.path == () and place.key is None:
        yield from key_items(key_meanings("backend"), keys_at_top(place))
    elif place.path == ("device",) and place.key is None:
        functions = {**DEVICE_FUNCTIONS, **HOOKS_FUNCTION}
        yield from (Item(key, "key", text.format(key), insert=f"{key}: ") for key, text in functions.items())
    elif place.path == ("dispatch",) and place.key is None:
        yield Item(DEVICE_KEY, "key", insert=f"{DEVICE_KEY}:")
    elif place.path == ("dispatch", DEVICE_KEY) and place.key is None:
        yield from (Item(o.name, "function", str(o), insert=f"{o.name}: ") for o in facts.operators())
    elif place.key is not None and place.path:
        for kernel in facts.kernels("CPU"):
            yield Item(kernel.symbol, "function", kernel.signature or "")


def _hover(place: Place, facts: Facts) -> str | None:
    if place.key is None and place.path == ():
        return key_meanings("backend").get(place.at(place.word))
    name = place.at(place.dotted)
    found = tuple(operator for operator in facts.operators() if operator.name == name)
    return operators_text(found) or kernel_text(place, facts, name)


def _definitions(place: Place, facts: Facts) -> list[Target]:
    name = place.at(place.dotted)
    if place.key is None:
        found = re.compile(rf"^ *- *func: *['\"]?({re.escape(name)})\(", re.MULTILINE)
        return [match_target(p, t, m.start(1)) for p, t in texts(place, facts) for m in found.finditer(t)]
    return [kernel_target(facts, kernel) for kernel in facts.kernels("CPU") if kernel.symbol == name]


EDITING = Editing(
    meanings=key_meanings,
    words=_words,
    explain=_explain,
    generated=_generated,
    samples=samples_places,
    watched=("**/aten/native/**/*.{cpp,cu,cuh}", "**/samples/*.py", "**/samples.py"),
    complete=_complete,
    hover=_hover,
    definitions=_definitions,
)
