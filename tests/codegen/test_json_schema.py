"""The JSON schemas accept what the reader accepts, and see the mistakes that need no other file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from codegen.cli.main import main
from codegen.diagnostics import Diagnostics
from codegen.model import vocabulary
from codegen.schema import FunctionSchema
from codegen.targets.torch_py.backends.reading import DEVICE_FUNCTIONS, KEYS
from codegen.targets.torch_py.cli.new_package import render_package
from codegen.targets.torch_py.json_schema import BACKEND, FOLDER, OPERATORS, render
from codegen.targets.torch_py.json_schema.backend import backend_schema
from codegen.targets.torch_py.json_schema.entries import operators_schema
from codegen.yaml import ListValue, MapValue, Value, load_document
from tests.errors.test_errors import CASES
from tests.errors.test_mistakes import MISTAKES, Mistake

jsonschema = pytest.importorskip("jsonschema")

REPOSITORY = Path(__file__).resolve().parents[2]
FILES = (
    "native_functions.yaml",
    "tests/golden/operators.yaml",
    "tests/errors/cases/prelude.yaml",
    "examples/operators_formulas/src/smooth_ops/operators.yaml",
    "examples/operators_kernels/src/power_ops/operators.yaml",
)
# Messages about keys and words alone.
VISIBLE = re.compile(
    r"unknown (key|structure|variant|python_module|promotion|tag|dispatch key|autocast|error|form|out_dtype)"
    r"|^'\w+' is empty|^'\w+' is a (list|map)|the entry has no '(func|structure|doc)'"
    r"|'promotion' has no meaning"
    r"|a dispatch entry names one|the requirement has no 'check'|is not a C\+\+ identifier"
)


def problems(text: str, schema: dict[str, Any]) -> list[str]:
    """What the schema says of a text whose scalars are texts, as the reader takes them."""
    root = load_document("file.yaml", text, Diagnostics()).root
    assert root is not None
    return [error.message for error in validator(schema).iter_errors(plain(root))]


def validator(schema: dict[str, Any]) -> Any:
    return jsonschema.Draft7Validator(schema)


def plain(value: Value) -> Any:
    if isinstance(value, MapValue):
        return {key.text: plain(item) for key, item in value}
    return [plain(item) for item in value] if isinstance(value, ListValue) else value.text or None


@pytest.mark.parametrize("schema", [operators_schema(), backend_schema()])
def test_the_schemas_are_schemas(schema: dict[str, Any]) -> None:
    jsonschema.Draft7Validator.check_schema(schema)


def test_files_are_up_to_date() -> None:
    for name, text in render().items():
        assert (FOLDER / name).read_text() == text, f"{name}: python -m codegen schema"


def test_every_key_of_the_reader_is_known() -> None:
    schema = operators_schema()
    entry = schema["definitions"]["entry"]
    assert list(schema["properties"]) == list(vocabulary.DOCUMENT_KEYS)
    assert list(entry["properties"]) == list(vocabulary.ENTRY_KEYS)
    assert all(
        "description" in value for value in (*schema["properties"].values(), *entry["properties"].values())
    )

    requirement = schema["definitions"]["requirement"]["anyOf"][1]
    assert list(requirement["properties"]) == list(vocabulary.REQUIREMENT_KEYS)
    assert list(backend_schema()["properties"]) == list(KEYS)


@pytest.mark.parametrize("path", FILES)
def test_our_files_are_accepted(path: str) -> None:
    text = (REPOSITORY / path).read_text()
    assert problems(text, operators_schema()) == []
    # Editors resolve numbers and truth values.
    assert [e.message for e in validator(operators_schema()).iter_errors(yaml.safe_load(text))] == []


def test_the_file_of_a_new_package_is_accepted() -> None:
    files = render_package(
        "softcap_ops",
        FunctionSchema.parse("softcap(Tensor self, float cap) -> Tensor"),
        "cap * tanh(self / cap)",
    )
    assert problems(files["src/softcap_ops/operators.yaml"], operators_schema()) == []


def test_the_file_of_a_backend_is_accepted() -> None:
    text = (REPOSITORY / "examples/backend_walled/src/walled/backend.yaml").read_text()
    assert problems(text, backend_schema()) == []
    for key in (*KEYS, *DEVICE_FUNCTIONS):
        assert problems(re.sub(rf"\b{key}:", f"{key}x:", text, count=1), backend_schema()), key


SEEN = [mistake for mistake in MISTAKES if VISIBLE.search(mistake.fragment)]


@pytest.mark.parametrize("mistake", SEEN, ids=lambda m: f"{m.entry}: {m.wrong[:40]!r}")
def test_mistakes_of_keys_and_words_are_seen(mistake: Mistake) -> None:
    right = Mistake(mistake.entry, "", "", "", "").text
    assert problems(right, operators_schema()) == []
    assert problems(mistake.text, operators_schema())


def test_cases_of_keys_and_words_are_seen() -> None:
    seen = [case for case in CASES if any(VISIBLE.search(message) for *_, message, _ in case.expected)]
    unseen = [case.title for case in seen if not problems(case.text, operators_schema())]
    assert len(seen) >= 20
    assert unseen == []


def test_the_command_reports_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "--check"]) == 0
    assert main(["schema", "--check", "--output", str(tmp_path)]) == 1
    assert "is not up to date: python -m codegen schema" in capsys.readouterr().err
    assert main(["schema", "--output", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {OPERATORS, BACKEND}
    assert main(["schema", "--check", "--output", str(tmp_path)]) == 0
