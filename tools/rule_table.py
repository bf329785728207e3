"""Writes the table of rules into README.md, between its markers, from the rules themselves. `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

from jaxlint.registry import all_rules
from jaxlint.rule import Rule

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN = "<!-- rules: written by `make rules` -->"
END = "<!-- end of rules -->"


def row(category: str, rules: list[type[Rule]]) -> str:
    title = "API" if category == "api" else category.capitalize()
    names = ", ".join(f"[{rule.name}](docs/rules/{rule.name}.md)" for rule in rules)
    first, last = rules[0].code, rules[-1].code
    return f"| {title} | {first if first == last else f'{first} to {last[3:]}'} | {names} |"


def first_code(rules: list[type[Rule]], category: str) -> int:
    return min(int(rule.code[3:]) for rule in rules if rule.category == category)


def table() -> str:
    """One row for each category, with links to the pages of its rules; those in preview are left out."""
    rules = [rule for rule in all_rules() if not rule.preview]
    fixed = sum(rule.fixable is not None for rule in rules)
    lines = [f"{len(rules)} rules are on by default, {fixed} of them with a fix.", ""]
    lines += ["| category | codes | rules |", "| --- | --- | --- |"]
    for category in sorted({rule.category for rule in rules}, key=lambda name: first_code(rules, name)):
        lines.append(row(category, [rule for rule in rules if rule.category == category]))
    return "\n".join(lines)


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
