"""The operators by the page they are on: the overloads of a name share one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tools.site.docstrings import spoken_as_html, summary_of
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
        """The first sentence of the documentation, as HTML."""
        return spoken_as_html(summary_of(self.first.doc))


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


def public_names(subject: Subject) -> Iterator[str]:
    """What Python calls its functions and methods: ``torch.special.expit``, ``torch.Tensor.add_``."""
    for operator in subject.overloads:
        yield from _names(operator)


def _names(operator: Operator) -> Iterator[str]:
    module = _module(operator.python_module)
    aliases = [alias.rpartition(".") for alias in operator.aliases]

    if operator.is_function or operator.has_inplace_function:
        for suffix in ("", "_") if operator.has_inplace_function else ("",):
            yield f"torch.{module}{operator.python_name}{suffix}"
        yield from (f"torch.{_module(word) if word else module}{name}" for word, _, name in aliases)

    methods = [operator.python_name, *(name for word, _, name in aliases if not word)]
    if operator.is_method:
        yield from (f"torch.Tensor.{name}" for name in methods)
    if operator.has_inplace_method:
        yield from (f"torch.Tensor.{name}_" for name in methods)


def _module(word: str) -> str:
    """What comes before the name of a function of ``python_module: WORD``."""
    return {"torch": "", "nn": f"{FUNCTIONAL}."}.get(word, f"{word}.")
