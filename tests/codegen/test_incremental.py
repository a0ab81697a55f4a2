"""After any edit, an output that is brought up to date is the same as one that is generated anew."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.diagnostics import GenerationError
from codegen.output import fingerprint, generation
from codegen.targets.torch_py import TARGET
from tests.codegen.golden import FOLDER
from tests.codegen.synthetic import write_entries

Edit = Callable[[str, random.Random], str]


class Runs:
    """Runs the generator, and counts how often it read the whole file."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.whole = 0
        read_program = generation.read_program

        def counting(*arguments: object, **named: object) -> object:
            self.whole += 1
            return read_program(*arguments, **named)  # type: ignore[arg-type]

        monkeypatch.setattr(generation, "read_program", counting)

    def generate(self, output: Path) -> str:
        """What the run reports, problems included."""
        templates = self.path.parent / "compiled_templates"  # for all runs
        templates.mkdir(exist_ok=True)
        if not output.exists():
            output.mkdir()
            (output / generation.CACHE).symlink_to(templates)

        around = fingerprint.surroundings_digest(self.path, TARGET)
        try:
            report = generation.generate_file(self.path, TARGET, output, around)
        except GenerationError as error:
            return str(error)
        return "\n".join(report.notes)

    def is_incremental(self, output: Path) -> bool:
        before = self.whole
        self.generate(output)
        return self.whole == before


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(write_entries(tmp_path, 30), monkeypatch)


def texts(output: Path) -> dict[str, str]:
    """The generated files; hidden ones are for the generator."""
    paths = [path for path in output.rglob("*") if path.is_file()]
    return {
        path.relative_to(output).as_posix(): path.read_text()
        for path in paths
        if not any(part.startswith(".") for part in path.relative_to(output).parts)
    }


# Edits. Each takes a text and returns another.


def replaced(pattern: str, new: Callable[[re.Match[str], random.Random], str]) -> Edit:
    """Replaces one occurrence of ``pattern``."""

    def edit(text: str, choice: random.Random) -> str:
        found = list(re.finditer(pattern, text, re.MULTILINE))
        if not found:
            return text
        match = choice.choice(found)
        return text[: match.start()] + new(match, choice) + text[match.end() :]

    return edit


def without_an_entry(text: str, choice: random.Random) -> str:
    starts = [match.start() for match in re.finditer(r"^ +- func:", text, re.MULTILINE)]
    position = choice.randrange(len(starts) - 1)
    between = text[starts[position] : starts[position + 1]]
    return text if re.search(r"^  \w+:", between, re.MULTILINE) else text.replace(between, "")


# Others do not see what these change.
INNER: dict[str, Edit] = {
    "a doc": replaced(r"doc: (\w)", lambda m, c: f"doc: Edited {c.randrange(9)}. {m[1]}"),
    "a longer doc": replaced(r"doc: (\w.*)$", lambda m, c: f"doc: |\n        {m[1]}\n        And more."),
    "a comment": replaced(r"^( +)- func", lambda m, c: f"{m[1]}# A comment.\n{m[0]}"),
    "a formula": replaced(r"expr: (.* \+ .*)$", lambda m, c: f"expr: {m[1]} * {c.randrange(2, 9)}"),
    "a derivative": replaced(r"self: grad \* \d", lambda m, c: f"self: grad * {c.randrange(10, 99)}"),
    "a requirement": replaced(r"- dim\(self\) > \d", lambda m, c: f"- dim(self) > {c.randrange(9)}"),
}
OUTER: dict[str, Edit] = {
    "a named requirement": replaced(r"filled: .*", lambda m, c: "filled: numel(self) > 1"),
    "a variant": replaced(r"variants: function, method", lambda m, c: "variants: function"),
    "an argument": replaced(r"float scale=1.0", lambda m, c: "float scale=2.0"),
    "dtypes": replaced(r"dtypes: floating", lambda m, c: "dtypes: float32"),
    "a set": replaced(r"floating: .*", lambda m, c: "floating: [float64]"),
    "an entry less": without_an_entry,
    "a topic less": replaced(r"^  Topic\w+:", lambda m, c: "  Renamed:"),
    "a mistake in a doc": replaced(r"doc: (\w)", lambda m, c: f"doc: Wrong ``. {m[1]}"),
    "a mistake in a formula": replaced(r"stack\d+\(grad, other\)", lambda m, c: "stack0(grad)"),
    "broken YAML": replaced(r"doc: ", lambda m, c: "doc: 'open "),
}


@pytest.mark.parametrize("name", [*INNER, *OUTER])
def test_one_edit(name: str, runs: Runs, tmp_path: Path) -> None:
    output = tmp_path / "out"
    runs.generate(output)
    before = runs.path.read_text()
    runs.path.write_text((INNER | OUTER)[name](before, random.Random(1)))
    assert runs.path.read_text() != before

    whole = runs.whole
    reported = runs.generate(output)
    assert (runs.whole > whole) == (name in OUTER)

    if "problem" in reported:
        assert runs.generate(tmp_path / "anew") == reported
        runs.path.write_text(before)
        runs.generate(output)
    assert runs.generate(tmp_path / "anew") == runs.generate(output)
    assert texts(output) == texts(tmp_path / "anew")


@pytest.mark.parametrize("seed", range(4))
def test_random_edits(seed: int, runs: Runs, tmp_path: Path) -> None:
    choice = random.Random(seed)
    output = tmp_path / "out"
    runs.generate(output)
    incremental = 0
    for step in range(6):
        edits = INNER if choice.random() < 0.7 else OUTER
        before = runs.path.read_text()
        for _ in range(choice.randrange(1, 3)):
            runs.path.write_text(choice.choice(list(edits.values()))(runs.path.read_text(), choice))

        whole = runs.whole
        reported = runs.generate(output)
        incremental += runs.whole == whole
        anew = tmp_path / f"anew{step}"
        assert runs.generate(anew) == reported, step
        if "problem" in reported:
            runs.path.write_text(before)
            continue
        assert texts(output) == texts(anew), step
        shutil.rmtree(anew)
    assert incremental > 0


@pytest.mark.parametrize("seed", range(1))
def test_random_edits_of_representative_operators(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(FOLDER, tmp_path / "golden", ignore=shutil.ignore_patterns("expected"))
    runs = Runs(tmp_path / "golden/operators.yaml", monkeypatch)
    choice = random.Random(seed)
    output = tmp_path / "out"
    runs.generate(output)

    whole = runs.whole
    for step in range(4):
        for name in ("a doc", "a comment"):
            runs.path.write_text(INNER[name](runs.path.read_text(), choice))
        reported = runs.generate(output)
        assert runs.whole == whole + step, "only the run from nothing reads the whole file"
        assert runs.generate(tmp_path / f"anew{step}") == reported
        assert texts(output) == texts(tmp_path / f"anew{step}")


def test_what_ends_it(runs: Runs, tmp_path: Path) -> None:
    """An output that was touched, and files around the declarations that have changed."""
    output = tmp_path / "out"
    edit = INNER["a doc"]

    def after_an_edit() -> bool:
        runs.path.write_text(edit(runs.path.read_text(), random.Random()))
        return runs.is_incremental(output)

    runs.generate(output)
    assert after_an_edit()
    (output / "docs/operators/Called.md").write_text("touched")
    assert not after_an_edit() and after_an_edit()

    kernels = tmp_path / "aten/native/Topic000.cpp"
    kernels.write_text(kernels.read_text() + "\n")
    assert not after_an_edit() and after_an_edit()
    (output / generation.KNOWN).write_bytes(b"broken")
    assert not after_an_edit() and after_an_edit()
