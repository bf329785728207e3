"""`jaxlint server` with what no friendly editor sends: odd addresses, documents that are not open, settings of any form."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types

from tests.integration.test_server import Editor, run

TEXT = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
# VS Code writes these with `%` codes, and on Windows the colon of each drive.
NAMES = ["a b.py", "é.py", "x@y.py", "a%41.py", "line\nend.py", "\ufffd.py", "c:.py"]
ADDRESSES = [
    "file:///a%00b.py",
    f"file:///{'a' * 100_000}.py",
    "file:///",
    "file://",
    "",
    "x:y",
    "file:///..%2f..%2fx.py",
]
SETTINGS = [
    [1],
    3,
    "x",
    {"settings": [1]},
    {"settings": 3},
    {"jaxlint": [1]},
    {"jaxlint": {"settings": None}},
]


def shown(editor: Editor) -> list[str]:
    """What the server has shown its user, from now on."""
    told: list[str] = []

    @editor.client.feature(types.WINDOW_SHOW_MESSAGE)
    def show(params: types.ShowMessageParams) -> None:
        told.append(params.message)

    return told


def opened(editor: Editor, uri: str) -> None:
    item = types.TextDocumentItem(uri, "python", 1, TEXT)
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))


def test_documents_whose_names_are_written_with_codes(tmp_path: Path) -> None:
    async def work(editor: Editor) -> None:
        for name in NAMES:
            uri = editor.open(name, TEXT)
            assert [one.code for one in await editor.diagnostics(uri)] == ["JAX101"], name
            editor.type(uri, types.Range(types.Position(5, 4), types.Position(5, 12)), "if 1 > 0")
            assert await editor.diagnostics(uri) == [], name

    run(tmp_path, work)


def test_addresses_that_name_no_file_are_passed_over(tmp_path: Path) -> None:
    async def work(editor: Editor) -> None:
        told = shown(editor)
        for uri in ADDRESSES:
            opened(editor, uri)
            await editor.actions(uri, types.Range(types.Position(0, 0), types.Position(9, 0)))
        uri = editor.open("a.py", TEXT)
        assert [one.code for one in await editor.diagnostics(uri)] == ["JAX101"]
        assert told == []

    run(tmp_path, work)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the platform has no pipes")
def test_cells_that_are_not_open_are_not_read(tmp_path: Path) -> None:
    pipe, secret = tmp_path / "pipe.py", tmp_path / "secret.py"
    os.mkfifo(pipe)
    secret.write_text("import jax\nold = jax.tree_map\n")

    async def work(editor: Editor) -> None:
        uri = (tmp_path / "a b.ipynb").as_uri()
        code, own = types.NotebookCellKind.Code, "vscode-notebook-cell:/a%20b.ipynb#1"
        cells = [types.NotebookCell(code, one) for one in (pipe.as_uri(), secret.as_uri(), own)]
        notebook = types.NotebookDocument(uri, "jupyter-notebook", 1, cells)
        texts = [types.TextDocumentItem(own, "python", 1, TEXT)]
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, texts))
        assert [one.code for one in await editor.diagnostics(own)] == ["JAX101"]
        assert editor.told[secret.as_uri()] == []

    run(tmp_path, work)


def test_settings_of_any_form(tmp_path: Path) -> None:
    async def work(editor: Editor) -> None:
        told = shown(editor)
        for settings in SETTINGS:
            editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
        uri = editor.open("a.py", TEXT)
        assert [one.code for one in await editor.diagnostics(uri)] == ["JAX101"]
        assert "traced" in await editor.hover(uri, 4, 4)
        await asyncio.sleep(0)
        assert told == []

    run(tmp_path, work)
    for settings in SETTINGS[3:5]:
        run(tmp_path, work, options=settings)  # type: ignore[arg-type]


def test_a_folder_that_is_removed_meanwhile(tmp_path: Path) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    project.mkdir()
    other.mkdir()

    async def work(editor: Editor) -> None:
        uri = editor.open("a.py", TEXT)
        assert [one.code for one in await editor.diagnostics(uri)] == ["JAX101"]
        project.rmdir()
        editor.type(uri, types.Range(types.Position(5, 4), types.Position(5, 12)), "if 1 > 0")
        assert await editor.diagnostics(uri) == []
        again = editor.open("../other/b.py", TEXT)
        assert [one.code for one in await editor.diagnostics(again)] == ["JAX101"]

    run(project, work)


def _message(body: object) -> bytes:
    text = json.dumps(body).encode()
    return b"Content-Length: %d\r\n\r\n" % len(text) + text


def test_messages_that_cannot_be_read_are_answered_in_a_line(tmp_path: Path) -> None:
    about = {"capabilities": {}, "rootUri": tmp_path.as_uri()}
    sent = [
        _message({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}),
        _message({"jsonrpc": "2.0", "method": "initialized", "params": {}}),
        _message({"jsonrpc": "2.0", "id": 2, "method": "textDocument/hover", "params": {"wrong": 1}}),
        _message({"jsonrpc": "2.0", "id": 3, "method": "no/such"}),
        _message(
            {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": {"uri": 5}}}
        ),
        b"Content-Length: 5\r\n\r\n{bad}",
        _message([1, 2]),
        b"Content-Length: abc\r\n\r\n",
        _message({"jsonrpc": "2.0", "id": 4, "method": "shutdown"}),
        _message({"jsonrpc": "2.0", "method": "exit"}),
    ]
    server = subprocess.run(
        [sys.executable, "-m", "jaxlint", "server"], input=b"".join(sent), capture_output=True, timeout=120
    )
    assert server.returncode == 0
    bodies = [json.loads(part[: part.rindex("}") + 1]) for part in _bodies(server.stdout)]
    answers = {one["id"]: one for one in bodies if "id" in one and "method" not in one}
    assert set(answers) == {1, 2, 3, 4}
    assert answers[2]["error"]["code"] == -32602
    assert (answers[3]["error"]["code"], "no/such" in answers[3]["error"]["message"]) == (-32601, True)
    lines = server.stderr.decode().splitlines()
    assert lines
    assert all(line.startswith("jaxlint server: ") for line in lines), lines
    assert len(lines) <= 12, lines


def _bodies(output: bytes) -> list[str]:
    """The messages in the output of a server."""
    return [part.partition("\r\n\r\n")[2] for part in output.decode().split("Content-Length: ")[1:]]
