"""Reads Jupyter notebooks: the code cells become parts of one module, with their positions in the JSON.

The JSON is never regenerated. Each source is located in the text, and a changed cell is spelled as before: as a
string or as a list of lines, with its indentation, and with unchanged lines kept as they are.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jaxlint.source.container import Container, Line, Part
from jaxlint.source.file import SourceError
from jaxlint.source.magics import is_python_cell, without_magics

_SPACE = re.compile(r"[ \t\r\n]*")
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)|[^\\]+", re.DOTALL)
_LINE_ENDS = {r"\n": "\n", r"\r": "\r", r"\u000a": "\n", r"\u000d": "\r"}
_decoder = json.JSONDecoder()

# The problem with the code of a cell, as (line, message); None if it parses.
Problem = Callable[[str], tuple[int | None, str] | None]


def read_notebook(text: str, display: str, problem: Problem) -> tuple[Container, list[SourceError]]:
    """The cells of a notebook, and an error for each that does not parse and is skipped.

    Raises SourceError if the file is not a notebook of format 4. A notebook of another language has no parts.
    """
    notebook = _load(text, display)
    if not _is_python(notebook):
        return Container((), (text,)), []
    ascii_only = text.isascii() and re.search(r"\\u[0-9a-fA-F]{4}", text) is not None
    parts: list[Part] = []
    outside: list[str] = []
    errors: list[SourceError] = []
    position, counted, file_line = 0, 0, 1
    for number, (cell, start, end) in enumerate(_cells(text, notebook["cells"]), start=1):
        if cell.get("cell_type") != "code" or start < 0 or _is_to_fail(cell):
            continue
        value = cell["source"]
        if not isinstance(value, str) and not _is_strings(value):
            raise SourceError(display, f"cell {number} has a source that is not text; repair the notebook")
        file_line += text.count("\n", counted, start)
        counted = start
        part = _part(text[start:end], file_line, ascii_only)
        shown = [line.text for line in part.lines]
        if not is_python_cell(shown) or not _speaks_python(cell):
            continue
        codes = without_magics(shown)
        wrong = problem("\n".join(codes) + "\n")
        if wrong is not None:
            line, message = wrong
            where = f"cell {number}, line {line}" if line else f"cell {number}"
            errors.append(SourceError(display, f"{where}: {message}"))
            continue
        lines = tuple(
            line if line.code == code else dataclasses.replace(line, code=code)
            for line, code in zip(part.lines, codes, strict=True)
        )
        outside.append(text[position:start])
        position = end
        parts.append(dataclasses.replace(part, lines=lines, cell=number))
    return Container(tuple(parts), (*outside, text[position:])), errors


def notebook_of(cells: Iterable[tuple[bool, str]]) -> bytes:
    """The file of a notebook with these cells: whether each is code, and its text."""
    made: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": text}
        if is_code
        else {"cell_type": "markdown", "metadata": {}, "source": text}
        for is_code, text in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _load(text: str, display: str) -> Mapping[str, Any]:
    """Raises a one-line SourceError if `text` is not the JSON of a notebook of format 4."""
    try:
        notebook = json.loads(text)
    except json.JSONDecodeError as error:
        raise SourceError(
            display, f"not valid JSON ({error.msg}); repair the notebook or exclude it", error.lineno
        ) from None
    except (RecursionError, ValueError) as error:  # nested too deeply; a number of thousands of digits
        raise SourceError(display, f"JSON that cannot be read ({type(error).__name__}); exclude it") from None
    if not isinstance(notebook, dict):
        raise SourceError(display, "not a notebook: its JSON is not an object; exclude it")
    cells = notebook.get("cells")
    if "worksheets" in notebook or (isinstance(notebook.get("nbformat"), int) and notebook["nbformat"] < 4):
        raise SourceError(
            display,
            "a notebook of an old format; convert it with `jupyter nbconvert --to notebook --nbformat 4`",
        )
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise SourceError(display, "not a notebook: it has no list of cells; exclude it")
    return notebook


def _is_python(notebook: Mapping[str, Any]) -> bool:
    """Whether the notebook's kernel runs Python; assumed if the notebook does not say."""
    metadata = notebook.get("metadata")
    for table, key in (("language_info", "name"), ("kernelspec", "language")):
        known = metadata.get(table) if isinstance(metadata, dict) else None
        language = known.get(key) if isinstance(known, dict) else None
        if isinstance(language, str) and language:
            return "python" in language.lower()
    return True


def _metadata(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = cell.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _speaks_python(cell: Mapping[str, Any]) -> bool:
    editor = _metadata(cell).get("vscode")
    language = editor.get("languageId") if isinstance(editor, dict) else None
    return language is None or language == "python"


def _is_to_fail(cell: Mapping[str, Any]) -> bool:
    """Whether the author marked the cell as one that raises, so that its error is intended."""
    tags = _metadata(cell).get("tags")
    return isinstance(tags, list) and "raises-exception" in tags


def _is_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


# Positions of the sources in the JSON. The text is known to be valid, so these functions do not check it.


def _cells(text: str, cells: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Each cell, with the range of its source in the text; (-1, -1) for a cell without a source."""
    start = next(reversed([at for key, at, _ in _members(text, _skip(text, 0)) if key == "cells"]))
    for cell, at in zip(cells, _items(text, start), strict=True):
        ranges = [(begin, end) for key, begin, end in _members(text, at) if key == "source"]
        yield cell, *(ranges[-1] if ranges else (-1, -1))


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """The members of the object at `at`: name, and range of the value."""
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _decoder.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        _, end = _decoder.raw_decode(text, at)
        yield key, at, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _items(text: str, at: int) -> Iterator[int]:
    """The starts of the items of the list at `at`."""
    at = _skip(text, at + 1)
    while text[at] != "]":
        yield at
        _, at = _decoder.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


# One source


@dataclass(frozen=True, slots=True)
class _Style:
    """How a source is spelled: as a list with this text between brackets and items, or as a string."""

    is_list: bool
    opening: str = "["
    separator: str = ", "
    closing: str = "]"
    newline: str = r"\n"


def _part(verbatim: str, file_line: int, ascii_only: bool) -> Part:
    """The source with this JSON, which begins on `file_line`."""
    pieces: list[tuple[str, int]] = []  # the contents of its strings, each with its line in the file
    style = _Style(is_list=False)
    if verbatim.startswith("["):
        ranges = [(at, _decoder.raw_decode(verbatim, at)[1]) for at in _items(verbatim, 0)]
        counted = 0
        for at, end in ranges:
            file_line += verbatim.count("\n", counted, at)
            counted = at
            pieces.append((verbatim[at + 1 : end - 1], file_line))
        style = _list_style(verbatim, ranges)
    else:
        pieces = [(verbatim[1:-1], file_line)]
    lines = tuple(_lines(pieces))
    ends = re.search(r"(?:^|[^\\])(?:\\\\)*(\\r\\n|\\n)", "".join(piece for piece, _ in pieces))
    style = dataclasses.replace(style, newline=ends[1] if ends else r"\n")
    return Part(
        lines,
        verbatim,
        functools.partial(_spell, style=style),
        functools.partial(_fresh, ascii_only=ascii_only),
    )


def _list_style(verbatim: str, ranges: Sequence[tuple[int, int]]) -> _Style:
    if not ranges:
        return _Style(is_list=True)
    opening, closing = verbatim[: ranges[0][0]], verbatim[ranges[-1][1] :]
    separator = verbatim[ranges[0][1] : ranges[1][0]] if len(ranges) > 1 else f",{opening[1:] or ' '}"
    return _Style(True, opening, separator, closing)


def _lines(pieces: Sequence[tuple[str, int]]) -> Iterator[Line]:
    """The lines of a source, from the contents of its strings. A line may consist of several strings, and a string of
    several lines."""
    raw, began, ended = "", pieces[0][1] if pieces else 0, ""
    for piece, file_line in pieces:
        for token in _ESCAPE.findall(piece):
            end = _LINE_ENDS.get(token.lower())
            if end == "\n" and ended == "\r" and not raw:
                ended = ""  # the second half of "\r\n"
                continue
            ended = ""
            if not raw:
                began = file_line
            if end is None:
                raw += token
            else:
                yield _line(raw, began)
                raw, ended = "", end
    yield _line(raw, began)


def _line(raw: str, file_line: int) -> Line:
    text = json.loads(f'"{raw}"')
    return Line(text, text, raw, file_line=file_line)


def _fresh(code: str, *, ascii_only: bool) -> Line:
    return Line(code, code, json.dumps(code, ensure_ascii=ascii_only)[1:-1])


def _spell(lines: Sequence[Line], *, style: _Style) -> str:
    """The JSON of a source with these lines."""
    items = [line.raw + style.newline for line in lines[:-1]] + [lines[-1].raw]
    if not style.is_list:
        return f'"{"".join(items)}"'
    if not items[-1]:
        items.pop()  # after a final newline the list has no further line
    if not items:
        return "[]"
    return style.opening + style.separator.join(f'"{item}"' for item in items) + style.closing
