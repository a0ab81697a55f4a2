"""What the word at the cursor is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from codegen.expressions import FUNCTIONS
from codegen.expressions.rows import REDUCTIONS
from codegen.model import Operator
from codegen.targets.torch_py.cli.explain import explained
from codegen.targets.torch_py.json_schema.meanings import meanings
from codegen.targets.torch_py.lsp.facts import Facts, is_in_room, key_meanings
from codegen.targets.torch_py.lsp.files import BACKEND
from codegen.targets.torch_py.lsp.formulas import meaning_of, meaning_of_row, signature_of
from codegen.targets.torch_py.lsp.places import ITEM, Place
from codegen.targets.torch_py.lsp.text import Span

# Keys whose values are formulas over the operators of the file.
_OVER_OPERATORS = ("derivatives", "doc")
_SECTIONS = {"structure": "Structures", "variants": "Variants"}


@dataclass(frozen=True)
class Hover:
    """Markdown about the characters of a span."""

    span: Span
    markdown: str


def hover(place: Place, facts: Facts) -> Hover | None:
    word = place.at(place.word)
    if not word or place.is_in_prose:
        return None
    if facts.kind == BACKEND:
        return _answer(place.dotted, _of_backend(place, facts))
    if not place.is_in_entry:
        return _answer(place.word, _outside(place, facts, word))
    if place.key is None and place.path[-1] == ITEM and len(place.path) == 3:
        return _answer(
            place.word, explanation(place, facts) if word == "func" else key_meanings("entry").get(word)
        )
    if place.entry_key == "func" and _is_name(place):
        return _answer(place.dotted, explanation(place, facts))
    return _answer(place.word, _in_value(place, facts, word))


def explanation(place: Place, facts: Facts) -> str | None:
    """What ``python -m codegen explain`` says of the entry."""
    operator = facts.operator(place.operator_name)
    if operator is None or facts.program is None:
        return None
    output = facts.root / "build" / "generated"
    is_whole = output.is_dir() and not facts.program.broken and facts.program.library is None
    try:
        (text,) = explained(facts.program, (operator,), output if is_whole else None)
    except Exception:  # an entry with problems need not have anything that is generated
        (text,) = explained(facts.program, (operator,), None)
    return f"```text\n{text.replace(f'{facts.root.as_posix()}/', '')}\n```"


def _is_name(place: Place) -> bool:
    """Whether the cursor is on the operator's name, before its arguments."""
    start = place.word.start
    return "(" not in place.text[place.lines.start(place.lines.number_at(start)) : start]


def _outside(place: Place, facts: Facts, word: str) -> str | None:
    if place.path == () and place.key is None:
        return key_meanings("file").get(word)
    if place.path == ("topics",) and place.key is None:
        return _topic(facts, word)
    if (*place.path, place.key or "")[0] == "dtype_sets":
        return _dtypes(facts, word)
    if (*place.path, place.key or "")[0] == "requirements":
        return _in_condition(place, facts, word)
    return None


def _topic(facts: Facts, topic: str) -> str | None:
    found = facts.program.topics.get(topic) if facts.program is not None else None
    if found is None:
        return None
    files = {k.path for key in ("CPU", "CUDA") for k in facts.kernels(key) if is_in_room(k, topic)}
    listed = "".join(f"\n* `{path}`" for path in sorted(files))
    return f"{len(found.operators)} operators{listed}"


def _in_value(place: Place, facts: Facts, word: str) -> str | None:
    key = place.entry_key or ""
    if key in _SECTIONS:
        return meanings(_SECTIONS[key]).get(word)
    if key == "tags":
        return _tag(word)
    if key == "dtypes":
        return _dtypes(facts, word)
    if key in ("dispatch", "shape"):
        return _kernel(place, facts, word)
    if key == "non_differentiable" and facts.program is not None:
        return facts.program.reasons.get(word)

    argument = _argument(place, word)
    if argument is not None or key in ("func", "foreach", "scalars", "deprecated"):
        return argument
    if key in ("expr", "lowering"):
        if word in REDUCTIONS:
            return f"```text\n{word}(x)\n```\n{meaning_of_row(REDUCTIONS[word])}"
        function = FUNCTIONS.get(word)
        return f"```text\n{signature_of(function)}\n```\n{meaning_of(function)}" if function else None
    if key == "requires":
        return _in_condition(place, facts, word)
    return _operators(facts.overloads(word)) if key in _OVER_OPERATORS else None


def _argument(place: Place, word: str) -> str | None:
    found = place.schema.arguments.find(word) if place.schema is not None else None
    return None if found is None else f"```text\n{found}\n```"


def _in_condition(place: Place, facts: Facts, word: str) -> str | None:
    if (
        place.key in (None, "requires")
        and word in key_meanings("requirement")
        and place.text[place.word.end] == ":"
    ):
        return key_meanings("requirement")[word]
    named = facts.program.requirements.get(word) if facts.program is not None else None
    if named is not None:
        message = f"\n\n{named.error}: {named.message}" if named.message else ""
        return f"```text\n{named.check.text}\n```{message}"
    return _dtypes(facts, word)


def _dtypes(facts: Facts, word: str) -> str | None:
    return facts.dtype_sets().get(word)


def _tag(word: str) -> str | None:
    """What the row of tags says of one, in parentheses behind it."""
    found = re.search(rf"`{word}` \(((?:[^()]|\([^()]*\))*)\)", key_meanings("entry")["tags"])
    return found[1] if found else None


def _kernel(place: Place, facts: Facts, word: str) -> str | None:
    key = (place.key or "").split(",")[0].strip()
    found = [kernel for kernel in facts.kernels(key) if kernel.symbol == word]
    if not found:
        return None
    return "\n".join(f"```cpp\n{k.signature or k.symbol}\n```\n`{k.path}:{k.line}`" for k in found)


def _operators(operators: tuple[Operator, ...]) -> str | None:
    if not operators:
        return None
    schemas = "\n".join(map(str, operators))
    summary = operators[0].doc.split("\n\n")[0]
    return f"```text\n{schemas}\n```\n{summary}"


def _of_backend(place: Place, facts: Facts) -> str | None:
    if place.key is None and place.path == ():
        return key_meanings("backend").get(place.at(place.word))
    name = place.at(place.dotted)
    found = tuple(operator for operator in facts.operators() if operator.name == name)
    return _operators(found) or _kernel(place, facts, name)


def _answer(span: Span, markdown: str | None) -> Hover | None:
    return Hover(span, markdown) if markdown else None
