"""Writes the table of rules into README.md, between its markers, from the rules themselves. `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

from jaxlint.registry import all_rules
from jaxlint.rule import Rule

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN = "<!-- rules: written by `make rules` -->"
END = "<!-- end of rules -->"


def row(rule: type[Rule]) -> str:
    summary = rule.summary().replace("|", "\\|").rstrip(".")
    return f"| {rule.code} | `{rule.name}` | {rule.severity} | {summary} | {rule.fixable or ''} |"


def table() -> str:
    head = ["| code | name | severity | what it finds | fix |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*head, *(row(rule) for rule in all_rules() if not rule.preview)])


def with_table(text: str) -> str:
    """The README with the table of today. Raises ValueError when the markers are gone."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md lacks the markers {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def main() -> int:
    old = README.read_text(encoding="utf-8")
    new = with_table(old)
    if "--check" in sys.argv[1:]:
        if new != old:
            print("README.md: the table of rules is out of date; run `make rules`", file=sys.stderr)
        return int(new != old)
    README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
