"""Fixes of whole files of five real packages that use many removed names at once, as old releases do.

The installed packages are made old: the history of JAX's names says what each name was called before. Old releases
themselves are fixed by `python -m benchmarks.fixes`, which needs the network.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from importlib import util
from pathlib import Path

import pytest

from jaxlint.jaxapi.history import Target, all_changes
from jaxlint.source import SourceFile
from tests.fuzzing.properties import (
    Checker,
    contradictions,
    new_findings,
    not_at_rest,
    not_kept,
    one_file,
)

TARGET = ">=0.10"
PACKAGES = ("chex", "equinox", "haiku", "lineax", "optax")
FILES = 4  # of a package, those with the most names that were others once
_NAME = re.compile(r"(?<![\w.'\"])jax(?:\.[A-Za-z_]\w*)+")


@functools.cache
def older_names() -> dict[str, list[str]]:
    """The names that no release of the target has, by the name that took their place."""
    target = Target.of(TARGET)
    found: dict[str, list[str]] = {}
    for change in all_changes():
        new = change.replacement
        renamed = change.form == "name" and change.rewrite == "rename" and new is not None
        if renamed and new != change.name and change.name.count(".") < 4 and target.lacks(change):
            assert new is not None
            if new.startswith("jax.") and change.name.startswith("jax."):
                found.setdefault(new, []).append(change.name)
    return found


def aged(text: str, older: dict[str, list[str]]) -> tuple[str, int]:
    """The text with older names, each in turn, and how many there are."""
    count = 0

    def old(match: re.Match[str]) -> str:
        nonlocal count
        names = older.get(match[0])
        if names is None:
            return match[0]
        count += 1
        return names[count % len(names)]

    return _NAME.sub(old, text), count


def aged_files(package: str) -> Iterator[tuple[int, SourceFile]]:
    spec = util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    root, older = Path(spec.origin).parent, older_names()
    for path in sorted(root.rglob("*.py")):
        text, count = aged(path.read_text(encoding="utf-8"), older)
        if count and re.search(r"^import jax$", text, re.MULTILINE) and not path.stem.endswith("_test"):
            (source,) = one_file(text, path.relative_to(root.parent).as_posix()).values()
            yield count, source


def old_names_in(source: SourceFile) -> int:
    """How often the code, without its comments and strings, has a name that went."""
    old = {name for names in older_names().values() for name in names}
    attributes = (node for node in ast.walk(ast.parse(source.text)) if isinstance(node, ast.Attribute))
    return sum(ast.unparse(node) in old for node in attributes)


@pytest.mark.parametrize("package", PACKAGES)
def test_fixes_of_an_aged_package_rest_and_keep_what_they_should(package: str) -> None:
    chosen = sorted(aged_files(package), key=lambda one: (-one[0], one[1].display))[:FILES]
    sources = {source.display: source for _, source in chosen}
    checker = Checker(TARGET)
    before = checker(sources)
    waiting = [before]
    result = checker.fixed(sources, check=lambda now: waiting.pop() if waiting else checker(now))
    reasons = [f"{one.finding.code}: {one.reason}" for one in result.refused]
    assert [one for one in reasons if "undo each other" in one or "not converge" in one] == []
    assert result.errors == []
    assert not_kept(sources, result) == []
    assert not_at_rest(result, checker) == []
    assert contradictions(result, checker) == []
    assert new_findings(before, result.remaining, led_on=True) == []
    old = sum(map(old_names_in, sources.values()))
    assert old > 10
    assert sum(map(old_names_in, result.sources.values())) <= 0.1 * old
