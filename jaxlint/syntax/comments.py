"""The comments of a module, found by one pass over its strings.

The standard library's tokenizer takes as long for a file as a quarter of libcst's parse. Only strings can
hold a `#` that begins no comment, so it is enough to tell comments and strings apart.
"""

from __future__ import annotations

import functools
import re
import tokenize
from bisect import bisect_right
from itertools import accumulate

from jaxlint.syntax.newer_grammar import tokens
from jaxlint.syntax.parse import split_lines

_PIECE = re.compile(
    r"""
      \#[^\n]*
    | \"{3} (?: [^"\\]++ | \\. | "(?!"") )*+ \"{3} | '{3} (?: [^'\\]++ | \\. | '(?!'') )*+ '{3}
    | "(?!"") (?: [^"\\\n]++ | \\. )*+ " | '(?!'') (?: [^'\\\n]++ | \\. )*+ '
    | ["']
    """,
    re.VERBOSE | re.DOTALL,
)
_FIELD_WITH_CODE = re.compile(r"""\{[^}]*["'#\\\n]""")


@functools.lru_cache(maxsize=8)
def comments_in(text: str) -> tuple[tuple[str, int, int], ...]:
    """The comments of a module that parses, without trailing white space, each with its 1-based line and column.

    Raises SyntaxError or tokenize.TokenError if the module has constructs that only the tokenizer tells apart, and
    the tokenizer cannot read it.
    """
    if "#" not in text:
        return ()
    lines = split_lines(text)
    text = "\n".join(lines)
    starts: list[int] = []
    found: list[tuple[str, int, int]] = []
    for piece in _PIECE.finditer(text):
        start, end = piece.span()
        if text[start] == "#":
            starts = starts or [0, *accumulate(len(line) + 1 for line in lines)]
            line = bisect_right(starts, start)
            found.append((piece.group().rstrip(), line, start - starts[line - 1] + 1))
        elif end - start == 1 or _may_hold_strings(text, start, end):
            return _by_tokens(text)
    return tuple(found)


def _may_hold_strings(text: str, start: int, end: int) -> bool:
    """Whether the string from `start` to `end` is formatted and has code that may itself hold strings and comments."""
    prefix = text[max(start - 2, 0) : start]
    return (
        prefix[-1:] in ("f", "F", "t", "T") or (prefix[-1:] in ("r", "R") and prefix[0] in "fFtT")
    ) and _FIELD_WITH_CODE.search(text, start, end) is not None


def _by_tokens(text: str) -> tuple[tuple[str, int, int], ...]:
    return tuple(
        (token.string.rstrip(), token.start[0], token.start[1] + 1)
        for token in tokens(text)
        if token.type == tokenize.COMMENT
    )
