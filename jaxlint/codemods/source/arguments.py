"""Adds arguments to calls in the layout of the call."""

from __future__ import annotations

import io
import itertools
import tokenize
from collections.abc import Iterable, Mapping

_SPACE = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.NEWLINE, tokenize.ENDMARKER})


def with_arguments(call: str, added: Mapping[str, str]) -> str:
    """The text of a call with keyword arguments at the end; a call with one argument to a line keeps that layout."""
    new = [f"{name}={value}" for name, value in added.items()]
    tokens = _tokens(call)
    within = tokens[_opening(tokens) + 1 : -1]
    closing = len(call) - 1
    if not within:
        return f"{call[:closing]}{', '.join(new)})"
    start = tokens[_opening(tokens)].end
    commas = _commas(within)
    trailing = within[-1].text == ","
    between = commas[:-1] if trailing else commas
    if between:
        gap = _line_break(call[between[-1].end : _after(within, between[-1])])
    elif trailing and "\n" in call[start : within[0].start]:
        gap = _line_break(call[start : within[0].start])
    else:
        gap = " "
    joined = f",{gap}".join(new)
    if not trailing:
        # The text between the last argument and the bracket stays there.
        return f"{call[: within[-1].end]},{gap}{joined}{call[within[-1].end :]}"
    before, after = call[: within[-1].end], call[within[-1].end :]
    line, newline, rest = after.partition("\n")
    if newline and "#" in line:  # the comment belongs to the line of the last argument
        line, newline = line.removesuffix("\r"), "\r\n" if line.endswith("\r") else "\n"
        before, after = before + line, newline + rest
        gap = gap if "\n" in gap else after[:-1]
    return f"{before}{gap}{joined},{after}"


class _Token:
    """A token of a call, by its place in the text."""

    __slots__ = ("end", "start", "text")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.start, self.end = text, start, end


def _tokens(call: str) -> list[_Token]:
    """The tokens without white space and comments."""
    text = f"({call})"  # its lines may end within brackets around the call
    starts = [0, *itertools.accumulate(len(line) for line in text.splitlines(keepends=True))]
    found = [
        _Token(
            one.string, starts[one.start[0] - 1] + one.start[1] - 1, starts[one.end[0] - 1] + one.end[1] - 1
        )
        for one in tokenize.generate_tokens(io.StringIO(text, newline="").readline)
        if one.type not in _SPACE
    ]
    return found[1:-1]


def _opening(tokens: list[_Token]) -> int:
    """The index of the bracket that the last token closes."""
    depth = 0
    for index in range(len(tokens) - 1, -1, -1):
        depth += (tokens[index].text in (")", "]", "}")) - (tokens[index].text in ("(", "[", "{"))
        if not depth:
            return index
    raise ValueError("the last part of the text is not a call")


def _commas(within: Iterable[_Token]) -> list[_Token]:
    """The commas between arguments."""
    depth = 0
    found = []
    for token in within:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if not depth and token.text == ",":
            found.append(token)
    return found


def _after(within: list[_Token], comma: _Token) -> int:
    """Where the token after a comma begins."""
    return within[within.index(comma) + 1].start


def _line_break(space: str) -> str:
    """The same line break and indentation, without the comment of the line before."""
    before, newline, indentation = space.rpartition("\n")
    if not newline:
        return space
    return ("\r\n" if before.endswith("\r") else "\n") + indentation
