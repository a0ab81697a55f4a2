"""Seconds until an editor has what it asks the language server of `native_functions.yaml` for."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from .table import format_table, write_json

ROOT = Path(__file__).resolve().parents[2]
OPERATORS = ROOT / "native_functions.yaml"
# A mistake that is typed and taken back, in an entry in the middle of the file.
KEYS = ("      structure: pointwise\n", "      structur: pointwise\n")


class Client:
    """Speaks the protocol with the server, one message after another."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "codegen", "lsp"]
        self.server = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.identifier = 0
        self.version = 0

    def send(self, method: str, parameters: Any, **more: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": parameters, **more}
        body = json.dumps(message).encode()
        assert self.server.stdin is not None
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.server.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.server.stdout is not None
        length = 0
        while line := self.server.stdout.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        found: dict[str, Any] = json.loads(self.server.stdout.read(length))
        return found

    def ask(self, method: str, parameters: Any) -> Any:
        """The answer; notifications that precede it are ignored."""
        self.identifier += 1
        self.send(method, parameters, id=self.identifier)
        while (message := self.receive()).get("id") != self.identifier:
            pass
        return message.get("result")

    def diagnostics(self) -> list[Any]:
        """The next ones of the text sent last."""
        while True:
            message = self.receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                found = message["params"]
                if found.get("version") == self.version:
                    return list(found["diagnostics"])

    def open(self, uri: str, text: str) -> None:
        self.version = 1
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self.send("textDocument/didOpen", {"textDocument": document})

    def type(self, uri: str, text: str) -> None:
        self.version += 1
        document = {"uri": uri, "version": self.version}
        self.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def stop(self) -> None:
        self.ask("shutdown", None)
        self.send("exit", None)
        self.server.wait(30)


def measure(times: int) -> dict[str, float]:
    """Median seconds of each request."""
    uri = OPERATORS.as_uri()
    text = OPERATORS.read_text(encoding="utf-8")

    start = time.perf_counter()
    client = Client()
    client.ask("initialize", {"processId": None, "rootUri": ROOT.as_uri(), "capabilities": {}})
    found = {"start of the server": time.perf_counter() - start}
    client.send("initialized", {})

    start = time.perf_counter()
    client.open(uri, text)
    assert client.diagnostics() == [], "native_functions.yaml has problems: python -m codegen check"
    found["opening the file: diagnostics"] = time.perf_counter() - start

    found.update(measure_diagnostics(client, uri, text, times))
    found.update(measure_questions(client, uri, text, times))
    client.stop()
    return found


def measure_diagnostics(client: Client, uri: str, text: str, times: int) -> dict[str, float]:
    at = text.index(KEYS[0], len(text) // 2)
    wrong = text[:at] + KEYS[1] + text[at + len(KEYS[0]) :]
    typed = []
    for index in range(times):
        start = time.perf_counter()
        client.type(uri, text if index % 2 else wrong)
        assert bool(client.diagnostics()) != bool(index % 2)
        typed.append(time.perf_counter() - start)
        client.diagnostics()  # of the whole file, after a pause

    saved = []
    for _ in range(times):
        start = time.perf_counter()
        client.send("textDocument/didSave", {"textDocument": {"uri": uri}})
        client.diagnostics()
        saved.append(time.perf_counter() - start)
    return {
        "a keystroke: diagnostics": statistics.median(typed),
        "saving: diagnostics of the whole file": statistics.median(saved),
    }


def measure_questions(client: Client, uri: str, text: str, times: int) -> dict[str, float]:
    """About an entry in the middle of the file."""
    key = text.index(KEYS[0], len(text) // 2)
    entry = text.rfind("- func:", 0, key)
    document = {"uri": uri}
    at_key = {"textDocument": document, "position": {"line": text.count("\n", 0, key), "character": 8}}
    at_name = {"textDocument": document, "position": {"line": text.count("\n", 0, entry), "character": 14}}

    found = {}
    for title, question, place in (
        ("completion of a key", "completion", at_key),
        ("hover: explain", "hover", at_name),
        ("definition", "definition", at_name),
        ("symbols", "documentSymbol", {"textDocument": document}),
    ):
        seconds = []
        for _ in range(times):
            start = time.perf_counter()
            assert client.ask(f"textDocument/{question}", place), title
            seconds.append(time.perf_counter() - start)
        found[title] = statistics.median(seconds)
    return found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmark editor", description=__doc__)
    parser.add_argument("--times", type=int, default=9, help="default: %(default)s")
    parser.add_argument("--json", type=Path, metavar="PATH")
    options = parser.parse_args(arguments)

    found = measure(options.times)
    print(format_table(["", "ms"], [[title, f"{1e3 * seconds:.0f}"] for title, seconds in found.items()]))
    write_json(options.json, {"editor": found})
    return 0
