"""What the word at the cursor is."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.expressions import FUNCTIONS
from codegen.expressions.rows import REDUCTIONS
from codegen.lsp.facts import Facts, is_in_room
from codegen.lsp.files import OPERATORS
from codegen.lsp.formulas import meaning_of, meaning_of_row, signature_of
from codegen.lsp.places import ITEM, Place
from codegen.lsp.text import Span
from codegen.model import Operator

# Keys whose values are formulas over the operators of the file.
_OVER_OPERATORS = ("derivatives", "doc")


@dataclass(frozen=True)
class Hover:
    """Markdown about the characters of a span."""

    span: Span
    markdown: str


def hover(place: Place, facts: Facts) -> Hover | None:
    word = place.at(place.word)
    if not word or place.is_in_prose:
        return None
    if facts.kind != OPERATORS:
        return _answer(place.dotted, facts.editing.hover(place, facts))
    if not place.is_in_entry:
        return _answer(place.word, _outside(place, facts, word))
    if place.key is None and place.path[-1] == ITEM and len(place.path) == 3:
        return _answer(
            place.word, explanation(place, facts) if word == "func" else facts.key_meanings("entry").get(word)
        )
    if place.entry_key == "func" and _is_name(place):
        return _answer(place.dotted, explanation(place, facts))
    return _answer(place.word, _in_value(place, facts, word))


def explanation(place: Place, facts: Facts) -> str | None:
    """All that follows from the entry."""
    operator = facts.operator(place.operator_name)
    if operator is None or facts.program is None:
        return None
    text = facts.editing.explain(facts.program, operator, facts.root)
    return f"```text\n{text.replace(f'{facts.root.as_posix()}/', '')}\n```"


def _is_name(place: Place) -> bool:
    """Whether the cursor is on the operator's name, before its arguments."""
    start = place.word.start
    return "(" not in place.text[place.lines.start(place.lines.number_at(start)) : start]


def _outside(place: Place, facts: Facts, word: str) -> str | None:
    if place.path == () and place.key is None:
        return facts.key_meanings("file").get(word)
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
    files = {
        k.path for key in facts.dialect.dispatch_keys for k in facts.kernels(key) if is_in_room(k, topic)
    }
    listed = "".join(f"\n* `{path}`" for path in sorted(files))
    return f"{len(found.operators)} operators{listed}"


def _in_value(place: Place, facts: Facts, word: str) -> str | None:
    key = place.entry_key or ""
    if key in ("structure", "variants", "tags"):
        return facts.editing.words(key).get(word)
    if key == "dtypes":
        return _dtypes(facts, word)
    if key in ("dispatch", "shape"):
        return kernel_text(place, facts, word)
    if key == "non_differentiable" and facts.program is not None:
        return facts.program.reasons.get(word)

    argument = _argument(place, word)
    if argument is not None or key in ("func", "foreach", "scalars", "reads", "deprecated"):
        return argument
    if key in ("expr", "lowering"):
        if word in REDUCTIONS:
            return f"```text\n{word}(x)\n```\n{meaning_of_row(REDUCTIONS[word])}"
        function = FUNCTIONS.get(word)
        return f"```text\n{signature_of(function)}\n```\n{meaning_of(function)}" if function else None
    if key == "requires":
        return _in_condition(place, facts, word)
    return operators_text(facts.overloads(word)) if key in _OVER_OPERATORS else None


def _argument(place: Place, word: str) -> str | None:
    found = place.schema.arguments.find(word) if place.schema is not None else None
    return None if found is None else f"```text\n{found}\n```"


def _in_condition(place: Place, facts: Facts, word: str) -> str | None:
    if (
        place.key in (None, "requires")
        and word in facts.key_meanings("requirement")
        and place.text[place.word.end] == ":"
    ):
        return facts.key_meanings("requirement")[word]
    named = facts.program.requirements.get(word) if facts.program is not None else None
    if named is not None:
        message = f"\n\n{named.error}: {named.message}" if named.message else ""
        return f"```text\n{named.check.text}\n```{message}"
    return _dtypes(facts, word)


def _dtypes(facts: Facts, word: str) -> str | None:
    return facts.dtype_sets().get(word)


def kernel_text(place: Place, facts: Facts, word: str) -> str | None:
    key = (place.key or "").split(",")[0].strip()
    found = [kernel for kernel in facts.kernels(key) if kernel.symbol == word]
    if not found:
        return None
    return "\n".join(f"```cpp\n{k.signature or k.symbol}\n```\n`{k.path}:{k.line}`" for k in found)


def operators_text(operators: tuple[Operator, ...]) -> str | None:
    if not operators:
        return None
    schemas = "\n".join(map(str, operators))
    summary = operators[0].doc.split("\n\n")[0]
    return f"```text\n{schemas}\n```\n{summary}"


def _answer(span: Span, markdown: str | None) -> Hover | None:
    return Hover(span, markdown) if markdown else None
