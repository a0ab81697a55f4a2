"""The functions in C++ that serve an operator, and where they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tools.site.operators.declared import Operator, runs_on_host
from tools.site.sources import Sources


@dataclass(frozen=True)
class Served:
    """A kernel of some dispatch keys. ``link`` and ``code`` are empty for what is generated."""

    keys: str
    kernel: str
    place: str
    link: str = ""
    code: str = ""


def kernels_of(operator: Operator, sources: Sources) -> list[Served]:
    return list(_served(operator, sources))


def _served(operator: Operator, sources: Sources) -> Iterator[Served]:
    written: dict[tuple[str, str, int], list[str]] = {}
    for entry in operator.dispatch:
        if entry.definition is not None:
            place = (entry.kernel, entry.definition.path, entry.definition.line)
            written.setdefault(place, []).append(entry.key)
    for (kernel, path, line), keys in written.items():
        yield _at(", ".join(keys), kernel, path, line, sources)

    has_cuda = operator.dispatch_for("CUDA") is not None
    if operator.expr is not None:
        yield Served(
            "CPU" if has_cuda else "CPU, CUDA",
            f"{operator.unambiguous_name}_kernel",
            "printed from the formula",
        )
    elif runs_on_host(operator):
        yield Served("CUDA", "", "the CPU's kernel, on copies in host memory")

    if operator.shape is not None and operator.shape_definition is not None:
        found = operator.shape_definition
        yield _at("shape rule", operator.shape, found.path, found.line, sources)


def _at(keys: str, kernel: str, path: str, line: int, sources: Sources) -> Served:
    return Served(keys, kernel, f"{path}:{line}", sources.link(path, line), sources.excerpt(path, line))
