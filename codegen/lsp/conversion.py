"""Answers as the protocol has them: offsets become lines and columns, words become numbers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path

from codegen.diagnostics import Location
from codegen.lsp.checking import ERROR, INFORMATION, WARNING, Finding
from codegen.lsp.completion import Completions
from codegen.lsp.definition import Target
from codegen.lsp.hover import Hover
from codegen.lsp.items import Item
from codegen.lsp.ranges import span_of
from codegen.lsp.symbols import Symbol
from codegen.lsp.text import Edit, Lines, Span, normalised

SOURCE = "codegen"
KINDS = {
    "key": types.CompletionItemKind.Property,
    "enum": types.CompletionItemKind.EnumMember,
    "constant": types.CompletionItemKind.Constant,
    "function": types.CompletionItemKind.Function,
    "variable": types.CompletionItemKind.Variable,
    "property": types.CompletionItemKind.Method,
    "reference": types.CompletionItemKind.Reference,
    "type": types.CompletionItemKind.TypeParameter,
}
SYMBOL_KINDS = {
    "section": types.SymbolKind.Namespace,
    "topic": types.SymbolKind.Module,
    "entry": types.SymbolKind.Function,
    "constant": types.SymbolKind.Constant,
}
_SEVERITIES = {
    ERROR: types.DiagnosticSeverity.Error,
    WARNING: types.DiagnosticSeverity.Warning,
    INFORMATION: types.DiagnosticSeverity.Information,
}


def to_position(lines: Lines, offset: int) -> types.Position:
    line, character = lines.position(offset)
    return types.Position(line, character)


def to_range(lines: Lines, span: Span) -> types.Range:
    return types.Range(to_position(lines, span.start), to_position(lines, span.end))


def to_text_edit(lines: Lines, edit: Edit) -> types.TextEdit:
    return types.TextEdit(to_range(lines, edit.span), edit.text)


def to_diagnostic(finding: Finding, lines: Lines) -> types.Diagnostic:
    found = finding.diagnostic
    return types.Diagnostic(
        range=to_range(lines, span_of(found, lines)),
        message=f"{found.message}; {found.hint}",
        severity=_SEVERITIES[finding.severity],
        source=SOURCE,
        code=found.operator,
    )


def lines_of_file(path: Path, encoding: str) -> Lines:
    """Of a source that a diagnostic is about; of no text if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    return Lines(normalised(text), encoding)


def by_file(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """The findings of each file, as diagnostics name it."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        location: Location = finding.diagnostic.location
        found.setdefault(location.file, []).append(finding)
    return found


def to_completion_list(completions: Completions, lines: Lines) -> types.CompletionList:
    place = to_range(lines, completions.span)

    def converted(item: Item) -> types.CompletionItem:
        meaning = types.MarkupContent(types.MarkupKind.Markdown, item.meaning) if item.meaning else None
        return types.CompletionItem(
            label=item.label,
            kind=KINDS[item.kind],
            detail=item.detail or None,
            documentation=meaning,
            sort_text=item.sort or None,
            filter_text=item.label,
            text_edit=types.TextEdit(place, item.insert or item.label),
        )

    return types.CompletionList(completions.is_incomplete, [converted(item) for item in completions.items])


def to_hover(hover: Hover, lines: Lines) -> types.Hover:
    content = types.MarkupContent(types.MarkupKind.Markdown, hover.markdown)
    return types.Hover(content, to_range(lines, hover.span))


def to_location(target: Target, encoding: str) -> types.Location:
    lines = lines_of_file(target.path, encoding) if target.column else None
    character = 0
    if lines is not None and target.line < len(lines):
        _, character = lines.position(lines.start(target.line) + target.column)
    position = types.Position(target.line, character)
    return types.Location(from_fs_path(str(target.path)) or "", types.Range(position, position))


def to_symbol(symbol: Symbol, lines: Lines) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=symbol.name,
        kind=SYMBOL_KINDS[symbol.kind],
        detail=symbol.detail or None,
        range=to_range(lines, symbol.span),
        selection_range=to_range(lines, symbol.name_span),
        children=[to_symbol(child, lines) for child in symbol.children],
    )
