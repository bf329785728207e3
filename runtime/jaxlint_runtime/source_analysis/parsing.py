"""From the files of a program to syntax trees, as the static half of jaxlint reads them: newer syntax under an older Python, too."""

from __future__ import annotations

import ast
from pathlib import Path

from jaxlint.source import SourceError, read_source
from jaxlint.source.file import SourceFile
from jaxlint.syntax.parse import parse_source


def tree_of(source: SourceFile) -> ast.Module | None:
    """The tree of a file; None where it cannot be read, which running it says."""
    try:
        return parse_source(source)
    except (
        SourceError,
        ImportError,
    ):  # newer syntax is read by libcst, which no user's interpreter needs to have
        return None


def tree_of_file(path: str) -> ast.Module | None:
    """The same of a file on the disk."""
    try:
        return tree_of(read_source(Path(path), path))
    except SourceError:
        return None
