"""Reads source files: PEP 263 encodings, byte-order marks, and unchanged line ends."""

from __future__ import annotations

import codecs
import dataclasses
import functools
import hashlib
import io
import json
import tokenize
from pathlib import Path

from jaxlint.source.exported import read_exported
from jaxlint.source.file import SourceError, SourceFile
from jaxlint.source.regular import MAX_SOURCE, NotRegular, TooLarge, read_regular

NOTEBOOK = ".ipynb"
CONTAINERS = frozenset({NOTEBOOK, ".md", ".markdown", ".mdx", ".qmd", ".rmd"})

_LONGEST = 160  # characters
_UTF8_BOM = b"\xef\xbb\xbf"
_HOST_NAMES = frozenset({"idna", "punycode"})  # decoding takes quadratic time, and no program is in them
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")  # UTF-16 and UTF-32 in either byte order


def portable(path: Path, root: Path) -> str:
    """A path in the form in which it is stored: relative to `root` if it lies below, so that it is also valid in a copy."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def shown_path(path: Path) -> str:
    """The path as a person would write it: relative to the current folder, if it lies inside."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def read_source(path: Path, display: str | None = None) -> SourceFile:
    """The decoded file at `path`, shown to the user as `display` (by default the path itself).

    Raises a one-line SourceError if the file is missing, unreadable, not a regular file, binary, or not in the
    encoding that it declares.
    """
    shown = str(path) if display is None else display
    return source_from_bytes(read_bytes(path, shown), path, shown)


def is_notebook(data: bytes) -> bool:
    """Whether bytes without a file name are those of a notebook: a JSON object with cells."""
    body = data.removeprefix(_UTF8_BOM).lstrip()
    if not body.startswith(b"{") or b'"cells"' not in body:
        return False
    try:
        notebook = json.loads(body)
    except (ValueError, RecursionError):
        return b'"cell_type"' in body  # a broken notebook: a better message than that it is not Python
    return isinstance(notebook, dict) and "cells" in notebook


def read_bytes(path: Path, display: str) -> bytes:
    """The bytes of a regular file. Raises SourceError."""
    try:
        return read_regular(path, MAX_SOURCE)
    except NotRegular:
        raise SourceError(display, "not a regular file; pipe it in and name it `-`") from None
    except TooLarge as error:
        raise SourceError(display, f"{error.strerror}; exclude it") from None
    except FileNotFoundError:
        raise SourceError(display, "no such file; check the path") from None
    except IsADirectoryError:
        raise SourceError(display, "a directory, not a file") from None
    except PermissionError:
        raise SourceError(display, "permission denied; make the file readable or exclude it") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(display, f"cannot be read ({reason}); fix or exclude it") from None


def source_from_bytes(data: bytes, path: Path, display: str) -> SourceFile:
    """Decodes `data` as Python would. Raises SourceError if that is impossible."""
    digest = hashlib.sha256(data).hexdigest()
    if data.startswith(_WIDE_BOMS):
        raise SourceError(
            display, "encoded in UTF-16 or UTF-32, which Python does not read; save it as UTF-8"
        )
    bom = data.startswith(_UTF8_BOM)
    body = data[len(_UTF8_BOM) :] if bom else data
    nul = body.find(b"\0")
    if nul >= 0:
        raise SourceError(
            display, "a binary file (it has NUL bytes), not Python; exclude it", _line_at(body, nul)
        )
    suffix = path.suffix.lower()
    contained = suffix in CONTAINERS
    encoding = "utf-8" if contained else _declared_encoding(data, display)
    try:
        text = body.decode(encoding) if encoding == "utf-8" else _decoded(body, encoding)
    except UnicodeDecodeError as error:
        raise SourceError(
            display,
            f"not valid {encoding} (byte 0x{body[error.start]:02x} at offset {error.start}); "
            + (
                "save it as UTF-8"
                if contained
                else "save it as UTF-8 or declare its encoding in a `# coding:` comment"
            ),
            _line_at(body, error.start),
        ) from None
    except (UnicodeError, LookupError, ValueError) as error:
        # A codec that exists but does not decode text ("rot13"), does not work line by line ("utf-16"), or never
        # works ("undefined").
        raise SourceError(
            display,
            f"cannot be decoded as {encoding} ({_one_line(error)}); correct its `# coding:` comment",
            1,
        ) from None
    source = SourceFile(path=path, display=display, text=text, encoding=encoding, bom=bom, digest=digest)
    return _opened(source, suffix) if contained else _without_commands(source)


def _decoded(body: bytes, encoding: str) -> str:
    """The text as Python reads it: line by line. Raises UnicodeError, LookupError or ValueError."""
    if codecs.lookup(encoding).name in _HOST_NAMES:
        raise LookupError("an encoding of host names")
    text = body.decode(encoding)
    decoder = codecs.getincrementaldecoder(encoding)()
    lines = [decoder.decode(line) for line in body.splitlines(keepends=True)]
    if "".join(lines) + decoder.decode(b"", True) != text:
        raise UnicodeError("its lines cannot be read one by one")
    return text


def _without_commands(source: SourceFile) -> SourceFile:
    """The Python in a file that also contains other lines, such as an exported notebook."""
    found = read_exported(source.text, source.display, functools.partial(_problem, source))
    if found is None:
        return source
    return dataclasses.replace(
        source,
        text=found.container.code,
        container=found.container,
        problems=tuple(found.problems),
        notes=tuple(found.notes),
    )


def _opened(source: SourceFile, suffix: str) -> SourceFile:
    """The Python in a notebook or a Markdown page. Raises SourceError if a notebook is not one."""
    from jaxlint.source.markdown import read_markdown  # most runs use neither
    from jaxlint.source.notebook import read_notebook

    problems: list[SourceError] = []
    if suffix == NOTEBOOK:
        container, problems = read_notebook(source.text, source.display, functools.partial(_problem, source))
    else:
        container = read_markdown(source.text, lambda code: _problem(source, code) is None)
    return dataclasses.replace(source, text=container.code, container=container, problems=tuple(problems))


def _problem(source: SourceFile, code: str) -> tuple[int | None, str] | None:
    """Why a part of `source` does not parse, with the line in it; None if it does."""
    from jaxlint.syntax.parse import parse_source

    try:
        parse_source(dataclasses.replace(source, text=code))
    except SourceError as error:
        return error.line, error.message
    return None


def _declared_encoding(data: bytes, display: str) -> str:
    """The encoding by PEP 263: a byte-order mark, a coding comment in the first two lines, or UTF-8."""
    if b"\r" in data:  # a line may end in a lone one, which `readline` ignores
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        message = _one_line(error)
        if "invalid or missing encoding" in message:
            return "utf-8"  # bad bytes in the first lines: decoding says which
        if "encoding problem" in message and data.startswith(_UTF8_BOM):
            message = "its byte-order mark says UTF-8 and its `# coding:` comment does not"
        raise SourceError(display, f"{message}; correct its `# coding:` comment", 1) from None
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _line_at(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def _one_line(error: Exception) -> str:
    """Shortens texts from a file, such as the name of an encoding: they may be of any length, and a message may not."""
    text = " ".join(str(error).split())
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
