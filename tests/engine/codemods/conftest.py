"""Runs a codemod on source in which «these marks» stand around the span of the step."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import libcst as cst
import pytest

from jaxlint.codemods import apply_edits, resolve
from jaxlint.codemods.source.text_edits import Lines
from jaxlint.finding import Fix, FixRequest, Safety, Step
from jaxlint.source import SourceFile

Rewrite = Callable[..., str]


def source_file(text: str, path: str = "program.py") -> SourceFile:
    return SourceFile(Path(path), path, text, "utf-8", False, "")


def steps_of(
    codemod: str, marked: str, path: str, parameters: dict[str, Any]
) -> tuple[str, tuple[Step, ...]]:
    """The text without its marks, and a step for each marked span."""
    spans: list[tuple[int, int]] = []
    text = ""
    for index, part in enumerate(marked.replace("»", "«").split("«")):
        if index % 2:
            spans.append((len(text), len(text) + len(part)))
        text += part
    lines = Lines(text)
    return text, tuple(Step(codemod, path, lines.span(*span), parameters) for span in spans)


@pytest.fixture
def rewrite() -> Rewrite:
    """`rewrite(codemod, marked, path=..., **parameters)`: the new text, or "refused: " and the reason."""

    def run(codemod: str, marked: str, *, path: str = "program.py", **parameters: Any) -> str:
        text, steps = steps_of(codemod, marked, path, parameters)
        request = FixRequest(Safety.SAFE, "test", steps)
        fix = resolve(request, {path: source_file(text, path)})
        if not isinstance(fix, Fix):
            return f"refused: {fix}"
        new = apply_edits(text, fix.edits)
        ast.parse(new)
        cst.parse_module(new)
        assert new != text
        return new

    return run
