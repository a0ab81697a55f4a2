"""`TORCH_LOGS`: every topic that is documented prints something, and no other does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.subject import only_torch_py

pytestmark = only_torch_py

# Does something for each topic: a break, a recompilation for sizes that are numbers, a race, an exception.
_PROGRAM = """
import torch_py as torch

@torch.compile
def function(x, factor):
    total = torch.sin(x * factor).sum()
    if total > 100:
        return x
    return x + 1

x = torch.ones(3, requires_grad=True)
function(x, 2.0).sum().backward()
function(x, 2.5)

@torch.compile(dynamic=True)
def scaled(x):
    return x * int(x.size(0) ** 0.5)

scaled(torch.ones(7))

raced = torch.compile(lambda x: torch.softmax(x * 2, -1), mode="max-autotune-no-cudagraphs")
raced(torch.ones(64, 64))

@torch.compile
def failing(x):
    raise KeyError("no")

try:
    failing(x)
except KeyError:
    pass
"""


def printed(topics: str, folder: Path) -> str:
    environment = {**os.environ, "TORCH_LOGS": topics, "TORCHINDUCTOR_CACHE_DIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", _PROGRAM], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


def documented_topics() -> set[str]:
    page = (Path(__file__).parents[3] / "docs" / "compile.md").read_text()
    table = page.partition("| topic |")[2].partition("\n\n")[0]
    return set(re.findall(r"`(\+?\w+)`", table.replace("`TORCH_LOGS`", "")))


def test_every_topic_prints_something_as_it_is_documented(tmp_path: Path) -> None:
    from torch_py._logging import TOPICS

    text = printed(",".join(documented_topics()), tmp_path)
    assert set(re.findall(r"^\[(\w+)\]", text, re.MULTILINE)) == set(TOPICS)


def test_the_table_of_the_documentation_has_all_topics() -> None:
    from torch_py import _logging

    assert {word.lstrip("+") for word in documented_topics()} == set(_logging.TOPICS)
    assert all(topic in (_logging.__doc__ or "") for topic in _logging.TOPICS)


@pytest.mark.parametrize("topic", ["cache", "kernel_code"])
def test_a_topic_prints_itself_alone(topic: str, tmp_path: Path) -> None:
    found = re.findall(r"^\[(\w+)\]", printed(topic, tmp_path), re.MULTILINE)
    assert set(found) == {topic}


def test_the_cache_tells_hits_from_misses(tmp_path: Path) -> None:
    assert "[cache] miss" in printed("cache", tmp_path)
    again = printed("cache", tmp_path)
    assert "[cache] hit" in again and "[cache] miss" not in again
