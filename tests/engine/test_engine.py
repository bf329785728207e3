"""One run: what is examined, what is reported, and what happens when something goes wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jaxlint import codemods
from jaxlint.codemods import registry
from jaxlint.config import Config, load_config
from jaxlint.engine import CheckResult, Stdin, check
from jaxlint.finding import Edit, Fix, Safety, Severity, Step

if TYPE_CHECKING:
    from tests.engine.conftest import StandInAnalysis


def run(*paths: str, **options: object) -> CheckResult:
    return check(paths, load_config(paths), use_cache=False, **options)  # type: ignore[arg-type]


def places(result: CheckResult) -> list[str]:
    return [f"{one.path}:{one.span.line}:{one.span.column}:{one.code}" for one in result.findings]


def test_findings_are_sorted_and_each_is_given_once(project: Path, stand_in: StandInAnalysis) -> None:
    (project / "b.py").write_text("costly; bad\n")
    (project / "a.py").write_text("\n\nbad\n")
    result = run(".", "a.py")
    assert places(result) == ["a.py:3:1:JAX901", "b.py:1:1:JAX902", "b.py:1:9:JAX901"]
    assert result.files == 2
    assert set(result.sources) == {"a.py", "b.py"}


def test_bad_files_do_not_cost_the_good_ones(project: Path, stand_in: StandInAnalysis) -> None:
    (project / "a.py").write_text("bad\n")
    (project / "binary.py").write_bytes(b"\0\1")
    (project / "syntax.py").write_text("f(\n")
    (project / "book.ipynb").write_text("{}")
    result = run(".", "none.py", "book.ipynb")
    assert places(result) == ["a.py:1:1:JAX901"]
    assert [error.path for error in result.errors] == ["binary.py", "book.ipynb", "none.py", "syntax.py"]


def test_crash_of_the_analysis_costs_one_file(project: Path, stand_in: StandInAnalysis) -> None:
    (project / "a.py").write_text("bad\n")
    (project / "b.py").write_text("boom\n")
    (project / "c.py").write_text("bad\n")
    stand_in.crash_on = "boom"
    result = check(["."], load_config(["."]))
    assert places(result) == ["a.py:1:1:JAX901", "c.py:1:1:JAX901"]
    (error,) = result.errors
    assert str(error).startswith("b.py: internal error (ZeroDivisionError: a bug of ours at conftest.py:")
    # It is not remembered: a repaired jaxlint, or a luckier run, starts afresh.
    assert not check(["."], load_config(["."])).cached


def test_severity_threshold(project: Path, stand_in: StandInAnalysis) -> None:
    (project / "a.py").write_text("bad; costly; advice\n")
    config = load_config(["."])
    for least, count in [(Severity.ERROR, 1), (Severity.WARNING, 2), (Severity.INFO, 3)]:
        # Also through the cache, which does not depend on the threshold.
        assert len(check(["."], config.with_options(severity=least)).findings) == count


def test_per_file_ignores(project: Path, stand_in: StandInAnalysis) -> None:
    (project / "jaxlint.toml").write_text("per-file-ignores = { 'test_*.py' = ['names-bad'] }\n")
    (project / "test_a.py").write_text("bad; costly\n")
    (project / "a.py").write_text("bad\n")
    assert places(run(".")) == ["a.py:1:1:JAX901", "test_a.py:1:6:JAX902"]


def test_stdin_stands_for_its_file(project: Path, stand_in: StandInAnalysis) -> None:
    (project / "a.py").write_text("good\n")
    result = check(["a.py"], load_config(["."]), stdin=Stdin(b"\n bad\n", "a.py"), use_cache=False)
    assert [str(error) for error in result.errors] != []  # the indentation, in what came in
    result = check(["a.py"], load_config(["."]), stdin=Stdin(b"\nbad\n", "a.py"), use_cache=False)
    assert places(result) == ["a.py:2:1:JAX901"]
    assert result.files == 1


def test_stdin_without_a_name(project: Path, stand_in: StandInAnalysis) -> None:
    result = check([], load_config([]), stdin=Stdin(b"bad\n"), use_cache=False)
    assert places(result) == ["<stdin>:1:1:JAX901"]


def test_stdin_is_excluded_on_request(project: Path, stand_in: StandInAnalysis) -> None:
    (project / "old.py").write_text("")
    (project / "jaxlint.toml").write_text("extend-exclude = ['old.py']\nforce-exclude = true\n")
    result = check([], load_config(["old.py"]), stdin=Stdin(b"bad\n", "old.py"), use_cache=False)
    assert (result.findings, result.files) == ([], 0)


def test_many_files_are_read_in_threads(project: Path, stand_in: StandInAnalysis) -> None:
    for number in range(40):
        (project / f"f{number:02}.py").write_text("bad\n")
    (project / "f40.py").write_bytes(b"\xff")
    expected = [f"f{number:02}.py:1:1:JAX901" for number in range(40)]
    for jobs in (None, 1, 3):
        result = run(".", jobs=jobs)
        assert places(result) == expected
        assert [error.path for error in result.errors] == ["f40.py"]


def test_fixes_are_resolved_or_left_out(
    project: Path, stand_in: StandInAnalysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "a.py").write_text("bad\nbad\nbad\n")

    def stand_in_codemod(draft: registry.Draft, step: Step) -> None:
        if step.span.line == 2:
            raise codemods.Refused("its line is even")
        if step.span.line == 3:
            raise ZeroDivisionError
        draft.replace(step.span, "good")

    monkeypatch.setitem(registry._codemods, "stand-in", stand_in_codemod)
    result = run("a.py", resolve_fixes=True)
    first, second, third = result.findings
    assert first.fix == Fix(Safety.SAFE, "Rename it", (Edit("a.py", first.span, "good"),))
    assert (second.fix, second.data["fix_refused"]) == (None, "its line is even")
    assert third.fix is None
    assert third.data["fix_refused"].startswith("internal error (ZeroDivisionError: at test_engine.py:")
    assert "internal error" in str(result.errors[0])


def test_only_selected_rules_run(project: Path, stand_in: StandInAnalysis) -> None:
    (project / "a.py").write_text("bad; costly; novel\n")
    config = Config(project, select=("names-costly", "names-novel"))
    assert places(check(["a.py"], config, use_cache=False)) == ["a.py:1:6:JAX902"]
    preview = config.with_options(preview=True)
    assert places(check(["a.py"], preview, use_cache=False)) == ["a.py:1:6:JAX902", "a.py:1:14:JAX921"]
