"""Reads Markdown pages: the Python blocks become parts of one module, on the lines that they have in the page.

A page shows fragments. A block that does not parse, such as one with an ellipsis for omitted code, is skipped.
Customary names that no block imports (`jnp`, `np`) have their usual meaning.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from jaxlint.source.container import Container, Line, Part
from jaxlint.source.magics import is_python_cell, without_magics

_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
# A fence, after only spaces and list markers.
_OPENING = re.compile(
    r"(?P<indent>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)$"
)
_CLOSING = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*$")
_WORD = re.compile(r"[\w-]+")
_LANGUAGES = frozenset({"python", "python3", "py", "py3", "ipython", "ipython3", "pycon", "python-repl"})
# MyST directives that contain code in the language that follows them.
_DIRECTIVES = frozenset({"code-cell", "code-block", "code", "sourcecode"})
_OPTION = re.compile(r":[\w-]+:|#\|")
_PROMPT = re.compile(r"[ \t]*(?:>>>|\.\.\.)(?: |$)")

# Names that pages about JAX use without an import, and the import that each stands for.
_CUSTOMARY = {
    "jax": "import jax",
    "jnp": "import jax.numpy as jnp",
    "np": "import numpy as np",
    "lax": "from jax import lax",
    "optax": "import optax",
    "nnx": "from flax import nnx",
    "eqx": "import equinox as eqx",
    "hk": "import haiku as hk",
    "pl": "from jax.experimental import pallas as pl",
    "partial": "from functools import partial",
    "functools": "import functools",
    "time": "import time",
}


@dataclass(frozen=True, slots=True)
class _Block:
    """A fenced block: its first line, counted from 0, the line of its closing fence, and the width of its indentation."""

    first: int
    end: int
    indent: int
    info: str


def read_markdown(text: str, parses: Callable[[str], bool]) -> Container:
    """The Python blocks in a page that `parses` accepts."""
    lines = [match.groups() for match in _LINE.finditer(text)]
    starts = [match.start() for match in _LINE.finditer(text)]
    parts: list[Part] = []
    outside: list[str] = []
    position, line_after = 0, 0
    for block in _blocks([line for line, _ in lines]):
        if not _is_python(block.info) or block.end == block.first:
            continue
        newline = lines[block.first][1] or "\n"
        part = _part([line for line, _ in lines[block.first : block.end]], block, newline)
        if part is None or not parses("\n".join(line.code for line in part.lines) + "\n"):
            continue
        start = starts[block.first]
        end = starts[block.end] - len(newline) if block.end < len(starts) else len(text)
        gap = block.first - line_after
        parts.append(
            Part(part.lines, text[start:end], functools.partial(_spell, newline=newline), part.fresh, gap)
        )
        outside.append(text[position:start])
        position, line_after = end, block.end + 1
    prelude = _prelude("\n".join("\n".join(line.code for line in part.lines) for part in parts))
    return Container(tuple(parts), (*outside, text[position:]), prelude if parts and parts[0].gap else "")


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    opening: re.Match[str] | None = None
    first = 0
    for number, line in enumerate(lines):
        if opening is None:
            opening = _OPENING.match(line)
            first = number + 1
            continue
        closing = _CLOSING.match(line)
        fence = opening["fence"]
        if closing and closing["fence"][0] == fence[0] and len(closing["fence"]) >= len(fence):
            yield _Block(first, number, len(opening["indent"]), opening["info"].strip())
            opening = None
    if opening is not None:  # the rest of the page
        yield _Block(first, len(lines), len(opening["indent"]), opening["info"].strip())


def _is_python(info: str) -> bool:
    """Whether the info string of a fence means Python: `python`, `py title="x"`, `{python}`, `{.python}`,
    `{code-cell} ipython3`."""
    words = _WORD.findall(info.lower())
    if not words:
        return False
    if info.startswith("{") and words[0] in _DIRECTIVES:
        return (words[1] if len(words) > 1 else "python") in _LANGUAGES
    if words[0] == "code-cell":
        return True
    return words[0] in _LANGUAGES and "raises-exception" not in words


def _part(texts: Sequence[str], block: _Block, newline: str) -> Part | None:
    """The block as lines of code, without the indentation of its fence. Its own text is filled in later."""
    margin = [min(block.indent, len(text) - len(text.lstrip(" \t"))) for text in texts]
    bodies = [text[width:] for text, width in zip(texts, margin, strict=True)]
    first = next((body for body in bodies if body.strip()), "")
    if not is_python_cell(bodies):
        return None
    if first.lstrip().startswith(">>>"):
        lines = [_session_line(text) for text in texts]
        return Part(tuple(lines), "", _never, None)
    # A method shown without its class is indented as a whole.
    own = min((len(body) - len(body.lstrip(" ")) for body in bodies if body.strip()), default=0)
    bodies = [body[min(own, len(body) - len(body.lstrip(" "))) :] for body in bodies]
    if block.info.startswith("{"):
        cell = _without_options(bodies)
        if cell is None:
            return None
        bodies = cell
    codes = without_magics(bodies)
    lines = [
        Line(code, text, text, indent=len(text) - len(body) if body or not code else 0)
        for text, body, code in zip(texts, bodies, codes, strict=True)
    ]
    indent = " " * (block.indent + own)
    return Part(tuple(lines), "", _never, functools.partial(_fresh, indent=indent))


def _without_options(bodies: list[str]) -> list[str] | None:
    """The code below the options of a MyST cell; None if these say that it should raise an exception."""
    count = 0
    while count < len(bodies) and _OPTION.match(bodies[count]):
        count += 1
    if any("raises-exception" in body for body in bodies[:count]):
        return None
    return [""] * count + bodies[count:]


def _session_line(text: str) -> Line:
    """A line of an interactive session: text after the prompt is code, and Python's output is not."""
    prompt = _PROMPT.match(text)
    if prompt is None:
        return Line("", text, text)
    return Line(text[prompt.end() :], text, text, indent=prompt.end())


def _fresh(code: str, *, indent: str) -> Line:
    text = indent + code if code else ""
    return Line(code, text, text, indent=len(indent) if code else 0)


def _spell(lines: Sequence[Line], *, newline: str) -> str:
    return newline.join(line.raw for line in lines)


def _never(lines: Sequence[Line]) -> str:
    raise NotImplementedError


def _prelude(code: str) -> str:
    """One line that imports the customary names that `code` uses and never binds."""
    from jaxlint.syntax.parse import parse_text

    try:
        tree = parse_text(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    used: dict[str, None] = {}
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                used[node.id] = None
            else:
                bound.add(node.id)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return "; ".join(_CUSTOMARY[name] for name in used if name in _CUSTOMARY and name not in bound)
