"""The server for the operators of the example targets, and as the documentation starts it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("pygls.lsp.server", reason="pygls 2 is not installed")

from lsprotocol import types  # noqa: E402

from tests.lsp.editor import REPOSITORY, SERVER, Editor  # noqa: E402

EXAMPLES = REPOSITORY / "examples"
PAGE = (REPOSITORY / "docs/editors.md").read_text(encoding="utf-8")


class Example(NamedTuple):
    """The declarations of a target, and an entry with a formula in them."""

    target: str
    declarations: str
    dtypes: bool  # whether entries say them


HEADER = Example("c_header", "operators.yaml", dtypes=True)
NUMPY = Example("numpy", "library/operators.yaml", dtypes=False)


@pytest.fixture(params=[HEADER, NUMPY], ids=lambda example: example.target)
def example(request: pytest.FixtureRequest) -> Example:
    found: Example = request.param
    return found


@pytest.fixture
def opened(example: Example, tmp_path: Path) -> Iterator[tuple[Editor, str, str]]:
    """The editor, the file and its text."""
    folder = EXAMPLES / f"target_{example.target}"
    shutil.copytree((folder / example.declarations).parent, tmp_path / "library", ignore=_no_builds)
    path = tmp_path / "library" / Path(example.declarations).name
    text = path.read_text(encoding="utf-8")

    target = f"{example.target}_target:TARGET"
    editor = Editor(tmp_path, server=(*SERVER, "--target", target), modules=folder / "src")
    uri = editor.open(path, text)
    assert editor.diagnostics(uri) == []
    yield editor, uri, text
    assert editor.stop() == 0


def _no_builds(folder: str, names: list[str]) -> set[str]:
    return {"__pycache__", "build"} & set(names)


def place_of(text: str, words: str, within: int = 0) -> tuple[int, int]:
    offset = text.index(words) + within
    return text.count("\n", 0, offset), offset - text.rfind("\n", 0, offset) - 1


def test_diagnostics(opened: tuple[Editor, str, str]) -> None:
    editor, uri, text = opened
    wrong = text.replace("structure: pointwise", "structure: pointwize", 1)
    (found,) = editor.diagnostics(uri, editor.type(uri, wrong))
    assert found.message == "unknown structure 'pointwize'; did you mean pointwise?"
    assert (found.range.start.line, found.range.start.character) == place_of(wrong, "pointwize")
    assert editor.diagnostics(uri, editor.type(uri, text)) == []


def test_a_key_that_the_target_does_not_know(opened: tuple[Editor, str, str]) -> None:
    editor, uri, text = opened
    first = text.index("structure: pointwise")
    wrong = f"{text[:first]}autocast: none\n      {text[first:]}"
    (found,) = editor.diagnostics(uri, editor.type(uri, wrong))
    assert found.message.startswith("unknown key 'autocast'")


def test_completion_and_hover(opened: tuple[Editor, str, str], example: Example) -> None:
    editor, uri, text = opened
    key = editor.at(uri, *place_of(text, "structure: pointwise", 2))
    answer = editor.wait(editor.client.text_document_completion_async(types.CompletionParams(**key)))
    assert isinstance(answer, types.CompletionList)
    labels = {item.label for item in answer.items}
    assert ("dtypes" in labels) == example.dtypes
    assert "since" in labels and "autocast" not in labels

    name, *_ = re.findall(r"func: (\w+)\(", text)
    at = editor.at(uri, *place_of(text, f"func: {name}(", len("func: ") + 1))
    hover = editor.wait(editor.client.text_document_hover_async(types.HoverParams(**at)))
    assert hover is not None and isinstance(hover.contents, types.MarkupContent)
    assert f"{name}(" in hover.contents.value and "structure: " in hover.contents.value


def test_a_function_of_the_numpy_target(tmp_path: Path) -> None:
    folder = EXAMPLES / "target_numpy"
    shutil.copytree(folder / "library", tmp_path / "library", ignore=_no_builds)
    path = tmp_path / "library/operators.yaml"
    text = path.read_text(encoding="utf-8")
    kernels = (tmp_path / "library/kernels.py").read_text(encoding="utf-8")
    name, *_ = re.findall(r"^def (\w+)\(", kernels, re.MULTILINE)

    editor = Editor(tmp_path, server=(*SERVER, "--target", "numpy_target:TARGET"), modules=folder / "src")
    uri = editor.open(path, text)
    assert editor.diagnostics(uri) == []
    at = editor.at(uri, *place_of(text, f"func: {name}(", len("func: ") + 1))
    places = editor.wait(editor.client.text_document_definition_async(types.DefinitionParams(**at)))
    assert isinstance(places, (list, tuple)) and isinstance(places[0], types.Location)
    assert places[0].uri.endswith("/library/kernels.py")
    assert places[0].range.start.line == place_of(kernels, f"def {name}(")[0]
    assert editor.stop() == 0


# The settings of the documentation


def settings() -> dict[str, list[str]]:
    """The command that each editor is to start."""
    found = {}
    for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL):
        written = json.loads(block)
        if "glspc.server.command" in written:
            found["VS Code"] = [written["glspc.server.command"], *written["glspc.server.commandArguments"]]

    (lua,) = re.findall(r"cmd = \{(.*?)\}", PAGE)
    found["Neovim"] = re.findall(r"'([^']+)'", lua)
    (lisp,) = re.findall(r"```elisp\n(.*?)```", PAGE, re.DOTALL)
    assert lisp.count("(") == lisp.count(")")
    found["Emacs"] = list(dict.fromkeys(re.findall(r'"([^"]+)"', lisp)))
    return found


@pytest.mark.parametrize("editor_name", ["VS Code", "Neovim", "Emacs"])
def test_the_documented_command_starts_the_server(editor_name: str, tmp_path: Path) -> None:
    python, *arguments = settings()[editor_name]
    assert python == ".venv/bin/python"
    editor = Editor(tmp_path, server=arguments)
    provider = editor.initialized.capabilities.completion_provider
    assert provider is not None and provider.trigger_characters
    assert editor.stop() == 0


def test_documented_schemas_exist() -> None:
    written = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
    schemas = [path for block in written for path in block.get("yaml.schemas", {})]
    assert schemas
    for path in schemas:
        assert json.loads((REPOSITORY / path).read_text(encoding="utf-8"))["$schema"]
