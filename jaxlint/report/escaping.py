"""Escapes names and text from a clone for display: a terminal, a CI log or a parser must not read them as commands."""

from __future__ import annotations

import re
from typing import Any

_UNDECODED = "\ud800-\udfff"  # bytes of a name that are not UTF-8, as Python represents them
# Control characters, characters that reorder text, and invisible characters.
STEERING = "\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f"
_UNPRINTABLE = re.compile(f"[{STEERING}{_UNDECODED}]")
_LONE = re.compile(f"[{_UNDECODED}]")
# Commands to CI servers that work anywhere in a line: ##[...], ##vso[...], ##teamcity[...].
_COMMAND = re.compile(r"##(?=[A-Za-z]*\[)")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """Source on one line: each character that could control a terminal is replaced by one of the same width."""
    return _COMMAND.sub("#\N{REPLACEMENT CHARACTER}", _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text))


def escaped(text: str) -> str:
    """A message or a name on one line: characters that could control a terminal are shown by their codes."""
    return _COMMAND.sub(r"#\\x23", _UNPRINTABLE.sub(_code, text))


def shown_name(path: str) -> str:
    """A file name at the start of a line, where `::error` would be a GitHub command."""
    return escaped(f"./{path}" if path.lstrip().startswith("::") else path)


def wellformed(value: Any) -> Any:
    """A value for JSON without unpaired surrogates, which are not text: a byte of a name that is not UTF-8 is shown as `\\xff`."""
    if isinstance(value, str):
        return value if value.isascii() else _LONE.sub(_code, value)
    if isinstance(value, dict):
        return {wellformed(key): wellformed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [wellformed(item) for item in value]
    return value


def _code(match: re.Match[str]) -> str:
    character = match[0]
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:
        number -= 0xDC00
    if character in _SHORT:
        return _SHORT[character]
    return (
        f"\\x{number:02x}"
        if number < 0x100
        else f"\\u{number:04x}"
        if number < 0x10000
        else f"\\U{number:08x}"
    )
