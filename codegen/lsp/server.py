"""The language server: the protocol's requests, each answered by the module of its name.

Texts arrive as a whole after each change. Changes of ranges would be applied by pygls, which takes U+2028 and
a form feed for the end of a line, as editors do not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

import codegen.target
from codegen.lsp.checking import Finding
from codegen.lsp.completion import complete
from codegen.lsp.conversion import (
    by_file,
    lines_of_file,
    to_completion_list,
    to_diagnostic,
    to_hover,
    to_location,
    to_range,
    to_symbol,
    to_text_edit,
)
from codegen.lsp.definition import Target, definitions, generated
from codegen.lsp.files import Bases
from codegen.lsp.hover import hover
from codegen.lsp.places import Place, place_at
from codegen.lsp.ranges import correction
from codegen.lsp.rename import RenameError, argument_at, rename
from codegen.lsp.session import Session
from codegen.lsp.symbols import symbols

_TRIGGERS = [" ", ".", "{", ",", "("]


class Positioned(Protocol):
    """Parameters of a request about a place in a text."""

    @property
    def text_document(self) -> types.TextDocumentIdentifier: ...

    @property
    def position(self) -> types.Position: ...


class Server(LanguageServer):
    """The open files."""

    def __init__(self, target: codegen.target.Target, base: Path | None = None) -> None:
        super().__init__("codegen", _version(), types.TextDocumentSyncKind.Full)
        self.bases = Bases(target, base)
        self.sessions: dict[str, Session] = {}

    @property
    def encoding(self) -> str:
        """What columns count, as agreed with the editor."""
        return str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))

    def session(self, uri: str) -> Session:
        """That of an open file; a new one if the editor asks about a file that it has not opened."""
        if uri not in self.sessions:
            path = Path(to_fs_path(uri) or "untitled.yaml").absolute()
            self.sessions[uri] = Session(path, self.bases, self.encoding, self.publish)
        return self.sessions[uri]

    def place(self, params: Positioned) -> tuple[Session, Place]:
        session = self.session(params.text_document.uri)
        offset = session.lines.offset(params.position.line, params.position.character)
        return session, place_at(session.lines, offset)

    def publish(self, session: Session, findings: tuple[Finding, ...]) -> None:
        """Shows the findings of the file, and those that are in the C++ that its entries name."""
        found = by_file(findings)
        own = found.pop(session.path.name, [])
        uri = next(uri for uri, known in self.sessions.items() if known is session)
        self._show(uri, [to_diagnostic(f, session.lines) for f in own], session.version)

        for file in session.published - found.keys():
            self._show(_uri(session.path.parent / file), [])
        for file, others in found.items():
            lines = lines_of_file(session.path.parent / file, self.encoding)
            self._show(_uri(session.path.parent / file), [to_diagnostic(f, lines) for f in others])
        session.published = set(found)

    def _show(self, uri: str, diagnostics: list[types.Diagnostic], version: int | None = None) -> None:
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics, version=version)
        )


def make_server(target: codegen.target.Target, base: Path | None = None) -> Server:
    """Answers for the files of ``target``. ``base`` is the file that libraries and backends extend; by
    default, that of the target."""
    server = Server(target, base)
    for method, answer in _ANSWERS.items():
        options = _OPTIONS.get(method)
        server.feature(method, options)(answer)
    return server


def _version() -> str:
    try:
        return version("torch_py")
    except PackageNotFoundError:
        return "source"


def _uri(path: Path) -> str:
    return from_fs_path(str(path)) or ""


# Texts


def _did_open(server: Server, params: types.DidOpenTextDocumentParams) -> None:
    document = params.text_document
    server.session(document.uri).change(document.text, document.version)


def _did_change(server: Server, params: types.DidChangeTextDocumentParams) -> None:
    document = params.text_document
    if params.content_changes:
        server.session(document.uri).change(params.content_changes[-1].text, document.version)


def _did_save(server: Server, params: types.DidSaveTextDocumentParams) -> None:
    server.session(params.text_document.uri).check()


def _did_close(server: Server, params: types.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    session = server.sessions.get(uri)
    if session is not None:
        session.close()
        server.publish(session, ())
        del server.sessions[uri]


def _files_changed(server: Server, params: types.DidChangeWatchedFilesParams) -> None:
    for session in server.sessions.values():
        session.check()


async def _initialized(server: Server, params: types.InitializedParams) -> None:
    """Asks to be told of changes in kernels and samples, if the editor can do that."""
    workspace = server.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace is not None else None
    watched = server.bases.editing.watched
    if not watched or watching is None or not watching.dynamic_registration:
        return
    options = types.DidChangeWatchedFilesRegistrationOptions(
        [types.FileSystemWatcher(glob_pattern=pattern) for pattern in watched]
    )
    registration = types.Registration("sources", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
    await server.client_register_capability_async(types.RegistrationParams([registration]))


# Questions


def _completion(server: Server, params: types.CompletionParams) -> types.CompletionList:
    session, place = server.place(params)
    return to_completion_list(complete(place, session.facts()), session.lines)


async def _hover(server: Server, params: types.HoverParams) -> types.Hover | None:
    session, place = server.place(params)
    found = await asyncio.to_thread(hover, place, session.facts())
    return to_hover(found, place.lines) if found is not None else None


def _definition(server: Server, params: types.DefinitionParams) -> list[types.Location]:
    session, place = server.place(params)
    return _locations(server, definitions(place, session.facts()))


async def _implementation(server: Server, params: types.ImplementationParams) -> list[types.Location]:
    session, place = server.place(params)
    return _locations(server, await asyncio.to_thread(generated, place, session.facts()))


def _locations(server: Server, targets: Iterable[Target]) -> list[types.Location]:
    return [to_location(target, server.encoding) for target in targets]


def _document_symbol(server: Server, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    lines = server.session(params.text_document.uri).lines
    return [to_symbol(symbol, lines) for symbol in symbols(lines)]


def _prepare_rename(server: Server, params: types.PrepareRenameParams) -> types.Range | None:
    session, place = server.place(params)
    span = argument_at(place)
    return to_range(session.lines, span) if span is not None else None


def _rename(server: Server, params: types.RenameParams) -> types.WorkspaceEdit:
    session, place = server.place(params)
    try:
        edits = rename(place, session.facts(), params.new_name)
    except RenameError as error:
        raise JsonRpcException(str(error), types.LSPErrorCodes.RequestFailed) from error
    uri = params.text_document.uri
    return types.WorkspaceEdit(changes={uri: [to_text_edit(session.lines, edit) for edit in edits]})


def _code_action(server: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    uri = params.text_document.uri
    session = server.session(uri)
    actions = []

    for finding in by_file(session.findings).get(session.path.name, []):
        shown = to_diagnostic(finding, session.lines)
        is_here = shown.range.start <= params.range.end and params.range.start <= shown.range.end
        found = correction(finding.diagnostic, session.lines) if is_here else None
        if found is not None:
            title, edit = found
            changes = types.WorkspaceEdit(changes={uri: [to_text_edit(session.lines, edit)]})
            quick = types.CodeActionKind.QuickFix
            actions.append(
                types.CodeAction(title, quick, diagnostics=[shown], is_preferred=True, edit=changes)
            )

    return actions


_ANSWERS: dict[str, Callable[..., Any]] = {
    types.INITIALIZED: _initialized,
    types.TEXT_DOCUMENT_DID_OPEN: _did_open,
    types.TEXT_DOCUMENT_DID_CHANGE: _did_change,
    types.TEXT_DOCUMENT_DID_SAVE: _did_save,
    types.TEXT_DOCUMENT_DID_CLOSE: _did_close,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: _files_changed,
    types.TEXT_DOCUMENT_COMPLETION: _completion,
    types.TEXT_DOCUMENT_HOVER: _hover,
    types.TEXT_DOCUMENT_DEFINITION: _definition,
    types.TEXT_DOCUMENT_IMPLEMENTATION: _implementation,
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: _document_symbol,
    types.TEXT_DOCUMENT_PREPARE_RENAME: _prepare_rename,
    types.TEXT_DOCUMENT_RENAME: _rename,
    types.TEXT_DOCUMENT_CODE_ACTION: _code_action,
}
_OPTIONS = {
    types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(trigger_characters=_TRIGGERS),
    types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions([types.CodeActionKind.QuickFix]),
}
