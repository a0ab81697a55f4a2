"""An editor without a screen: the client of pygls, which starts the server as a process."""

from __future__ import annotations

import asyncio
import os
import queue
import sys
import threading
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

REPOSITORY = Path(__file__).resolve().parents[2]
Answer = TypeVar("Answer")


SERVER = ("-m", "codegen", "lsp")


class Editor:
    """Sends what an editor sends, and waits for answers.

    ``server`` are the arguments of Python that start the server, and ``modules`` the folder of its target.
    """

    def __init__(
        self,
        folder: Path,
        encodings: list[types.PositionEncodingKind | str] | None = None,
        server: Sequence[str] = SERVER,
        modules: Path | None = None,
    ) -> None:
        self.server = server
        self.modules = modules
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self.client = LanguageClient("editor", "1")
        self.shown: queue.Queue[types.PublishDiagnosticsParams] = queue.Queue()
        self.messages: list[str] = []
        self._listen()
        self.versions: dict[str, int] = {}
        self.initialized = self._start(folder, encodings)

    def _listen(self) -> None:
        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def show(params: types.PublishDiagnosticsParams) -> None:
            self.shown.put(params)

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def say(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)

    def _start(
        self, folder: Path, encodings: list[types.PositionEncodingKind | str] | None
    ) -> types.InitializeResult:
        paths = [str(path) for path in (REPOSITORY, self.modules) if path is not None]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        self.wait(self.client.start_io(sys.executable, *self.server, cwd=folder, env=environment))
        general = types.GeneralClientCapabilities(position_encodings=encodings)
        answer: types.InitializeResult = self.wait(
            self.client.initialize_async(
                types.InitializeParams(
                    capabilities=types.ClientCapabilities(general=general), root_uri=folder.as_uri()
                )
            )
        )
        self.client.initialized(types.InitializedParams())
        return answer

    def wait(self, answer: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run_coroutine_threadsafe(answer, self._loop).result(60)

    def stop(self) -> int | None:
        """Ends the server as editors do. Returns its exit code."""
        self.wait(self.client.shutdown_async(None))
        self.client.exit(None)
        server = self.client._server
        assert server is not None
        self.wait(asyncio.wait_for(server.wait(), 30))
        self._loop.call_soon_threadsafe(self._loop.stop)
        return server.returncode

    # Texts

    def open(self, path: Path, text: str) -> str:
        """Returns the file's URI."""
        uri = path.as_uri()
        self.versions[uri] = 1
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "yaml", 1, text))
        )
        return uri

    def type(self, uri: str, text: str) -> int:
        """Replaces the text. Returns its version."""
        self.versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        return self.versions[uri]

    def save(self, uri: str) -> None:
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def close(self, uri: str) -> None:
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        )

    def diagnostics(self, uri: str, version: int | None = None) -> list[types.Diagnostic]:
        """The next ones of the file, of this version unless it is None."""
        while True:
            shown = self.shown.get(timeout=60)
            if shown.uri == uri and (version is None or shown.version == version):
                return list(shown.diagnostics)

    # Questions

    def at(self, uri: str, line: int, character: int) -> dict[str, Any]:
        return {
            "text_document": types.TextDocumentIdentifier(uri),
            "position": types.Position(line, character),
        }
