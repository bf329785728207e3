"""A source file as the rest of the engine sees it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class SourceError(Exception):
    """A file that cannot be read, decoded or parsed; the message is one line and names what to do."""

    def __init__(self, path: str, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.line = line

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.message}"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """Decoded text with what is needed to write it back byte for byte.

    `display` is the path as the user gave it; `text` has its line ends as in the file (CRLF kept) and no BOM;
    `digest` is the hex SHA-256 of the bytes on disk.
    """

    path: Path
    display: str
    text: str
    encoding: str
    bom: bool
    digest: str
