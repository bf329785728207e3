"""Parses source text with the standard library, and converts its positions to spans."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from collections.abc import Sequence
from typing import Protocol

from jaxlint.finding import Span
from jaxlint.source.file import SourceError, SourceFile
from jaxlint.syntax.guard import MOST_TOKENS, nesting_problem, too_long_for_libcst, worth_scanning
from jaxlint.syntax.miscounted_depth import again_if_miscounted

_LINE_END = re.compile(r"\r\n|\r|\n")
# Signs of Python 2, on the line that no parser accepts.
_PYTHON_2_MESSAGE = re.compile(
    r"Missing parentheses in call to '(print|exec)'|leading zeros in decimal integer"
)
_PYTHON_2 = re.compile(
    r"^\s*(?:print|exec)\s+[\w\"'%]|^\s*print\s*>>|^\s*raise\s+[\w.]+\s*,|^\s*except\s+[\w.]+\s*,\s*\w+\s*:"
    r"|<>|\b\d+[lL]\b|\b[uU][rR][\"']|`\w+`|\bdef\s+\w+\(.*\(\w+\s*,"
)
_NEWER = re.compile(
    r"^\s*(?:(?:async\s+)?def|class)\s+\w+\s*\[|^\s*type\s+\w+|\b[fFtTrR]{1,2}[\"']|^\s*except\b.*,"
)
# `ast.parse` counts its depth for all threads together (as do the filters of warnings), so parallel calls fail.
_ONE_AT_A_TIME = threading.RLock()


class Located(Protocol):
    """A node with a position: a statement, an expression, an argument, an alias, a handler ..."""

    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None


def split_lines(text: str) -> list[str]:
    """The lines of `text` without their ends, numbered like the parser's.

    Unlike in `str.splitlines`, a form feed or a Unicode line separator does not end a line.
    """
    return text.split("\n") if "\r" not in text else _LINE_END.split(text)


def parse_source(source: SourceFile) -> ast.Module:
    """The syntax tree of `source`. Raises SourceError with the line and what to do."""
    if worth_scanning(source.text):
        _refuse_nesting(source)
    try:
        return parse_text(source.text)
    except SyntaxError as error:
        raise SourceError(source.display, _explain(error, source.text), error.lineno) from None
    except (RecursionError, MemoryError):
        raise SourceError(
            source.display, "nested too deeply to be parsed; split its longest expression"
        ) from None
    except ValueError as error:  # lone surrogates, which some encodings can produce
        message = " ".join(str(error).split())
        raise SourceError(source.display, f"cannot be parsed ({message}); save it as UTF-8") from None


def parse_text(text: str) -> ast.Module:
    """The syntax tree of `text`, in the grammar of the newest Python that libcst knows.

    Raises the same errors as `ast.parse`. The running parser goes first, since the other way takes far longer.
    """
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes and the like are not ours to report
        try:
            return again_if_miscounted(lambda: ast.parse(text))
        except SyntaxError as error:
            if nesting_problem(text, concrete=True):
                raise  # libcst would crash the interpreter
            from jaxlint.syntax.newer_grammar import parse_newer

            try:
                return parse_newer(text)
            except SyntaxError as other:
                # The running parser's message about a construct that is merely too new for it says nothing.
                raise (other if _NEWER.search(_line_of(error, text)) else error) from None


def _refuse_nesting(source: SourceFile) -> None:
    """Raises SourceError if `source` is nested too deeply."""
    problem = nesting_problem(source.text)
    if problem:
        raise SourceError(source.display, problem.message, problem.line)


def refuse_long(source: SourceFile) -> None:
    """Raises SourceError if libcst's tree of the file would fill the memory."""
    if too_long_for_libcst(source.text):
        raise SourceError(
            source.display, f"too long to be rewritten (more than {MOST_TOKENS:,} tokens); split the file"
        )


def span_of(node: Located, lines: Sequence[str]) -> Span:
    """The span of `node`: the parser's UTF-8 byte offsets as code points. `lines` comes from `split_lines`."""
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


def _explain(error: SyntaxError, text: str) -> str:
    message = " ".join((error.msg or "invalid syntax").split())
    if _PYTHON_2_MESSAGE.match(message) or _PYTHON_2.search(_line_of(error, text)):
        return "written in Python 2, which JAX does not run on; convert it with `2to3` or exclude it"
    return f"not valid Python: {message}; fix or exclude the file"


def _line_of(error: SyntaxError, text: str) -> str:
    lines = split_lines(text)
    return lines[error.lineno - 1] if error.lineno and error.lineno <= len(lines) else ""
