"""The page of one operator: facts for the template ``operator.md``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from tools.site.docstrings import to_markdown
from tools.site.formulas import displayed, typeset
from tools.site.operators.catalogue import Subject
from tools.site.operators.curves import curves_of
from tools.site.operators.declared import (
    Declared,
    Derivative,
    ExpressionError,
    Node,
    Operator,
    derivative_latex,
    is_numeric,
    python_signatures,
    readable_latex,
    requirement_text,
    samples_places,
)
from tools.site.operators.generated import Generated, Part
from tools.site.operators.kernels import Served, kernels_of
from tools.site.operators.support import COLUMNS, Row, notes, rows_of
from tools.site.plot import svg
from tools.site.reference.names import AddressBook
from tools.site.signatures import in_lines
from tools.site.sources import Sources


@dataclass(frozen=True)
class Slope:
    """A derivative: as MathML if the formula is one of numbers, else as the entry writes it."""

    inputs: str
    typeset: str
    text: str


@dataclass(frozen=True)
class Condition:
    text: str
    error: str
    message: str


@dataclass(frozen=True)
class Sample:
    place: str
    link: str
    code: str


@dataclass(frozen=True)
class Overload:
    """One entry, with all that the page shows of it."""

    name: str
    signatures: tuple[str, ...]
    doc: str
    formula: str
    plot: str
    slopes: tuple[Slope, ...]
    gradient: str
    rows: tuple[Row, ...]
    notes: tuple[tuple[str, str], ...]
    conditions: tuple[Condition, ...]
    kernels: tuple[Served, ...]
    samples: tuple[Sample, ...]
    entry: str
    entry_line: int
    generated: tuple[Part, ...]
    compared: str
    test: str


class Pages:
    """Makes the overloads of subjects."""

    columns = COLUMNS

    def __init__(self, declared: Declared, sources: Sources, generated: Generated, book: AddressBook) -> None:
        self.declared = declared
        self.sources = sources
        self.generated = generated
        self.book = book

    def overloads(self, subject: Subject) -> list[Overload]:
        return [self._overload(operator, subject) for operator in subject.overloads]

    def _overload(self, operator: Operator, subject: Subject) -> Overload:
        rows = rows_of(operator, self.declared)
        curves = curves_of(operator, subject.title.rpartition(".")[2])
        formula = "" if operator.expr is None else _typeset(operator.expr.node)

        return Overload(
            name=operator.name,
            signatures=tuple(_signatures(operator, self.declared)),
            doc=self._text(operator, subject),
            formula=formula,
            plot="" if curves is None else svg(curves),
            slopes=tuple(_slopes(operator)),
            gradient=rows[-1].cells[COLUMNS.index("backward")].how,
            rows=tuple(rows),
            notes=tuple(notes(rows)),
            conditions=tuple(_conditions(operator)),
            kernels=tuple(kernels_of(operator, self.sources)),
            samples=tuple(self._samples(operator)),
            entry=operator.entry_text.rstrip(),
            entry_line=operator.location.line,
            generated=tuple(self.generated.parts_of(operator)),
            compared=_compared(operator),
            test=f'make test ARGS="tests/ops -k {operator.unambiguous_name}"',
        )

    def _text(self, operator: Operator, subject: Subject) -> str:
        own = [argument.spelling for argument in operator.schema.arguments.flat_all]
        link = self.book.linker(f"operators/{subject.slug}.md")
        return typeset(to_markdown(operator.doc, link, [*own, "input", subject.first.base_name]))

    def _samples(self, operator: Operator) -> Iterator[Sample]:
        root = self.declared.root
        for path, line in samples_places(root, operator.samples or ""):
            name = path.relative_to(root).as_posix()
            yield Sample(f"{name}:{line}", self.sources.link(name, line), self.sources.excerpt(name, line))


def _signatures(operator: Operator, declared: Declared) -> Iterator[str]:
    """Without the place of a function written in Python, which ``explain`` adds as a comment."""
    for signature in python_signatures(operator, declared.root):
        yield in_lines(signature.partition("  #")[0])


def _typeset(node: Node) -> str:
    return displayed(readable_latex(node))


def _typeset_if_numeric(node: Node) -> str:
    """Empty for formulas that call methods or other operators, which read better as code."""
    if not is_numeric(node):
        return ""
    try:
        return _typeset(node)
    except ExpressionError:
        return ""


def _slopes(operator: Operator) -> Iterator[Slope]:
    if operator.expr is not None and not operator.derivatives:
        for argument in operator.tensor_arguments:
            try:
                yield Slope(
                    argument.spelling, displayed(derivative_latex(operator.expr.node, argument.name)), ""
                )
            except ExpressionError as error:
                yield Slope(argument.spelling, "", str(error))
    for derivative in operator.derivatives:
        yield _written(derivative)


def _written(derivative: Derivative) -> Slope:
    names = ", ".join(derivative.inputs)
    if derivative.formula is None:
        return Slope(names, "", "not differentiable")
    return Slope(names, _typeset_if_numeric(derivative.formula.node), derivative.formula.text)


def _conditions(operator: Operator) -> Iterator[Condition]:
    for requirement in operator.requires:
        text = requirement_text(requirement.check.node)
        form = f" ({requirement.form} only)" if requirement.form else ""
        yield Condition(f"{text}{form}", requirement.error, escape(requirement.message or ""))


def _compared(operator: Operator) -> str:
    if operator.expr is not None:
        return "Values are compared with the formula in NumPy, and with PyTorch where it has the operator."
    if operator.reference is not None:
        return (
            f"Values are compared with {operator.reference.text}, and with PyTorch where it has the operator."
        )
    return "Values are compared with PyTorch."
