"""The settings that docs/editors.md shows, in the editors themselves; skipped where one is not installed.

Each opens a file with a mistake, waits for the problem, and asks for a hover.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.lsp.editor import REPOSITORY
from tests.lsp.project import OPERATORS, write_project

pytest.importorskip("pygls.lsp.server", reason="pygls 2 is not installed")

PAGE = (REPOSITORY / "docs/editors.md").read_text(encoding="utf-8")
MISTAKE = OPERATORS.replace("structure: pointwise", "structure: pointwize", 1)
LINE = MISTAKE[: MISTAKE.index("pointwize")].count("\n")  # from 0
SECONDS = 60

_NEOVIM = """\
local result = {{}}
vim.wait({seconds} * 1000, function() return #vim.diagnostic.get(0) > 0 end, 50)
for _, found in ipairs(vim.diagnostic.get(0)) do
  table.insert(result, {{ line = found.lnum, message = found.message }})
end
local uri = vim.uri_from_bufnr(0)
local place = {{ textDocument = {{ uri = uri }}, position = {{ line = {line}, character = 8 }} }}
local answers = vim.lsp.buf_request_sync(0, 'textDocument/hover', place, {seconds} * 1000)
local hover = ''
for _, answer in pairs(answers or {{}}) do
  hover = hover .. answer.result.contents.value
end
local file = io.open('{answer}', 'w')
file:write(vim.json.encode({{ problems = result, hover = hover }}))
file:close()
vim.cmd('qa!')
"""
_EMACS = """\
(find-file "{path}")
(call-interactively 'eglot)
(let ((end (+ (float-time) {seconds})))
  (while (and (< (float-time) end) (not (flymake-diagnostics)))
    (accept-process-output nil 0.1)
    (unless flymake-mode (flymake-mode 1))
    (flymake-start)))
(goto-char (point-min))
(forward-line {line})
(forward-char 8)
(let* ((server (eglot-current-server))
       (hover (jsonrpc-request server :textDocument/hover (eglot--TextDocumentPositionParams)))
       (value (plist-get (plist-get hover :contents) :value))
       (problems
        (mapcar (lambda (found)
                  `((line . ,(1- (line-number-at-pos (flymake-diagnostic-beg found))))
                    (message . ,(flymake-diagnostic-text found))))
                (flymake-diagnostics))))
  (with-temp-file "{answer}"
    (insert (json-encode `((problems . ,(vconcat problems)) (hover . ,value)))))
  (eglot-shutdown server))
(kill-emacs 0)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file with the mistake, in a project with the Python that the settings name."""
    path = write_project(tmp_path / "project")
    path.write_text(MISTAKE, encoding="utf-8")
    python = path.parent / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return path


def documented(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(text)


def run(command: list[str], file: Path, answer: Path) -> Any:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "HOME": str(answer.parent), "TERM": "dumb"}
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        environment.pop(name, None)
    ended = subprocess.run(
        command, cwd=file.parent, env=environment, capture_output=True, text=True, timeout=4 * SECONDS
    )
    assert answer.exists(), ended.stdout + ended.stderr
    return json.loads(answer.read_text(encoding="utf-8"))


def check(answer: Any) -> None:
    shown = [found["message"] for found in answer["problems"] if found["line"] == LINE]
    assert any("unknown structure 'pointwize'" in message for message in shown), answer
    assert "how results follow from arguments" in answer["hover"], answer


def neovim_version() -> tuple[int, ...]:
    if shutil.which("nvim") is None:
        return (0,)
    shown = subprocess.run(["nvim", "--version"], capture_output=True, text=True).stdout
    found = re.match(r"NVIM v(\d+)\.(\d+)", shown)
    return (int(found[1]), int(found[2])) if found else (0,)


@pytest.mark.skipif(neovim_version() < (0, 11), reason="Neovim 0.11 is not installed")
def test_neovim(file: Path, tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    (tmp_path / "init.lua").write_text(documented("lua"))
    script = tmp_path / "ask.lua"
    script.write_text(_NEOVIM.format(seconds=SECONDS, line=LINE, answer=answer))
    command = ["nvim", "--headless", "-u", str(tmp_path / "init.lua"), str(file), "-c", f"luafile {script}"]
    check(run(command, file, answer))


def has_eglot() -> bool:
    if shutil.which("emacs") is None:
        return False
    load = "(progn (package-initialize) (require 'eglot) (require 'yaml-mode))"
    return subprocess.run(["emacs", "--batch", "--eval", load], capture_output=True).returncode == 0


@pytest.mark.skipif(not has_eglot(), reason="Emacs with Eglot and yaml-mode is not installed")
def test_emacs(file: Path, tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    settings = "(package-initialize)\n(require 'yaml-mode)\n" + documented("elisp") + "(require 'eglot)\n"
    (tmp_path / "init.el").write_text(settings)
    (tmp_path / "ask.el").write_text(_EMACS.format(seconds=SECONDS, line=LINE, answer=answer, path=file))
    command = ["emacs", "--batch", "-l", str(tmp_path / "init.el"), "-l", str(tmp_path / "ask.el")]
    check(run(command, file, answer))
