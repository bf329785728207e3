"""Open documents of the editor as source files: unsaved text, and notebooks of cells."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from jaxlint.source import SourceFile, source_from_bytes
from jaxlint.source.notebook import notebook_of
from jaxlint.source.read import CONTAINERS, NOTEBOOK

_SUFFIXES = {"python": ".py", "markdown": ".md", "quarto": ".qmd", "rmd": ".rmd"}


def path_of(uri: str, language: str = "python") -> Path | None:
    """The file of a document; for a document that was never saved, a file that does not exist. None for a
    kind of file that jaxlint does not read.

    A document named like a notebook and declared as Python is the Python of its cells. None also for a name
    that no file can have.
    """
    try:
        path = _path_of(uri, language)
        if path is not None:
            path.lstat()
    except ValueError:
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return None
    return path


def _path_of(uri: str, language: str) -> Path | None:
    """Raises ValueError."""
    parts = urlsplit(uri)
    if parts.scheme == "file":
        name = unquote(parts.path)
        if len(name) > 2 and name[0] == "/" and name[2] == ":":  # file:///c:/folder
            name = name[1:]
        # JupyterLab provides the Python of a notebook as a file in this folder.
        path = Path(*(part for part in Path(name).parts if part != ".virtual_documents"))
        if path.suffix == NOTEBOOK and language == "python":
            return path.with_name(f"{path.name}.py")
        known = path.suffix in (*CONTAINERS, ".py", ".pyi")
        return path if known else path.with_suffix(_SUFFIXES.get(language, ".py"))
    if language in _SUFFIXES:
        return Path.cwd() / f"untitled{_SUFFIXES[language]}"
    return None


@dataclass(frozen=True, slots=True)
class TextDocument:
    """A Python file or a Markdown page, as the editor shows it."""

    uri: str
    path: Path
    text: str

    def source(self) -> SourceFile:
        """Raises SourceError."""
        return source_from_bytes(self.text.encode("utf-8", "surrogatepass"), self.path, str(self.path))

    def uri_of(self, cell: int | None) -> str:
        return self.uri

    @property
    def code(self) -> Mapping[str, int | None]:
        """The addresses of its Python, each with the number of its cell; here one address, without a cell."""
        return {self.uri: None}


@dataclass(frozen=True, slots=True)
class NotebookDocument:
    """A notebook; each of its cells is a document in the editor. `cells`: address, whether it is code, text."""

    uri: str
    path: Path
    cells: Sequence[tuple[str, bool, str]]

    def source(self) -> SourceFile:
        """Raises SourceError."""
        data = notebook_of((is_code, text) for _, is_code, text in self.cells)
        return source_from_bytes(data, self.path.with_suffix(NOTEBOOK), str(self.path))

    def uri_of(self, cell: int | None) -> str:
        """The address of a cell by its number in the notebook, from 1."""
        return self.cells[cell - 1][0] if cell is not None and 0 < cell <= len(self.cells) else self.uri

    @property
    def code(self) -> Mapping[str, int | None]:
        """The addresses of the cells that hold Python, each with its number."""
        return {uri: number for number, (uri, is_code, _) in enumerate(self.cells, start=1) if is_code}


Document = TextDocument | NotebookDocument
