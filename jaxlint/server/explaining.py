"""The page of a rule in the editor: as a document where it can show one, else as a message."""

from __future__ import annotations

import atexit
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from jaxlint.registry import UnknownRule
from jaxlint.rule_page import page_of

EXPLAIN = "jaxlint.explain"  # a command, with the code or name of a rule


@dataclass(slots=True)
class Pages:
    """The pages that were shown, in a folder that goes with the server."""

    server: LanguageServer
    folder: tempfile.TemporaryDirectory[str] | None = None

    async def show(self, rule: str) -> None:
        try:
            page = page_of(rule)
        except UnknownRule as error:
            self._say(types.MessageType.Error, f"jaxlint: {error}")
            return
        about = self.server.client_capabilities.window
        if about is not None and about.show_document is not None and about.show_document.support:
            uri = self._written(rule, page).as_uri()
            shown = await self.server.window_show_document_async(
                types.ShowDocumentParams(uri, external=False, take_focus=True)
            )
            if shown is not None and shown.success:
                return
        self._say(types.MessageType.Info, page)

    def _written(self, rule: str, page: str) -> Path:
        if self.folder is None:
            self.folder = tempfile.TemporaryDirectory(prefix="jaxlint-")
            atexit.register(self.folder.cleanup)
        path = Path(self.folder.name) / f"{rule}.md"
        path.write_text(page, encoding="utf-8")
        return path

    def _say(self, kind: types.MessageType, text: str) -> None:
        self.server.window_show_message(types.ShowMessageParams(kind, text))
