"""Writes docs/rules/: a page for each rule, from its own documentation, and an index. `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

from jaxlint.registry import all_rules
from jaxlint.rule import CATEGORIES, Rule, category_title
from jaxlint.rule_page import page
from jaxlint.suppress import UNUSED_CODE, UNUSED_NAME, UNUSED_PAGE

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "rules"
INTRODUCTION = """\
# Rules

Each rule has a code and a name. The configuration, comments and the command line accept both.
`jaxlint explain RULE` prints the page of a rule. `make rules` writes these pages from the docstrings of the rules.
"""
UNUSED_ROW = (
    f"| {UNUSED_CODE} | [{UNUSED_NAME}]({UNUSED_NAME}.md) | warning | no | A comment suppresses nothing |"
)


def row(rule: type[Rule]) -> str:
    summary = rule.summary().replace("|", "\\|").rstrip(".")
    preview = " (preview)" if rule.preview else ""
    return (
        f"| {rule.code} | [{rule.name}]({rule.name}.md){preview} | {rule.severity} | {rule.fixable or 'no'} "
        f"| {summary} |"
    )


def index() -> str:
    """The table of all rules, by category."""
    parts = [INTRODUCTION]
    head = "| code | name | severity | fix | what it finds |\n| --- | --- | --- | --- | --- |"
    for category in CATEGORIES:
        rows = [row(rule) for rule in all_rules() if rule.category == category]
        if rows:
            parts.append(f"\n## {category_title(category)}\n\n{head}\n" + "\n".join(rows) + "\n")
    parts.append(f"\n## The comments themselves\n\n{head}\n{UNUSED_ROW}\n")
    return "".join(parts)


def pages() -> dict[str, str]:
    """Every file of the folder by its name."""
    return {
        "README.md": index(),
        f"{UNUSED_NAME}.md": UNUSED_PAGE,
        **{f"{rule.name}.md": page(rule) for rule in all_rules()},
    }


def differences(folder: Path = FOLDER) -> list[str]:
    """Names of files that are missing, out of date, or of no rule."""
    wanted = pages()
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))


def write(folder: Path = FOLDER) -> None:
    """Makes the folder what it should be; pages of rules that are gone go too."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for name in differences(folder):
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8")
        else:
            (folder / name).unlink()


def main() -> int:
    if "--check" in sys.argv[1:]:
        stale = differences()
        if stale:
            print(f"docs/rules/: out of date ({', '.join(stale)}); run `make rules`", file=sys.stderr)
        return int(bool(stale))
    write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
