"""From source text to the standard library's syntax tree, and from its positions to spans."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Protocol

from jaxlint.finding import Span
from jaxlint.source.file import SourceError, SourceFile
from jaxlint.syntax.guard import nesting_problem, worth_scanning

_LINE_END = re.compile(r"\r\n|\r|\n")
_PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"


class Located(Protocol):
    """A node with a place: a statement, an expression, an argument, an alias, a handler ..."""

    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None


def split_lines(text: str) -> list[str]:
    """The lines of `text`, without their ends, numbered as the parser numbers them.

    A form feed or a Unicode line separator is no line end in Python, unlike in `str.splitlines`.
    """
    return text.split("\n") if "\r" not in text else _LINE_END.split(text)


def parse_source(source: SourceFile) -> ast.Module:
    """The syntax tree of `source`. Raises SourceError with the line and what to do."""
    if worth_scanning(source.text):
        refuse_nesting(source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like are not ours to report
            return ast.parse(source.text)
    except SyntaxError as error:
        raise SourceError(source.display, _explain(error, source), error.lineno) from None
    except (RecursionError, MemoryError):
        raise SourceError(
            source.display, "nested too deeply to be parsed; split its longest expression"
        ) from None
    except ValueError as error:  # lone surrogates, which some encodings can produce
        message = " ".join(str(error).split())
        raise SourceError(source.display, f"cannot be parsed ({message}); save it as UTF-8") from None


def refuse_nesting(source: SourceFile, *, concrete: bool = False) -> None:
    """Raises SourceError when `source` is nested too deeply; see `nesting_problem` for `concrete`."""
    problem = nesting_problem(source.text, concrete=concrete)
    if problem:
        raise SourceError(source.display, problem.message, problem.line)


def span_of(node: Located, lines: Sequence[str]) -> Span:
    """Where `node` is: the parser's UTF-8 byte offsets as code points. `lines` comes from `split_lines`."""
    line = node.lineno
    end_line = node.end_lineno or line
    end_offset = node.end_col_offset if node.end_col_offset is not None else node.col_offset
    return Span(
        line,
        column_of(lines, line, node.col_offset),
        end_line,
        column_of(lines, end_line, end_offset),
    )


def column_of(lines: Sequence[str], line: int, byte_offset: int) -> int:
    """The 1-based column in code points of a UTF-8 byte offset in a 1-based line.

    An offset past the end of the line, as Python 3.11 gives inside some f-strings, becomes the line's end.
    """
    if not 1 <= line <= len(lines):
        return 1
    text = lines[line - 1]
    if text.isascii():
        return min(byte_offset, len(text)) + 1
    return len(text.encode("utf-8", "surrogatepass")[:byte_offset].decode("utf-8", "ignore")) + 1


def _explain(error: SyntaxError, source: SourceFile) -> str:
    message = " ".join((error.msg or "invalid syntax").split())
    if _libcst_accepts(source):
        return (
            f"{_PYTHON} cannot parse this ({message}), a newer Python may: run jaxlint under a newer Python"
        )
    return f"not valid {_PYTHON}: {message}; fix or exclude the file"


def _libcst_accepts(source: SourceFile) -> bool:
    """Whether libcst, whose grammar does not follow the running interpreter, can read the file."""
    if nesting_problem(source.text, concrete=True):
        return False  # libcst would bring the interpreter down
    import libcst

    try:
        libcst.parse_module(source.text)
    except Exception:  # whatever it raises, it did not accept
        return False
    return True
