"""What the playground asks of jaxlint: the findings of one text, as JSON."""

import ast
import json
import sys
import warnings
from pathlib import Path

from jaxlint import engine
from jaxlint.config import Config
from jaxlint.finding import Severity
from jaxlint.report.json_report import finding_record

NAME = "program.py"
CONFIG = Config(Path("/home"), severity=Severity.INFO)  # an example of each rule shows something
if sys.platform == "emscripten":
    sys.setrecursionlimit(2000)  # more than the stack of a browser's worker holds would end it


def check_text(text: str) -> str:
    """The findings, each with the title of its fix: working a fix out needs libcst, which is not there."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        message = getattr(error, "msg", None) or str(error)
        return json.dumps({"findings": [], "errors": [{"line": line, "message": f"cannot be parsed: {message}"}]})
    stdin = engine.Stdin(text.encode("utf-8", "replace"), NAME)
    result = engine.check([], CONFIG, stdin=stdin, use_cache=False)
    found = [
        {**finding_record(one), "fix": {"safety": one.fix.safety, "message": one.fix.message} if one.fix else None}
        for one in result.findings
    ]
    errors = [{"line": error.line, "message": error.message} for error in result.errors]
    return json.dumps({"findings": found, "errors": errors})
