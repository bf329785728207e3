"""Edits of programs of which a run has not reached everything."""

from __future__ import annotations

import ast
import dataclasses
import textwrap
from pathlib import Path
from typing import Any

from jaxlint.codemods import Workspace
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source import SourceFile

HEAD = "import json\nimport jax\nimport jax.numpy as jnp\nimport numpy as np\n"


def source_of(text: str) -> SourceFile:
    """A file; of a line with `# missed` no run reached the statement, or the branch of an expression at its end."""
    lines = text.splitlines()
    ends = {number: len(line) - len("  # missed") for number, line in enumerate(lines, 1)}
    marked = {number for number, line in enumerate(lines, 1) if line.endswith("# missed")}
    tree = ast.parse(text)
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    places = frozenset(
        (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
        for node in ast.walk(tree)
        if getattr(node, "lineno", 0) in marked
        and (
            (isinstance(node, ast.stmt) and " else " not in lines[node.lineno - 1])
            or (isinstance(above.get(node), ast.IfExp) and node.end_col_offset == ends[node.lineno])
        )
    )
    return SourceFile(Path("program.py"), "program.py", text, "utf-8", False, "", missed=places)


def refusal(text: str, codemod: str, where: str, line: str = "", **parameters: Any) -> str | None:
    """Why an edit is refused; None where it is made. `where`: the text of its span, or with which it begins, in the first such line."""
    text = HEAD + textwrap.dedent(text)
    lines = text.splitlines()
    first = next(number for number, text_of in enumerate(lines, 1) if (line or where) in text_of)
    last = first
    if codemod == "region-to-jit":
        last = next(number for number, one in enumerate(lines, 1) if number > first and "print" in one) - 1
        span = Span(
            first,
            len(lines[first - 1]) - len(lines[first - 1].lstrip()) + 1,
            last,
            len(lines[last - 1].removesuffix("  # missed")) + 1,
        )
    elif codemod == "add-jit":
        span = Span(first, 1, first, 4)
    else:
        column = lines[first - 1].rindex(where) + 1
        span = Span(first, column, first, column + len(where))
    source = source_of(text)
    step = Step(codemod, "program.py", span, parameters)
    plan = Workspace({"program.py": source}, strict=True).plan(FixRequest(Safety.UNSAFE, "Jit", (step,)))
    unknown = dataclasses.replace(source, missed=None)
    if isinstance(plan, str):  # it is the missed code that stops it
        allowed = Workspace({"program.py": unknown}, strict=True).plan(
            FixRequest(Safety.UNSAFE, "Jit", (step,))
        )
        assert not isinstance(allowed, str), allowed
    return plan if isinstance(plan, str) else None
