"""The author's words about a place: the docstring and name of its function, and the comments beside it."""

from __future__ import annotations

import ast
import re

from jaxlint.api import PICTURES, Frame, Module
from jaxlint.api.syntax import nodes_of, walk
from jaxlint_rules._names import last_name

# A function that keeps iterations apart: to compare with, or because all rows at once do not fit.
ONE_BY_ONE = re.compile(
    r"one (\w+ )?at a time|one[- ]by[- ]one|sequential|memory[- ](safe|efficient|saving)|out of memory|\boom\b|python loop|host loop"
    r"|\bserial(ly)?\b|\bnaive|\breference\b|for[- ]loop|without vmap|instead of vmap",
    re.IGNORECASE,
)
UNROLLED = re.compile(r"unroll|(at|during) trac(e|ing)[- ]?time|at trace|while tracing", re.IGNORECASE)
FOR_NOW = re.compile(r"\bfor now\b|\btodo\b|\bfixme\b|placeholder|not (yet )?implemented", re.IGNORECASE)
PLOTTERS = frozenset({"plt", "ax", "axes", "axs", "fig", "sns", "pyplot"})


def says(frame: Frame, node: ast.AST, words: re.Pattern[str], above: int = 2) -> bool:
    """Whether the name or the docstring of the function around a place, or a comment at the place, contains one of the words.
    `above`: how many lines before it are read."""
    owner = frame.owner
    name, documented = "", None
    if isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef)):
        name, documented = owner.name.replace("_", " "), ast.get_docstring(owner)
    line = getattr(node, "lineno", 1)
    lines = frame.module.lines[max(line - 1 - above, 0) : line + 1]
    comments = " ".join(line.partition("#")[2] for line in lines)
    return words.search(f"{name}\n{documented or ''}\n{comments}") is not None


def is_commented(node: ast.AST, module: Module) -> bool:
    """Whether a comment of its own stands above a line."""
    line = getattr(node, "lineno", 1)
    return any(text.lstrip().startswith("#") for text in module.lines[line - 2 : line - 1])


def says_of(name: str, frame: Frame, words: re.Pattern[str]) -> bool:
    """Whether the docstring of the function around a place uses one of these words about a name, in the same
    line or the next ones.
    """
    owner = frame.owner
    text = ast.get_docstring(owner) if isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    lines = (text or "").splitlines()
    return any(
        re.search(rf"\b{re.escape(name)}\b", line) and words.search(" ".join(lines[number : number + 3]))
        for number, line in enumerate(lines)
    )


def makes_pictures(frame: Frame) -> bool:
    """Whether the function of a frame exists to plot: its name says so, or it draws."""
    function = frame.function
    if function is None or isinstance(function.node, ast.Lambda):
        return False
    return PICTURES.search(function.node.name.lower()) is not None or draws(function.node)


def draws(node: ast.AST) -> bool:
    """Whether code draws a picture: `ax.imshow(image)`."""
    return any(
        isinstance(call.func, ast.Attribute) and last_name(call.func.value) in PLOTTERS
        for call in nodes_of(node, ast.Call)
    )


def counts_shown(statement: ast.AST) -> int:
    """How many values a statement prints or formats."""
    return sum(isinstance(part, ast.FormattedValue) for part in walk(statement))
