"""What is printed, for people and for tools."""

from __future__ import annotations

import io
import json
import re
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from jaxlint.engine import CheckResult
from jaxlint.finding import Edit, Finding, Fix, Safety, Severity, Span
from jaxlint.report import text, write_report
from jaxlint.report.styled import width
from jaxlint.source import SourceError, source_from_bytes

HERE = Span(3, 8, 3, 9)


def finding(span: Span = HERE, **changes: object) -> Finding:
    values: dict[str, object] = {
        "path": "train.py",
        "span": span,
        "code": "JAX101",
        "name": "tracer-branch",
        "category": "tracing",
        "severity": Severity.ERROR,
        "message": "Branch on a traced value",
        "reason": "`y` is computed from parameter `x`",
        "function": "step",
        "fix": Fix(Safety.SAFE, "Use `jnp.where`", (Edit("train.py", span, "a\nb"),)),
    }
    return Finding(**{**values, **changes})  # type: ignore[arg-type]


def result(*findings: Finding, source: str = "", errors: tuple[SourceError, ...] = ()) -> CheckResult:
    file = source_from_bytes(source.encode(), Path("train.py"), "train.py")
    return CheckResult(list(findings), list(errors), files=1, sources={"train.py": file})


SOURCE = "@jax.jit\ndef step(x):\n    if x > 0:\n        return x\n\n"


def full(shown: CheckResult, **options: bool) -> str:
    stream = io.StringIO()
    text.write_text(shown, stream, **options)
    return stream.getvalue()


def machine(format: str, shown: CheckResult) -> str:
    stream = io.StringIO()
    write_report(format, shown, stream)
    return stream.getvalue()


def test_full_text() -> None:
    assert full(result(finding(), source=SOURCE)) == (
        """\
train.py:3:8: error JAX101 [*] Branch on a traced value [tracer-branch]
  |
1 | @jax.jit
2 | def step(x):
3 |     if x > 0:
  |        ^
4 |         return x
  |
  = reason: `y` is computed from parameter `x`
  = fix: Use `jnp.where`

Found 1 error in 1 file. [*] 1 fixable with `jaxlint fix`.
"""
    )


def test_concise_text() -> None:
    unsafe = Fix(Safety.UNSAFE, "Donate", ())
    shown = result(finding(fix=unsafe), finding(severity=Severity.WARNING, fix=None), source=SOURCE)
    assert full(shown, concise=True) == (
        "train.py:3:8: error JAX101 Branch on a traced value [tracer-branch]\n"
        "train.py:3:8: warning JAX101 Branch on a traced value [tracer-branch]\n"
        "Found 1 error and 1 warning in 1 file. 1 fixable with `jaxlint fix --unsafe-fixes`.\n"
    )


def test_refused_fix_says_why() -> None:
    shown = result(finding(fix=None, data={"fix_refused": "a caller is unknown"}), source=SOURCE)
    assert "  = no fix: a caller is unknown\n" in full(shown)


def carets(source: str, span: Span) -> tuple[str, str]:
    """The line with the finding and what is under it, both without the gutter."""
    lines = full(result(finding(span), source=source)).splitlines()
    marked = next(number for number, line in enumerate(lines) if "^" in line)
    return lines[marked - 1].partition("| ")[2], lines[marked].partition("| ")[2]


@pytest.mark.parametrize("form", ["full", "gitlab"])
def test_a_line_with_a_finding_in_each_word_is_read_in_parts(form: str) -> None:
    many = [finding(Span(1, 27 * number + 1, 1, 27 * number + 26)) for number in range(20_000)]
    shown = result(*many, source="# jaxlint: ignore[JAX101] " * 21_000 + "\n")
    started = time.process_time()
    said = full(shown) if form == "full" else machine(form, shown)
    assert said.count("JAX101") > 19_999
    assert time.process_time() - started < 20  # half a minute, where each finding reads the whole line


@pytest.mark.parametrize(
    ("source", "span", "marked"),
    [
        pytest.param("f(bad)", Span(1, 3, 1, 6), "bad", id="plain"),
        pytest.param("\tf(\tbad)", Span(1, 5, 1, 8), "bad", id="tabs"),
        pytest.param("名前 = bad", Span(1, 6, 1, 9), "bad", id="wide"),
        pytest.param("e\u0301 = bad", Span(1, 6, 1, 9), "bad", id="combining"),
        pytest.param("f(a,\n  b)", Span(1, 1, 2, 5), "f(a,", id="over-lines"),
        pytest.param(
            "x = " + "a + " * 200 + "bad" + " + a" * 200, Span(1, 805, 1, 808), "bad", id="long-line"
        ),
        pytest.param(
            "x = '" + "a" * 500 + "'", Span(1, 5, 1, 507), "'" + "a" * 154 + "…", id="longer-than-the-window"
        ),
        pytest.param("f(", Span(1, 3, 1, 3), "", id="empty"),
        pytest.param("f(\r\nbad)\r\n", Span(2, 1, 2, 4), "bad", id="crlf"),
    ],
)
def test_carets_stand_under_the_text(source: str, span: Span, marked: str) -> None:
    line, under = carets(source, span)
    start, stop = under.index("^"), len(under)
    cells = [character for character in line for _ in range(width(character))]
    assert "".join(cells[start:stop]) == marked
    assert width(line) <= 160


def test_source_cannot_steer_the_terminal() -> None:
    shown = full(
        result(
            finding(Span(1, 1, 1, 2), message="see \x1b[2J", path="train.py"),
            source="x = '\x1b]0;title\x07 \u202e'  \x9b31m\n",
        )
    )
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)


HIDDEN = "a\u202eb\u2066c\u061cd\u200be\ufff9f\U000e0041g\x85h"


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("form", ["github", "gitlab", "junit", "sarif"])
def test_reports_show_characters_that_reorder_or_hide_text_by_their_codes(form: str) -> None:
    named = finding(message=f"see {HIDDEN}", reason=f"for {HIDDEN}")
    shown = machine(form, result(named, source=SOURCE, errors=(SourceError("b.py", f"odd {HIDDEN}"),)))
    read = shown if form in ("github", "junit") else json.dumps(json.loads(shown), ensure_ascii=False)
    assert read.count("u202eb") >= 3
    assert not set(HIDDEN) - set("abcdefgh") & set(read)


def test_colours_only_where_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def output(stream: io.StringIO) -> str:
        text.write_text(result(finding(), source=SOURCE), stream)
        return stream.getvalue()

    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    plain = output(io.StringIO())
    assert "\x1b" not in plain
    coloured = output(Terminal())
    assert "\x1b" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert output(Terminal()) == plain


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (CheckResult(files=3), "No findings in 3 files."),
        (CheckResult(), "No files to check."),
        (
            CheckResult(files=1, errors=[SourceError("a.py", "broken")]),
            "No findings in 1 file. 1 error kept jaxlint from checking everything.",
        ),
    ],
)
def test_summary(shown: CheckResult, expected: str) -> None:
    assert text.summary(shown) == expected


def test_statistics() -> None:
    warning = finding(
        code="JAX201", name="host-sync", category="transfer", severity=Severity.WARNING, fix=None
    )
    stream = io.StringIO()
    text.write_statistics(result(finding(), warning, warning), stream)
    assert stream.getvalue().splitlines()[:2] == [
        "2  JAX201       host-sync      transfer",
        "1  JAX101  [*]  tracer-branch  tracing",
    ]


def test_json_is_the_contract() -> None:
    place = {"line": 3, "column": 8, "end_line": 3, "end_column": 9}
    assert json.loads(machine("json", result(finding(), source=SOURCE))) == [
        {
            "path": "train.py",
            **place,
            "cell": None,
            "code": "JAX101",
            "name": "tracer-branch",
            "category": "tracing",
            "severity": "error",
            "message": "Branch on a traced value",
            "reason": "`y` is computed from parameter `x`",
            "function": "step",
            "fix": {
                "safety": "safe",
                "message": "Use `jnp.where`",
                "edits": [{"path": "train.py", **place, "content": "a\nb"}],
            },
            "url": "docs/rules/tracer-branch.md",
        }
    ]
    assert json.loads(machine("json", CheckResult())) == []


def test_github() -> None:
    shown = result(finding(message="50%,\nodd: yes"), errors=(SourceError("b,c.py", "broken", 4),))
    assert machine("github", shown) == (
        "::error title=JAX101 (tracer-branch),file=train.py,line=3,endLine=3,col=8,endColumn=9::"
        "train.py:3:8: JAX101 50%25,%0Aodd: yes (`y` is computed from parameter `x`)\n"
        "::error title=jaxlint,file=b%2Cc.py,line=4::b,c.py:4: broken\n"
    )


@pytest.mark.usefixtures("stand_in")
def test_sarif() -> None:
    log = json.loads(
        machine("sarif", result(finding(path="my train.py"), errors=(SourceError("b.py", "broken"),)))
    )
    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["JAX101"]
    (one,) = run["results"]
    location = one["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "my%20train.py"
    assert location["region"] == {"startLine": 3, "startColumn": 8, "endLine": 3, "endColumn": 9}
    assert one["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"] == {"text": "a\nb"}
    assert not run["invocations"][0]["executionSuccessful"]


def test_junit() -> None:
    shown = result(finding(message='"<odd>" & \x01'), errors=(SourceError("b.py", "broken"),))
    suite = ElementTree.fromstring(machine("junit", shown))[0]
    assert (suite.get("failures"), suite.get("errors"), len(suite)) == ("1", "1", 2)
    assert suite[0][0].get("message") == '"<odd>" & \\x01'
    clean = ElementTree.fromstring(machine("junit", CheckResult(files=2)))[0]
    assert (clean.get("failures"), len(clean)) == ("0", 1)
