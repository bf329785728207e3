"""Which proven donations may be written, and what is left when writing is cut short."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from jaxlint.cli import main
from jaxlint.engine import CheckResult
from jaxlint.finding import Finding, FixRequest, Safety, Severity, Span, Step
from jaxlint.source import read_source
from jaxlint.source.journal import Journal
from jaxlint.source.write import Change
from jaxlint_runtime import apply
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.verify import Request, Verification

SOURCE = """import jax

@jax.jit
def step(params, x):
    return params + x
"""
SPAN = Span(3, 2, 3, 9)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "program.py").write_text(SOURCE)
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path.resolve()


def verification(project: Path, parameters: dict[str, Any] | None = None, **data: Any) -> Verification:
    """As after a run in which the donation of `params` was proven."""
    path = str(project / "program.py")
    found = Verification(Request("script", path))
    found.document.targets = ["cpu"]
    function = {"function": "step", "path": path, "line": 3, "end_line": 5, "jit_path": path, "jit_line": 3}
    found.document.functions = [function]
    result = {
        "function": "step",
        "path": path,
        "line": 3,
        "status": "verified",
        "codemod": "add-donation",
        "candidate": "donation",
        "parameters": {"argnums": [0], "names": ["params"], **(parameters or {})},
    }
    found.document.results = [("cpu", result)]
    fix = FixRequest(Safety.UNSAFE, "Donate", (Step("add-donation", path, SPAN, {"argnums": [0]}),))
    finding = Finding(
        path,
        SPAN,
        "JAX601",
        "missing-donation",
        "memory",
        Severity.WARNING,
        "message",
        "reason",
        fix=fix,
        data={"callers_complete": True, "public": False, "aliased": False, **data},
    )
    found.check = CheckResult(findings=[finding], sources={path: read_source(Path(path), path)})
    return found


def advice(found: Verification, allow_dirty: bool = False) -> str:
    """What the report says of the one result when it is not tried."""
    assert apply._choose(found, allow_dirty) == []
    (entry,) = found.document.applied
    assert not entry["kept"]
    return str(entry["message"])


def test_a_proven_donation_with_all_callers_known_is_tried(project: Path) -> None:
    found = verification(project)
    (edit,) = apply._choose(found, allow_dirty=False)
    assert edit.argnums == (0,)
    (change,) = apply.changes_of([edit], found)
    assert "@functools.partial(jax.jit, donate_argnums=(0,))" in change.text


def test_an_interrupt_while_the_edited_program_runs_changes_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(edits: object, verification: Verification) -> None:
        raise KeyboardInterrupt

    found = verification(project)
    before = {path: path.read_text() for path in project.rglob("*.py")}
    monkeypatch.setattr(apply, "_try_all", interrupted)
    apply.apply_proven(found, allow_dirty=False)
    assert found.document.interrupted
    assert {path: path.read_text() for path in project.rglob("*.py")} == before


@pytest.mark.parametrize(
    ("data", "parameters", "reason"),
    [
        ({"public": True}, {}, "the function is public"),
        ({"public": None}, {}, "the function is public"),
        ({"callers_complete": False}, {}, "not all callers"),
        ({"aliased": True}, {}, "under another name"),
        ({}, {"shared": [["params", "target"]]}, "params and target may be one buffer"),
        ({}, {"argnums": [1]}, "are not those whose callers give them up"),
    ],
    ids=["public", "unknown", "callers", "aliased", "shared", "other-argument"],
)
def test_anything_less_certain_stays_advice(project: Path, data: Any, parameters: Any, reason: str) -> None:
    assert reason in advice(verification(project, parameters, **data))


def test_without_a_finding_the_callers_are_not_known(project: Path) -> None:
    found = verification(project)
    assert found.check is not None
    found.check.findings.clear()
    assert "its callers are not known" in advice(found)


def test_what_is_not_proven_is_not_even_mentioned(project: Path) -> None:
    found = verification(project)
    found.document.results[0][1]["status"] = "rejected"
    assert apply._choose(found, allow_dirty=True) == []
    assert found.document.applied == []


def test_what_was_only_compiled_is_written_on_request_alone(project: Path) -> None:
    found = verification(project)
    found.document.results = [("tpu:v5e-1x1", {**found.document.results[0][1], "status": "compiled"})]
    assert "--accept-compiled" in advice(found)
    assert len(apply._choose(found, allow_dirty=False, accept_compiled=True)) == 1
    slow = verification(project)  # on the device at hand, but too slow to be timed
    slow.document.results[0][1]["status"] = "compiled"
    assert len(apply._choose(slow, allow_dirty=False)) == 1
    both = verification(project)
    both.document.results.append(found.document.results[0])
    assert len(apply._choose(both, allow_dirty=False)) == 1
    assert both.document.applied == []


def git(project: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=tester", "-c", "user.email=tester@example.org"]
    subprocess.run(["git", "-C", str(project), *identity, *arguments], check=True, capture_output=True)


def test_files_with_uncommitted_changes_need_a_word(project: Path) -> None:
    git(project, "init")
    assert "uncommitted changes" in advice(verification(project))
    assert apply._choose(verification(project), allow_dirty=True)
    git(project, "add", "program.py")
    git(project, "commit", "-m", "first")
    assert apply._choose(verification(project), allow_dirty=False)


def test_what_the_command_itself_has_written_may_be_edited_further(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(project, "init")
    git(project, "add", "program.py")
    git(project, "commit", "-m", "first")
    found = verification(project)
    assert found.check is not None
    (source,) = found.check.sources.values()
    found.rewritten = [Change(source, SOURCE + "\nstep(1, 2)\n")]
    seen: list[Verification] = []

    def run(again: Verification) -> Document:
        seen.append(again)
        again.document.interrupted = True
        return again.document

    monkeypatch.setattr(Verification, "run", run)
    apply.apply_proven(found, allow_dirty=False)
    assert (project / "program.py").read_text().endswith("step(1, 2)\n")
    (again,) = seen
    later = verification(project)
    assert "uncommitted changes" in advice(later)
    later.written = again.written
    assert apply._choose(later, allow_dirty=False)


def test_files_outside_the_project_are_not_edited(project: Path) -> None:
    inner = project / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").touch()
    (inner / "run.py").touch()
    found = verification(project)
    found.request = Request("script", str(inner / "run.py"))
    assert "lies outside the project" in advice(found, allow_dirty=True)


def test_a_half_done_write_is_undone_by_the_next_command(project: Path) -> None:
    one, other = project / "one.py", project / "other.py"
    one.write_text("old one\n")
    other.write_text("old other\n")
    keeping = Journal(project).keeping([(one, b"new one\n"), (other, b"new other\n")])
    keeping.__enter__()
    one.write_text("new one\n")
    # killed here: neither the second write nor the end of the block happens
    assert Journal(project).undo() == [str(one)]
    assert (one.read_text(), other.read_text()) == ("old one\n", "old other\n")
    assert Journal(project).undo() == []


@pytest.mark.parametrize("command", ["check", "fix"])
def test_check_and_fix_undo_it_too_unless_it_is_at_work(project: Path, command: str) -> None:
    one = project / "one.py"
    one.write_text("old = 1\n")
    keeping = Journal(project).keeping([(one, b"new = 1\n")])
    keeping.__enter__()
    one.write_text("new = 1\n")
    journal = project / ".jaxlint_cache" / "apply-journal.json"
    stored = json.loads(journal.read_text())
    inner = project / "inner"
    inner.mkdir(exist_ok=True)
    journal.write_text(json.dumps({**stored, "process": os.getppid()}))
    assert CliRunner().invoke(main, [command, "--no-cache", str(inner)]).exit_code == 0
    assert one.read_text() == "new = 1\n"
    journal.write_text(json.dumps(stored))
    done = CliRunner().invoke(main, [command, "--no-cache", str(inner)])
    assert "undid the half-done --apply" in done.stderr
    assert one.read_text() == "old = 1\n"
    assert not journal.exists()


def test_an_error_while_writing_puts_the_originals_back(project: Path) -> None:
    one = project / "one.py"
    one.write_text("old\n")

    def fail() -> None:
        one.write_text("new\n")
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"), Journal(project).keeping([(one, b"new\n")]):
        fail()
    assert one.read_text() == "old\n"


def test_what_somebody_edited_since_is_left_alone(project: Path) -> None:
    one = project / "one.py"
    one.write_text("old\n")
    keeping = Journal(project).keeping([(one, b"new\n")])
    keeping.__enter__()
    one.write_text("by hand\n")
    assert Journal(project).undo() == []
    assert one.read_text() == "by hand\n"


def test_a_journal_cannot_write_outside_its_project(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    victim = tmp_path_factory.mktemp("elsewhere") / "file.py"
    victim.write_text("new\n")
    keeping = Journal(project).keeping([(victim, b"new\n")])
    keeping.__enter__()
    assert Journal(project).undo() == []
    assert victim.read_text() == "new\n"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 1}', '{"a": {"original": "?"}}'])
def test_a_torn_journal_is_dropped(project: Path, text: str) -> None:
    folder = project / ".jaxlint_cache"
    folder.mkdir()
    (folder / "apply-journal.json").write_text(text)
    assert Journal(project).undo() == []
    assert not (folder / "apply-journal.json").exists()
