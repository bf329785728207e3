"""Writes the categories of rules into README.md, between its markers, from the rules themselves. `--check` only compares."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from jaxlint.registry import all_rules
from jaxlint.rule import category_title

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN = "<!-- rules: written by `make rules` -->"
END = "<!-- end of rules -->"
WIDTH = 140


def overview() -> str:
    """How many rules there are, with a link to the table of each category; those in preview are left out."""
    rules = [rule for rule in all_rules() if not rule.preview]
    fixed = sum(rule.fixable is not None for rule in rules)
    links = [
        f"[{category_title(category)}](docs/rules/README.md#{category}) {count}"
        for category, count in Counter(rule.category for rule in rules).items()
    ]
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
