"""The programs of `tests/adversarial`, and the edit of each that a run of it might propose.

Compiling a function of those in `dangerous` changes what the program does; those in `fine` look like them. The header of a program says
which `function` a run would have compiled as a whole, of which kinds its `arguments` were, which of them are `static`, why that is `refused`, and with which
`flags` the program takes a path that the proving run did not. A line that the refusal names is `MARKED` in it, and has the mark.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxlint.codemods import Workspace
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source.file import SourceFile
from jaxlint.source.read import read_source
from tests.helpers.marks import read_marks

FOLDER = Path(__file__).parents[1] / "adversarial"
HEADER = ("function", "arguments", "static", "refused", "flags")
# What a run says of an argument.
_SEEN: Mapping[str, Mapping[str, Any]] = {
    "array": {"type": "ArrayImpl", "leaves": [{}]},
    "numpy": {"type": "ndarray", "leaves": [{}]},
    "dict": {"type": "dict", "leaves": [{}], "holds": ["ArrayImpl"]},
    "list": {"type": "list", "leaves": [{}], "holds": ["ArrayImpl"]},
    "state": {"type": "tuple", "leaves": [{}], "holds": ["ArrayImpl"]},
}


@dataclass(frozen=True)
class Program:
    """One program; `main` is the file that is run."""

    main: Path
    function: str
    arguments: Mapping[str, str]
    static: tuple[str, ...]
    refused: str | None
    flags: tuple[str, ...]

    @property
    def files(self) -> list[Path]:
        """The files that a run loads."""
        return sorted(self.main.parent.glob("*.py")) if self.main.stem == "main" else [self.main]


def programs(group: str) -> dict[str, Program]:
    """The programs of a group, by name."""
    files = [*(FOLDER / group).glob("*.py"), *(FOLDER / group).glob("*/main.py")]
    found = {file.parent.name if file.stem == "main" else file.stem: _read(file) for file in sorted(files)}
    assert found, f"no programs in {FOLDER / group}"
    return found


def _read(file: Path) -> Program:
    marked = read_marks(file.read_text("utf-8"), str(file), header=HEADER)
    about = marked.about
    refused = about.get("refused")
    if refused is not None and "MARKED" in refused:
        (line,) = marked.lines()
        refused = refused.replace("MARKED", str(line))
    arguments = dict(one.split("=") for one in about["arguments"].split(", "))
    flags = tuple(shlex.split(about.get("flags", "")))
    static = tuple(about.get("static", "").split())
    return Program(file, about["function"], arguments, static, refused, flags)


def refusal(program: Program, **parameters: object) -> str | None:
    """Why the function of a program is not compiled as a whole; None where it is."""
    path = str(program.main)
    sources: dict[str, SourceFile] = {str(file): read_source(file, str(file)) for file in program.files}
    (node,) = (
        one
        for one in ast.parse(sources[path].text).body
        if isinstance(one, ast.FunctionDef) and one.name == program.function
    )
    seen = [{"name": key, **_SEEN.get(kind, {"type": kind})} for key, kind in program.arguments.items()]
    span = Span(node.lineno, 1, node.lineno, 4)
    step = Step(
        "add-jit", path, span, {"arguments": seen, "static_argnames": list(program.static), **parameters}
    )
    plan = Workspace(sources, strict=True).plan(FixRequest(Safety.UNSAFE, "Jit", (step,)))
    return plan if isinstance(plan, str) else None
