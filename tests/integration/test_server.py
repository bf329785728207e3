"""`jaxlint server` as an editor uses it: a real client in another process, over standard input and output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled
from pygls.lsp.client import LanguageClient

from jaxlint.config import load_config
from jaxlint.engine import check
from jaxlint.narrowing.baseline import entries_of, write_baseline
from jaxlint.registry import find_rule
from jaxlint.rule_page import page

TRAIN = """import jax
import jax.numpy as jnp

from steps import step


@jax.jit
def loss(w, x):
    é = "𝔘"; y = x if x > 0 else w  # 𝔘
    return jnp.sum(y)


old = jax.tree_map
print(loss(jnp.ones(3), jnp.ones(3)), step(jnp.ones(()), 2))
"""
STEPS = """import functools

import jax


@functools.partial(jax.jit, static_argnums=1)
def step(value, count):
    total = value * 2
    return total * count
"""


class Editor:
    """What an editor does, with what it was told."""

    def __init__(self, client: LanguageClient, root: Path) -> None:
        self.client = client
        self.root = root
        self.told: dict[str, list[types.Diagnostic]] = {}
        self.versions: dict[str, int] = {}
        self.refreshed = asyncio.Event()
        self.watched: list[str] = []

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.told[params.uri] = list(params.diagnostics)

        @client.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)
        def refresh(*_: object) -> None:
            self.refreshed.set()

        @client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            (files,) = params.registrations
            self.watched += [one["globPattern"] for one in files.register_options["watchers"]]

    def open(self, name: str, text: str, language: str = "python") -> str:
        uri = (self.root / name).as_uri()
        self.versions[uri] = 1
        item = types.TextDocumentItem(uri, language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def type(self, uri: str, place: types.Range, text: str) -> None:
        """An incremental change."""
        self.told.pop(uri, None)
        self.versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        change = types.TextDocumentContentChangePartial(place, text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    async def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """Those that the server publishes."""
        for _ in range(600):
            if uri in self.told:
                return self.told[uri]
            await asyncio.sleep(0.1)
        raise AssertionError(f"no diagnostics of {uri}")

    async def offered(self, uri: str, place: types.Range, *kinds: str) -> list[Any]:
        """The code actions. This client reads one that runs a command as the command."""
        context = types.CodeActionContext([], list(kinds) or None)
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), place, context)
        return list(await self.client.text_document_code_action_async(params) or [])

    async def actions(self, uri: str, place: types.Range, *kinds: str) -> list[types.CodeAction]:
        """Those that edit the text."""
        return [one for one in await self.offered(uri, place, *kinds) if isinstance(one, types.CodeAction)]

    async def hints(self, uri: str) -> list[tuple[Any, types.Position]]:
        whole = types.Range(types.Position(0, 0), types.Position(1000, 0))
        about = types.InlayHintParams(types.TextDocumentIdentifier(uri), whole)
        found = await self.client.text_document_inlay_hint_async(about)
        return [(one.label, one.position) for one in found or []]

    async def hover(self, uri: str, line: int, character: int) -> str:
        params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        found = await self.client.text_document_hover_async(params)
        assert found is None or isinstance(found.contents, types.MarkupContent)
        return "" if found is None else found.contents.value  # type: ignore[union-attr]


def run(
    root: Path,
    work: Callable[[Editor], Awaitable[None]],
    pull: bool = False,
    options: dict[str, Any] | None = None,
    documents: bool = False,
) -> None:
    """Starts a server, does what an editor does, and ends it as editors do."""

    async def session() -> None:
        client = LanguageClient("editor", "1")
        editor = Editor(client, root)
        await client.start_io(sys.executable, "-P", "-m", "jaxlint", "server", cwd=str(root))
        about = types.TextDocumentClientCapabilities(
            diagnostic=types.DiagnosticClientCapabilities() if pull else None
        )
        workspace = types.WorkspaceClientCapabilities(
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=pull),
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
        )
        window = types.WindowClientCapabilities(
            show_document=types.ShowDocumentClientCapabilities(support=documents)
        )
        await client.initialize_async(
            types.InitializeParams(
                types.ClientCapabilities(text_document=about, workspace=workspace, window=window),
                root_uri=root.as_uri(),
                initialization_options=options,
            )
        )
        client.initialized(types.InitializedParams())
        await work(editor)
        await client.shutdown_async(None)
        client.exit(None)
        await asyncio.wait_for(client.stop(), 20)

    asyncio.run(asyncio.wait_for(session(), 200))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "steps.py").write_text(STEPS)
    return tmp_path


def place(line: int, first: int, last: int) -> types.Range:
    return types.Range(types.Position(line, first), types.Position(line, last))


def test_findings_follow_what_is_typed(project: Path) -> None:
    async def work(editor: Editor) -> None:
        uri = editor.open("train.py", TRAIN)
        branch, removed = await editor.diagnostics(uri)
        # columns in UTF-16: a letter beyond its first plane counts as two
        assert (branch.code, branch.range.start.line) == ("JAX101", 8)
        text = TRAIN.splitlines()[8]
        units = text.encode("utf-16-le")
        shown = units[2 * branch.range.start.character : 2 * branch.range.end.character].decode("utf-16-le")
        assert shown == "x > 0"
        assert branch.severity is types.DiagnosticSeverity.Error
        assert branch.source == "jaxlint"
        assert branch.code_description is not None
        assert branch.code_description.href == find_rule("tracer-branch").help_address()
        assert (removed.code, removed.range) == ("JAX901", place(12, 6, 18))
        # the editor's text counts, saved or not
        editor.type(uri, place(12, 6, 18), "jax.tree.map")
        assert [one.code for one in await editor.diagnostics(uri)] == ["JAX101"]
        editor.type(uri, place(8, 0, 0), "    if (\n")
        (broken,) = await editor.diagnostics(uri)
        assert "not valid Python" in broken.message
        assert await editor.hover(uri, 0, 8) == ""
        editor.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        )
        editor.told.pop(uri)
        assert await editor.diagnostics(uri) == []

    run(project, work)


def test_what_another_open_file_says_counts_before_it_is_saved(project: Path) -> None:
    calling = "import jax\nfrom helper import half\n\n\n@jax.jit\ndef f(x):\n    return half(x)\n"
    helper = "def half(x):\n    if x > 0:\n        return x / 2\n    return x\n"
    (project / "calls.py").write_text("from helper import half\nprint(half(1))\n")
    (project / "helper.py").write_text(helper)

    async def work(editor: Editor) -> None:
        uri = editor.open("helper.py", helper)
        assert await editor.diagnostics(uri) == []
        editor.open("calls.py", calling)
        editor.type(uri, place(0, 0, 0), "\n")
        (found,) = await editor.diagnostics(uri)
        assert (found.code, found.range.start.line) == ("JAX101", 2)

    run(project, work)


def test_fixes_are_offered_one_by_one_and_all_together(project: Path) -> None:
    async def work(editor: Editor) -> None:
        uri = editor.open("train.py", TRAIN)
        await editor.diagnostics(uri)
        fix, ignore, explain = await editor.offered(uri, place(12, 8, 8), "quickfix")
        assert fix.title.startswith("jaxlint: ")
        assert fix.is_preferred
        assert fix.edit is not None
        assert list((fix.edit.changes or {})[uri]) == [types.TextEdit(place(12, 6, 18), "jax.tree.map")]
        assert await editor.actions(uri, place(0, 0, 0), "quickfix") == []
        (everything,) = await editor.actions(uri, place(0, 0, 0), "source.fixAll.jaxlint")
        assert everything.edit == fix.edit
        assert ignore.title == "jaxlint: ignore removed-api on this line"
        assert ignore.edit is not None
        (comment,) = (ignore.edit.changes or {})[uri]
        assert (comment.range, comment.new_text) == (
            place(12, 0, 18),
            "old = jax.tree_map  # jaxlint: ignore[JAX901]",
        )
        # the unsafe one says so, and is not preferred
        assert isinstance(explain, types.Command)
        assert explain.title == "jaxlint: explain removed-api"
        branch, _ = await editor.actions(uri, place(8, 25, 25), "quickfix")
        assert branch.title.endswith("(unsafe)")
        assert not branch.is_preferred

    run(project, work)


def test_a_hover_says_what_is_traced_since_when_and_which_array(project: Path) -> None:
    async def work(editor: Editor) -> None:
        uri = editor.open("steps.py", STEPS)
        value = await editor.hover(uri, 7, 14)
        assert "`value` is **a tracer** in `step`" in value
        assert "`f32[]" in value
        assert "`jax.jit`" in value
        assert "train.py:14" in value
        assert "static" in await editor.hover(uri, 6, 17)
        assert "`step` is **traced" in await editor.hover(uri, 6, 5)
        assert "`total` is **a tracer** in `step`, `f32[]" in await editor.hover(uri, 8, 12)
        assert await editor.hover(uri, 1, 0) == ""
        assert await editor.hints(uri) == [
            (" traced", types.Position(6, 23)),
            (" static", types.Position(6, 21)),
        ]

    run(project, work)


CLIPPED = """import jax
import jax.numpy as jnp


def clip(tree, limit):
    norm = jnp.sqrt(sum(jnp.vdot(leaf, leaf) for leaf in jax.tree.leaves(tree)))
    halves = jax.tree.map(lambda leaf: leaf / 2, tree)
    if norm > limit:
        return halves
    return tree


@jax.jit
def step(grads):
    return clip(grads, 1.0)


bound = 1.0
"""


def test_a_hover_over_a_variable_says_that_it_is_a_tracer(project: Path) -> None:
    async def work(editor: Editor) -> None:
        uri = editor.open("clipped.py", CLIPPED)
        said = await editor.hover(uri, 7, 8)
        assert (
            said
            == "`norm` is **a tracer** in `clip`, `?[]`.\n\nWhy: `step` is decorated with `jax.jit` at line 13."
        )
        assert "`halves` is **a tracer** in `clip`" in await editor.hover(uri, 8, 16)
        assert await editor.hover(uri, 17, 2) == ""

    run(project, work)


def test_a_hover_names_the_calls_and_not_the_definition(project: Path) -> None:
    async def work(editor: Editor) -> None:
        uri = editor.open("clipped.py", CLIPPED + "print(step([bound]))\n")
        said = await editor.hover(uri, 13, 10)
        assert said.endswith("Passed at line 19.")

    run(project, work)


@pytest.mark.parametrize(
    ("settings", "hover", "hints"),
    [
        ({}, True, {" traced", " static"}),
        ({"hover": False}, False, {" traced", " static"}),
        ({"inlayHints": False}, True, set()),
        ({"tracedHints": False}, True, {" static"}),
        ({"stagedHints": False}, True, {" static"}),
        ({"staticHints": False}, True, {" traced"}),
    ],
)
def test_each_can_be_turned_off(
    project: Path, settings: dict[str, bool], hover: bool, hints: set[str]
) -> None:
    async def work(editor: Editor) -> None:
        uri = editor.open("steps.py", STEPS)
        assert bool(await editor.hover(uri, 7, 14)) == hover
        assert {label for label, _ in await editor.hints(uri)} == hints
        # and on again, as long as the editor is open
        about = types.DidChangeConfigurationParams({"jaxlint": {}})
        editor.client.workspace_did_change_configuration(about)
        assert await editor.hover(uri, 7, 14) != ""
        assert len(await editor.hints(uri)) == 2

    run(project, work, options={"settings": settings})


@pytest.mark.parametrize("documents", [True, False])
def test_a_rule_is_explained(project: Path, documents: bool) -> None:
    async def work(editor: Editor) -> None:
        pages: list[str] = []

        @editor.client.feature(types.WINDOW_SHOW_DOCUMENT)
        def show(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
            pages.append(Path(unquote(urlsplit(params.uri).path)).read_text(encoding="utf-8"))
            return types.ShowDocumentResult(True)

        @editor.client.feature(types.WINDOW_SHOW_MESSAGE)
        def say(params: types.ShowMessageParams) -> None:
            pages.append(params.message)

        for rule in ("removed-api", "no-such-rule"):
            command = types.ExecuteCommandParams("jaxlint.explain", [rule])
            await editor.client.workspace_execute_command_async(command)
        assert pages[0] == page(find_rule("removed-api"))
        assert "there is no rule 'no-such-rule'" in pages[1]

    run(project, work, documents=documents)


def test_a_request_that_is_cancelled_is_not_waited_for(project: Path) -> None:
    async def work(editor: Editor) -> None:
        uri = editor.open("steps.py", STEPS)
        await editor.diagnostics(uri)
        params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(7, 14))
        for method, about in (
            (types.TEXT_DOCUMENT_HOVER, params),
            (types.TEXT_DOCUMENT_DIAGNOSTIC, types.DocumentDiagnosticParams(params.text_document)),
        ):
            editor.type(uri, place(0, 0, 0), "# a new text\n")
            asked = editor.client.protocol.send_request_async(method, about, msg_id=f"asked {method}")
            task = asyncio.ensure_future(asked)
            await asyncio.sleep(0)  # it is sent
            editor.client.protocol.notify("$/cancelRequest", types.CancelParams(f"asked {method}"))
            with pytest.raises(JsonRpcRequestCancelled):
                await task
        assert "a tracer" in await editor.hover(uri, 9, 14)

    run(project, work)


def test_an_editor_may_ask_instead_of_being_told(project: Path) -> None:
    async def asked(editor: Editor, uri: str) -> list[object]:
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        report = await editor.client.text_document_diagnostic_async(params)
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        return [one.code for one in report.items]

    async def work(editor: Editor) -> None:
        uri = editor.open("train.py", TRAIN)
        assert await asked(editor, uri) == ["JAX101", "JAX901"]
        # settings change on disk: the editor is told to ask again
        settings = project / "pyproject.toml"
        settings.write_text(settings.read_text() + "[tool.jaxlint]\nignore = ['JAX901']\n")
        changed = types.FileEvent(settings.as_uri(), types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
        codes: list[object] = []
        while codes != ["JAX101"]:
            await asyncio.wait_for(editor.refreshed.wait(), 60)
            editor.refreshed.clear()
            codes = await asked(editor, uri)
        assert editor.told == {}

    run(project, work, pull=True)


def test_a_notebook_is_one_program_of_many_cells(project: Path) -> None:
    cells = [
        "import jax\n",
        "# text",
        "%time\n@jax.jit\ndef f(x):\n    return 1 if x > 0 else jax.tree_map(g, x)\n",
        "def g(x):\n    return x\n\n\nf(2.0)",
    ]
    uri = (project / "a.ipynb").as_uri()

    async def work(editor: Editor) -> None:
        code, markup = types.NotebookCellKind.Code, types.NotebookCellKind.Markup
        kinds = [code, markup, code, code]
        addresses = [f"vscode-notebook-cell:/a.ipynb#{n}" for n in range(4)]
        notebook = types.NotebookDocument(
            uri,
            "jupyter-notebook",
            1,
            [types.NotebookCell(k, a) for k, a in zip(kinds, addresses, strict=True)],
        )
        texts = [
            types.TextDocumentItem(address, "python" if number != 1 else "markdown", 1, text)
            for number, (address, text) in enumerate(zip(addresses, cells, strict=True))
        ]
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, texts))
        found, removed = await editor.diagnostics(addresses[2])
        assert (found.code, found.range) == ("JAX101", place(3, 16, 21))
        assert await editor.diagnostics(addresses[0]) == []
        hover = await editor.hover(addresses[2], 2, 6)
        assert "`x` is **a tracer** in `f`" in hover
        assert "`jax.jit` at line 2." in hover
        assert "Passed at line 5 of cell 4." in hover
        # fixes and comments are edits of the cell
        fix, ignore = await editor.actions(addresses[2], removed.range, "quickfix")
        assert fix.edit is not None
        assert list(fix.edit.changes or {}) == [addresses[2]]
        assert ignore.edit is not None
        (comment,) = (ignore.edit.changes or {})[addresses[2]]
        assert comment.new_text.endswith("# jaxlint: ignore[JAX901]")
        (everything,) = await editor.actions(addresses[0], place(0, 0, 0), "source.fixAll.jaxlint")
        assert everything.edit == fix.edit
        # a cell that changes is checked with the others
        editor.told.pop(addresses[2])
        change = types.NotebookDocumentChangeEvent(
            cells=types.NotebookDocumentCellChanges(
                text_content=[
                    types.NotebookDocumentCellContentChanges(
                        types.VersionedTextDocumentIdentifier(2, addresses[2]),
                        [types.TextDocumentContentChangeWholeDocument(cells[2].replace("x > 0", "x.ndim"))],
                    )
                ]
            )
        )
        version = types.VersionedNotebookDocumentIdentifier(2, uri)
        editor.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(version, change))
        assert [one.code for one in await editor.diagnostics(addresses[2])] == ["JAX901"]

    run(project, work)


def test_a_page_of_markdown_has_findings_at_its_lines(project: Path) -> None:
    page = "# Title\n\n```python\nimport jax\nprint(jax.tree_map)\n```\n"

    async def work(editor: Editor) -> None:
        uri = editor.open("page.md", page, "markdown")
        (found,) = await editor.diagnostics(uri)
        assert (found.code, found.range) == ("JAX901", place(4, 6, 18))

    run(project, work)


def test_jupyterlab_hands_over_the_python_of_a_notebook(project: Path) -> None:
    """Its extension opens one document with the text of all cells, in a folder of its own."""

    async def work(editor: Editor) -> None:
        uri = editor.open(".virtual_documents/a.ipynb", TRAIN)
        assert [one.code for one in await editor.diagnostics(uri)] == ["JAX101", "JAX901"]
        assert "**traced" in await editor.hover(uri, 7, 5)

    run(project, work)


def test_the_baseline_that_the_settings_name_is_watched(project: Path) -> None:
    async def work(editor: Editor) -> None:
        await editor.diagnostics(editor.open("train.py", TRAIN))
        assert {"**/*.py", "**/known.findings"} <= set(editor.watched)

    (project / "pyproject.toml").write_text('[tool.jaxlint]\nbaseline = "known.findings"\n')
    write_baseline(project / "known.findings", [])
    run(project, work)


def test_settings_of_the_project_hold_and_a_mistake_in_them_is_shown(project: Path) -> None:
    async def work(editor: Editor) -> None:
        shown: list[str] = []

        @editor.client.feature(types.WINDOW_SHOW_MESSAGE)
        def show(params: types.ShowMessageParams) -> None:
            shown.append(params.message)

        (project / "pyproject.toml").write_text('[tool.jaxlint]\nignore = ["JAX101"]\n')
        uri = editor.open("train.py", TRAIN)
        assert [one.code for one in await editor.diagnostics(uri)] == ["JAX901"]
        # what a baseline knows is not shown, as soon as it knows it
        (project / "pyproject.toml").write_text('[tool.jaxlint]\nbaseline = "known.jsonl"\n')
        result = check([project / "train.py"], load_config([project / "steps.py"]), use_cache=False)
        known = [one for one in result.findings if one.code == "JAX101"]
        editor.type(uri, place(0, 0, 0), "\n")
        write_baseline(project / "known.jsonl", [])
        assert [one.code for one in await editor.diagnostics(uri)] == ["JAX101", "JAX901"]
        write_baseline(project / "known.jsonl", entries_of(known, result.sources, project))
        editor.told.pop(uri)
        changed = types.FileEvent((project / "known.jsonl").as_uri(), types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
        assert [one.code for one in await editor.diagnostics(uri)] == ["JAX901"]
        (project / "pyproject.toml").write_text('[tool.jaxlint]\nignorre = ["JAX101"]\n')
        changed = types.FileEvent((project / "pyproject.toml").as_uri(), types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
        for _ in range(200):
            if shown:
                break
            await asyncio.sleep(0.1)
        assert "ignorre" in shown[0]

    run(project, work)
