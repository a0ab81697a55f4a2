"""The progress lines of a build, and the errors it shows."""

from __future__ import annotations

import io
from pathlib import Path

from tools.build.ninja_file import path, value
from tools.build.runner import Progress, missing_includes


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


LINES = [
    "[1/3] compiling c10/A.cpp\n",
    "c10/A.cpp:1:1: warning: unused\n",
    "[2/3] compiling aten/B.cpp (AVX2)\n",
    "FAILED: build/objects/AVX2/aten/B.o \n",
    "g++ -MMD -MF build/objects/AVX2/aten/B.o.d -c aten/B.cpp\n",
    "aten/B.cpp:9:1: error: expected ';'\n",
    "ninja: build stopped: subcommand failed.\n",
]


def test_log_has_errors_and_keeps_warnings_apart() -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    progress.feed(LINES)
    assert progress.failed and progress.done == 2
    assert progress.warnings == ["== compiling c10/A.cpp\nc10/A.cpp:1:1: warning: unused"]
    assert stream.getvalue().endswith(
        "error while compiling aten/B.cpp (AVX2)\naten/B.cpp:9:1: error: expected ';'\n"
    )
    assert "-MMD" not in stream.getvalue()


def test_an_error_is_shown_once_for_all_instruction_sets() -> None:
    stream = io.StringIO()
    lines = []
    for name, message in (
        ("DEFAULT", "expected ';'"),
        ("AVX2", "expected ';'"),
        ("AVX512", "no such intrinsic"),
    ):
        lines += [
            f"[1/3] compiling B.cpp ({name})\n",
            "FAILED: B.o \n",
            f"B.cpp: in at::{name}::f:\n",
            f"B.cpp:9:1: error: {message}\n",
        ]

    Progress(stream).feed(lines)
    assert stream.getvalue().count("expected ';'") == 1
    assert (
        "\nerror while compiling B.cpp (AVX2): the same\nerror while compiling B.cpp (AVX512)\nB.cpp: in "
        "at::AVX512::f:\n" in stream.getvalue()
    )


def test_an_operator_without_its_header_is_explained(tmp_path: Path) -> None:
    (tmp_path / "rsqrt.h").touch()
    (tmp_path / "var.h").touch()
    lines = [
        "A.cpp:1:2: error: ‘rsqrt’ is not a member of ‘at’; did you mean ‘sqrt’?",
        "A.cpp:1:3: error: 'rsqrt' is not a member of 'at'",
        "A.cpp:1:4: error: no member named 'var' in namespace 'at'",
        "A.cpp:1:5: error: ‘nothing’ is not a member of ‘at’",
        "A.cpp:1:6: error: ‘var’ is not a member of ‘std’",
    ]

    assert missing_includes(lines, tmp_path) == [
        f'hint: at::{name} is declared in "aten/ops/{name}.h"' for name in ("rsqrt", "var")
    ]
    assert missing_includes(lines[3:], tmp_path) == []


def test_log_is_sparse() -> None:
    stream = io.StringIO()
    Progress(stream).feed(f"[{number}/200] compiling X.cpp\n" for number in range(1, 201))
    assert stream.getvalue().splitlines() == ["[1/200] compiling X.cpp", "[200/200] compiling X.cpp"]


def test_terminal_sees_one_line_in_place() -> None:
    stream = Terminal()
    Progress(stream).feed(f"[{number}/9] compiling X.cpp\n" for number in range(1, 10))
    assert "\n" not in stream.getvalue()
    assert stream.getvalue().count("\r") == 10


def test_ninjas_own_error_is_shown() -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    progress.feed(["ninja: error: 'aten/B.cpp', needed by 'B.o', missing and no known rule to make it\n"])
    assert progress.failed and "aten/B.cpp" in stream.getvalue()


def test_escapes() -> None:
    assert path("a b$c:d") == "a$ b$$c$:d"
    assert value("-Wl,-rpath,'$ORIGIN'") == "-Wl,-rpath,'$$ORIGIN'"
