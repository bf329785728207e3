"""What verify, the codemods and the command line say follows the style of CONTRIBUTING.md; rules have tests/rules/test_wording.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.wording import AVOIDED_IN_TOOLS, avoided, given_to, length, literals, prose

ROOT = Path(__file__).parents[2]
TOOLS = [
    *sorted((ROOT / "jaxlint").glob("*.py")),
    *(
        path
        for folder in ("cli", "codemods", "narrowing", "report", "server", "source", "upgrade")
        for path in sorted((ROOT / "jaxlint" / folder).rglob("*.py"))
    ),
]
VERIFY = sorted((ROOT / "runtime" / "jaxlint_runtime").rglob("*.py"))
# What stops a fix, a candidate or a command, by the exceptions and functions that take it.
REFUSING = frozenset(
    """Refused NotApplicable Failure BadMesh NoExample CannotRun StagingError NotExported TargetUnavailable TooLarge
    SourceError ConfigError refuse problem""".split()  # noqa: SIM905
)
SAYING = frozenset({"note", "say", "fail", "progress"})
_REFUSAL, _NOTE = 130, 130


@pytest.mark.parametrize("paths", [TOOLS, VERIFY], ids=["command line and codemods", "verify"])
def test_texts_use_the_terms_of_the_field(paths: list[Path]) -> None:
    texts = [(path, text) for path in paths for text in dict.fromkeys(literals(path))]
    assert len(texts) > 1000
    found = [f"{path.name}: {line}" for path, text in texts for line in avoided(text, AVOIDED_IN_TOOLS)]
    assert found == []


@pytest.mark.parametrize(("functions", "most", "least"), [(REFUSING, _REFUSAL, 500), (SAYING, _NOTE, 20)])
def test_a_refusal_or_a_note_is_one_line(functions: frozenset[str], most: int, least: int) -> None:
    texts = set(_said(functions))
    assert len(texts) > least
    assert sorted(text for text in texts if length(text) > most) == []
    assert [text for text in texts if prose(text).count(";") > 1] == []
    assert [text for text in texts if "\n" in text or text.endswith((";", ","))] == []


def _said(functions: frozenset[str]) -> Iterator[str]:
    for path in (*TOOLS, *VERIFY):
        yield from given_to(path, functions)
