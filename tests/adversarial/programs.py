"""The programs of this folder, and the edit of each that a run of it might propose."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jaxlint.codemods import Workspace
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source.file import SourceFile
from jaxlint.source.read import read_source

HERE = Path(__file__).parent
INDEX: Mapping[str, Mapping[str, Mapping[str, Any]]] = json.loads((HERE / "index.json").read_text())
# What a run says of an argument.
_SEEN: Mapping[str, Mapping[str, Any]] = {
    "array": {"type": "ArrayImpl", "leaves": [{}]},
    "numpy": {"type": "ndarray", "leaves": [{}]},
    "dict": {"type": "dict", "leaves": [{}], "holds": ["ArrayImpl"]},
    "list": {"type": "list", "leaves": [{}], "holds": ["ArrayImpl"]},
    "state": {"type": "tuple", "leaves": [{}], "holds": ["ArrayImpl"]},
}


def main_file(group: str, name: str) -> Path:
    """The file that is run."""
    whole = HERE / group / f"{name}.py"
    return whole if whole.exists() else HERE / group / name / "main.py"


def sources_of(group: str, name: str) -> dict[str, SourceFile]:
    """The files that a run of a program loads."""
    main = main_file(group, name)
    files = [main] if main.stem == name else sorted(main.parent.glob("*.py"))
    return {str(path): read_source(path, str(path)) for path in files}


def refusal(group: str, name: str, **parameters: object) -> str | None:
    """Why the function of a program is not compiled as a whole; None where it is."""
    entry = INDEX[group][name]
    path = str(main_file(group, name))
    sources = sources_of(group, name)
    (node,) = (
        one
        for one in ast.parse(sources[path].text).body
        if isinstance(one, ast.FunctionDef) and one.name == entry["function"]
    )
    seen = [{"name": key, **_SEEN.get(kind, {"type": kind})} for key, kind in entry["arguments"].items()]
    span = Span(node.lineno, 1, node.lineno, 4)
    step = Step("add-jit", path, span, {"arguments": seen, **parameters})
    plan = Workspace(sources, strict=True).plan(FixRequest(Safety.UNSAFE, "Jit", (step,)))
    return plan if isinstance(plan, str) else None
