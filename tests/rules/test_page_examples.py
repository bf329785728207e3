"""The examples of rule pages: the rule finds the example, and does not find what the page says to use instead."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from jaxlint.registry import all_rules
from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from tests.rules.page_contexts import CONTEXTS, IMPORTS


def _program(rule: type[Rule], heading: str) -> str:
    """The code under a heading of the page, in its context; "" if there is none, as for advice in words."""
    section = rule.documentation().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    code = re.search(r"```python\n(.*?)\n```", section, re.DOTALL)
    if code is None:
        return ""
    context = CONTEXTS.get(rule.name, f"{IMPORTS}CODE")
    indent = re.search(r"^( *).*CODE", context, re.MULTILINE)
    assert indent is not None
    return context.replace("CODE", textwrap.indent(code[1], indent[1]).strip()) + "\n"


def _findings(rule: type[Rule], program: str) -> list[str]:
    source = source_from_bytes(program.encode(), Path("program.py"), "program.py")
    analysis = analyze([source], [rule()])
    assert not analysis.errors
    return [f"{finding.span.line}: {finding.message}" for finding in analysis.findings]


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in all_rules()])
def test_the_rule_finds_its_example_and_nothing_in_its_advice(rule: type[Rule]) -> None:
    assert _findings(rule, _program(rule, "Example"))
    assert _findings(rule, _program(rule, "Use instead")) == []


def test_each_context_is_of_a_rule() -> None:
    assert set(CONTEXTS) <= {rule.name for rule in all_rules()}
