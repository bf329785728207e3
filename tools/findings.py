"""Writes what `check` says of whole packages, reasons included, one finding a line, so that two versions of the code can be compared.

    python tools/findings.py --write before.txt build/flax tests/programs

A change that is meant to keep every finding gives the same lines. Each path is a project of its own; nothing is cached.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

from jaxlint.config import Config
from jaxlint.engine import check
from jaxlint.finding import Finding, Severity


def line_of(finding: Finding, root: Path) -> str:
    """Everything that a reader is told of a finding, and what its fix would do."""
    path = Path(finding.path).absolute()
    said = {
        "path": str(path.relative_to(root)) if path.is_relative_to(root) else finding.path,
        "span": str(finding.span),
        "code": finding.code,
        "severity": finding.severity.name,
        "message": finding.message,
        "reason": finding.reason,
        "function": finding.function,
        "fix": str(finding.fix),
        "data": {key: str(value) for key, value in finding.data.items()},
    }
    return json.dumps(said, sort_keys=True).replace(str(root), "")


def findings_of(path: Path) -> list[str]:
    """The lines of one project, sorted, and its errors after them."""
    root = path.absolute()
    result = check([root], Config(root=root, severity=Severity.INFO, preview=True), use_cache=False)
    lines = sorted(line_of(finding, root) for finding in result.findings)
    return lines + [str(error).replace(str(root), "") for error in result.errors]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the lines there")
    options = parser.parse_args()
    everything: list[str] = []
    for path in options.paths:
        lines = findings_of(path)
        digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
        print(f"{digest}  {len(lines):6}  {path}", flush=True)
        everything += [f"{path.name}: {line}" for line in lines]
    if options.write is not None:
        options.write.write_text("\n".join([*everything, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
