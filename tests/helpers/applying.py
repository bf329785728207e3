"""`--apply` on a project of one program, for one result that counts as proven."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jaxlint.engine import CheckResult
from jaxlint.source import read_source
from jaxlint_runtime.apply import apply_proven
from jaxlint_runtime.request import Request
from jaxlint_runtime.run import Listener
from jaxlint_runtime.verify import Verification


def applied(project: Path, result: dict[str, Any]) -> Any:
    path = project / "program.py"
    found = Verification(Request("script", path), Listener())
    found.check = CheckResult(sources={str(path): read_source(path)})
    found.document.results = [("cpu", result)]
    found.document.ending = {"how": "finished", "status": 0, "message": "the program finished"}
    apply_proven.apply_proven(found, allow_dirty=True)
    (outcome,) = found.document.applied
    return outcome
