"""The protocol with the editor. `checking`, `diagnostics` and `explanations` do the work, one job at a time, in a
thread."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import PositionCodec
from pygls.workspace import TextDocument as EditorText

from jaxlint import __version__
from jaxlint.config import ConfigError, load_config
from jaxlint.narrowing.baseline import place_of
from jaxlint.server.checking import Checked
from jaxlint.server.diagnostics import FIX_ALL, actions_of, diagnostics_of, fix_all, reader_of
from jaxlint.server.documents import Document, NotebookDocument, TextDocument, path_of
from jaxlint.server.examiner import Examiner
from jaxlint.server.explaining import EXPLAIN, Pages
from jaxlint.server.explanations import HINTS, Explanations
from jaxlint.server.meanwhile import Known, beside
from jaxlint.server.positions import Text, text_of_cell
from jaxlint.server.protocol import Protocol, log_in_lines
from jaxlint.source import SourceFile

T = TypeVar("T")

_NOT_PLAIN = re.compile(r"[][*?{}!]")  # what means something in a pattern

_PAUSE = 0.05  # seconds without a key before the visible text is checked
# Modules, settings, what the project requires of jax, and what is known in it.
_WATCHED = (
    "**/*.py",
    "**/pyproject.toml",
    "**/jaxlint.toml",
    "**/setup.cfg",
    "**/*requirements*.txt",
    "**/*baseline*.jsonl",
)


@dataclass(slots=True)
class _State:
    """The state of an open document: its checked text, the findings, and the facts about its names.

    `early` is shown while the files that use the document are checked. `before` are the findings of an earlier text.
    """

    document: Document
    checked: Checked | None = None
    early: Checked | None = None
    before: Known | None = None
    explanations: Explanations | None = None
    explaining: asyncio.Task[None] | None = None
    asking: int = 0  # requests that wait for the explanations
    pending: asyncio.Task[None] | None = None
    work: asyncio.Task[None] | None = None
    early_is_whole: bool = False  # it has all findings of the text alone
    answered_early: bool = False
    shown: dict[str, list[types.Diagnostic]] | None = None  # what the editor has received for this text
    problem: str | None = None

    def renew(self, document: Document) -> None:
        """Resets the state for a new text."""
        self.document = document
        self.checked = self.early = self.explanations = None
        self.answered_early = self.early_is_whole = False
        self.shown = None


@dataclass(slots=True)
class _Wishes:
    """The settings of the editor."""

    hover: bool = True
    hints: frozenset[str] = HINTS

    @classmethod
    def of(cls, options: Any) -> _Wishes:
        given = options if isinstance(options, dict) else {}
        given = given.get("settings", given)
        given = given if isinstance(given, dict) else {}

        def on(key: str) -> bool:
            return given.get(key, True) is not False

        former = {"traced": "staged"}  # a kind's name in older settings
        hints = frozenset(
            kind
            for kind in HINTS
            if on("inlayHints") and on(f"{kind}Hints") and on(f"{former.get(kind, kind)}Hints")
        )
        return cls(on("hover"), hints)


@dataclass(slots=True)
class Session:
    """The session with one editor. `states` are the open documents by address; notebooks by that of the notebook."""

    server: LanguageServer
    examiner: Examiner
    states: dict[str, _State] = field(default_factory=dict)
    wishes: _Wishes = field(default_factory=_Wishes)
    examined: str | None = None  # the address of the document that was checked last
    waiting: dict[str, list[asyncio.Future[object]]] = field(default_factory=dict)  # for early results
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "jaxlint"))

    @property
    def codec(self) -> PositionCodec:
        return self.server.workspace.position_codec

    @property
    def pulls(self) -> bool:
        """Whether the editor requests diagnostics itself, and wants none pushed."""
        about = self.server.client_capabilities.text_document
        return about is not None and about.diagnostic is not None

    # ---- documents ----

    def owner(self, uri: str) -> str | None:
        """The address of the document that an address belongs to: itself, or the notebook of a cell."""
        if uri in self.states:
            return uri
        return next((one for one, state in self.states.items() if uri in state.document.code), None)

    def opened(self, uri: str) -> None:
        """A document was opened or changed, or what it depends on: check it after a pause."""
        document = self._read(uri)
        if document is None:
            return
        state = self.states.setdefault(uri, _State(document))
        state.renew(document)
        if self.examined == document.uri:
            self.examiner.interrupt()
        if state.pending is not None:
            state.pending.cancel()
        if not self.pulls:
            state.pending = asyncio.ensure_future(self._publish_later(uri))

    def closed(self, uri: str) -> None:
        state = self.states.pop(uri, None)
        if state is None:
            return
        if state.pending is not None:
            state.pending.cancel()
        if not self.pulls:
            for one in state.document.code:
                self._publish(one, [])

    def _read(self, uri: str) -> Document | None:
        workspace = self.server.workspace
        notebook = workspace.get_notebook_document(notebook_uri=uri)
        if notebook is not None:
            path = path_of(uri, "")
            cells = [
                (cell.document, cell.kind == types.NotebookCellKind.Code, self._text(cell.document))
                for cell in notebook.cells
            ]
            return None if path is None else NotebookDocument(uri, path.with_suffix(".ipynb"), cells)
        text = self._open_text(uri)
        if text is None:
            return None
        path = path_of(uri, text.language_id or "python")
        return None if path is None else TextDocument(uri, path, text.source)

    def _open_text(self, uri: str) -> EditorText | None:
        """An open document; None for one that is not open, whose file pygls would read. It keeps addresses without their `%` codes."""
        documents = self.server.workspace.text_documents
        return documents.get(uri) or documents.get(unquote(uri))

    def _text(self, uri: str) -> str:
        document = self._open_text(uri)
        return "" if document is None else document.source

    # ---- work ----

    async def in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.pool, work)

    async def checked(self, uri: str) -> tuple[Document, Checked] | None:
        """The findings of the visible text, by its address or that of a cell.

        None if the document was closed meanwhile, or the settings are invalid.
        """
        while (state := self._state(uri)) is not None:
            if state.checked is not None:
                return state.document, state.checked
            if state.work is None:
                state.work = asyncio.ensure_future(self._check(state))
            document, work = state.document, state.work
            await asyncio.wait([work])
            if (error := work.exception()) is not None:
                raise error
            if state.checked is None and state.document is document and state.problem is not None:
                return None
        return None

    async def _check(self, state: _State) -> None:
        """Checks the visible text, and shows early results first."""
        document, loop = state.document, asyncio.get_running_loop()
        others = [one.document for one in self.states.values()]

        def early(checked: Checked) -> None:
            loop.call_soon_threadsafe(self._seen_early, state, document, checked)

        self.examined = document.uri
        try:
            found = await self.in_thread(lambda: self.examiner.check(document, others, early))
        except ConfigError as error:
            if state.problem != str(error):
                state.problem = str(error)
                self.server.window_show_message(
                    types.ShowMessageParams(types.MessageType.Error, f"jaxlint: {error}")
                )
            return
        finally:
            state.work = None
        if found is not None and state.document is document:
            alone = state.early
            state.checked, state.problem = found, None
            state.before = Known(found, state.before.alone if alone is not None and state.before else found)
            if state.answered_early and alone is not None and alone.findings != found.findings:
                await self.server.workspace_diagnostic_refresh_async(None)

    def _seen_early(self, state: _State, document: Document, checked: Checked) -> None:
        """Records and shows the findings of the document alone."""
        if state.document is not document or state.checked is not None or state.early_is_whole:
            return
        state.early = beside(checked, state.before)
        if not checked.partial:
            state.early_is_whole = True
            whole = state.before.whole if state.before is not None else checked
            state.before = Known(whole, checked)
        for waiting in self.waiting.pop(document.uri, []):
            if not waiting.done():
                waiting.set_result(None)
        if not self.pulls:
            self._show(state, document, state.early)

    def _state(self, uri: str) -> _State | None:
        owner = self.owner(uri)
        return self.states[owner] if owner is not None else None

    async def explained(self, uri: str) -> tuple[Explanations, int | None, Text] | None:
        """The facts about the names of a document, with the cell of an address and its lines."""
        while True:
            known, state = await self.checked(uri), self._state(uri)
            source = known[1].source if known is not None else None
            if known is None or state is None or source is None:
                return None
            if state.explanations is not None:
                cell = state.document.code.get(uri)
                return state.explanations, cell, text_of_cell(source, cell, self.codec)
            if state.document is known[0]:
                await self._explanations(state, source)

    async def _explanations(self, state: _State, source: SourceFile) -> None:
        """Waits for the facts of a document. Requests wait for one run; it ends when all of them are cancelled."""
        if state.explaining is None:
            state.explaining = asyncio.ensure_future(self._explain(state, source))
        work = state.explaining
        state.asking += 1
        try:
            await asyncio.wait([work])
        finally:
            state.asking -= 1
            if not work.done() and not state.asking and self.examined == state.document.uri:
                self.examiner.interrupt()
        if (error := work.exception()) is not None:
            raise error

    async def _explain(self, state: _State, source: SourceFile) -> None:
        document = state.document
        others = [one.document for one in self.states.values()]
        self.examined = document.uri
        try:
            facts = await self.in_thread(functools.partial(self.examiner.explain, document, others))
        finally:
            state.explaining = None
        if facts is not None and state.document is document:
            state.explanations = Explanations(source, facts)

    async def _publish_later(self, uri: str) -> None:
        await asyncio.sleep(_PAUSE)
        known = await self.checked(uri)
        if known is not None:
            self._show(self.states[uri], *known)

    def _show(self, state: _State, document: Document, checked: Checked) -> None:
        """Sends the diagnostics to the editor, unless it already has the same ones for this text."""
        found = diagnostics_of(document, checked, self.codec)
        if found != state.shown:
            state.shown = found
            for one, diagnostics in found.items():
                self._publish(one, diagnostics)

    def _publish(self, uri: str, found: list[types.Diagnostic]) -> None:
        self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))

    async def diagnostics(self, uri: str) -> dict[str, list[types.Diagnostic]]:
        """Answers a request for diagnostics: with early results if the editor can be told to ask again."""
        state = self._state(uri)
        if state is not None and state.checked is None and self._refreshes:
            whole: asyncio.Future[object] = asyncio.ensure_future(self.checked(uri))
            early: asyncio.Future[object] = asyncio.get_running_loop().create_future()
            self.waiting.setdefault(state.document.uri, []).append(early)
            await asyncio.wait({whole, early}, return_when=asyncio.FIRST_COMPLETED)
            if not whole.done() and state.early is not None and state.checked is None:
                state.answered_early = True
                return diagnostics_of(state.document, state.early, self.codec)
        known = await self.checked(uri)
        return {} if known is None else diagnostics_of(*known, self.codec)

    @property
    def _refreshes(self) -> bool:
        about = self.server.client_capabilities.workspace
        return about is not None and about.diagnostics is not None and bool(about.diagnostics.refresh_support)

    async def files_changed(self) -> None:
        """Files or settings changed: the open documents are checked again. An editor that pulls is told to ask again."""
        self.examiner.forget_listings()
        for uri in list(self.states):
            self.opened(uri)
        if self.pulls and self._refreshes:
            await self.server.workspace_diagnostic_refresh_async(None)
        about = self.server.client_capabilities.workspace
        if about is not None and about.inlay_hint is not None and about.inlay_hint.refresh_support:
            await self.server.workspace_inlay_hint_refresh_async(None)


def make_server(examiner: Examiner) -> LanguageServer:
    """A server that is ready to start."""
    notebooks = types.NotebookDocumentSyncOptions(
        [types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage("python")], notebook="*")]
    )
    log_in_lines()
    server = LanguageServer("jaxlint", __version__, protocol_cls=Protocol, notebook_document_sync=notebooks)
    session = Session(server, examiner)
    _documents(server, session)
    _answers(server, session)
    return server


def _baselines(server: LanguageServer) -> list[str]:
    """Patterns for the baselines that the settings of the open folders name."""
    addresses = [folder.uri for folder in server.workspace.folders.values()]
    folders = [to_fs_path(uri) for uri in addresses or [server.workspace.root_uri or ""]]
    found = set()
    for folder in folders:
        with contextlib.suppress(ConfigError):
            place = place_of(load_config([Path(folder)])) if folder else None
            if place is not None:
                found.add(f"**/{_NOT_PLAIN.sub('?', place.name)}")
    return sorted(found)


def _documents(server: LanguageServer, session: Session) -> None:
    """Registers the editor's notifications."""

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        session.wishes = _Wishes.of(params.initialization_options)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        about = server.client_capabilities.workspace
        watching = about.did_change_watched_files if about is not None else None
        if watching is not None and watching.dynamic_registration:
            patterns = [*_WATCHED, *_baselines(server)]
            watchers = [types.FileSystemWatcher(pattern) for pattern in patterns]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            registration = types.Registration(
                "jaxlint-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options
            )
            await server.client_register_capability_async(types.RegistrationParams([registration]))

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def opened(params: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams) -> None:
        session.opened(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        session.closed(params.text_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    async def notebook_opened(
        params: types.DidOpenNotebookDocumentParams | types.DidChangeNotebookDocumentParams,
    ) -> None:
        session.opened(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    async def notebook_closed(params: types.DidCloseNotebookDocumentParams) -> None:
        session.closed(params.notebook_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def files_changed(
        params: types.DidSaveTextDocumentParams | types.DidChangeWatchedFilesParams,
    ) -> None:
        await session.files_changed()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def settings_changed(params: types.DidChangeConfigurationParams) -> None:
        settings = params.settings
        session.wishes = _Wishes.of(settings.get("jaxlint", settings) if isinstance(settings, dict) else None)
        await session.files_changed()


def _answers(server: LanguageServer, session: Session) -> None:
    """Registers the editor's requests."""

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(
            inter_file_dependencies=True, workspace_diagnostics=False, identifier="jaxlint"
        ),
    )
    async def diagnostics(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        uri = params.text_document.uri
        found = await session.diagnostics(uri)
        return types.RelatedFullDocumentDiagnosticReport(found.get(uri, []))

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL]),
    )
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        known = await session.checked(uri)
        source = known[1].source if known is not None else None
        if known is None or source is None:
            return []
        document, checked = known
        text_of = reader_of(document, source, session.codec)
        wanted = params.context.only
        made: list[types.CodeAction] = []
        if wanted is None or any(_within(types.CodeActionKind.QuickFix, kind) for kind in wanted):
            made += actions_of(document, checked, uri, params.range, session.codec, text_of)
        if wanted is None or any(_within(FIX_ALL, kind) for kind in wanted):
            everything = fix_all(document, checked, text_of)
            made += [everything] if everything is not None else []
        return made

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        known = await session.explained(params.text_document.uri) if session.wishes.hover else None
        if known is None:
            return None
        explained, cell, text = known
        found = explained.at(cell, params.position.line + 1, text.column(params.position))
        if found is None:
            return None
        said, line, first, last = found
        place = types.Range(text.position(line, first + 1), text.position(line, last + 1))
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, said), place)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        kinds = session.wishes.hints
        known = await session.explained(params.text_document.uri) if kinds else None
        return [] if known is None else list(_inlay(*known, params.range, kinds))

    pages = Pages(server)

    @server.command(EXPLAIN)
    async def explain(rule: str) -> None:
        await pages.show(rule)


def _inlay(
    explained: Explanations, cell: int | None, text: Text, wanted: types.Range, kinds: frozenset[str]
) -> Iterator[types.InlayHint]:
    for hint in explained.hints():
        where, line, column = hint.place
        if hint.text in kinds and where == cell and wanted.start.line <= line - 1 <= wanted.end.line:
            yield types.InlayHint(
                text.position(line, column + 1), f" {hint.text}", tooltip=hint.tooltip, padding_left=True
            )


def _within(kind: str, wanted: str) -> bool:
    """Whether a kind of action equals the requested kind or lies below it."""
    return kind == wanted or kind.startswith(f"{wanted}.")
