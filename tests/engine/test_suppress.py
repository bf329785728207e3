"""Comments that silence findings, and what they do not silence."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from jaxlint.config import Config
from jaxlint.engine import Stdin, check
from jaxlint.finding import Finding, Fix, Severity, Span
from jaxlint.source.file import SourceFile
from jaxlint.suppress import Suppressions

pytestmark = pytest.mark.usefixtures("stand_in")


@pytest.fixture(autouse=True)
def without_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands on standard input belongs to the project of the working folder, which would be read with it."""
    monkeypatch.chdir(tmp_path)


def run(text: str, *, unused: bool = False, **settings: object) -> list[str]:
    config = Config(Path.cwd(), report_unused_suppressions=unused).with_options(**settings)
    result = check([], config, stdin=Stdin(text.encode()), use_cache=False)
    assert not result.errors
    return [f"{one.span.line}:{one.code}" for one in result.findings]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("bad  # jaxlint: ignore[names-bad]", id="name"),
        pytest.param("bad  # jaxlint: ignore[JAX901]", id="code"),
        pytest.param("bad  # jaxlint:ignore [ tracing , other ]", id="category"),
        pytest.param("bad  # jaxlint: ignore", id="bare"),
        pytest.param("bad  # type: ignore  # jaxlint: ignore[JAX901]  # pragma: no cover", id="among-others"),
        pytest.param("bad  # jaxlint: ignore[JAX901] because it is meant", id="with-a-reason"),
        pytest.param("bad  # noqa", id="bare-noqa"),
        pytest.param("bad  # NOQA:jax901", id="noqa-case"),
        pytest.param("bad  # noqa: E501, JAX901 and so on", id="noqa-list"),
        pytest.param("bad  # noqa: E501 JAX9", id="noqa-prefix"),
        pytest.param("# jaxlint: ignore[JAX901]\nbad", id="line-above"),
        pytest.param("# jaxlint: ignore[JAX901]\n\n# why\nf(\n    bad\n)", id="statement-below"),
        pytest.param("f(  # jaxlint: ignore[JAX901]\n    1,\n    bad,\n)", id="first-line-of-statement"),
        pytest.param("f(\n    1,\n    bad,\n)  # noqa: JAX901", id="last-line-of-statement"),
        pytest.param("f(\n    bad,  # noqa: JAX901\n)", id="its-own-line"),
        pytest.param("x = bad + '''\n'''  # noqa: JAX901", id="string-over-lines"),
        pytest.param("x = bad + \\\n    1  # noqa: JAX901", id="continued-line"),
        pytest.param("def f(\n    x=bad,\n):  # noqa: JAX901\n    pass", id="header"),
        pytest.param("bad\nbad\n# jaxlint: ignore-file[names-bad]", id="file"),
        pytest.param("# jaxlint: ignore-file\nbad", id="whole-file"),
        pytest.param("\x0cbad  # noqa: JAX901\r\n", id="form-feed"),
    ],
)
def test_silenced(text: str) -> None:
    assert run(text.replace("other", "memory")) == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        pytest.param("bad  # jaxlint: ignore[names-costly]", ["1:JAX901"], id="other-rule"),
        pytest.param("bad  # noqa: E501", ["1:JAX901"], id="other-tool"),
        pytest.param("bad  # noqa: E501 tracing", ["1:JAX901"], id="prose-is-no-category"),
        pytest.param("bad  # noqa: ", ["1:JAX901"], id="noqa-of-nothing"),
        pytest.param("bad  # flake8: noqa", ["1:JAX901"], id="flake8"),
        pytest.param("bad, '# noqa: JAX901'", ["1:JAX901"], id="inside-a-string"),
        pytest.param("x = '''\n# jaxlint: ignore-file\n'''\nbad", ["4:JAX901"], id="file-inside-a-string"),
        pytest.param("bad\nx  # noqa: JAX901", ["1:JAX901"], id="next-line"),
        pytest.param("f(\n    1,  # noqa: JAX901\n    bad,\n)", ["3:JAX901"], id="inner-line"),
        pytest.param(
            "f(\n    # jaxlint: ignore[JAX901]\n    bad,\n)\nbad",
            ["3:JAX901", "5:JAX901"],
            id="inner-own-line",
        ),
        pytest.param("# noqa: JAX901\nbad", ["2:JAX901"], id="noqa-is-for-its-line"),
        pytest.param("def f():  # noqa: JAX901\n    bad", ["2:JAX901"], id="header-is-not-the-body"),
        pytest.param("bad; costly  # jaxlint: ignore[JAX902]", ["1:JAX901"], id="one-of-two"),
        pytest.param("bad  # jaxlint: ignore-me", ["1:JAX901"], id="unknown-verb"),
        pytest.param("bad  # jaxlint: disable", ["1:JAX901"], id="other-verb"),
    ],
)
def test_not_silenced(text: str, left: list[str]) -> None:
    assert run(text) == left


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        pytest.param("x  # jaxlint: ignore[JAX901]", ["1:JAX001"], id="idle"),
        pytest.param("x  # jaxlint: ignore", ["1:JAX001"], id="bare"),
        pytest.param("x  # noqa: JAX901, E501", ["1:JAX001"], id="noqa"),
        pytest.param("# jaxlint: ignore-file[JAX901]", ["1:JAX001"], id="file"),
        pytest.param("x  # jaxlint: ignore[names-bda]", ["1:JAX001"], id="no-such-rule"),
        pytest.param("bad  # jaxlint: ignore[JAX901, names-costly]", ["1:JAX001"], id="one-of-two"),
        pytest.param("bad  # jaxlint: ignore[JAX9]", [], id="prefix-of-use"),
        pytest.param("bad  # jaxlint: ignore[JAX901]", [], id="of-use"),
        pytest.param("advice  # jaxlint: ignore[JAX911]", [], id="of-use-below-the-threshold"),
        pytest.param("x  # noqa", [], id="bare-noqa"),
        pytest.param("x  # noqa: E501", [], id="other-tool"),
        pytest.param("x  # jaxlint: ignore[names-novel]", [], id="rule-did-not-run"),
    ],
)
def test_unused(text: str, reported: list[str]) -> None:
    assert run(text, unused=True) == reported
    assert ("1:JAX001" in run(text)) is ("names-bda" in text)  # a name that is no rule is always said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x  # jaxlint: ignore[names-bda]", "there is no rule 'names-bda'; did you mean names-bad?"),
        ("# jaxlint: ignore-file[names-bda]", "there is no rule 'names-bda'; did you mean names-bad?"),
        ("bad  # jaxlint: ignore[JAX901, zzz]", "there is no rule 'zzz'; `jaxlint rules` lists them"),
        ("x  # noqa: JAX999", None),  # perhaps of another tool
        ("x = 'jaxlint: ignore[zzz]'", None),
    ],
)
def test_a_name_that_is_no_rule_is_said_at_once(text: str, said: str | None) -> None:
    result = check([], Config(Path.cwd()), stdin=Stdin(text.encode()), use_cache=False)
    messages = [one.message for one in result.findings]
    assert messages == ([f"Unused suppression: {said}"] if said else [])
    assert all(one.fix is None for one in result.findings)


def test_unused_is_not_judged_on_a_part_of_the_rules() -> None:
    text = "x  # jaxlint: ignore\ny  # jaxlint: ignore[JAX902]\nz  # jaxlint: ignore[JAX901]"
    assert run(text, unused=True, select=("JAX901",)) == ["3:JAX001"]


@pytest.mark.parametrize(
    ("text", "without"),
    [
        pytest.param("x = 1  # jaxlint: ignore[JAX901]\n", "x = 1\n", id="comment"),
        pytest.param("x = 1  # type: int  # jaxlint: ignore[JAX901]\n", "x = 1  # type: int\n", id="last"),
        pytest.param("x = 1  # jaxlint: ignore[JAX901]  # type: int\n", "x = 1  # type: int\n", id="first"),
        pytest.param("    # jaxlint: ignore[JAX901]\nx = 1\n", "x = 1\n", id="own-line"),
        pytest.param("x = 1  # jaxlint: ignore[JAX901] for speed\n", None, id="with-a-reason"),
        pytest.param("x = 1  # jaxlint: ignore[names-bda]\n", None, id="misspelt"),
        pytest.param("x = bad  # jaxlint: ignore[JAX901, JAX902]\n", None, id="partly-used"),
        pytest.param("x = 1  # noqa: JAX901, E501\n", None, id="shared-noqa"),
    ],
)
def test_unused_comment_can_be_removed(text: str, without: str | None) -> None:
    config = Config(Path.cwd(), report_unused_suppressions=True)
    result = check([], config, stdin=Stdin(text.encode()), use_cache=False)
    (finding,) = result.findings
    if without is None:
        assert finding.fix is None
        return
    assert isinstance(finding.fix, Fix)
    (edit,) = finding.fix.edits
    assert _apply(result.sources[finding.path], edit.span) == without


def _apply(source: SourceFile, span: object) -> str:
    lines = source.text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    start = starts[span.line - 1] + span.column - 1  # type: ignore[attr-defined]
    end = starts[span.end_line - 1] + span.end_column - 1  # type: ignore[attr-defined]
    return source.text[:start] + source.text[end:]


def test_any_number_of_comments_and_of_names_in_them_is_read_in_one_pass() -> None:
    """A clone may hold as many as it likes."""
    comments = "".join(f"x{number} = 1  # noqa: JAX901\n" for number in range(20_000))
    foreign = "y = 1  # noqa: " + ",".join(f"AB{number}" for number in range(50_000)) + "\n"
    own = "z = 1  # jaxlint: ignore[" + ",".join(f"no-{number}" for number in range(50_000)) + "]\n"
    path = Path("many.py")
    started = time.process_time()
    text = comments + foreign + own
    read = Suppressions(SourceFile(path, "many.py", text, "utf-8", False, ""))
    assert len(read.directives) == 20_001
    for line in range(1, 20_001):
        assert read.silences(finding_at(line))
    assert time.process_time() - started < 20  # five minutes and more, where each looks at all


def test_any_number_of_comments_in_one_line_is_read_in_one_pass() -> None:
    text = "x = 1  " + "# jaxlint: ignore[JAX901] " * 50_000 + "# noqa: JAX901 " * 50_000 + "\n"
    started = time.process_time()
    read = Suppressions(SourceFile(Path("many.py"), "many.py", text, "utf-8", False, ""))
    assert len(read.directives) == 100_000
    assert time.process_time() - started < 10


def test_a_list_that_is_not_closed_ends_at_the_next_comment() -> None:
    text = "bad  # jaxlint: ignore[JAX901 # meant\n"
    (directive,) = Suppressions(SourceFile(Path("one.py"), "one.py", text, "utf-8", False, "")).directives
    assert directive.rules is not None
    assert list(directive.rules) == ["JAX901"]
    started = time.process_time()
    text = "x = 1  " + "# jaxlint: ignore[" * 60_000 + "\n"
    read = Suppressions(SourceFile(Path("many.py"), "many.py", text, "utf-8", False, ""))
    assert len(read.directives) == 60_000
    assert (
        time.process_time() - started < 10
    )  # two minutes, where each list is looked for to the end of the line


def finding_at(line: int) -> Finding:
    span = Span(line, 1, line, 2)
    return Finding("many.py", span, "JAX901", "names-bad", "tracing", Severity.ERROR, "said", "seen")
