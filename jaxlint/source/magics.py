"""Notebook lines that are not Python: magics, shell commands, help requests. Python sees them as blank lines.

A line is only tested where a statement may begin: after `x = (a`, the line `% b)` is not a magic.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# Magics that run the rest of their cell as Python, in this process.
_PYTHON_CELL_MAGICS = frozenset(
    {
        "capture",
        "debug",
        "ipytest",
        "memit",
        "mprun",
        "prun",
        "pyinstrument",
        "scalene",
        "time",
        "timeit",
        "wandb",
    }
)
_CELL_MAGIC = re.compile(r"[ \t]*%%(\w*)")
_MAGIC = re.compile(r"(?P<indent>[ \t]*)(?:[%!]|\?|[,;/](?=[A-Za-z_]))")
# Names that IPython accepts as magics without the `%`.
_INSTALL = re.compile(
    r"(?P<indent>[ \t]*)(?:pip3?|conda|mamba|uv(?:[ \t]+pip)?)[ \t]+"
    r"(?:install|uninstall|create|remove|update|upgrade|list|show|freeze|add|sync)(?:[ \t]|$)"
)
_HELP = re.compile(r"(?P<indent>[ \t]*)[%\w.\[\]*]+\?{1,2}\s*$")
_ASSIGNED = re.compile(r"(?P<target>[ \t]*[A-Za-z_][\w., \t]*=)[ \t]*[%!](?!=)")
_MOST_AGAIN = 1 << 22  # characters; beyond that each line is read separately
_TOKEN = re.compile(
    r"""
      \#[^\n]*
    | (?P<long>\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|(?P<open1>\Z)) | '''(?:[^\\]|\\.)*?(?:'''|(?P<open2>\Z)))
    | "(?:[^"\\\n]|\\.)*"? | '(?:[^'\\\n]|\\.)*'?
    | (?P<bracket>[()\[\]{}])
    | (?P<continued>\\\s*\Z)
    """,
    re.VERBOSE | re.DOTALL,
)


def is_python_cell(lines: Sequence[str]) -> bool:
    """Whether IPython runs a cell as Python here: not if it begins with `%%bash`, `%%html` and the like."""
    magic = next((_CELL_MAGIC.match(line) for line in lines if line.strip()), None)
    return magic is None or magic[1] in _PYTHON_CELL_MAGICS


def without_magics(lines: Sequence[str]) -> list[str]:
    """`lines` as Python sees them: the same number, each at its place, without lines that only IPython understands."""
    code: list[str] = []
    statement = _Statement()
    continued = False  # a magic that ends in a backslash continues
    for line in lines:
        blank = "" if continued else _masked(line) if statement.is_complete else None
        if blank is not None:
            code.append(blank)
            continued = line.rstrip().endswith("\\")
            continue
        code.append(line)
        statement.take(line)
    return code


class _Statement:
    """Whether the lines so far end a statement: no bracket, long string or backslash is open."""

    def __init__(self) -> None:
        self.depth = 0
        self.waiting: list[str] = []  # lines whose end is undecided
        self.quotes = ""  # the quotes of the open long string
        self.again = 0  # characters that were read more than once

    @property
    def is_complete(self) -> bool:
        return self.depth <= 0 and not self.waiting

    def take(self, line: str) -> None:
        self.waiting.append(line)
        if self.quotes and self.quotes not in line:
            return
        depth, self.quotes = max(self.depth, 0), ""
        self.again += sum(map(len, self.waiting)) - len(line)
        if self.again > _MOST_AGAIN:
            self.waiting = [line]
        for token in _TOKEN.finditer("\n".join(self.waiting)):
            if token["bracket"]:
                depth += 1 if token["bracket"] in "([{" else -1
            elif token["open1"] is not None or token["open2"] is not None:
                self.quotes = token["long"][:3]
                return
            elif token["continued"]:
                return
        self.depth = depth
        self.waiting = []


def _masked(line: str) -> str | None:
    """What Python sees in place of `line`; None if the line is Python."""
    assigned = _ASSIGNED.match(line)
    if assigned:
        return f"{assigned['target']} get_ipython()"  # an unknown value
    magic = _MAGIC.match(line) or _HELP.match(line) or _INSTALL.match(line)
    if magic is None:
        return None
    return f"{magic['indent']}pass" if magic["indent"] else ""  # a body must not be empty
