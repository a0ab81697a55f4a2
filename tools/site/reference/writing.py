"""Writes the reference: a page for each module, for each class, and for Tensor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.site.docstrings import spoken_as_html, summary_of, to_markdown
from tools.site.reference.members import (
    MODULES,
    Member,
    full_name,
    lineage,
    members_of,
    methods_of,
    module_of,
    signature_of,
)
from tools.site.reference.names import AddressBook
from tools.site.rendering import render
from tools.site.signatures import in_lines


@dataclass(frozen=True)
class Row:
    """A line of a table of members."""

    name: str
    link: str
    summary: str


@dataclass(frozen=True)
class Description:
    """A function or method with its documentation."""

    name: str
    anchor: str
    signature: str
    text: str


@dataclass
class Reference:
    """``operators`` are the pages of the explorer by the full name of a function or method."""

    folder: Path
    book: AddressBook
    operators: Mapping[str, str]

    def __post_init__(self) -> None:
        self.modules: dict[str, list[Member]] = {path: members_of(module_of(path)) for path in MODULES}
        self.classes: dict[type, str] = {}
        for name, page in self.operators.items():
            self.book.add(name, page)
        for path, members in self.modules.items():
            self._register(path, members)

    def _register(self, path: str, members: Sequence[Member]) -> None:
        """A class has its page below the first module that has it."""
        module = full_name(path)
        for member in members:
            name = full_name(path, member.name)
            if member.refuses:
                continue
            if member.kind == "class":
                own = self.classes.setdefault(member.value, name)
                self.book.add(name, f"reference/{own}.md")
            elif member.kind == "function" and name not in self.operators:
                self.book.add(name, f"reference/{module}.md#{member.name}")

    def write(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for path, members in self.modules.items():
            self._write_module(path, members)
        for cls, name in self.classes.items():
            self._write_class(cls, name)
        text = render("reference.md", modules=[(full_name(p), _doc(module_of(p))) for p in MODULES])
        (self.folder / "index.md").write_text(text, encoding="utf-8")

    def _write_module(self, path: str, members: Sequence[Member]) -> None:
        module = full_name(path)
        functions = [m for m in members if m.kind == "function" and not m.refuses]
        own = [m for m in functions if full_name(path, m.name) not in self.operators]

        text = render(
            "module.md",
            module=module,
            doc=self._text(module_of(path).__doc__ or "", f"reference/{module}.md", module),
            classes=[self._row(path, m) for m in members if m.kind == "class" and not m.refuses],
            functions=[self._row(path, m) for m in functions],
            values=[(m.name, _shown(m.value)) for m in members if m.kind == "value"],
            refusing=[m.name for m in members if m.refuses],
            descriptions=[self._described(m, module, f"reference/{module}.md") for m in own],
        )
        (self.folder / f"{module}.md").write_text(text, encoding="utf-8")

    def _row(self, path: str, member: Member) -> Row:
        page = self.book.pages[full_name(path, member.name)]
        return Row(member.name, _address(page), spoken_as_html(summary_of(member.doc)))

    def _described(self, member: Member, module: str, page: str) -> Description:
        signature = signature_of(member.name, member.value)
        return Description(
            name=member.name,
            anchor=member.name,
            signature=in_lines(signature),
            text=self._text(member.doc, page, module, _arguments(signature)),
        )

    def _write_class(self, cls: type, name: str) -> None:
        page = f"reference/{name}.md"
        module = name.rpartition(".")[0]
        own, bases = lineage(cls, self.classes)
        methods = {m.name: m for part in reversed(own) for m in methods_of(part)}
        shown = [m for m in methods.values() if f"{name}.{m.name}" not in self.operators]
        if len(own) > 1:
            shown.sort(key=lambda member: member.name)
        signature = signature_of(cls.__name__, cls)

        text = render(
            "class.md",
            name=name,
            module=module,
            bases=[self._base(base) for base in cls.__bases__ if base is not object],
            signature=in_lines(signature),
            doc=self._text(cls.__doc__ or "", page, module, _arguments(signature)),
            methods=[self._described(m, module, page) for m in shown if m.doc],
            undocumented=[signature_of(m.name, m.value) for m in shown if not m.doc],
            inherited=list(self._inherited(bases, set(methods))),
            operators=self._operators_of(name),
        )
        (self.folder / f"{name}.md").write_text(text, encoding="utf-8")

    def _inherited(self, bases: Sequence[type], seen: set[str]) -> Iterator[tuple[str, list[Row]]]:
        """Each public base with those members that no class before it has."""
        for base in bases:
            members = [m for m in methods_of(base) if m.name not in seen]
            seen.update(m.name for m in members)
            if members:
                yield base.__name__, [Row(m.name, self._place(base, m), "") for m in members]

    def _place(self, base: type, member: Member) -> str:
        """Of a method that is an operator, the operator's page."""
        operator = self.operators.get(f"{self.classes[base]}.{member.name}")
        if operator is not None:
            return _address(operator)
        return self._base(base).link + (f"#{member.name}" if member.doc else "")

    def _operators_of(self, name: str) -> list[Row]:
        """The methods that are operators: those of Tensor."""
        prefix = f"{name}."
        found = [(n.removeprefix(prefix), page) for n, page in self.operators.items() if n.startswith(prefix)]
        return [Row(method, _address(page), "") for method, page in sorted(found)]

    def _base(self, base: type) -> Row:
        name = self.classes.get(base)
        return Row(base.__name__, f"{name}.html" if name else "", "")

    def _text(self, doc: str, page: str, module: str, own: Sequence[str] = ()) -> str:
        return to_markdown(doc, self.book.linker(page, module), own)


def _address(page: str) -> str:
    """Of a page as HTML, from a page of the reference."""
    path, _, anchor = page.partition("#")
    path = path.replace(".md", ".html")
    path = path.removeprefix("reference/") if path.startswith("reference/") else f"../{path}"
    return f"{path}#{anchor}" if anchor else path


def _arguments(signature: str) -> list[str]:
    return signature.replace("(", " ").replace(":", " ").replace(",", " ").replace("=", " ").split()


def _shown(value: Any) -> str:
    text = repr(value).replace("torch_py.", "torch.")
    return text if len(text) <= 100 else f"{text[:97]}..."


def _doc(module: Any) -> str:
    return spoken_as_html(summary_of(module.__doc__))
