"""What rules say follows the style of CONTRIBUTING.md: every message, reason and title that specimens and programs bring about.

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
from jax._src.named_sharding import DuplicateSpecError

import jaxlint_rules
from jaxlint.finding import Finding, Fix, FixRequest
from jaxlint.registry import all_rules
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from tests.helpers.golden import PROGRAMS
from tests.helpers.wording import avoided, length, literals, prose

_MESSAGE, _REASON, _TITLE = 110, 180, 90


@cache
def _findings() -> tuple[Finding, ...]:
    """What each rule says of its own specimens, and all of them of the programs."""
    rules = all_rules()
    programs = [(rule, example.code) for rule in rules for example in rule.examples]
    found = [finding for rule, code in programs for finding in _said(code, [rule()])]
    for path in sorted(PROGRAMS.rglob("*.py")):
        found += _said(path.read_text(encoding="utf-8"), [rule() for rule in rules])
    return tuple(found)


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


@pytest.mark.parametrize(
    ("kind", "most", "semicolons"), [("message", _MESSAGE, 1), ("reason", _REASON, 2), ("fix", _TITLE, 1)]
)
def test_a_text_is_one_line(kind: str, most: int, semicolons: int) -> None:
    texts = set(_texts(kind))
    assert len(texts) > 100
    assert sorted(text for text in texts if length(text) > most) == []
    assert [text for text in texts if prose(text).count(";") > semicolons] == []
    assert [text for text in texts if "\n" in text or text.endswith((".", ";", ",", " "))] == []


@pytest.mark.parametrize("kind", ["message", "reason", "fix"])
def test_a_text_uses_the_terms_of_the_field(kind: str) -> None:
    assert [line for text in sorted(set(_texts(kind))) for line in avoided(text)] == []


def test_a_message_begins_as_the_middle_of_a_line_and_a_title_with_a_verb() -> None:
    allowed = ("PRNG ", "JAX ", "TPU ")
    messages = {text for text in _texts("message") if text[:1].isupper() and not text.startswith(allowed)}
    assert messages == set()
    assert {text for text in _texts("fix") if not text[:1].isupper()} == set()


def test_exceptions_that_messages_name_exist() -> None:
    known = {*dir(builtins), *dir(jax.errors), *dir(flax.errors)}
    known |= {one.__name__ for one in (dataclasses.FrozenInstanceError, DuplicateSpecError)}
    named = {name for text in _texts("message") for name in re.findall(r"\b[A-Z]\w*Error\b", prose(text))}
    assert len(named) > 10
    assert named - known == set()


def test_templates_that_no_program_brings_about_use_the_terms_too() -> None:
    found = []
    for path in sorted(Path(jaxlint_rules.__file__).parent.rglob("*.py")):
        if "specimens" not in path.parts:
            found += [f"{path.name}: {line}" for text in literals(path) for line in avoided(text)]
    assert found == []
