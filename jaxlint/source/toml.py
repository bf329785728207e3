"""Reads arbitrary TOML: endless, nested without end, or with keys that take the parser hours."""

from __future__ import annotations

import os
import re
import tomllib
from typing import Any

from jaxlint.source.regular import MAX_SETTINGS, read_regular

# Anything that may be a key: the standard library's parser walks from the top for each part of a dotted key.
_KEY = re.compile(r"[^\n=,{}]+")
_MOST_STEPS = 2_000_000  # a second or two


class TomlError(ValueError):
    """The text is not TOML, or is too large. The message is one line."""


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The document in a file. Raises TomlError, or the OSError of a file that cannot be read."""
    return parse_toml(read_regular(path, MAX_SETTINGS))


def parse_toml(data: bytes) -> dict[str, Any]:
    """The document in `data`. Raises TomlError."""
    try:
        text = data.decode("utf-8-sig")
        if sum(key.group().count(".") ** 2 for key in _KEY.finditer(text)) > _MOST_STEPS:
            raise TomlError("nested too deeply to be read")
        return tomllib.loads(text)
    except RecursionError:
        raise TomlError("nested too deeply to be read") from None
    except ValueError as error:  # not TOML, not UTF-8, or a number of thousands of digits
        if isinstance(error, TomlError):
            raise
        raise TomlError(f"not valid TOML: {' '.join(str(error).split())}") from None
