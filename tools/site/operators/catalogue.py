"""The operators by the page they are on: the overloads of a name share one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tools.site.operators.declared import Declared, Operator

FUNCTIONAL = "nn.functional"


@dataclass(frozen=True)
class Subject:
    """What one page is about."""

    slug: str  # the name of the page: linalg_det
    title: str  # what a user writes after `torch.`: linalg.det
    overloads: tuple[Operator, ...]

    @property
    def first(self) -> Operator:
        return self.overloads[0]

    @property
    def topic(self) -> str:
        return self.first.topic

    @property
    def chapter(self) -> str:
        return self.first.chapter

    @property
    def is_of_lists(self) -> bool:
        """Whether it follows from the operator of single tensors that an entry's ``foreach`` names."""
        return self.first.each is not None

    @property
    def summary(self) -> str:
        """The first sentence of the documentation."""
        text = " ".join(self.first.doc.split("\n\n")[0].split())
        end = text.find(". ")
        return text if end < 0 else text[: end + 1]


def subjects_of(declared: Declared) -> list[Subject]:
    """One for each public name, in the order of the file."""
    groups: dict[tuple[str, str], list[Operator]] = {}
    for operator in declared.public:
        groups.setdefault((operator.python_module, operator.base_name), []).append(operator)
    return [
        Subject(slug=name, title=_title(operators[0]), overloads=tuple(operators))
        for (_, name), operators in groups.items()
    ]


def by_topic(subjects: Iterable[Subject]) -> dict[str, list[Subject]]:
    found: dict[str, list[Subject]] = {}
    for subject in subjects:
        found.setdefault(subject.topic, []).append(subject)
    return found


def by_chapter(subjects: Iterable[Subject]) -> dict[str, list[Subject]]:
    found: dict[str, list[Subject]] = {}
    for subject in subjects:
        found.setdefault(subject.chapter, []).append(subject)
    return found


def _title(operator: Operator) -> str:
    """``linalg.det``, ``nn.functional.gelu``, ``add``, or ``Tensor.copy_`` for what is a method only."""
    if operator.python_module == "nn":
        return f"{FUNCTIONAL}.{operator.python_name}"
    if operator.python_module != "torch":
        return f"{operator.python_module}.{operator.python_name}"
    return operator.python_name if operator.is_function else f"Tensor.{operator.python_name}"
