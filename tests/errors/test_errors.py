"""Every mistake is reported at the right character, with what to write instead; see cases/README.md."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.diagnostics import Diagnostics
from codegen.model import read_program

_CASES = Path(__file__).parent / "cases"
# Correct entries that precede every case, unless it is a whole file; formulas may call them.
PRELUDE = (_CASES / "prelude.yaml").read_text()
_EXPECTED = re.compile(r"^--- (\d+):(\d+) (\S+) \| (.*?) \| ?(.*)$")
_REST = "samples: unary\n      doc: Text."


@dataclass
class Case:
    title: str
    text: str
    first_line: int  # of the case in the file
    expected: list[tuple[int, int, str, str, str]]


def read_cases() -> list[Case]:
    cases = []
    for path in sorted(_CASES.glob("*.txt")):
        for block in re.split(r"^=== ", path.read_text(), flags=re.MULTILINE)[1:]:
            title, _, body = block.partition("\n")
            expected = [_EXPECTED.match(line) for line in body.splitlines() if re.match(r"--- \d", line)]
            assert all(expected), f"{path.name}: {title}"

            text = re.split(r"^--- \d", body, maxsplit=1, flags=re.MULTILINE)[0]
            text = text.replace("$rest", _REST).replace("$deep", "[" * 5000 + "]" * 5006)
            is_whole = not text.startswith(" ")
            rows = [(int(m[1]), int(m[2]), m[3], m[4], m[5]) for m in expected if m]

            cases.append(
                Case(
                    f"{path.stem}: {title}",
                    text if is_whole else PRELUDE + text,
                    1 if is_whole else PRELUDE.count("\n") + 1,
                    rows,
                )
            )

    return cases


CASES = read_cases()


def test_there_are_enough_distinct_mistakes():
    assert len(CASES) >= 40
    assert len({c.title for c in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.title)
def test_diagnostics(case: Case, checkout: Path, tmp_path: Path):
    file = tmp_path / "native_functions.yaml"
    file.write_text(case.text)
    problems = Diagnostics()
    read_program(file, problems, root=checkout)
    # Of whole files, not all declare the dtypes of the checkout's kernels.
    found = [d for d in problems.sorted() if d.location.file == file.name]
    places = [(d.location.line - case.first_line + 1, d.location.column, d.operator) for d in found]
    assert places == [row[:3] for row in case.expected], problems.render()
    for diagnostic, (*_, message, hint) in zip(found, case.expected):
        assert (diagnostic.message, diagnostic.hint) == (message, hint)
        line = f"native_functions.yaml:{diagnostic.location.line}:{diagnostic.location.column}: "
        assert str(diagnostic) == f"{line}{diagnostic.operator}: {diagnostic.message}; {diagnostic.hint}"


def test_the_prelude_has_no_problems(checkout: Path, tmp_path: Path):
    file = tmp_path / "native_functions.yaml"
    file.write_text(PRELUDE)
    problems = Diagnostics()
    assert read_program(file, problems, root=checkout) is not None
    assert not problems, problems.render()


def test_the_command_prints_all_problems_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "native_functions.yaml"
    file.write_text("topics:\n  A:\n    - func: f(tensor x) -> Tensor\n      structure: vieww\n")
    assert main(["check", "--yaml", str(file)]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "native_functions.yaml:3:15: f: unknown type 'tensor'; did you mean Tensor?"
    assert lines[1] == "native_functions.yaml:4:18: f: unknown structure 'vieww'; did you mean view?"
    assert lines[-1] == "2 problems"


def test_a_failed_run_leaves_the_output_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "native_functions.yaml"
    file.write_text("topics:\n  A:\n    - func: f(tensor x) -> Tensor\n")
    output = tmp_path / "generated"
    output.mkdir()
    (output / "kept.h").write_text("last good output")
    assert main(["generate", "--yaml", str(file), "--output", str(output)]) == 1
    assert [p.name for p in output.iterdir()] == ["kept.h"]
    assert "Traceback" not in capsys.readouterr().err


def test_other_files_that_are_not_utf8(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    listed = tmp_path / "operators.txt"
    listed.write_bytes(b"add\nm\xfcl\n")
    entries = Path(__file__).parents[2] / "native_functions.yaml"
    command = ["generate", "--yaml", str(entries), "--output", str(tmp_path / "generated")]
    assert main([*command, "--operators", str(listed)]) == 1
    message = f"{listed}:2: the line is not valid UTF-8; save the file as UTF-8"
    assert message in capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    "content, message",
    [
        (None, "native_functions.yaml:1:1: yaml: the file cannot be read: No such file or directory"),
        (b"topics:\n  A: \xff\n", "native_functions.yaml:2:1: yaml: the line is not valid UTF-8"),
        (b"topics:\n  A: \x01\n", "native_functions.yaml:2:6: yaml: a character that YAML does not allow"),
    ],
)
def test_unreadable_files(
    content: bytes | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "native_functions.yaml"
    if content is not None:
        file.write_bytes(content)
    assert main(["check", "--yaml", str(file)]) == 1
    assert capsys.readouterr().err.startswith(message)
