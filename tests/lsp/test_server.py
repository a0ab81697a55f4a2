"""The server as an editor sees it: a process that speaks the protocol over its standard streams."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pygls.lsp.server", reason="pygls 2 is not installed")

from lsprotocol import types  # noqa: E402
from pygls.exceptions import JsonRpcException  # noqa: E402

from codegen.cli.main import main  # noqa: E402
from tests.lsp.editor import REPOSITORY, Editor  # noqa: E402
from tests.lsp.project import OPERATORS, write_project  # noqa: E402

# A check of the whole file follows a pause in typing; these tests look at what precedes it, and then at it.
MISTAKE = OPERATORS.replace("dtypes: floating\n      expr: cap", "dtyps: floating\n      expr: cap")


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    folder = tmp_path_factory.mktemp("edited")
    write_project(folder)
    editor = Editor(folder)
    yield editor
    assert editor.stop() == 0


@pytest.fixture
def uri(editor: Editor, tmp_path: Path) -> Iterator[str]:
    """The operators, open and without problems."""
    path = write_project(tmp_path)
    uri = editor.open(path, OPERATORS)
    assert editor.diagnostics(uri) == []
    yield uri
    editor.close(uri)
    assert editor.messages == []


def position(
    text: str, words: str, within: int = 0, encoding: str = "utf-16-le", width: int = 2
) -> tuple[int, int]:
    """Line and column of a character of ``words`` in ``text``."""
    offset = text.index(words) + within
    line_start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset), len(text[line_start:offset].encode(encoding)) // width


def span(found: types.Range) -> tuple[int, int, int, int]:
    return found.start.line, found.start.character, found.end.line, found.end.character


def applied(text: str, edits: list[types.TextEdit]) -> str:
    """The text after an editor has made the edits; columns count UTF-16."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        assert edit.range.start.line == edit.range.end.line
        line = lines[edit.range.start.line].encode("utf-16-le")
        before = line[: 2 * edit.range.start.character]
        lines[edit.range.start.line] = (
            before.decode("utf-16-le")
            + edit.new_text
            + line[2 * edit.range.end.character :].decode("utf-16-le")
        )
    return "\n".join(lines)


def test_a_mistake_is_shown_corrected_and_gone(editor: Editor, uri: str) -> None:
    version = editor.type(uri, MISTAKE)
    (found,) = editor.diagnostics(uri, version)
    line, start = position(MISTAKE, "dtyps")
    assert span(found.range) == (line, start, line, start + len("dtyps"))
    assert found.message == "unknown key 'dtyps'; did you mean dtypes?"
    assert (found.severity, found.source, found.code) == (types.DiagnosticSeverity.Error, "codegen", "capped")

    (action,) = editor.wait(
        editor.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(uri), found.range, types.CodeActionContext([found])
            )
        )
    )
    assert isinstance(action, types.CodeAction) and action.title == "Change to dtypes"
    assert action.edit is not None and action.edit.changes is not None
    corrected = applied(MISTAKE, list(action.edit.changes[uri]))
    assert corrected == OPERATORS
    assert editor.diagnostics(uri, editor.type(uri, corrected)) == []


def test_saving_looks_at_the_sources_again(editor: Editor, uri: str) -> None:
    text = OPERATORS.replace("CPU: mul_kernel", "CPU: mul_two_kernel")
    (found,) = editor.diagnostics(uri, editor.type(uri, text))
    assert "'mul_two_kernel' is defined nowhere" in found.message

    source = Path(uri.removeprefix("file://")).parent / "aten/native/cpu/ArithmeticKernel.isa.cpp"
    source.write_text(source.read_text().replace("mul_kernel", "mul_two_kernel"))
    editor.diagnostics(uri)  # of the whole file, after the pause
    editor.save(uri)
    assert editor.diagnostics(uri) == []


def test_questions(editor: Editor, uri: str) -> None:
    client = editor.client
    at = editor.at(uri, *position(OPERATORS, "CPU: mul_kernel", 7))

    answer = editor.wait(client.text_document_completion_async(types.CompletionParams(**at)))
    assert isinstance(answer, types.CompletionList)
    (item,) = [item for item in answer.items if item.label == "mul_kernel"]
    assert isinstance(item.text_edit, types.TextEdit) and item.text_edit.new_text == "mul_kernel"
    start = position(OPERATORS, "CPU: mul_kernel", 5)
    assert span(item.text_edit.range) == (*start, start[0], start[1] + 2)

    hover = editor.wait(client.text_document_hover_async(types.HoverParams(**at)))
    assert hover is not None and isinstance(hover.contents, types.MarkupContent)
    assert "void mul_kernel(TensorIteratorBase& iter)" in hover.contents.value

    places = editor.wait(client.text_document_definition_async(types.DefinitionParams(**at)))
    assert isinstance(places, (list, tuple)) and len(places) == 1
    assert isinstance(places[0], types.Location)
    assert places[0].uri.endswith("/aten/native/cpu/ArithmeticKernel.isa.cpp")
    assert places[0].range.start == types.Position(3, 0)

    outline = editor.wait(
        client.text_document_document_symbol_async(
            types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
        )
    )
    assert outline is not None
    topics = outline[-1]
    assert isinstance(topics, types.DocumentSymbol) and topics.children is not None
    assert [topic.name for topic in topics.children] == ["Arithmetic", "Capping"]


def test_renaming(editor: Editor, uri: str) -> None:
    at = editor.at(uri, *position(OPERATORS, "expr: cap", 7))
    place = editor.wait(editor.client.text_document_prepare_rename_async(types.PrepareRenameParams(**at)))
    start = position(OPERATORS, "expr: cap", 6)
    assert isinstance(place, types.Range) and span(place) == (*start, start[0], start[1] + 3)

    edit = editor.wait(editor.client.text_document_rename_async(types.RenameParams(**at, new_name="bound")))
    assert edit is not None and edit.changes is not None
    text = applied(OPERATORS, list(edit.changes[uri]))
    assert 'message: "𝔸 cap must be positive, got {bound}"' in text
    assert editor.diagnostics(uri, editor.type(uri, text)) == []

    with pytest.raises(JsonRpcException, match="'self' is another argument of capped"):
        editor.wait(editor.client.text_document_rename_async(types.RenameParams(**at, new_name="self")))


def test_garbage_does_not_end_the_server(editor: Editor, uri: str) -> None:
    for text in (
        "\0",
        "[[[[{",
        "topics:\n\t- func: \n",
        "- " * 2000,
        "topics: &a [*a]",
        "",
        OPERATORS[:500] + "'",
    ):
        editor.type(uri, text)

        for line, character in ((0, 0), (0, 3), (7, 1), (9999, 9999)):
            at = editor.at(uri, line, character)
            client = editor.client
            editor.wait(client.text_document_completion_async(types.CompletionParams(**at)))
            editor.wait(client.text_document_hover_async(types.HoverParams(**at)))
            editor.wait(client.text_document_definition_async(types.DefinitionParams(**at)))
            editor.wait(client.text_document_implementation_async(types.ImplementationParams(**at)))
            editor.wait(client.text_document_prepare_rename_async(types.PrepareRenameParams(**at)))

        document = types.TextDocumentIdentifier(uri)
        editor.wait(editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(document)))

    assert editor.diagnostics(uri, editor.type(uri, OPERATORS)) == []


def test_a_file_can_be_closed_and_opened_again(editor: Editor, tmp_path: Path) -> None:
    path = write_project(tmp_path)
    uri = editor.open(path, MISTAKE)
    assert len(editor.diagnostics(uri)) == 1
    editor.close(uri)
    assert editor.diagnostics(uri) == []

    editor.open(path, MISTAKE)
    assert len(editor.diagnostics(uri)) == 1
    editor.type(uri, OPERATORS)
    editor.close(uri)
    assert editor.diagnostics(uri) == []
    editor.close(uri)  # twice


def test_questions_about_files_that_are_not_open_have_no_answer(editor: Editor, tmp_path: Path) -> None:
    for uri in ((tmp_path / "no.yaml").as_uri(), "untitled:Untitled-1"):
        at = editor.at(uri, 3, 3)
        assert editor.wait(editor.client.text_document_hover_async(types.HoverParams(**at))) is None
        editor.close(uri)


def test_other_files_have_no_diagnostics(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "docker.yaml", "topics: [a\n")
    assert editor.diagnostics(uri) == []
    editor.close(uri)


@pytest.mark.parametrize(
    "kind, encoding, width",
    [("utf-8", "utf-8", 1), ("utf-16", "utf-16-le", 2), ("utf-32", "utf-32-le", 4)],
)
def test_columns_are_those_of_the_editor(kind: str, encoding: str, width: int, tmp_path: Path) -> None:
    text = (
        OPERATORS.replace('{cap}"', '{cap} {cpa}"')
        .replace("\n", "\r\n")
        .replace("𝔸 cap must", "𝔸\u2028cap\x85must")
    )
    editor = Editor(tmp_path, [kind])
    assert editor.initialized.capabilities.position_encoding == kind
    uri = editor.open(write_project(tmp_path), text)
    (found,) = editor.diagnostics(uri)
    line, start = position(text, "cpa}", 0, encoding, width)
    assert span(found.range) == (line, start, line, start + 3)

    at = editor.at(uri, *position(text, "positive, got {cap} {", 0, encoding, width))
    assert editor.wait(editor.client.text_document_hover_async(types.HoverParams(**at))) is None
    at = editor.at(uri, *position(text, "cap} {cpa", 0, encoding, width))
    hover = editor.wait(editor.client.text_document_hover_async(types.HoverParams(**at)))
    assert hover is not None and hover.range is not None
    assert span(hover.range) == (line, start - 6, line, start - 3)
    assert editor.stop() == 0


def test_a_library_extends_our_operators(tmp_path: Path) -> None:
    """The first check reads native_functions.yaml as well."""
    editor = Editor(tmp_path)
    text = (
        "library: my_ops\n\ntopics:\n  Mine:\n    - func: twice(Tensor self) -> Tensor\n"
        "      structure: pointwise\n"
        "      dtypes: floatin\n      expr: 2 * self\n      doc: Doubles.\n"
    )
    uri = editor.open(tmp_path / "ops.yaml", text)
    (found,) = editor.diagnostics(uri)
    assert "did you mean floating?" in found.message
    version = editor.type(uri, text.replace("floatin", "floating"))
    assert editor.diagnostics(uri, version) == []
    assert editor.stop() == 0


def test_the_command_says_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith(("pygls", "codegen.lsp.server"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pygls", None)
    assert main(["lsp"]) == 1
    assert "python -m pip install 'pygls>=2'" in capsys.readouterr().err


def test_the_server_ends_with_the_editor() -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "codegen", "lsp"],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdin is not None
    server.stdin.close()
    server.wait(30)
