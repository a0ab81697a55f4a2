"""A headless Chromium, driven through chromedriver's HTTP interface; no package is needed for it."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


def is_installed() -> bool:
    return shutil.which("chromedriver") is not None and shutil.which("chromium") is not None


class Browser:
    """One tab."""

    def __init__(self, address: str, profile: str) -> None:
        self._address = address
        wanted = {
            "goog:chromeOptions": {
                "args": [*_FLAGS, f"--user-data-dir={profile}"],
                "binary": shutil.which("chromium"),
            },
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._address += f"/session/{answer['sessionId']}"

    def open(self, url: str) -> None:
        self._call("POST", "/url", {"url": url})

    def run(self, script: str, *arguments: object) -> Any:
        """The value that a function body in JavaScript returns."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait_for(self, script: str, seconds: float = 10.0) -> Any:
        """The first value that is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.run(script)
            if value:
                return value
            time.sleep(0.05)
        raise TimeoutError(f"not within {seconds:g} seconds: {script}")

    def resize(self, width: int, height: int) -> None:
        """The size of the page itself, which no frame of a window limits."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.command("Emulation.setDeviceMetricsOverride", size)

    def command(self, name: str, parameters: dict[str, Any]) -> Any:
        return self._call("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def log(self) -> list[dict[str, Any]]:
        """Messages of the console since the last call."""
        found: list[dict[str, Any]] = self._call("POST", "/se/log", {"type": "browser"})
        return found

    def requests(self) -> list[str]:
        """Addresses that were asked for since the last call."""
        entries = self._call("POST", "/se/log", {"type": "performance"})
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._call("GET", "/screenshot")))

    def close(self) -> None:
        self._call("DELETE", "")

    def _call(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._address + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A browser with a new profile, which is closed at the end."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()

        driver = subprocess.Popen(
            ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            _wait_for(port)
            found = Browser(f"http://127.0.0.1:{port}", f"{folder}/profile")
            yield found
            found.close()
        finally:
            driver.terminate()
            driver.wait()


def _wait_for(port: int) -> None:
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.1):
            return
        time.sleep(0.05)
    raise TimeoutError("chromedriver did not start")
