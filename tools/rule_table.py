"""Writes the categories of rules into README.md, between its markers, from the rules themselves. `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

from jaxlint.registry import all_rules
from jaxlint.rule import Rule, category_title

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN = "<!-- rules: written by `make rules` -->"
END = "<!-- end of rules -->"
WIDTH = 140


def first_code(rules: list[type[Rule]], category: str) -> int:
    return min(int(rule.code[3:]) for rule in rules if rule.category == category)


def overview() -> str:
    """How many rules there are, with a link to the table of each category; those in preview are left out."""
    rules = [rule for rule in all_rules() if not rule.preview]
    fixed = sum(rule.fixable is not None for rule in rules)
    links = []
    for category in sorted({rule.category for rule in rules}, key=lambda name: first_code(rules, name)):
        title = category_title(category)
        count = sum(rule.category == category for rule in rules)
        links.append(f"[{title}](docs/rules/README.md#{category}) {count}")
    lines = [f"{len(rules)} rules are on by default, {fixed} of them with a fix:"]
    for link in links:
        longer = f"{lines[-1]} {link},"
        if len(longer) > WIDTH:
            lines.append(f"{link},")
        else:
            lines[-1] = longer
    return "\n".join(lines).removesuffix(",") + "."


def with_overview(text: str) -> str:
    """The README with the rules of today. Raises ValueError when the markers are gone."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md lacks the markers {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n{overview()}\n{END}{after}"


def main() -> int:
    old = README.read_text(encoding="utf-8")
    new = with_overview(old)
    if "--check" in sys.argv[1:]:
        if new != old:
            print("README.md: the list of rules is out of date; run `make rules`", file=sys.stderr)
        return int(new != old)
    README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
