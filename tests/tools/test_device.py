"""The check of a GPU: stages end in time, and each runs whatever became of those before."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from tests.subject import only_torch_py
from tools.device import stages

pytestmark = only_torch_py


def _stage(program: str, seconds: float = 30) -> stages.Stage:
    return stages.Stage((sys.executable, "-c", program), seconds)


# A stage that has started another process.
_LONG = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3); open('{mark}', 'w')"])
print("begun", flush=True)
time.sleep(60)
"""


def test_each_stage_has_its_ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        stages,
        "STAGES",
        {
            "good": _stage("print('said')"),
            "bad": _stage("raise SystemExit(3)"),
            "long": _stage(_LONG.format(mark=tmp_path / "late"), 2),
            "absent": stages.Stage(("no-such-program",), 5),
        },
    )
    assert stages.run(["good", "bad", "long", "absent"], tmp_path, 60) == 3

    endings = json.loads((tmp_path / "stages.json").read_text())
    assert endings == {
        "good": "passed",
        "bad": "failed with status 3",
        "long": "stopped",
        "absent": "no-such-program is not there",
    }
    assert (tmp_path / "good.log").read_text() == "said\n"
    assert (tmp_path / "long.log").read_text() == "begun\n"
    time.sleep(2)
    assert not (tmp_path / "late").exists()


def test_time_of_all_stages_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stages, "STAGES", {name: _stage("import time; time.sleep(60)") for name in "ab"})
    assert stages.run(["a", "b"], tmp_path, 2) == 2
    assert json.loads((tmp_path / "stages.json").read_text()) == {"a": "stopped", "b": "no time left"}
