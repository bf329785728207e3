"""Prints, per rule: findings in real code, how many were read, how many of these are right, and the rule's level.

python -m benchmarks.rules --corpora checkouts/          # each folder in it is a repository
python -m benchmarks.rules --load findings.json          # without running jaxlint again
python -m benchmarks.rules --load findings.json --unread JAX304
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.rules import verdicts
from benchmarks.rules.verdicts import BadVerdicts, Place, Verdict
from jaxlint.registry import all_rules, code_order

ENOUGH = 5  # findings that must have been read before a figure counts
BAR = 0.85  # of the read ones must be right outside of preview


@dataclass(slots=True)
class Row:
    """The figures of one rule."""

    code: str
    name: str
    level: str
    findings: int = 0
    read: dict[Place, Verdict] = field(default_factory=dict)

    @property
    def right(self) -> int:
        return sum(verdict.verdict == "right" for verdict in self.read.values())

    @property
    def wrong(self) -> int:
        return sum(verdict.verdict == "wrong" for verdict in self.read.values())

    @property
    def precision(self) -> float | None:
        """Right among those that are right or wrong; None when none was read."""
        judged = self.right + self.wrong
        return self.right / judged if judged else None

    @property
    def advice(self) -> str:
        """What the figures ask for, where the rule's level does not fit them."""
        if self.precision is None or self.right + self.wrong < ENOUGH:
            return ""
        if self.precision < BAR and self.level not in ("preview", "info"):
            return f"should be preview: under {BAR:.0%}"
        return "may leave preview" if self.precision >= BAR and self.level == "preview" else ""


def repositories(folders: list[Path]) -> list[Path]:
    """The folders inside of `folders`, each one a repository. Raises NotADirectoryError."""
    found = []
    for folder in folders:
        if not folder.is_dir():
            raise NotADirectoryError(f"{folder}: no folder of repositories")
        found += sorted(
            child for child in folder.iterdir() if child.is_dir() and not child.name.startswith(".")
        )
    return found


def check(repository: Path, select: str) -> list[dict[str, object]]:
    """The findings in one repository, with the repository, the file in it and the text of the line added."""
    command = [
        sys.executable,
        "-m",
        "jaxlint",
        "check",
        "--no-cache",
        "--preview",
        "--exit-zero",
        "--severity",
        "info",
    ]
    command += ["--select", select, "--output-format", "json", str(repository)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        found = json.loads(run.stdout)
    except ValueError:
        raise RuntimeError(f"{repository}: jaxlint failed: {run.stderr.strip()[-300:]}") from None
    lines: dict[str, list[str]] = {}
    for finding in found:
        path = finding["path"]
        if path not in lines:
            lines[path] = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
        text = lines[path][finding["line"] - 1] if finding["line"] <= len(lines[path]) else ""
        if finding.get("cell") is not None:
            text = f"cell {finding['cell']}: {finding['message']}"  # the line is one of the cell
        finding |= {"repository": repository.name, "text": text.strip()}
        finding["file"] = Path(path).resolve().relative_to(repository.resolve()).as_posix()
    return found


def place_of(finding: dict[str, object]) -> Place:
    """The place of a finding that `check` returned."""
    line = verdicts.line_hash(str(finding["text"]))
    return Place(str(finding["code"]), str(finding["repository"]), str(finding["file"]), line)


def tabulate(findings: list[dict[str, object]], known: list[Verdict]) -> list[Row]:
    """A row for each rule; verdicts count while the finding that they speak of is still made."""
    rows = {
        rule.code: Row(rule.code, rule.name, "preview" if rule.preview else str(rule.severity))
        for rule in all_rules()
    }
    by_place = {verdict.place: verdict for verdict in known}
    for finding in findings:
        row = rows.get(str(finding["code"]))
        if row is not None:
            row.findings += 1
            verdict = by_place.get(place_of(finding))
            if verdict is not None:
                row.read[verdict.place] = verdict
    return sorted(rows.values(), key=lambda row: code_order(row.code))


def table(rows: list[Row]) -> str:
    """The rows in Markdown."""
    lines = [
        "| rule | name | level | findings | read | right | wrong | debatable | precision | |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in rows:
        share = "" if row.precision is None else f"{row.precision:.0%}"
        debatable = len(row.read) - row.right - row.wrong
        lines.append(
            f"| {row.code} | {row.name} | {row.level} | {row.findings} | {len(row.read)} | {row.right} | {row.wrong} "
            f"| {debatable} | {share} | {row.advice} |"
        )
    return "\n".join(lines)


def unread(findings: list[dict[str, object]], known: list[Verdict], rule: str) -> str:
    """Findings of a rule without a verdict, each with the entry to complete."""
    seen = {verdict.place for verdict in known}
    parts = []
    for finding in findings:
        place = place_of(finding)
        if finding["code"] == rule and place not in seen:
            entry = {"rule": rule, "repository": place.repository, "file": place.file, "line": place.line}
            parts.append(
                f"{finding['path']}:{finding['line']}: {finding['message']}\n    {finding['text']}\n"
                f"    {json.dumps({**entry, 'verdict': ''})}"
            )
    return "\n".join(parts)


def main() -> int:
    """Runs the command; 2 when something that it was given cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rules",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--corpora", nargs="+", type=Path, default=[], metavar="DIR", help="folders of repositories"
    )
    parser.add_argument("--select", default="ALL", metavar="RULES", help="rules to run [%(default)s]")
    parser.add_argument("--verdicts", type=Path, default=verdicts.FILE, metavar="FILE", help="[%(default)s]")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the findings as JSON")
    parser.add_argument("--load", type=Path, metavar="FILE", help="read findings that --save wrote")
    parser.add_argument(
        "--unread", metavar="RULE", help="list the findings of a rule that have no verdict yet"
    )
    parser.add_argument("--only-read", action="store_true", help="leave out rules without a verdict")
    options = parser.parse_args()
    try:
        known = verdicts.read(options.verdicts)
        findings: list[dict[str, object]] = []
        if options.load is not None:
            findings = json.loads(options.load.read_text(encoding="utf-8"))
        for repository in repositories(options.corpora):
            print(f"{repository.name} ...", file=sys.stderr, flush=True)
            findings += check(repository, options.select)
    except (BadVerdicts, OSError, RuntimeError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if not options.corpora and options.load is None:
        print("error: nothing to count: give --corpora DIR or --load FILE", file=sys.stderr)
        return 2
    if options.save is not None:
        options.save.write_text(json.dumps(findings), encoding="utf-8")
    if options.unread:
        print(unread(findings, known, options.unread.upper()))
        return 0
    rows = tabulate(findings, known)
    print(table([row for row in rows if row.read] if options.only_read else rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
