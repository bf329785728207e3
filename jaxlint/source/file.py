"""A source file for the rest of the engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxlint.source.container import Container


class SourceError(Exception):
    """A file that cannot be read, decoded or parsed. The message is one line and says what to do."""

    def __init__(self, path: str, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.line = line

    def __reduce__(self) -> tuple[type[SourceError], tuple[str, str, int | None]]:
        """Supports pickling between processes."""
        return SourceError, (self.path, self.message, self.line)

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.message}"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """Decoded text, with the information to write it back byte for byte.

    `display` is the path as the user gave it. `text` is a Python module with the line ends of the file (CRLF is kept)
    and no BOM. `digest` is the hex SHA-256 of the bytes on disk. For a notebook or a Markdown page, `text` is the
    module of its `container`, and `problems` are the parts that do not parse. The same holds for a file with lines
    that are not Python; `notes` name the lines that were skipped without being an error. `missed` are the places of the statements and
    branches that no run of exactly this text reached, as `ast` counts; None if that is not known.
    """

    path: Path
    display: str
    text: str
    encoding: str
    bom: bool
    digest: str
    container: Container | None = None
    problems: tuple[SourceError, ...] = ()
    notes: tuple[str, ...] = ()
    missed: frozenset[tuple[int, int, int, int]] | None = None

    @property
    def file_text(self) -> str:
        """The text of the file itself, which differs from `text` if the file is a container."""
        return self.text if self.container is None else self.container.file_text
