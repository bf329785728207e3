"""Text in pieces a mutator can move: lossless, for any text, whether it is Python or not."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LEXEME = re.compile(
    r"""
      (?P<newline> (?:\r\n|\r|\n)[ \t\f]* )
    | (?P<comment> \#[^\r\n]* )
    | (?P<string> [A-Za-z]{0,2}(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*') )
    | (?P<number> \d[\w.]* )
    | (?P<word> [^\W\d]\w* )
    | (?P<space> [ \t\f]+ )
    | (?P<operator> \*\*=|//=|>>=|<<=|\.\.\.|[-+*/%@&|^!<>=:]=|\*\*|//|<<|>>|->|[^\s\w] )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)


def split(text: str) -> list[str]:
    """The pieces of `text`; joined they are `text` again."""
    return [found.group() for found in _LEXEME.finditer(text)]


def kinds(pieces: Sequence[str]) -> dict[str, list[int]]:
    """The places of the pieces of each kind, but for white space."""
    found: dict[str, list[int]] = {}
    for place, piece in enumerate(pieces):
        match = _LEXEME.match(piece)
        kind = (match.lastgroup if match else None) or "other"
        if kind not in ("space", "newline"):
            found.setdefault(kind, []).append(place)
    return found
