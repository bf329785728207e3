"""Every rule's examples are its tests: it reports on the marked lines and nowhere else, and its fixes give what they say."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxlint.fixes import fix_sources
from jaxlint.registry import all_rules
from jaxlint.rule import CATEGORIES, Example, Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from tests.helpers.marks import plain, read_marks

CASES = [
    pytest.param(rule, example, id=f"{rule.name}: {example.name}")
    for rule in all_rules()
    for example in rule.examples
]
SECTIONS = (
    "## What it does",
    "## Why is this bad?",
    "## Example",
    "## Use instead",
    "## Fix safety",
    "## When not to fix",
)


def report_lines(rule: type[Rule], code: str, tmp_path: Path) -> list[int]:
    path = tmp_path / "program.py"
    path.write_text(code)
    source = source_from_bytes(code.encode(), path, "program.py")
    analysis = analyze([source], [rule()])
    assert not analysis.errors
    return sorted({finding.span.line for finding in analysis.findings})


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_reports_exactly_the_marked_lines(rule: type[Rule], example: Example, tmp_path: Path) -> None:
    marked = read_marks(example.code, example.name)
    assert all(mark.kind == "finding" and mark.rules in ((), (rule.name,)) for mark in marked.marks)
    assert report_lines(rule, example.code, tmp_path) == sorted(marked.lines())


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_examples_are_programs(rule: type[Rule], example: Example) -> None:
    ast.parse(example.code)
    if example.fixed is not None:
        ast.parse(example.fixed)


@pytest.mark.parametrize(("rule", "example"), [case for case in CASES if case.values[1].fixed is not None])
def test_fixes_give_what_they_say(rule: type[Rule], example: Example) -> None:
    code, expected = (plain(text, example.name) for text in (example.code, example.fixed or ""))
    source = source_from_bytes(code.encode(), Path("program.py"), "program.py")
    result = fix_sources(
        {"program.py": source},
        lambda sources: analyze(list(sources.values()), [rule()]).findings,
        unsafe=True,
    )
    assert result.texts["program.py"] == expected


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_a_rule_with_fixes_shows_one(rule: type[Rule]) -> None:
    assert (rule.fixable is not None) == any(example.fixed is not None for example in rule.examples)


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_rule_is_documented_and_has_look_alikes(rule: type[Rule]) -> None:
    text = rule.documentation()
    assert all(section in text for section in SECTIONS)
    assert rule.category in CATEGORIES
    assert rule.code.startswith("JAX")
    assert any(read_marks(example.code).marks for example in rule.examples), "no example that it reports"
    assert not all(read_marks(example.code).marks for example in rule.examples), (
        "no look-alike that it leaves alone"
    )


def test_codes_and_names_are_unique() -> None:
    rules = all_rules()
    assert len({rule.code for rule in rules}) == len(rules)
    assert len({rule.name for rule in rules}) == len(rules)
