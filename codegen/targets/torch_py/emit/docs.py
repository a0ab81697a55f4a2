"""``docs/operators/<Topic>.md``: one page of documentation for each topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from codegen.expressions import latex, requirement_text
from codegen.model import Operator
from codegen.model.operator import Requirement
from codegen.targets.torch_py.analysis.argument_names import as_spelled
from codegen.targets.torch_py.analysis.gradient_kind import gradient_kind
from codegen.targets.torch_py.emit.bindings import Shard
from codegen.targets.torch_py.emit.notices import deprecation_of
from codegen.targets.torch_py.emit.places import place_of


class Page(NamedTuple):
    """The documentation of one operator."""

    name: str
    anchor: str
    place: str
    signatures: tuple[str, ...]
    doc: str
    formula: str
    dtypes: str
    requirements: tuple[str, ...]
    gradient: str
    derivatives: tuple[tuple[str, str], ...]
    since: str | None
    notice: str
    former_names: tuple[str, ...]


def pages(operators: Sequence[Operator], signatures: Mapping[str, tuple[str, ...]]) -> list[Page]:
    """The documentation of all operators but private ones."""
    return [
        _page(o, signatures.get(o.unambiguous_name, ())) for o in operators if o.python_module != "private"
    ]


def signatures_of(shards: Iterable[Shard]) -> dict[str, tuple[str, ...]]:
    """Python signatures, as ``torch.add(Tensor input, ...)``, by operator."""
    found: dict[str, tuple[str, ...]] = {}
    for shard in shards:
        for callable_ in shard.callables:
            if callable_.notice is not None:
                continue  # a former name: the page says so in a line of its own
            for overload in callable_.overloads:
                name = overload.body.function.operator.unambiguous_name
                found[name] = (*found.get(name, ()), f"{callable_.owner}.{overload.text}")
    return found


def _page(operator: Operator, signatures: tuple[str, ...]) -> Page:
    spelled = {a.name: a.spelling for a in operator.schema.arguments}.__getitem__
    derivatives = tuple(
        (", ".join(spelled(n) for n in d.inputs), d.formula.text)
        for d in operator.derivatives
        if d.formula is not None
    )
    notice = deprecation_of(operator)
    formula = ""
    if operator.expr is not None:
        formula = latex(as_spelled(operator.expr.node, operator))

    return Page(
        name=operator.name,
        anchor=operator.unambiguous_name,
        place=place_of(operator),
        signatures=signatures,
        doc=operator.doc.strip(),
        formula=formula,
        dtypes=", ".join(operator.dtypes),
        requirements=tuple(_requirement(operator, r) for r in operator.requires),
        gradient=_gradient(operator),
        derivatives=derivatives,
        since=operator.since,
        notice=notice.text if notice else "",
        former_names=tuple(f"{rename.name} (until {rename.since})" for rename in operator.renamed),
    )


def _requirement(operator: Operator, requirement: Requirement) -> str:
    text = requirement_text(as_spelled(requirement.check.node, operator))
    return f"{text} ({requirement.form} only)" if requirement.form else text


def _gradient(operator: Operator) -> str:
    """Where the gradient comes from; empty if the page lists formulas for it."""
    kind = gradient_kind(operator)
    if kind == "node":
        return "through the view" if not operator.derivatives else ""
    if kind == "decomposed":
        return "that of the operators it is made of"
    return f"none: {operator.non_differentiable or 'it takes no tensor that could have one'}"
