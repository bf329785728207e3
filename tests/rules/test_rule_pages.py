"""docs/rules/ is what the rules say of themselves."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from jaxlint.registry import all_rules
from tools import rule_pages

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "rules"


def test_the_pages_are_current() -> None:
    command = [sys.executable, "tools/rule_pages.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_rule_has_a_page_and_a_row() -> None:
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    for rule in all_rules():
        text = (PAGES / f"{rule.name}.md").read_text(encoding="utf-8")
        assert text.startswith(f"# {rule.name} ({rule.code})\n")
        assert rule.documentation() in text
        assert f"`{rule.category}`" in text
        assert f"`{rule.severity}`" in text
        assert len(re.findall(rf"^\| {rule.code} \| \[{rule.name}\]", index, re.MULTILINE)) == 1
    links = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    assert links == {path.name for path in PAGES.glob("*.md")} - {"README.md"}


def test_stale_missing_and_foreign_pages_are_found_and_put_right(tmp_path: Path) -> None:
    rule_pages.write(tmp_path)
    assert rule_pages.differences(tmp_path) == []
    first = f"{all_rules()[0].name}.md"
    (tmp_path / first).write_text("old")
    (tmp_path / "README.md").unlink()
    (tmp_path / "gone-rule.md").write_text("of a rule that was removed")
    assert rule_pages.differences(tmp_path) == sorted(["README.md", first, "gone-rule.md"])
    rule_pages.write(tmp_path)
    assert rule_pages.differences(tmp_path) == []
