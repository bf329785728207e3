"""What rules say follows the style of CONTRIBUTING.md: every message, reason and title that their specimens bring about.

`tests/integration/test_programs.py` holds what is said of programs to the same.

Names that a message quotes from a program may be of any length: text in backticks counts as sixteen characters at most.
"""

from __future__ import annotations

import builtins
import dataclasses
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import flax.errors
import jax
import pytest
from haiku._src.base import NonEmptyStateError
from jax._src.named_sharding import DuplicateSpecError

import jaxlint_rules
from jaxlint.finding import Finding, Fix, FixRequest
from jaxlint.registry import all_rules
from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from tests.helpers.wording import AVOIDED_ON_PAGES, KINDS, avoided, faults, literals, prose

_WIDTH = 100  # characters of a line of a page; an address may be longer
_SUMMARY = 80  # characters of the line that stands in tables


@cache
def _findings() -> tuple[Finding, ...]:
    """What each rule says of its own specimens."""
    return tuple(
        finding
        for rule in all_rules()
        for example in rule.examples
        for finding in _said(example.code, [rule()])
    )


def _said(code: str, rules: list[object]) -> list[Finding]:
    source = source_from_bytes(code.encode(), Path("program.py"), "program.py")
    return analyze([source], rules).findings  # type: ignore[arg-type]


def _texts(kind: str) -> Iterator[str]:
    for finding in _findings():
        if kind == "fix":
            if isinstance(finding.fix, (Fix, FixRequest)):
                yield finding.fix.message
        else:
            yield getattr(finding, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_follows_the_style(kind: str) -> None:
    texts = set(_texts(kind))
    assert len(texts) > 50
    assert faults(kind, texts) == []


def test_exceptions_that_messages_name_exist() -> None:
    known = {*dir(builtins), *dir(jax.errors), *dir(flax.errors)}
    known |= {
        one.__name__ for one in (dataclasses.FrozenInstanceError, DuplicateSpecError, NonEmptyStateError)
    }
    named = {name for text in _texts("message") for name in re.findall(r"\b[A-Z]\w*Error\b", prose(text))}
    assert len(named) > 10
    assert named - known == set()


def test_templates_that_no_program_brings_about_use_the_terms_too() -> None:
    found = []
    for path in sorted(Path(jaxlint_rules.__file__).parent.rglob("*.py")):
        if "specimens" not in path.parts:
            found += [f"{path.name}: {line}" for text in literals(path) for line in avoided(text)]
    assert found == []


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in all_rules()])
def test_a_page_is_in_plain_words_and_narrow(rule: type[Rule]) -> None:
    text = re.sub(r"```.*?```", "", rule.documentation(), flags=re.DOTALL)
    assert avoided(" ".join(text.split()), AVOIDED_ON_PAGES) == []
    assert [line for line in text.splitlines() if len(line) > _WIDTH and "](http" not in line] == []
    assert len(rule.summary()) <= _SUMMARY
