"""Runs checks in a process of their own, which a check may end.

`python -m tests.ops.isolated LOG` reads one request a line, {"check": ..., "operator": ..., "limit": ...},
and answers each with a list of problems. LOG holds the call that is being made.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# For the checks of one operator, also on a machine with other work to do.
_SECONDS = 1200.0 if "TORCH_PY_SANITIZED" in os.environ else 120.0
# After an error of a kernel, such as an illegal address, every later call of the process fails.
_LOST_DEVICE = "The process can use this device no longer"


class Isolated:
    """The process and the requests to it. It is started when needed, and again after a crash."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._folder = tempfile.TemporaryDirectory()
        self._log = Path(self._folder.name) / "call.log"
        self._errors = Path(self._folder.name) / "stderr.log"

    def problems(self, check: str, operator: str, limit: int) -> list[str]:
        """The problems that the check ``module.function`` of tests.ops finds with ``operator``."""
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        self._log.write_text(f"{operator}: before the first call")
        process.stdin.write(json.dumps({"check": check, "operator": operator, "limit": limit}) + "\n")
        process.stdin.flush()

        ready, _, _ = select.select([process.stdout], [], [], _SECONDS)
        answer = process.stdout.readline() if ready else ""
        if answer:
            problems: list[str] = json.loads(answer)
            if any(_LOST_DEVICE in problem for problem in problems):
                process.kill()
                process.wait()
                self._process = None
            return problems

        if not ready:
            process.kill()
        status = process.wait()
        self._process = None

        ending = _ending(status) if ready else f"takes more than {_SECONDS:.0f} seconds"
        calling = self._log.read_text(errors="replace")
        return [f"{ending}: {calling}\n{self._errors.read_text()[-2000:]}"]

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            with self._errors.open("w") as errors:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tests.ops.isolated", str(self._log)],
                    cwd=ROOT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                )
        return self._process

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()


def _ending(status: int) -> str:
    if status == -signal.SIGXCPU:
        return "takes too long"
    return f"ends the process with {signal.Signals(-status).name if status < 0 else f'status {status}'}"


def _serve(log_path: str) -> None:
    from tests.ops.operators import all_operators
    from tests.subject import torch

    faulthandler.enable()
    torch.set_num_threads(1)
    torch.backends.cudnn.allow_tf32 = False
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT)
    operators = {str(operator): operator for operator in all_operators()}

    def announce(text: str) -> None:
        os.ftruncate(log, 0)
        os.pwrite(log, text.encode("utf8", "replace"), 0)

    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        module, function = request["check"].split(".")
        check = getattr(importlib.import_module(f"tests.ops.{module}"), function)
        operator = operators[request["operator"]]
        print(json.dumps(check(torch, operator, request["limit"], announce)), flush=True)


if __name__ == "__main__":
    _serve(sys.argv[1])
