"""Syntax trees of a program's files, parsed like in the static half of jaxlint: including newer syntax under an older
Python."""

from __future__ import annotations

import ast
from pathlib import Path

from jaxlint.source import SourceError, read_source
from jaxlint.source.file import SourceFile
from jaxlint.syntax.parse import parse_source


def tree_of(source: SourceFile) -> ast.Module | None:
    """The tree of a file; None if it cannot be parsed, which running it reports."""
    try:
        return parse_source(source)
    except (
        SourceError,
        ImportError,
    ):  # newer syntax is parsed by libcst, which a user's interpreter need not have
        return None


def tree_of_file(path: str) -> ast.Module | None:
    """The tree of a file on disk; None if it cannot be parsed."""
    try:
        return tree_of(read_source(Path(path), path))
    except SourceError:
        return None
